"""Sections for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill

from bringup_coverage.releases.sections import Section

SHOWN = 8
"""Names of a line when not all are asked for."""


def render_text(headline: str, sections: Iterable[Section], *, every: bool, width: int = 110) -> str:
    """For a terminal. `every`: list all names of a line, not the first few."""
    parts = [headline]
    for section in sections:
        parts.append(f"{section.title}: {section.count}")
        parts.append("\n".join(_line(names, remark, every, width) for names, remark in section.lines))
    return "\n\n".join(parts)


def _line(names: tuple[str, ...], remark: str, every: bool, width: int) -> str:
    said = (
        f"{remark} ({len(names)}): {listed(names, every)}" if remark and len(names) > 1 else _one(names, remark, every)
    )
    return fill(
        said, width, initial_indent="  ", subsequent_indent="      ", break_long_words=False, break_on_hyphens=False
    )


def _one(names: tuple[str, ...], remark: str, every: bool) -> str:
    """A name and what is said of it, or one of the two."""
    return ": ".join(part for part in (listed(names, every), remark) if part)


def listed(names: tuple[str, ...], every: bool) -> str:
    """Names with commas; how many are left out."""
    shown = names if every or len(names) <= SHOWN + 1 else names[:SHOWN]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def render_markdown(headline: str, sections: Iterable[Section], *, every: bool) -> str:
    """As Markdown, for a release note or a comment."""
    from bringup_coverage.reports.markdown import code, plain

    parts = [f"# {plain(headline)}"]
    for section in sections:
        lines = []
        for names, remark in section.lines:
            shown = names if every or len(names) <= SHOWN + 1 else names[:SHOWN]
            more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
            text = ", ".join(code(n) for n in shown) + more
            if remark and len(names) > 1:
                lines.append(f"- {plain(remark)} ({len(names)}): {text}")
            else:
                lines.append("- " + ": ".join(part for part in (text, plain(remark)) if part))
        parts.append(f"## {plain(section.title)}: {section.count}\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"
