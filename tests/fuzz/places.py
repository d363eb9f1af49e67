"""Where a stranger's text gets into the program: every parser of foreign text, as a function of the text.

What a parser refuses by an error of ours is refused. Any other exception is a crash.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime

from benchmarks._maps_pages import business, card, details_answer, details_page, list_page, message, search_answer
from cocli.errors import CocliError
from cocli.keys.tile import Tile
from cocli.pipeline.plan.kml import read_kml
from cocli.pipeline.sources.google_maps.documents import details_document, list_document
from cocli.pipeline.sources.google_maps.parser.parse import read
from cocli.pipeline.sources.imports.mapping import map_columns
from cocli.pipeline.sources.imports.observation import Observer
from cocli.pipeline.sources.imports.readers import read_rows
from cocli.pipeline.sources.open_places.kind import FileSighting, OpenFileKind
from cocli.pipeline.sources.open_places.opening_hours import read_opening_hours
from cocli.pipeline.sources.openstreetmap.rows import OpenStreetMapRows
from cocli.pipeline.sources.registry import source_named
from cocli.pipeline.websites import combine
from cocli.pipeline.websites.facts.emails.address import read_address
from cocli.pipeline.websites.facts.phones.phones import to_e164
from cocli.pipeline.websites.fetch.robots import read_rules
from cocli.pipeline.websites.page.charset import decode
from cocli.pipeline.websites.site.look import LookRequest, PageLook, look_at
from cocli.pipeline.websites.site.sitemap import read_sitemap
from cocli.pipeline.websites.triage.triage import Expected

_URL = "https://www.hainwerk.de/"
_WHEN = datetime(2026, 11, 16, tzinfo=UTC)
_BUSINESS = business(1)
_AGENT = "cocli"
_CARD = "BEGIN:VCARD\nVERSION:3.0\nFN:Hainwerk\n{}\nEND:VCARD\n"
_KML = (
    "<kml><Document><Placemark><name>a</name>{}<Point><coordinates>1,2</coordinates></Point></Placemark></Document>"
    "</kml>"
)


class BrokenPageError(Exception):
    """An extractor raised an exception, which the barrier held back."""


def page(html: str | bytes, *, url: str = _URL, charset: str | None = None) -> PageLook:
    """A page as a worker reads it. What the barrier held back is an exception here."""
    body = _bytes(html) if isinstance(html, str) else html
    look = look_at(LookRequest(body, charset, url, "DE", url, 200, "hainwerk.de", Expected()))
    combine([look.facts])
    if look.facts.failures:
        raise BrokenPageError("; ".join(f"{failure.extractor}: {failure.reason}" for failure in look.facts.failures))
    return look


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


# --- websites


def _robots_rule(text: str) -> bool:
    """Addresses are ASCII by the time that they are asked about."""
    path = text[:2000].encode("ascii", "ignore").decode()
    rules = read_rules(_bytes(f"User-agent: *\nDisallow: /{text[:2000]}b$"), _AGENT)
    return rules.allow(f"{_URL}{path}", _AGENT)


def _organisation(text: str) -> str:
    names = ("email", "telephone", "sameAs", "openingHours", "address")
    return json.dumps({"@type": "Organization"} | dict.fromkeys(names, text))


_WEBSITES: dict[str, Callable[[str], object]] = {
    "text": lambda text: page(f"<p>{text}</p>"),
    "bare": page,
    "lines": lambda text: page(f"<p>{text.replace(' ', '<br>')}</p>"),
    "title": lambda text: page(f"<title>{text}</title>"),
    "meta": lambda text: page(f'<meta name="description" content="{text}">'),
    "refresh": lambda text: page(f'<meta http-equiv=refresh content="0;{text}">'),
    "script": lambda text: page(f"<script>x='@';{text}</script>"),
    "script text": lambda text: page(f"<script>var a='{text}@hainwerk.de';</script>"),
    "json-ld": lambda text: page(f"<script type='application/ld+json'>{text}</script>"),
    "json-ld value": lambda text: page(f"<script type='application/ld+json'>{_organisation(text)}</script>"),
    "style": lambda text: page(f"<style>{text}</style><p>a@b.de"),
    "comment": lambda text: page(f"<!--{text}--><p>a@b.de"),
    "link": lambda text: page(f'<a href="{text}">x</a>'),
    "host": lambda text: page(f'<a href="https://{text}/x">x</a>'),
    "mailto": lambda text: page(f'<a href="mailto:{text}">x</a>'),
    "tel": lambda text: page(f'<a href="tel:{text}">x</a>'),
    "card link": lambda text: page(f'<a href="data:text/vcard,BEGIN:VCARD%0AEMAIL:{text}%0AEND:VCARD">x</a>'),
    "handler": lambda text: page(f'<a onclick="{text}">x</a>'),
    "attribute": lambda text: page(f'<a data-email="{text}" class="{text}">x</a>'),
    "alternative": lambda text: page(f'<img alt="{text}">'),
    "form": lambda text: page(f"<form><select>{text}</select><textarea>{text}</textarea></form>"),
    "footer": lambda text: page(f"<footer><address>{text}</address></footer>"),
    "microdata": lambda text: page(
        f"<div itemscope itemtype='https://schema.org/LocalBusiness'><span itemprop=email>{text}</span>"
        f"<span itemprop=address>{text}</span></div>"
    ),
    "frame": lambda text: page(f'<iframe srcdoc="{text}"></iframe>'),
    "address": lambda text: page("<p>info@hainwerk.de", url=f"https://www.hainwerk.de/{text}"),
    "charset": lambda text: decode(_bytes(f"<meta charset={text[:40]}>{text}\xff"), text[:40]),
    "charset of bytes": lambda text: decode(text.encode("utf-16-le", "replace"), None),
    "sitemap": lambda text: read_sitemap(_bytes(f"<urlset><url><loc>{text}")),
    "sitemap tags": lambda text: read_sitemap(_bytes(f"<urlset>{text}")),
    "sitemap lines": lambda text: read_sitemap(_bytes(f"https://a.de/{text}")),
    "robots": lambda text: read_rules(_bytes(f"User-agent: *\n{text}"), _AGENT),
    "robots lines": lambda text: read_rules(_bytes(text.replace(" ", "\n")), _AGENT),
    "robots rule": _robots_rule,
    "phone": lambda text: to_e164(text, "DE"),
    "e-mail": read_address,
}


# --- places


def _maps_list(html: str | None, *answers: str) -> object:
    return read(
        list_document(
            account="a",
            tile=Tile(0, 0),
            phrase="x",
            url=f"{_BUSINESS.link}",
            html=None if html is None else _bytes(html),
            answers=[_bytes(answer) for answer in answers],
            fetched_at=_WHEN,
        )
    )


def _maps_page(html: str) -> object:
    return read(
        details_document(account="a", place_id=_BUSINESS.place_id, url=_BUSINESS.link, html=html, fetched_at=_WHEN)
    )


def _map_row(text: str) -> object:
    keys = ("name", "phone", "website", "email", "opening_hours", "addr:street", "contact:facebook", "other_tags")
    row = {"type": "node", "id": 1, "lat": 50.9, "lon": 11.3, "tags": {"shop": text} | dict.fromkeys(keys, text)}
    rows: OpenFileKind = OpenStreetMapRows(source_named("openstreetmap"))
    return rows.place(row, FileSighting(_WHEN))


def _literal(text: str) -> str:
    """A text that stands in a template as it is."""
    return text.replace("{", "{{").replace("}", "}}")


def _maps_message(text: str) -> str:
    return search_answer([message(_BUSINESS, **{f"s{slot}": text for slot in (13, 39, 178, 203)})]).decode()


_PLACES: dict[str, Callable[[str], object]] = {
    "maps answer": lambda text: _maps_list(None, f")]}}'\n{text}"),
    "maps message": lambda text: _maps_list(None, _maps_message(text)),
    "maps name": lambda text: _maps_list(None, details_answer(message(business(1, name=text))).decode()),
    "maps page": _maps_list,
    "maps feed": lambda text: _maps_list(f'<div role="feed">{text}</div>'),
    "maps card": lambda text: _maps_list(list_page([card(_BUSINESS).replace("Teichgasse 1", text)])),
    "maps card label": lambda text: _maps_list(list_page([card(business(1, stars_label=_literal(text)))])),
    "maps panel": lambda text: _maps_page(details_page(_BUSINESS).replace("Teichgasse 1", text)),
    "maps state": lambda text: _maps_page(f"<script>window.APP_INITIALIZATION_STATE=[{text}</script>"),
    "maps link": lambda text: _maps_list(f'<div role="feed"><a href="/maps/place/{text}!1s0x1:0x2">n</a>'),
    "map row": _map_row,
    "opening hours": read_opening_hours,
}


# --- files that a person brings


def _file(text: str | bytes, name: str) -> object:
    table = read_rows(_bytes(text) if isinstance(text, str) else text, name)
    observer = Observer(map_columns(table.columns), _WHEN, country="DE")
    return [observer.observe(row) for row in table.rows]


def _columns(text: str) -> str:
    """A CSV row that has the text in every column that is known."""
    names = ("name", "phone", "website", "email", "lat", "rating", "reviews", "country", "tags", "category", "maps url")
    quoted = '"' + text.replace('"', '""') + '"'
    return ",".join(names) + "\n" + ",".join([quoted] * len(names)) + "\n"


_FILES: dict[str, Callable[[str], object]] = {
    "csv": lambda text: _file(f"name,website\n{text}", "a.csv"),
    "csv header": lambda text: _file(f"name,website,{text.replace(' ', ',')}\na,b\n", "a.csv"),
    "csv cells": lambda text: _file(_columns(text), "a.csv"),
    "csv quote": lambda text: _file(f'name,website\n"{text}', "a.csv"),
    "csv lines": lambda text: _file("name,website\n" + text.replace(" ", "\n"), "a.csv"),
    "domains": lambda text: _file(f"hainwerk.de\n{text}", "a.txt"),
    "json": lambda text: _file(f'[{{"name": "a", "website": {text}', "a.json"),
    "json value": lambda text: _file(json.dumps([{"name": text, "phone": text, "website": text}]), "a.json"),
    "json lines": lambda text: _file('{"name": "a"}\n' + text.replace(" ", "\n"), "a.jsonl"),
    "geojson": lambda text: _file(
        '{"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": ' + text, "a.geojson"
    ),
    "kml": lambda text: _file(_KML.format(text), "a.kml"),
    "kml text": lambda text: _file(_KML.format(f"<description><![CDATA[{text}]]></description>"), "a.kml"),
    "kml escaped": lambda text: _file(_KML.format(f"<description>{text.replace('<', '&lt;')}</description>"), "a.kml"),
    "kml coordinates": lambda text: read_kml(_bytes(_KML.format(f"<Point><coordinates>{text}")), file="a.kml"),
    "kml area": lambda text: read_kml(_bytes(_KML.format(text)), file="a.kml"),
    "kml charset": lambda text: read_kml(_bytes(f'<?xml encoding="{text[:40]}"?>{text}\xff'), file="a.kml"),
    "vcard": lambda text: _file(_CARD.format(text), "a.vcf"),
    "vcard property": lambda text: _file(_CARD.format(f"ITEM1.TEL;{text}"), "a.vcf"),
    "vcard value": lambda text: _file(
        _CARD.format("\n".join(f"{name}:{text}" for name in ("ADR", "ORG", "N", "GEO", "EMAIL"))), "a.vcf"
    ),
    "vcard lines": lambda text: _file(_CARD.format("NOTE;QUOTED-PRINTABLE:x" + text.replace(" ", "\n")), "a.vcf"),
}

PLACES: Mapping[str, Callable[[str], object]] = {**_WEBSITES, **_PLACES, **_FILES}


def try_place(place: Callable[[str], object], text: str) -> None:
    """Whatever a parser says by an error of ours is an answer."""
    with suppress(CocliError):
        place(text)


def describe_crash(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:300]
