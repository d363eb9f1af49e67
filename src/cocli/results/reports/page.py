"""The report as one HTML page: figures, bars, a map, a line and a list of the businesses. Nothing is loaded.

The page's own policy forbids every other host, and allows exactly the style sheet and the script that are in it. The
script searches and sorts the list, which is whole without it. Texts were scraped, so the template escapes them, and
marks that reorder what is read are taken out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from cocli.pipeline.plan.map_points import DOTS
from cocli.results.reports.figure_words import figure_rows, unread_lines
from cocli.results.reports.templating import rendered
from cocli.results.reports.trend_line import trend_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.models.report import Report
    from cocli.results.reports.businesses import BusinessList
    from cocli.results.reports.published_page import FileLink

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


@dataclass(frozen=True, slots=True)
class PageParts:
    """What a page has beside the figures."""

    map_svg: str | None = None
    """The map, already escaped by whoever drew it."""
    legend: Sequence[tuple[str, str]] = ()
    """Its states in words."""
    businesses: BusinessList | None = None
    downloads: Sequence[FileLink] = ()


def render_page(report: Report, parts: PageParts | None = None) -> str:
    """One page. It has a script only where it has a list of businesses: to search and to sort it."""
    shown = parts or PageParts()
    businesses = shown.businesses
    lines = businesses.lines if businesses else ()
    return rendered(
        "report.html",
        css="report.css",
        script="report.js" if lines else None,
        report=report,
        figures=figure_rows(report.figures),
        unread=unread_lines(report.figures),
        legend=shown.legend,
        dots=_dots(businesses),
        downloads=shown.downloads,
        businesses=businesses if lines else None,
        has_rating=any(line.rating is not None for line in lines),
        has_status=any(line.status for line in lines),
        map_svg=Markup(shown.map_svg) if shown.map_svg else None,  # noqa: S704  `pipeline.plan` drew it, and escapes
        trend=Markup(trend_line(report.trend)),  # noqa: S704  drawn here, of numbers and times
        longest=lambda counted: max((count.count for count in counted), default=0) or 1,
        width=_width,
        words=lambda field: _WORDS.get(field, field),
    )


def _dots(businesses: BusinessList | None) -> list[tuple[str, str, int]]:
    """Colour, meaning and number of the dots of each kind."""
    if businesses is None:
        return []
    counts = Counter(point.kind for point in businesses.points)
    return [(colour, words, counts[kind]) for kind, (colour, words) in DOTS.items() if counts[kind]]


def _width(value: float, most: float) -> str:
    """Of a bar, of a hundred; what there is can be seen, however little it is."""
    return f"{max(1.0, 100 * value / most) if value and most else 0.0:.2f}"
