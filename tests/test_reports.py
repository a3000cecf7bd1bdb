"""Reports of a made-up scan of 3,600 overloads, with texts that try to break out of each format."""

from __future__ import annotations

import copy
import csv
import importlib.util
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from bringup_coverage.reports import (
    compare,
    render_badge,
    render_comparison,
    render_csv,
    render_html,
    render_junit,
    render_markdown,
    render_text,
    report_schema,
)
from bringup_coverage.reports.terminal import columns
from bringup_coverage.reports.totals import percent

TIERS = ("portable", "portable", "portable", "foreach", "random", "sparse", "quantized", "vendor", "of-my-own")
STATUSES = ("decomposed", "native", "decomposed", "none", "decomposed")
DTYPES = ("float32", "bfloat16", "int64", "bool", "complex64")
EVIL = "aten::evil.</script><script>console.error('ran')</script>"
ODD = (
    "</script><script>console.error('ran')</script><!-- <img src=x onerror=console.error(1)>",
    "quotes \" ' ` and | pipes & amp; {{ braces }} {% raw %}",
    "多字节 ünïcödé 🚀 \u2028 line \u202e turned \x1b[31mred\x00 bell\x07 \ud800 lone",
    "long " * 20_000,
)
CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path: apt-get install chromium")


def made_up(size: int = 3600) -> dict[str, Any]:
    """A report as the scanner writes it."""
    rows = [row(i) for i in range(size - len(ODD) - 1)]
    rows += [
        {**row(i), "name": f"odd::number.{i}", "status": "none", "reason": "odd", "detail": d}
        for i, d in enumerate(ODD)
    ]
    rows.append({**row(1), "name": EVIL, "models": ["<b>"], "tags": ["</script>"]})
    return {
        "schema_version": 1,
        "torch": "2.13.0",
        "target": "sim",
        "evidence": "run",
        "bringup": "0.1.0",
        "created": "2026-12-01T04:00:00Z",
        "skipped": {"torchscript_builtins": 776},
        "overloads": rows,
    }


def row(i: int) -> dict[str, Any]:
    """The overload number i."""
    name, status = f"aten::operator_{i // 3}{'_' * (i % 3 == 1)}.{('Tensor', 'Scalar', 'out')[i % 3]}", STATUSES[i % 5]
    return {
        "name": name,
        "schema": f"{name}(Tensor self, Tensor other, *, Scalar alpha={i}) -> Tensor",
        "namespace": "aten",
        "packet": f"operator_{i // 3}",
        "kind": ("functional", "in-place", "out")[i % 3],
        "tier": TIERS[i % len(TIERS)],
        "tags": ["core"] if i % 20 == 0 else [],
        "composite": None,
        "variants": [f"aten::operator_{i // 3}.out"],
        "status": status,
        "reason": ("dtype", "untraceable")[i % 2] if status == "none" else None,
        "detail": f"detail {i}",
        "through": [row_name(k) for k in (1, 6, 11)] if status == "decomposed" else [],
        "decomposition": {"where": f"bringup/decompositions/norms.py:{i}", "name": "f"}
        if status == "decomposed"
        else None,
        "evidence": {
            "level": ("run", "traced", "declared")[i % 3],
            "samples": i % 9,
            "dtypes": ["float32"],
            "dynamic": None,
            "gradient": True,
            "worst_error": float("nan") if i == 7 else 1e-7,
        },
        "dtypes": {d: STATUSES[(i + k) % 5] for k, d in enumerate(DTYPES)} if i % 4 else {},
        "models": ["llama", "bert"][: i % 3],
    }


def row_name(i: int) -> str:
    """The name of a kernel that exists."""
    return f"aten::operator_{i // 3}{'_' * (i % 3 == 1)}.{('Tensor', 'Scalar', 'out')[i % 3]}"


REPORT = made_up()
FIRST_KEYS = ("name", "schema", "namespace", "kind", "tier", "status", "reason", "detail", "through", "evidence")
SMALL: dict[str, Any] = {"overloads": [{key: row(i)[key] for key in FIRST_KEYS} for i in range(9)]}
EMPTY: dict[str, Any] = {"overloads": []}


def earlier() -> dict[str, Any]:
    """The report of a month ago."""
    old = copy.deepcopy(REPORT)
    rows = old["overloads"]
    rows[0]["status"], rows[1]["status"], rows[3]["reason"] = "none", "decomposed", "leaf-missing"
    rows[2]["status"] = "native"
    rows[5]["name"] = "aten::gone"
    return old


def test_page_is_small_whole_and_closed() -> None:
    """One file under 4 MB; it asks for nothing, and no text of the report ends the script it lies in."""
    page = render_html(REPORT, earlier())
    assert len(page.encode()) < 4_000_000
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//|@import|url\(""", page)
    assert page.count("<script") == page.count("</script>") == 3
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert data and len(json.loads(data[1])["columns"]["name"]) == len(REPORT["overloads"])


