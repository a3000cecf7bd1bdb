"""What a coverage report looks like to people and to other programs. Nothing here imports torch.

Every function takes the report as plain data (`schema.json` says which) and returns text; nothing writes a file.
"""

from bringup_coverage.reports.badge import render_badge
from bringup_coverage.reports.compare import compare, render_comparison
from bringup_coverage.reports.csv_table import render_csv
from bringup_coverage.reports.html import render_html
from bringup_coverage.reports.junit import render_junit
from bringup_coverage.reports.markdown import render_markdown
from bringup_coverage.reports.schema import report_schema
from bringup_coverage.reports.text import render_text

__all__ = [
    "compare",
    "render_badge",
    "render_comparison",
    "render_csv",
    "render_html",
    "render_junit",
    "render_markdown",
    "render_text",
    "report_schema",
]
