"""Made-up pages and answers in the structure of Google Maps, for the benchmark and the tests of its parsers.

Nothing here is copied: names, streets and numbers are invented, classes and roles are those that Maps uses.
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, quote_plus

from cocli.keys.identities import place_id_from_feature_id

STATE_VIEW = [[13240.1, -117.889, 33.94], [0, 0, 0], [1024, 768], 13.1]
SKELETON = '<div><div class="lXJj5c Hk4XGb"><div class="OBAKjf"><div class="q0z1yb"></div></div></div></div>'


@dataclass(frozen=True, slots=True)
class Business:
    """A made-up business, and how the page of its language writes what it says."""

    number: int = 1
    name: str = "Zum Blauen Ahorn"
    category: str | None = "Dachdecker"
    address: str | None = "Ilmweg 12"
    phone: str | None = "03643 555010"
    website: str | None = "https://blauer-ahorn.example/"
    rating: str | None = "4,5"
    reviews: str | None = "1.234"
    price: str | None = None
    status: tuple[str, ...] = ("Geöffnet", " ⋅ Schließt um 18:00")
    description: str | None = None
    stars_label: str = "{rating} Sterne {reviews} Rezensionen"
    no_reviews: str = "Keine Rezensionen"
    sponsored: bool = False
    lat: float = 50.98
    lon: float = 11.33
    visited: str = ""

    @property
    def feature_id(self) -> str:
        return f"0x47a41a{self.number:010x}:0x{0x9000000000000000 + self.number * 7919:x}"

    @property
    def place_id(self) -> str:
        return str(place_id_from_feature_id(self.feature_id))

    @property
    def kgmid(self) -> str:
        return f"/g/11b{self.number:06d}"

    @property
    def link(self) -> str:
        return (
            f"https://www.google.com/maps/place/{quote_plus(self.name)}/data=!4m7!3m6!1s{self.feature_id}!8m2"
            f"!3d{self.lat}!4d{self.lon}!16s{quote(self.kgmid, safe='')}!19s{self.place_id}?authuser=0&hl=de&rclk=1"
        )


def business(number: int, **changes: Any) -> Business:
    """One of many: the number makes it different from the others."""
    values: dict[str, Any] = {
        "number": number,
        "name": f"Betrieb am Teich {number}",
        "address": f"Teichgasse {number}",
        "phone": f"03643 {555000 + number}",
        "website": f"https://betrieb{number}.example/",
        "lat": round(50.9 + number / 1000, 6),
        "lon": round(11.3 + number / 1000, 6),
    }
    return Business(**(values | changes))


def _text(text: str) -> str:
    return html.escape(text)


def _dot(inner: str) -> str:
    return f'<span> <span aria-hidden="true">·</span> {inner}</span>'


def _stars(place: Business) -> str:
    if place.rating is None:
        return f'<span class="e4rVHe fontBodyMedium">{_text(place.no_reviews)}</span>'
    label = place.stars_label.format(rating=place.rating, reviews=place.reviews or "").strip()
    if place.reviews is None:
        label = place.stars_label.partition("{reviews}")[0].format(rating=place.rating).strip()
    count = f'<span class="UY7F9" aria-hidden="true">({_text(place.reviews)})</span>' if place.reviews else ""
    price = _dot(f"<span>{_text(place.price)}</span>") if place.price else ""
    return (
        f'<span class="e4rVHe fontBodyMedium"><span role="img" class="ZkP5Je" aria-label="{_text(label)}">'
        f'<span class="MW4etd" aria-hidden="true">{_text(place.rating)}</span><div class="QBUL8c"></div>{count}</span>'
        f"</span>{price}"
    )


def _lines(place: Business) -> str:
    first = [f"<span><span>{_text(place.category)}</span></span>"] if place.category else []
    if place.address:
        inner = f"<span>{_text(place.address)}</span>"
        first.append(_dot(inner) if first else f"<span>{inner}</span>")
    rows = [first] if first else []
    if place.description:
        rows.append([f"<span><span>{_text(place.description)}</span></span>"])
    last = []
    if place.status:
        spans = "".join(
            f'<span style="font-weight: 400; color: rgba(25,134,57,1.00);">{_text(text)}</span>'
            for text in place.status
        )
        last.append(f"<span><span>{spans}</span></span>")
    if place.phone:
        inner = f'<span class="UsdlK">{_text(place.phone)}</span>'
        last.append(_dot(inner) if last else f"<span>{inner}</span>")
    rows += [last] if last else []
    return "".join(f'<div class="W4Efsd">{"".join(row)}</div>' for row in rows)


_PICTURE = (
    '<div class="xwpmRb qisNDe"><div class="FQ2IWe p0Hhde"><img alt="" src="https://lh3.googleusercontent.com/p/'
    'AF1QipExampleExampleExampleExample=w80-h92-k-no" style="position: absolute; top: 50%; left: 50%; width: 163px;">'
    '<svg viewBox="0 0 24 24"><path d="M12 2C8.13 2 5 5.13 5 9c0 5.25 7 13 7 13s7-7.75 7-13z"></path></svg></div></div>'
)
_METADATA = "WyIwYWhVS0V3ankycU9fMjVDWEF4VldFRmtGSFc3VERQb1E4QmNJQ2lnQSIsbnVsbCwwXQ=="


def _directions(place: Business) -> str:
    return (
        f'<div class="etWJQ jym1ob kdfrQc WY7ZIb"><button class="g88MCb S9kvJb" jsaction="pane.wfvdle6;'
        f'keydown:pane.wfvdle6;mouseover:pane.wfvdle6;mouseout:pane.wfvdle6" aria-label="Route zu {_text(place.name)}" '
        f'data-value="Route" jslog="80860;track:click;mutable:true;metadata:{_METADATA}"><span class="DVeyrd">'
        f'<div class="OyjIsf zemfqc"></div><span class="Cw1rxd google-symbols NhBTye" aria-hidden="true">\ue52e</span>'
        f'</span><div class="R8c4Qb fontLabelMedium">Route</div></button></div>'
    )


def furniture(elements: int) -> str:
    """What stands around the list: filters, menus, controls of the map."""
    piece = (
        '<div class="L6Bbsd"><div role="presentation"><button class="e2moi KFBsfd" aria-label="Filter {n}" '
        'jsaction="pane.wfvdle{n};focus:pane.focusTooltip;blur:pane.blurTooltip" jslog="{n};track:click" tabindex="-1">'
        '<span class="google-symbols" aria-hidden="true">\ue5c5</span><span>Filter {n}</span></button></div></div>'
    )
    return "".join(piece.replace("{n}", str(number)) for number in range(elements // 5))


def card(place: Business, *, role: bool = True, website_label: str = "Website") -> str:
    """One card of the feed."""
    label = _text(place.name + place.visited)
    log = "18538" if place.sponsored else "12690"
    ad = (
        '<div class="OcdnDb"><h1 aria-label="Gesponsert"><span jslog="198205">Gesponsert</span></h1></div>'
        if place.sponsored
        else ""
    )
    article = f'role="article" aria-label="{_text(place.name)}" ' if role else ""
    button = ""
    if place.website:
        button = (
            f'<div class="etWJQ"><a class="lcr4fd S9kvJb" data-value="{website_label}" jslog="84919;track:click" '
            f'aria-label="x" href="{_text(place.website)}"><span class="google-symbols">\ue80b</span>'
            f'<div class="R8c4Qb">{website_label}</div></a></div>'
        )
    return (
        f'<div><div {article}class="Nv2PK" jsaction="mouseover:pane.wfvdle1"><a class="hfpxzc" aria-label="{label}" '
        f'href="{_text(place.link)}" jslog="{log};track:click"></a><div class="bfdHYd">{ad}<div class="lI9IFe">'
        f'<div class="y7PRA"><div class="Lui3Od"><div class="Z8fK3b"><div class="UaQhfb fontBodyMedium">'
        f'<div class="NrDZNb"><div class="qBF1Pd fontHeadlineSmall">{_text(place.name)}</div></div>'
        f'<div class="W4Efsd"><div class="AJB7ye"><span class="wZrhX"></span> {_stars(place)}</div></div>'
        f'<div class="W4Efsd">{_lines(place)}</div></div></div></div></div><div class="Rwjeuc">{button}'
        f'{_directions(place)}</div></div><div class="SpFAAb">{_PICTURE}</div><div class="qty3Ue">'
        f'<div class="ah5Ghc"><span>"Seit 1912 im Ilmtal, immer 5,0 Sterne (704)."</span></div></div>'
        f"</div></div></div>"
    )


END = '<div class="m6QErb"><div class="PbZDve"><p><span><span class="{mark}">{text}</span></span></p></div></div>'


def list_page(
    cards: list[str],
    *,
    language: str = "de",
    end: str | None = None,
    end_class: str = "HlvSq",
    limited: str | None = None,
    state: list[Any] | None = None,
    padding: int = 0,
) -> str:
    """A page with a feed. `end`: the words at its end; without them, more is being loaded."""
    tail = END.format(mark=end_class, text=_text(end)) if end else SKELETON
    notice = ""
    if limited:
        notice = (
            f'<div class="S3H0Nb"><span>{_text(limited)} <button jslog="295516; track:click">?</button></span></div>'
        )
    feed = '<div class="TFQHme"></div>'.join(cards)
    return (
        f"{_head(language, state, padding)}<div id='app-container'>{notice}<div role='main' aria-label='Ergebnisse'>"
        f"<div role='feed' aria-label='Ergebnisse' tabindex='-1'>{feed}{tail}</div></div></div></body></html>"
    )


def _head(language: str, state: list[Any] | None, padding: int) -> str:
    value = json.dumps(state or [STATE_VIEW]).replace("</", "<\\/")
    script = f"window.APP_INITIALIZATION_STATE={value};/*{'x' * padding}*/"
    return (
        f'<!DOCTYPE html><html itemscope="" itemtype="http://schema.org/Place" lang="{language}"><head>'
        f"<title>Karten</title><script>{script}</script></head><body>"
    )


def details_page(
    place: Business,
    *,
    language: str = "de",
    state: list[Any] | None = None,
    labels: tuple[str, str, str] = ("Adresse", "Website", "Telefon"),
    dialled: str | None = None,
    full_address: str | None = None,
    plus_code: str | None = None,
    beside: str = "",
) -> str:
    """The page of one place."""
    stars = ""
    if place.rating:
        count = ""
        if place.reviews:
            count = f'<span><span role="img" aria-label="{place.reviews} Rezensionen">({place.reviews})</span></span>'
        stars = (
            f'<div class="F7nice"><span><span aria-hidden="true">{place.rating}</span><span role="img" '
            f'aria-label="{place.rating} Sterne "></span></span>{count}</div>'
        )
    category = ""
    if place.category:
        category = f'<button class="DkEaL" jsaction="pane.wfvdle18.category">{_text(place.category)}</button>'
    items = ""
    if full_address or place.address:
        items += _item("button", "address", labels[0], full_address or place.address or "", "")
    if place.website:
        items += _item("a", "authority", labels[1], place.website.split("/")[2], f'href="{_text(place.website)}"')
    if place.phone:
        items += _item("button", f"phone:tel:{dialled or place.phone.replace(' ', '')}", labels[2], place.phone, "")
    if plus_code:
        items += _item("button", "oloc", "Plus Code", plus_code, "")
    return (
        f"{_head(language, state, 0)}<div id='app-container'>{beside}<div role='main' aria-label='{_text(place.name)}'>"
        f'<div class="TIHn2"><div class="tAiQdd"><div class="lMbq3e"><div><h1>{_text(place.name)}</h1></div>'
        f'<div class="LBgpqf"><div class="skqShb">{stars}<div><span>{category}</span></div></div>'
        f'</div></div></div></div><div role="region">{items}</div><h1 aria-label="Gesponsert">Gesponsert</h1>'
        f'<span role="img" aria-label="4,9 Sterne 1.020 Rezensionen"></span></div></div></body></html>'
    )


def _item(tag: str, kind: str, label: str, text: str, more: str) -> str:
    return (
        f'<{tag} class="CsEnBe" data-item-id="{_text(kind)}" aria-label="{label}: {_text(text)} " {more}>'
        f'<span class="google-symbols">\ue0c8</span><div class="Io6YTe">{_text(text)}</div></{tag}>'
    )


# --- JSON


def message(place: Business, *, country: str = "DE", international: str | None = None, **slots: Any) -> list[Any]:
    """The place message of a business. `slots`: `s7=[…]` sets slot 7."""
    made: list[Any] = [None] * 244
    made[2] = [place.address, "99423 Weimar"]
    rating = float(place.rating.replace(",", ".")) if place.rating else None
    reviews = int(place.reviews.replace(".", "")) if place.reviews else None
    made[4] = [None, None, place.price, [None, f"{place.reviews} Rezensionen"], None, None, None, rating, reviews]
    made[7] = [place.website, "x"] if place.website else None
    made[9] = [None, None, place.lat, place.lon]
    made[10], made[11], made[13] = place.feature_id, place.name, [place.category] if place.category else None
    made[30], made[39] = "Europe/Berlin", f"{place.address}, 99423 Weimar"
    made[76] = [["roofing_contractor"]] if place.category else None
    made[78], made[89] = place.place_id, place.kgmid
    made[88] = [None, "SearchResult.TYPE_SHOPPING"]
    if place.phone:
        forms = [[place.phone, 1], *([[international, 2]] if international else [])]
        made[178] = [[place.phone, forms, None, place.phone.replace(" ", "")]]
    made[183] = [None, ["Altstadt", place.address, place.address, "Weimar", "99423", "TH", country]]
    made[203] = [[["Montag", 1, [2026, 11, 16], [["8–17", [[8], [17, 30]]]]], ["Sonntag", 7, [2026, 11, 22], [["zu"]]]]]
    made[243] = country
    for name, value in slots.items():
        made[int(name[1:])] = value
    return made


def search_answer(messages: list[list[Any]], phrase: str = "dachdecker") -> bytes:
    """The answer to `/search?tbm=map`: entry 0 repeats the question."""
    entries = [[None] * 15, *([*[None] * 14, one] for one in messages)]
    return (")]}'\n" + json.dumps([[phrase, entries], STATE_VIEW])).encode()


def details_answer(one: list[Any]) -> bytes:
    """The answer to `/maps/preview/place`."""
    return (")]}'\n" + json.dumps([None, None, None, None, None, None, one])).encode()


def state_of(*answers: bytes, echo: Business | None = None) -> list[Any]:
    """The state embedded in a page: answers as strings, and the place that was asked for."""
    asked = None
    if echo:
        point = [None, None, echo.lat, echo.lon]
        asked = [echo.feature_id, echo.name, *[None] * 5, point, *[None] * 7, echo.kgmid, None, None, echo.place_id]
    strings = [None, None, *[answer.decode() for answer in answers]]
    return [
        STATE_VIEW,
        [[["m", [15, 5647, 13091], 13, [1, 2, 3]]]],
        None,
        strings,
        None,
        [None, None, None, [None, None, asked]],
    ]