@pytest.mark.parametrize("report", [SMALL, EMPTY], ids=["first keys only", "no overload"])
def test_what_a_report_lacks_is_left_out(report: dict[str, Any]) -> None:
    """Every report works with the keys of the first contract alone, and with nothing."""
    page = render_html(report)
    assert 'data-view="operators"' in page
    for view in ("dtypes", "models", "changes"):
        assert f'data-view="{view}"' not in page
    for render in (render_text, render_markdown, render_csv, render_junit, render_badge):
        assert render(report)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
def test_text_fits_the_terminal(width: int) -> None:
    """No line is wider than the terminal, and no control character reaches it."""
    for text in (
        render_text(REPORT, width=width, colour=False, limit=4000),
        render_comparison(earlier(), REPORT, width=width, colour=False, limit=4000),
    ):
        assert max(columns(line) for line in text.split("\n")) <= width
        assert all(c.isprintable() for c in text.replace("\n", ""))


def test_colours_are_off_unless_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Colour is a matter of the terminal, and never of the words."""
    coloured = render_text(REPORT, width=100, colour=True)
    plain = render_text(REPORT, width=100, colour=False)
    assert "\x1b[" in coloured and re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in render_text(REPORT, width=100)


def test_markdown_tables_hold() -> None:
    """Every row of a table has as many cells as its head, whatever the texts contain."""
    for block in re.findall(r"(?:^\|.*\n)+", render_markdown(REPORT, limit=4000), re.M):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


def test_csv_reads_back() -> None:
    """One record per overload, texts unchanged."""
    records = list(csv.DictReader(io.StringIO(render_csv(REPORT), newline="")))
    assert [r["name"] for r in records] == [r["name"] for r in REPORT["overloads"]]
    assert [r["detail"] for r in records] == [r["detail"] for r in REPORT["overloads"]]
    assert records[1]["dtypes"] == "float32=native bfloat16=decomposed int64=none bool=decomposed complex64=decomposed"


def test_junit_reads_back() -> None:
    """A case per overload in a suite per tier; what is not covered fails with its reason."""
    root = ET.fromstring(render_junit(REPORT).encode())
    missing = [r for r in REPORT["overloads"] if r["status"] == "none"]
    assert len(root.findall("testsuite/testcase")) == int(root.attrib["tests"]) == len(REPORT["overloads"])
    assert len(root.findall("testsuite/testcase/failure")) == int(root.attrib["failures"]) == len(missing)
    assert next(suite.attrib["name"] for suite in root) == "portable"
    assert {f.attrib["type"] for f in root.iter("failure")} == {"dtype", "untraceable", "odd"}


def test_badge_and_shares_do_not_flatter() -> None:
    """Shares are rounded down; the badge is XML and says what it shows."""
    assert (percent(1.0), percent(0.99999), percent(0.962), percent(0.0)) == ("100.0 %", "99.9 %", "96.2 %", "0.0 %")
    badge = ET.fromstring(render_badge({"overloads": [row(i) for i in range(3)]}))
    assert badge.attrib["aria-label"] == "portable coverage: 100.0 %"
    assert "0.0 %" in render_badge(EMPTY)
    with pytest.raises(KeyError):
        render_badge(REPORT, tier="no such tier")


def test_comparison_sorts_by_what_changed() -> None:
    """Better and worse by verdict, changed by grounds, and what only one report has."""
    found = compare(earlier(), REPORT)
    names = {heading: [entry["name"] for entry in entries] for heading, entries in found.items()}
    assert names == {
        "better": sorted([row_name(0), row_name(1)]),
        "worse": [row_name(2)],
        "changed": [row_name(3)],
        "added": [row_name(5)],
        "removed": ["aten::gone"],
    }
    assert found["changed"][0]["what"] == ["reason: leaf-missing → untraceable"]
    assert not any(compare(REPORT, REPORT).values())


def test_reports_follow_the_schema() -> None:
    """The made-up report is legal; a verdict that does not exist and a missing key are not."""
    assert not list(errors(REPORT, report_schema()))
    wrong = copy.deepcopy(SMALL) | {"schema_version": 1, "torch": "2.13.0", "target": "sim"}
    assert not list(errors(wrong, report_schema()))
    wrong["overloads"][0]["status"] = "maybe"
    del wrong["overloads"][1]["tier"]
    assert len(list(errors(wrong, report_schema()))) == 2


def errors(value: Any, schema: dict[str, Any]) -> Any:
    """What breaks the schema, by jsonschema where it is installed, else by the few words the schema uses."""
    if importlib.util.find_spec("jsonschema"):
        from jsonschema import Draft202012Validator

        Draft202012Validator.check_schema(schema)
        return Draft202012Validator(schema).iter_errors(value)
    return small_check(value, schema, schema)


def small_check(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> Any:
    """The part of JSON Schema that the report's schema needs."""
    if "$ref" in schema:
        yield from small_check(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "null": type(None),
        "integer": int,
        "number": (int, float),
    }
    wanted = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", list(kinds))
    if not any(isinstance(value, kinds[kind]) for kind in wanted):  # type: ignore[arg-type]
        yield f"{value!r} is no {wanted}"
    if ("enum" in schema and value not in schema["enum"]) or ("const" in schema and value != schema["const"]):
        yield f"{value!r} is none of the known values"
    if isinstance(value, dict):
        yield from (f"no {key}" for key in schema.get("required", ()) if key not in value)
        for key, item in value.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties", {}))
            yield from small_check(item, inner, root)
    if isinstance(value, list):
        for item in value:
            yield from small_check(item, schema.get("items", {}), root)


