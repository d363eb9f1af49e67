"""KML 2.2: one placemark per prospect, for Google Earth and My Maps.

A description is HTML to those who show it, so a text is escaped twice there: for HTML, then for XML.
"""

from __future__ import annotations

import shutil
import tempfile
from html import escape as html_escape
from typing import TYPE_CHECKING, BinaryIO

from cocli.formats import kml
from cocli.results.exports.cells import clean_text, one_line, web_address
from cocli.results.exports.columns import column_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cocli.models.prospect import Prospect

_POSITION = ("lat", "lon")


def write_kml(
    prospects: Iterable[Prospect],
    out: BinaryIO,
    columns: Sequence[str],
    whom: Callable[[], Sequence[str]],
    *,
    title: str = "Prospects",
) -> None:
    """Whom to name stands at the head, and is known at the end: the placemarks wait in a file of their own."""
    with tempfile.TemporaryFile() as placemarks:
        for prospect in prospects:
            placemarks.write(_placemark(prospect, columns).encode())
        placemarks.seek(0)
        head = f"{kml.HEAD}{kml.element('name', one_line(title))}"
        out.write(f"{head}\n{named_sources(whom())}".encode())
        shutil.copyfileobj(placemarks, out, 1 << 20)
    out.write(kml.TAIL.encode())


def named_sources(whom: Sequence[str]) -> str:
    """Whom to name, as data of the document; nothing where nobody is."""
    if not whom:
        return ""
    data = "\n".join(kml.data("attribution", one_line(credit)) for credit in whom)
    return f"<ExtendedData>\n{data}\n</ExtendedData>\n"


def _placemark(prospect: Prospect, columns: Sequence[str]) -> str:
    lines = [kml.placemark_start(f"c{prospect.company_hash}"), _element("name", prospect.name)]
    lines.append(_element("address", prospect.address))
    lines.append(_element("phoneNumber", prospect.phone_e164 or prospect.phone))
    lines.append(_element("description", _description(prospect)))
    lines.append("<ExtendedData>")
    lines += [_data(name, column_of(name)(prospect)) for name in columns if name not in _POSITION]
    lines.append("</ExtendedData>")
    if prospect.lat is not None and prospect.lon is not None:
        lines.append(kml.point(prospect.lon, prospect.lat))
    lines.append("</Placemark>\n")
    return "\n".join(line for line in lines if line)


def _description(prospect: Prospect) -> str | None:
    website = web_address(prospect.website)
    link = None
    if website:
        link = f'<a href="{html_escape(website)}">{html_escape(website)}</a>'
    texts = (
        prospect.address,
        prospect.phone_e164 or prospect.phone,
        prospect.primary_email,
        ", ".join(prospect.categories),
    )
    lines = [html_escape(one_line(text)) for text in texts if text]
    return "<br>".join([*lines, *([link] if link else [])]) or None


def _element(name: str, text: str | None) -> str:
    if text:
        return kml.element(name, one_line(text))
    return ""


def _data(name: str, value: str | float | None) -> str:
    if value is None:
        return ""
    return kml.data(name, clean_text(str(value)))
