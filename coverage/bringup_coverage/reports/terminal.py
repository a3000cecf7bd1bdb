"""Text that fits a terminal: cut to a width in columns, without control characters, coloured only where wanted."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata

import click

COLOURS = {"native": "blue", "decomposed": "cyan", "none": "yellow", "better": "green", "worse": "red"}
UNSHOWN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def columns(text: str) -> int:
    """How many terminal columns a text takes; wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) != 0 for c in text)


def one_line(text: str) -> str:
    """A text without line breaks and control characters, which a terminal would act on."""
    if text.isprintable():
        return text
    return "".join(" " if unicodedata.category(c) in UNSHOWN else c for c in text).rstrip()


def cut(text: str, width: int) -> str:
    """A text in at most `width` columns; what was cut off is marked by …."""
    text = one_line(text)
    if columns(text) <= width:
        return text
    kept = text[: max(width, 0)]
    while kept and columns(kept) > width - 1:
        kept = kept[:-1]
    return kept.rstrip() + "…" if width > 0 else ""


def terminal_width(width: int | None) -> int:
    """The width asked for, or the terminal's."""
    return max(20, width if width is not None else shutil.get_terminal_size().columns)


def wants_colour(colour: bool | None) -> bool:
    """Whether to colour: as asked, else on a terminal unless NO_COLOR is set."""
    if colour is not None:
        return colour
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def paint(text: str, role: str, colour: bool) -> str:
    """A text in the colour of its role; bold for a heading."""
    if not colour or not text:
        return text
    return click.style(text, bold=True) if role == "bold" else click.style(text, fg=COLOURS.get(role))
