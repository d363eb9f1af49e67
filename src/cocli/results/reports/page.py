"""The report as one HTML page: figures, bars, a map and a line, drawn here. Nothing is loaded and nothing runs.

The page's own policy forbids scripts and every other host, and allows exactly the style sheet that is in it. Texts were
scraped, so the template escapes them, and marks that reorder what is read are taken out.
"""

from __future__ import annotations

import base64
import hashlib
import unicodedata
from importlib import resources
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from cocli.results.reports.trend_line import trend_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cocli.models.report import Report

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_LONGEST = 60
_LEAST = 0.001
_WORDS = {
    "name": "name",
    "phone": "phone",
    "phone_e164": "phone in E.164",
    "primary_email": "primary e-mail",
    "all_emails": "any e-mail",
    "place_id": "place id",
    "lat": "latitude",
    "lon": "longitude",
    "review_count": "reviews",
    "business_status": "business status",
    "socials": "social networks",
}


def render_page(report: Report, map_svg: str | None, legend: Sequence[tuple[str, str]] = ()) -> str:
    """`map_svg` is the map of the coverage, already escaped by whoever drew it; `legend` its states in words."""
    folder = resources.files("cocli.results.reports") / "templates"
    css = (folder / "report.css").read_text("utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {
        "plain": plain_text,
        "short": _short,
        "number": _number,
        "percent": _percent,
        "moment": _moment,
        "words": lambda field: _WORDS.get(field, field),
    }
    template = environment.from_string((folder / "report.html").read_text("utf-8"))
    return template.render(
        report=report,
        css=Markup(css),  # noqa: S704  ours
        css_hash=_hash(css),
        legend=legend,
        map_svg=Markup(map_svg) if map_svg else None,  # noqa: S704  drawn by `pipeline.plan.coverage_map`, which escapes
        trend=Markup(trend_line(report.trend)),  # noqa: S704  drawn here, of numbers and times
        longest=lambda counted: max((count.count for count in counted), default=0) or 1,
        width=_width,
    )


def plain_text(text: str) -> str:
    """One line without control characters, and without marks that hide or reorder what is read."""
    kept = (" " if char in "\t\n\r" else char for char in text)
    return "".join(char for char in kept if unicodedata.category(char) not in _UNSEEN).strip()


def _hash(css: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}"


def _percent(value: float | None) -> str:
    """Not rounded to everything or nothing: 100% is all of them, and 0% none."""
    if value is None:
        return ""
    if value in (0, 1):
        return f"{value:.0%}"
    if value < _LEAST:
        return f"< {_LEAST:.1%}"
    if value > 1 - _LEAST:
        return f"> {1 - _LEAST:.1%}"
    return f"{value:.1%}"


def _width(value: float, most: float) -> str:
    """Of a bar, of a hundred; what there is can be seen, however little it is."""
    return f"{max(1.0, 100 * value / most) if value and most else 0.0:.2f}"


def _short(text: str) -> str:
    """Enough of a text to know it by."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - 1].rstrip()}…"


def _moment(value: datetime) -> str:
    return f"{value:%Y-%m-%d %H:%M} UTC"
