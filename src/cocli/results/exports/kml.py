"""KML 2.2: one placemark per prospect, for Google Earth and My Maps.

A description is HTML to those who show it, so a text is escaped twice there: for HTML, then for XML.
"""

from __future__ import annotations

from html import escape as html_escape
from typing import TYPE_CHECKING, BinaryIO
from xml.sax.saxutils import escape, quoteattr

from cocli.results.exports.cells import clean_text, one_line, web_address
from cocli.results.exports.columns import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cocli.models.prospect import Prospect

_POSITION = ("lat", "lon")
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2">\n<Document>\n<name>{}</name>\n'
_TAIL = "</Document>\n</kml>\n"


def write_kml(
    prospects: Iterable[Prospect], out: BinaryIO, columns: Sequence[str], *, title: str = "Prospects"
) -> None:
    out.write(_HEAD.format(escape(one_line(title))).encode())
    for prospect in prospects:
        out.write(_placemark(prospect, columns).encode())
    out.write(_TAIL.encode())


def _placemark(prospect: Prospect, columns: Sequence[str]) -> str:
    lines = [f"<Placemark id={quoteattr(f'c{prospect.company_hash}')}>", _element("name", prospect.name)]
    lines.append(_element("address", prospect.address))
    lines.append(_element("phoneNumber", prospect.phone_e164 or prospect.phone))
    lines.append(_element("description", _description(prospect)))
    lines.append("<ExtendedData>")
    lines += [_data(name, COLUMNS[name](prospect)) for name in columns if name not in _POSITION]
    lines.append("</ExtendedData>")
    if prospect.lat is not None and prospect.lon is not None:
        lines.append(f"<Point><coordinates>{prospect.lon!r},{prospect.lat!r}</coordinates></Point>")
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
        return f"<{name}>{escape(one_line(text))}</{name}>"
    return ""


def _data(name: str, value: str | float | None) -> str:
    if value is None:
        return ""
    return f"<Data name={quoteattr(name)}><value>{escape(clean_text(str(value)))}</value></Data>"
