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
    for one in prospects:
        out.write(_placemark(one, columns).encode())
    out.write(_TAIL.encode())


def _placemark(one: Prospect, columns: Sequence[str]) -> str:
    lines = [f"<Placemark id={quoteattr(f'c{one.company_hash}')}>", _element("name", one.name)]
    lines.append(_element("address", one.address))
    lines.append(_element("phoneNumber", one.phone_e164 or one.phone))
    lines.append(_element("description", _description(one)))
    lines.append("<ExtendedData>")
    lines += [_data(name, COLUMNS[name](one)) for name in columns if name not in _POSITION]
    lines.append("</ExtendedData>")
    if one.lat is not None and one.lon is not None:
        lines.append(f"<Point><coordinates>{one.lon!r},{one.lat!r}</coordinates></Point>")
    lines.append("</Placemark>\n")
    return "\n".join(line for line in lines if line)


def _description(one: Prospect) -> str | None:
    website = web_address(one.website)
    link = f'<a href="{html_escape(website)}">{html_escape(website)}</a>' if website else None
    texts = (one.address, one.phone_e164 or one.phone, one.primary_email, ", ".join(one.categories))
    lines = [html_escape(one_line(text)) for text in texts if text]
    return "<br>".join([*lines, *([link] if link else [])]) or None


def _element(name: str, text: str | None) -> str:
    return f"<{name}>{escape(one_line(text))}</{name}>" if text else ""


def _data(name: str, value: str | float | None) -> str:
    if value is None:
        return ""
    return f"<Data name={quoteattr(name)}><value>{escape(clean_text(str(value)))}</value></Data>"
