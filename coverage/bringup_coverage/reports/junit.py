"""A report as JUnit XML, which every CI service shows: one test case per overload, one suite per tier."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

from bringup_coverage.reports.totals import by_tier

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(report: dict[str, Any]) -> str:
    """XML with the verdicts as results: `none` is a failure whose type is the reason; the others pass."""
    groups: dict[str, list[dict[str, Any]]] = {tier: [] for tier in by_tier(report)}
    for row in report["overloads"]:
        groups.setdefault(row["tier"], []).append(row)
    name = f"{report.get('target', 'target')} on torch {report.get('torch', '?')}"
    root = ET.Element("testsuites", _counts(name, report["overloads"]))
    for tier, rows in groups.items():
        suite = ET.SubElement(root, "testsuite", _counts(tier, rows))
        if report.get("created"):
            suite.set("timestamp", legal(str(report["created"]).rstrip("Z")))
        for row in rows:
            _case(suite, row)
    ET.indent(root, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def legal(text: str) -> str:
    """A text without the characters that XML 1.0 forbids even as references."""
    return NOT_XML.sub("\ufffd", text)


def _counts(name: str, rows: list[dict[str, Any]]) -> dict[str, str]:
    failed = sum(row["status"] == "none" for row in rows)
    return {
        "name": legal(name),
        "tests": str(len(rows)),
        "failures": str(failed),
        "errors": "0",
        "skipped": "0",
        "time": "0",
    }


def _case(suite: ET.Element, row: dict[str, Any]) -> None:
    classname = f"{row['tier']}.{row.get('namespace') or row['name'].split('::')[0]}"
    case = ET.SubElement(suite, "testcase", {"classname": legal(classname), "name": legal(row["name"]), "time": "0"})
    if row["status"] != "none":
        return
    reason, detail = str(row.get("reason") or "none"), str(row.get("detail") or "")
    message = f"{reason}: {detail}" if detail else reason
    failure = ET.SubElement(case, "failure", {"type": legal(reason), "message": legal(message[:300])})
    failure.text = legal(f"{row.get('schema', row['name'])}\n{message}")
