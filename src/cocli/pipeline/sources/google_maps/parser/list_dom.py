"""The cards of a list of results, as the page shows them. Roles, labels, links and the order of lines are relied on.

A card is a link to the place (with all its ids), the name, a line with the rating, lines with category and address,
with a description, with open or closed and the phone (`card_lines`), and buttons. Class names are hints at most.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.pipeline.sources.google_maps.parser import links, numbers
from cocli.pipeline.sources.google_maps.parser.card_lines import read_lines
from cocli.pipeline.sources.google_maps.parser.segments import groups_of
from cocli.pipeline.sources.google_maps.parser.sighting import Sighting, identify, tidy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from cocli.pipeline.sources.google_maps.parser.segments import Group

FEED = '[role="feed"]'
PLACE_LINKS = 'a[href*="/maps/place/"]'
MAX_CARDS = 1_000
_MOST_LINKS = 4
"""Links to its place in one card. What has more is no card, but a whole list."""
_MAX_ELEMENTS = 150
_MAX_STEPS = 12
_NAME_HINT = ".fontHeadlineSmall"
_NAMES_PLACE = re.compile(r"(?:!|%21)(?:1s0x|19s|16[sz])")
_LOG_AD = "18538"
"""What Maps itself calls an advertisement, in every language; beside it the numbers of its label."""
_LOG_WEBSITE = "84919"
"""And the button that leads to a website."""
_WEBSITE_HINT = "lcr4fd"
"""The class of that button."""
_SIGNS = frozenset({"rating", "review_count", "phone", "website", "business_status", "price"})
_ADDRESS_NAME = re.compile(
    r"\d{1,6}[a-z]?(?:[-–/]\d{1,5}[a-z]?)?,? [^\d,]{3,60}(?:,.*)?|[^\d,]{4,60}[ ,]\d{1,5} ?[a-z]?(?:[-–/]\d{1,5})?,.*"
    r"|(?:[^\d,]{1,40} )?\d{4,6}(?:-\d{3,4})?|[23456789CFGHJMPQRVWX]{4,8}\+[23456789CFGHJMPQRVWX]{2,3}.*"
    r"|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}",
    re.IGNORECASE,
)
"""`355 State St, Los Altos`, `Hauptstraße 5, 10115 Berlin`, a postcode, a plus code."""
_KNOWN_AREA = "/m/"
"""Towns and regions have ids of the older kind; a business that has one is so well known that it is rated."""
_AD = (
    '[jslog^="18538"], [jslog^="198204"], [jslog^="198205"], [data-url*="adssettings.google"], '
    'a[href^="/aclk?"], a[href*="google.com/aclk?"], a[href*="/pagead/aclk?"]'
)
"""An advertisement by what it links to, or by what Maps calls it."""


@dataclass(frozen=True, slots=True)
class _Page:
    """What is true of all cards of a page."""

    whole: bool
    """It has a feed. Else it may be a piece of a page, or one that only links to Maps."""
    advertises: bool


def read_list(tree: LexborHTMLParser) -> list[Sighting]:
    """The places of a list in the order of the page, one per card: an advertisement repeats a place."""
    found = card_links(tree)[:MAX_CARDS]
    alone = {} if tree.css_first(FEED) is not None else _alone(found)
    pairs = [(link, _card_of(link, alone)) for link in found]
    if not pairs:
        return []
    shared = Counter(card.mem_id for _, card in pairs)
    feed = tree.css_first(FEED)
    page = _Page(feed is not None, (feed or tree).css_first(_AD) is not None)
    cards = [read_card(link, card if shared[card.mem_id] <= _MOST_LINKS else link, page) for link, card in pairs]
    return [card for card in cards if card is not None]


def card_links(tree: LexborHTMLParser) -> list[LexborNode]:
    """The links of the cards: those of the feed, or all where only a piece of a page is given."""
    feed = tree.css_first(FEED)
    if feed is None and tree.css_first('[role="main"] [data-item-id]') is not None:
        return []  # the page of one place: what it links to are other places
    found = (feed if feed is not None else tree).css(PLACE_LINKS)
    return [node for node in found if _NAMES_PLACE.search(node.attributes.get("href") or "")]


def _card_of(link: LexborNode, alone: dict[int, LexborNode]) -> LexborNode:
    """The article that a link is in; else what stands in the feed; else what links to this place and no other."""
    node = link.parent
    below = link
    for _ in range(8):
        if node is None or node.tag in ("body", "html"):
            break
        role = node.attributes.get("role")
        if role == "article":
            return node
        if role == "feed":
            return below
        below = node
        node = node.parent
    return alone.get(link.mem_id, link)


def _alone(found: Sequence[LexborNode]) -> dict[int, LexborNode]:
    """Link → the largest element around it that links to no other place. Each element is looked at once per link."""
    around = [(link, list(_around(link))) for link in found]
    places: dict[int, set[str]] = {}
    counts: Counter[int] = Counter()
    for link, chain in around:
        target = links.read_place_link(link.attributes.get("href") or "").feature_id or ""
        for node in chain:
            places.setdefault(node.mem_id, set()).add(target)
            counts[node.mem_id] += 1
    cards = {}
    for link, chain in around:
        own = [node for node in chain if len(places[node.mem_id]) == 1 and counts[node.mem_id] <= _MOST_LINKS]
        cards[link.mem_id] = own[-1] if own else link.parent or link
    return cards


def _around(link: LexborNode) -> Iterator[LexborNode]:
    node = link.parent
    for _ in range(_MAX_STEPS):
        if node is None or node.tag in ("body", "html"):
            return
        yield node
        node = node.parent


def read_card(anchor: LexborNode, card: LexborNode, page: _Page) -> Sighting | None:
    """What a card says that has this link, or None where it is no card of a place."""
    attributes = anchor.attributes
    link = links.read_place_link(attributes.get("href") or "")
    identity = identify(place_id=link.place_id, feature_id=link.feature_id, kgmid=link.kgmid)
    label = tidy(attributes.get("aria-label"))
    if identity is None or not (label or page.whole):
        return None
    labels = [text for text in (label, tidy(card.attributes.get("aria-label"))) if text]
    shown, name = _name(card, labels or [link.name or ""])
    if name is None and page.whole:
        name = next(iter(labels), None) or tidy(link.name)
    if name is None:
        return None
    values = read_lines(_beside(shown, name)) if shown is not None else {}
    known = (("lat", link.lat), ("lon", link.lon), ("website", _website(card)))
    values.update((field, value) for field, value in known if value is not None)
    advertised = (attributes.get("jslog") or "").startswith(_LOG_AD)
    advertised = advertised or (page.advertises and card.css_first(_AD) is not None)
    if not advertised and not _is_business(name, values, link.kgmid):
        return None
    return Sighting(identity, name, values, advertised)


def _is_business(name: str, values: dict[str, Any], kgmid: str | None) -> bool:
    """A street address, a postcode or an area may stand in a list: it shows nothing that only a business has."""
    if _SIGNS & values.keys() or {"category_labels", "address"} <= values.keys():
        return True
    return _ADDRESS_NAME.fullmatch(numbers.plain(name)) is None and not (kgmid or "").startswith(_KNOWN_AREA)


def _name(card: LexborNode, labels: list[str]) -> tuple[LexborNode | None, str | None]:
    """The element that shows what the card is called, looked for where it usually is, then everywhere."""
    for selector in (_NAME_HINT, "div, span, h1, h2, h3"):
        for node in card.css(selector)[:_MAX_ELEMENTS]:
            text = tidy(node.text())
            # A label may say more than the page shows: `Name · Visited link`.
            if text and any(text == label or label.startswith(f"{text} ·") for label in labels):
                return node, text
    return None, None


def _beside(shown: LexborNode, name: str) -> list[Group]:
    """What stands beside the name, in the smallest element that holds more than the name."""
    node = shown.parent
    for _ in range(_MAX_STEPS):
        if node is None or tidy(node.text()) != name:
            break
        node = node.parent
    if node is None:
        return []
    squeezed = name.replace(" ", "")
    groups = groups_of(node.html or "")
    return [group for group in groups if group.stars or group.text.replace(" ", "") != squeezed]


def _website(card: LexborNode) -> str | None:
    for node in card.css("a[href]"):
        attributes = node.attributes
        log = attributes.get("jslog") or ""
        hinted = not log and _WEBSITE_HINT in (attributes.get("class") or "").split()
        if hinted or log.startswith(_LOG_WEBSITE) or attributes.get("data-value") == "Website":
            return links.website(attributes.get("href"))
    return None