def test_reports_do_not_import_torch() -> None:
    """A report of another machine's scan can be read without PyTorch."""
    code = "import bringup_coverage.reports, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def browse(page: str, address: str, tmp_path: Path) -> tuple[str, list[str]]:
    """The document after its scripts have run, and what they wrote to the console."""
    assert CHROMIUM
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--window-size=1280,900"]
    place = f"--user-data-dir={tmp_path / 'profile'}"
    url = (tmp_path / "page.html").as_uri() + address
    done = subprocess.run([CHROMIUM, *flags, place, "--dump-dom", url], capture_output=True, timeout=120, check=False)
    log = done.stderr.decode(errors="replace").splitlines()
    return done.stdout.decode(errors="replace"), [line for line in log if "CONSOLE" in line]


@needs_chromium
def test_console_errors_would_be_seen(tmp_path: Path) -> None:
    """The next tests look for console messages where they are."""
    assert browse("<script>console.error('seen')</script>", "", tmp_path)[1]


@needs_chromium
@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("", [r'role="row"[^>]*data-at="10"', r"3,600 overloads"]),
        (f"#{row_name(0)}", [r'<aside[^>]*id="detail"(?![^>]*hidden)', r"alpha=0\) -&gt; Tensor", r"norms\.py:0"]),
        ("#/operators?q=odd%3A%3A&status=none", [r"&lt;/script&gt;&lt;script&gt;", r"4 of 3,600"]),
        ("#" + EVIL.replace("<", "%3C").replace(">", "%3E"), [r'id="detail-name"', r"<li>&lt;b&gt;</li>"]),
        ("#/dtypes?q=operator_7", [r'aria-label="bfloat16: decomposed"']),
        ("#/models", [r"What models miss", r"llama"]),
        ("#/changes", [r"Gained: 2", r"Lost: 1", r"Vanished: 1"]),
    ],
    ids=["table", "detail", "filtered odd texts", "odd name", "dtypes", "models", "changes"],
)
def test_page_in_a_browser(address: str, wanted: list[str], tmp_path: Path) -> None:
    """Each view shows what it should, and the console stays silent."""
    document, console = browse(render_html(REPORT, earlier()), address, tmp_path)
    assert not console
    for pattern in wanted:
        assert re.search(pattern, document), pattern


@needs_chromium
@pytest.mark.parametrize("report", [SMALL, EMPTY], ids=["first keys only", "no overload"])
def test_sparse_reports_in_a_browser(report: dict[str, Any], tmp_path: Path) -> None:
    """A page with little to show shows it without an error."""
    document, console = browse(render_html(report), "", tmp_path)
    assert not console
    assert ('data-at="8"' in document) == bool(report["overloads"])


def test_reports_of_different_selections_are_compared_where_both_say_something() -> None:
    """What a selection leaves out has not vanished, and its totals are not the other's."""

    def row(name: str, status: str) -> dict[str, Any]:
        return {"name": name, "status": status, "tier": "portable", "namespace": "aten"}

    whole = {"target": "sim", "torch": "2.13.0", "complete": True, "tiers": {}}
    whole["overloads"] = [row("aten::a", "none"), row("aten::b", "none"), row("aten::c", "native")]
    part = whole | {"complete": False, "overloads": [row("aten::b", "native")]}
    found = compare(whole, part)
    assert [e["name"] for e in found["better"]] == ["aten::b"]
    assert found["added"] == found["removed"] == []
    said = render_comparison(whole, part, width=200, colour=False)
    assert "compared are the overloads in both (1), 2 only in the first left out" in said
    assert "portable: 0.0 % → 100.0 %" in said
    assert [e["name"] for e in compare(whole, part | {"complete": True})["removed"]] == ["aten::a", "aten::c"]
