"""The share of covered overloads as a small picture for a README."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape, quoteattr

from bringup_coverage.reports.junit import legal
from bringup_coverage.reports.totals import by_tier, headline, percent

# least share, colour; white text on each has a contrast of at least 4.5
COLOURS = ((0.95, "#1f7a3d"), (0.85, "#4f7413"), (0.7, "#8a6508"), (0.5, "#a8500f"), (0.0, "#b3322c"))
NARROW = frozenset("fijlrt.,:;'!|I ()[]-")


def render_badge(report: dict[str, Any], tier: str | None = None) -> str:
    """An SVG such as "portable coverage 96.2 %".

    Args:
        report: The coverage report.
        tier: Which tier to show; by default the portable one, or everything where there is none.

    Raises:
        KeyError: The report has no such tier.
    """
    name, totals = headline(report) if tier is None else (tier, by_tier(report)[tier])
    label, value = legal(f"{name} coverage"), percent(totals.share)
    colour = next(c for least, c in COLOURS if totals.share >= least)
    left, right = _width(label), _width(value)
    whole = quoteattr(f"{label}: {value}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label={whole}>'
        f"<title>{escape(f'{label}: {value}')}</title>"
        f'<clipPath id="r"><rect width="{left + right}" height="20" rx="3"/></clipPath>'
        f'<g clip-path="url(#r)"><rect width="{left}" height="20" fill="#444b54"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/></g>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f"{_text(label, left / 2, left - 12)}{_text(value, left + right / 2, right - 12)}</g></svg>\n"
    )


def _width(text: str) -> int:
    """Pixels for a text with its margins, about as Verdana 11 needs them."""
    return round(sum(4.2 if c in NARROW else 7.0 for c in text)) + 12


def _text(text: str, x: float, length: float) -> str:
    return f'<text x="{x:g}" y="14" textLength="{length:g}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
