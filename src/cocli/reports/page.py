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

from cocli.reports.trend_line import trend_line

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.models.report import Report

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
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


def render_page(report: Report, map_svg: str | None) -> str:
    """`map_svg` is the map of the coverage, already escaped by whoever drew it."""
    folder = resources.files("cocli.reports") / "templates"
    css = (folder / "report.css").read_text("utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {
        "plain": plain_text,
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
        map_svg=Markup(map_svg) if map_svg else None,  # noqa: S704  drawn by `planning`, which escapes
        trend=Markup(trend_line(report.trend)),  # noqa: S704  drawn here, of numbers and times
        longest=lambda counted: max((one.count for one in counted), default=0) or 1,
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
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def _moment(value: datetime) -> str:
    return f"{value:%Y-%m-%d %H:%M} UTC"
