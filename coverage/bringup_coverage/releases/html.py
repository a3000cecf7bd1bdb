"""A difference as one HTML page that needs no network, in the colours of the coverage report."""

from __future__ import annotations

from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from bringup_coverage.releases.sections import Section


def render_html(headline: str, sections: list[Section]) -> str:
    """The page; all names are in it, long lists folded, a box filters them."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = (files("bringup_coverage.releases") / "page" / "diff.html.j2").read_text(encoding="utf-8")
    colours = (files("bringup_coverage.reports") / "page" / "colours.css").read_text(encoding="utf-8")
    return environment.from_string(template).render(headline=headline, sections=sections, colours=Markup(colours))
