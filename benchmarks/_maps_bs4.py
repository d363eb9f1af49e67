"""The same extraction as `pipeline.sources.google_maps`, written with BeautifulSoup and lxml as one would write it.

It goes by class names, which is less work than going by structure, and ends in the same records; the benchmark checks
that it finds the same values. Reading JSON is the same for both and is shared.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from bs4 import BeautifulSoup, Tag

from cocli.models.place import Place
from cocli.pipeline.sources.google_maps.parser import links, numbers, phones
from cocli.pipeline.sources.google_maps.parser.init_state import InitState, read_state
from cocli.pipeline.sources.google_maps.parser.sighting import Circumstances, Sighting, identify, merge, to_place

_SYMBOLS = re.compile(r"[\ue000-\uf8ff]")


def places_of(html: bytes, observed_at: datetime) -> list[Place]:
    """The places of a page, as `cocli.pipeline.sources.google_maps.parser.parse.parse` gives them."""
    soup = BeautifulSoup(html, "lxml", from_encoding="utf-8")
    state = read_state(html)
    cards = soup.select("a.hfpxzc[href]")
    if cards and soup.select_one("[data-item-id]") is None:
        found = [one for link in cards if (one := _card(link))]
        merged = merge([*(one for one in found if not one.sponsored), *(one for one in found if one.sponsored)])
        order = {key: number for number, one in reversed(list(enumerate(found))) for key in one.identity.keys}
        merged.sort(key=lambda one: min(order[key] for key in one.identity.keys))
    else:
        merged = _details(soup, state)
    around = Circumstances(observed_at)
    return [place for one in merged if (place := to_place(one, around, None))]


def _text(node: Tag | None) -> str | None:
    text = " ".join(_SYMBOLS.sub("", node.get_text()).split()) if node is not None else ""
    return text or None


def _attribute(node: Tag, name: str) -> str:
    value = node.get(name)
    return value if isinstance(value, str) else ""


def _card(link: Tag) -> Sighting | None:
    card = link.find_parent("div", class_="Nv2PK")
    found = links.read_place_link(_attribute(link, "href"))
    identity = identify(place_id=found.place_id, feature_id=found.feature_id, kgmid=found.kgmid)
    name = _text(card.select_one(".qBF1Pd")) if card is not None else None
    if card is None or identity is None or name is None:
        return None
    values: dict[str, Any] = {"lat": found.lat, "lon": found.lon, **_stars(card), **_lines(card)}
    website = card.select_one('a[data-value="Website"]')
    if website is not None:
        values["website"] = links.website(_attribute(website, "href"))
    sponsored = bool(card.select('[jslog^="198205"], [jslog^="198204"], a[href^="/aclk"], [data-url*="adssettings"]'))
    sponsored = sponsored or _attribute(link, "jslog").startswith("18538")
    return Sighting(identity, name, {key: value for key, value in values.items() if value is not None}, sponsored)


def _stars(card: Tag) -> dict[str, Any]:
    values: dict[str, Any] = {}
    picture = card.select_one('[role="img"].ZkP5Je')
    said = numbers.stars(_attribute(picture, "aria-label")) if picture is not None else None
    if said is not None:
        values |= {"rating": said.rating, "review_count": said.count}
    row = card.select_one(".AJB7ye")
    for part in (row.get_text() if row is not None else "").split("·")[1:]:
        if re.search(r"[$€£¥₹]", part):
            values["price"] = " ".join(part.split())
    return values


def _lines(card: Tag) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for number, row in enumerate(card.select("div.W4Efsd div.W4Efsd")):
        phone = row.select_one(".UsdlK")
        if phone is not None:
            values["phone"] = _text(phone)
        if number == 0 and phone is None and row.select_one('span[style*="color"]') is None:
            parts = [text for span in row.find_all("span", recursive=False) if (text := _part(span))]
            if len(parts) > 1:
                values |= {"category_labels": (parts[0],), "address": parts[-1]}
            elif parts and re.search(r"\d", parts[0]):
                values["address"] = parts[0]
            elif parts:
                values["category_labels"] = (parts[0],)
    return values


def _part(span: Tag) -> str | None:
    text = _text(span) or ""
    return text.lstrip("· ").strip() or None


def _details(soup: BeautifulSoup, state: InitState) -> list[Sighting]:
    said = [one for answer in state.answers for one in answer.sightings]
    heading = soup.select_one('[role="main"] h1')
    echo = state.echo
    if heading is None:
        return said[:1]
    values: dict[str, Any] = {}
    header = heading.find_parent("div", class_="TIHn2")
    if header is not None:
        stars = header.select_one('[role="img"][aria-label]')
        rating = numbers.stars(_attribute(stars, "aria-label")) if stars is not None else None
        values["rating"] = rating.rating if rating else None
        for node in header.select("[aria-label]"):
            shown = _text(node)
            if shown and shown.startswith("("):
                values["review_count"] = numbers.count(shown)
        labels = tuple(text for button in header.select('button[jsaction*="category"]') if (text := _text(button)))
        values["category_labels"] = labels or None
    values |= _items(soup)
    identity = said[0].identity if said else None
    if identity is None and echo is not None:
        identity = identify(place_id=echo.place_id, feature_id=echo.feature_id, kgmid=echo.kgmid)
        values |= {"lat": echo.lat, "lon": echo.lon}
    name = _text(heading)
    known = {key: value for key, value in values.items() if value is not None}
    return merge([*said[:1], *([Sighting(identity, name, known)] if identity and name else [])])[:1]


def _items(soup: BeautifulSoup) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for node in soup.select('[role="main"] [data-item-id]'):
        kind = _attribute(node, "data-item-id")
        if kind == "address":
            values["address"] = _text(node.select_one(".Io6YTe"))
        elif kind == "authority":
            values["website"] = links.website(_attribute(node, "href"))
        elif kind.startswith("phone:tel:"):
            values["phone"] = _text(node.select_one(".Io6YTe"))
            values["phone_e164"] = phones.e164([kind.removeprefix("phone:tel:")])
        elif kind == "oloc":
            values["plus_code"] = _text(node.select_one(".Io6YTe"))
    return values
