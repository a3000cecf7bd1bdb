"""The contract of a coverage report: `schema.json`, JSON Schema draft 2020-12."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def report_schema() -> dict[str, Any]:
    """The schema as plain data; keys it does not know are allowed."""
    text = (files("bringup_coverage.reports") / "schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))
