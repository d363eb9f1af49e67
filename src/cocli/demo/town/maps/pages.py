"""The pages of the map site: a list of results, one place, the consent page, and those that block or fail."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocli.demo.town.maps.place_message import details_answer, message_of
from cocli.demo.town.maps.search import TownSearch, altitude

if TYPE_CHECKING:
    from cocli.demo.town.business import Business
    from cocli.demo.town.town import Town

PREFIX = ")]}'\n"
CONSENT_PATH = "/consent.google.com/"
"""Stands for the host that asks for consent: the cookie has to be one of this site."""
CONSENT_WORDS = {
    "en": ("Before you continue", "Reject all", "Accept all"),
    "de": ("Bevor Sie fortfahren", "Alle ablehnen", "Alle akzeptieren"),
    "fr": ("Avant de continuer", "Tout refuser", "Tout accepter"),
    "el": ("Προτού συνεχίσετε", "Απόρριψη όλων", "Αποδοχή όλων"),
    "ja": ("続行する前に", "すべて拒否", "すべて同意"),
}
"""Title, refusal and consent."""
_END = {
    "en": "You've reached the end of the list.",
    "de": "Das Ende der Liste ist erreicht.",
    "fr": "Vous êtes arrivé à la fin de la liste.",
    "el": "Φτάσατε στο τέλος της λίστας.",
    "ja": "リストの最後に到達しました。",
}
_STYLE = (
    "<style>body{margin:0;font:14px sans-serif;display:flex;height:100vh}"
    ".side{width:408px;display:flex;flex-direction:column}"
    "[role=feed]{overflow-y:auto;flex:1;padding:8px}.Nv2PK{position:relative;padding:10px;border-bottom:1px solid #ddd}"
    ".hfpxzc{position:absolute;inset:0}.qBF1Pd{font-weight:bold}.map{flex:1;background:#e5e3df}h1{font-size:14px}"
    ".lcr4fd{position:relative}[role=main]{padding:12px;overflow-y:auto}</style>"
)
_LIMITED = (
    '<div class="limited" role="status">You’re seeing a limited view of Google Maps. '
    '<a jslog="295516; track:click" href="https://support.google.com/maps">Learn more</a> '
    '<a href="https://accounts.google.com/ServiceLogin?service=local">Sign in</a></div>'
)


def json_body(value: object) -> bytes:
    """An answer as the map gives it: no page of somebody else can run it as a script."""
    return (PREFIX + json.dumps(value, ensure_ascii=False, separators=(",", ":"))).encode()


def list_page(town: Town, search: TownSearch, ads: list[Business], *, language: str, limited: bool) -> str:
    """The results of a search. The cards come by a script, as on the real page."""
    asked = {
        "phrase": search.phrase,
        "lat": search.lat,
        "lon": search.lon,
        "zoom": search.zoom,
        "altitude": altitude(search),
        "end": _END[language],
        "ads": [message_of(business, town.region, limited=limited) for business in ads],
    }
    label = escape(f"Results for {search.phrase}", quote=True)
    body = (
        f'<div class="side">{_LIMITED if limited else ""}'
        f'<div class="m6QErb" role="feed" aria-label="{label}" tabindex="-1">'
        '<div class="loading"><div role="progressbar"></div></div></div></div><div class="map"></div>'
        f'<script type="application/json" id="asked">{_safe(asked)}</script>'
        f"<script>{Path(__file__).with_name('feed.js').read_text('utf-8')}</script>"
    )
    return _page(f"{search.phrase} - Google Maps", language, _state(search, None), body)


def empty_page(search: TownSearch, *, language: str) -> str:
    """A search without any result: words, and no list."""
    words = f"Google Maps can't find {escape(search.phrase)}"
    body = f'<div class="side"><div role="main"><div class="Q2vNVc">{words}</div></div></div><div class="map"></div>'
    return _page(f"{search.phrase} - Google Maps", language, _state(search, None), body)


def place_page(town: Town, business: Business, *, language: str, limited: bool) -> str:
    """The page of one place: its message in the state, and the panel."""
    search = TownSearch(business.name, business.spot.lat, business.spot.lon, 17.0)
    state = _state(search, PREFIX + json.dumps(details_answer(business, town.region, limited=limited)))
    notice = _LIMITED if limited else ""
    panel = f'<div class="side">{notice}{_panel(business, limited=limited)}</div><div class="map"></div>'
    return _page(f"{business.name} - Google Maps", language, state, panel)


def _panel(business: Business, *, limited: bool) -> str:
    name = escape(business.name, quote=True)
    stars = ""
    if business.rating is not None and business.review_count is not None:
        count = f'<span role="img" aria-label="{business.review_count:,} reviews">({business.review_count:,})</span>'
        stars = (
            f'<div class="F7nice"><span><span aria-hidden="true">{business.rating:.1f}</span><span role="img" '
            f'aria-label="{business.rating:.1f} stars "></span></span>{"" if limited else count}</div>'
        )
    items = [_item("button", "address", "Address", business.address)]
    website = business.website_in("google-maps")
    if website:
        shown = website.partition("://")[2].partition("/")[0].removeprefix("www.")
        items.append(_item("a", "authority", "Website", shown, href=website))
    if business.national_phone:
        items.append(_item("button", f"phone:tel:{business.phone}", "Phone", business.national_phone))
    closed = ""
    if business.status == "permanently_closed":
        closed = '<div class="ZDu9vd"><span>Permanently closed</span></div>'
    return (
        f'<div class="m6QErb" role="main" aria-label="{name}"><h1 class="DUwDvf lfPIob">{name}</h1>{stars}'
        f'<span><button class="DkEaL" jsaction="pane.category">{escape(business.trade.map_label)}</button></span>'
        f"{closed}"
        f"{''.join(items)}</div>"
    )


def _item(tag: str, item: str, label: str, text: str, href: str = "") -> str:
    link = f' href="{escape(href, quote=True)}"' if href else ""
    shown = escape(text, quote=True)
    return (
        f'<div class="RcCsl"><{tag} class="CsEnBe" aria-label="{label}: {shown} " '
        f'data-item-id="{escape(item, quote=True)}"{link}>'
        f'<div class="rogA2c"><div class="Io6YTe fontBodyMedium">{shown}</div></div></{tag}></div>'
    )


def _state(search: TownSearch, answer: str | None) -> list[Any]:
    view = [[altitude(search), search.lon, search.lat], [0, 0, 0], [1024, 768], search.zoom]
    return [view, [], None, None if answer is None else {"wf": [None, None, None, None, None, None, answer]}]


def _page(title: str, language: str, state: list[Any], body: str) -> str:
    return (
        f'<!DOCTYPE html><html itemscope="" itemtype="http://schema.org/Place" lang="{language}"><head>'
        '<meta charset="utf-8">'
        f"<title>{escape(title)}</title>{_STYLE}<script>window.APP_INITIALIZATION_STATE={_safe(state)};"
        f"window.APP_FLAGS=[1,0,0];</script></head><body>{body}</body></html>\n"
    )


def _safe(value: object) -> str:
    """JSON that can stand in a script."""
    return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c")


def consent_page(language: str, goes_on: str) -> str:
    """Two forms and no other way: one refuses, one consents."""
    title, refuse, accept = CONSENT_WORDS[language]
    forms = "".join(_consent_form(words, goes_on, answer) for words, answer in ((refuse, "false"), (accept, "true")))
    return (
        f'<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8"><title>{title}</title></head>'
        f'<body><div class="saveButtonContainer"><h1>{title}</h1>{forms}</div></body></html>\n'
    )


def _consent_form(words: str, goes_on: str, accepts: str) -> str:
    hidden = {"gl": "DE", "m": "0", "app": "0", "pc": "m", "x": "8", "continue": goes_on, "set_eom": accepts}
    inputs = "".join(
        f'<input type="hidden" name="{name}" value="{escape(value, quote=True)}">' for name, value in hidden.items()
    )
    return (
        f'<form action="{CONSENT_PATH}save" method="POST">{inputs}<button aria-label="{words}">{words}</button></form>'
    )


def sorry_page(goes_on: str) -> str:
    """What whoever asks too much gets to see."""
    return (
        '<!DOCTYPE html><html><head><meta charset="utf-8"><title>Sorry</title></head><body>'
        '<form id="captcha-form" action="/sorry/index" method="post">'
        f'<input type="hidden" name="continue" value="{escape(goes_on, quote=True)}">'
        '<div id="recaptcha" class="g-recaptcha" data-sitekey="town"></div></form>'
        "<p>Our systems have detected unusual traffic from your computer network.</p></body></html>\n"
    )


def error_page() -> str:
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Error 500 (Server Error)!!1</title></head>'
        "<body><p><b>500.</b> That’s an error.</p><p>There was an error. Please try again later.</p></body></html>\n"
    )
