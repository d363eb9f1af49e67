"""The cards of a list of results, as the page shows them. Roles, labels, links and the order of lines are relied on.

A card is a link to the place (with all its ids), the name, a line with the rating, lines with category and address,
with a description, with open or closed and the phone, and buttons. Class names change and are hints at most.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.sources.google_maps import links, numbers, phones
from cocli.sources.google_maps.segments import PHONE_HINT, Row, Segment, rows_of
from cocli.sources.google_maps.sighting import Sighting, identify, tidy
from cocli.sources.google_maps.stars_dom import shown_stars, stars_of
from cocli.sources.google_maps.tree import Element, copied

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

FEED = '[role="feed"]'
PLACE_LINKS = 'a[href*="/maps/place/"]'
MAX_CARDS = 1_000
_MOST_LINKS = 4
"""Links to its place in one card. What has more is no card, but a whole list."""
_MAX_ELEMENTS = 150
_MAX_STEPS = 12
_NAME_HINT = ".fontHeadlineSmall"
_NAME_TEXTS = 3
"""Pieces that a name may be written in."""
_CONTROLS = ("a", "button")
_NAMES_PLACE = re.compile(r"(?:!|%21)(?:1s0x|19s|16[sz])")
_LOG_AD = "18538"
"""What Maps itself calls an advertisement, in every language; beside it the numbers of its label."""
_LOG_WEBSITE = "84919"
"""And the button that leads to a website."""
_WEBSITE_HINT = "lcr4fd"
"""The class of that button."""
_AD = (
    '[jslog^="18538"], [jslog^="198204"], [jslog^="198205"], [data-url*="adssettings.google"], '
    'a[href^="/aclk?"], a[href*="google.com/aclk?"], a[href*="/pagead/aclk?"]'
)
"""An advertisement by what it links to, or by what Maps calls it."""
_CLOCK = re.compile(r"\b[0-9]{1,2}:[0-9]{2}\b|\b[0-9]{1,2}\s?(?:[ap]\.?\s?m\b|uhr\b)|\b24\s?/\s?7\b", re.IGNORECASE)
_DISTANCE = re.compile(r"[0-9]+(?:[.,][0-9]+)?\s?(?:km|m|mi|ft|yd|м|км)\.?", re.IGNORECASE)
_HOTEL = re.compile(r"(?=[^0-9]*[1-5][^0-9]*$).*[^\W\d_].{0,40}")
"""`4-star hotel`, in any language: one digit, and a word."""
_NUMBERED = re.compile(r"[0-9](?!D\b)")
"""A number as streets have them; `3D printing` is a kind of business."""
_AMOUNT = re.compile(
    r"(?:[^\W\d_]{1,4}\.?\s?)?[0-9][0-9.,'’\s]*(?:[–-]\s?[0-9][0-9.,'’\s]*)?\+?(?:\s?[^\W\d_]{1,4}\.?)?"
)
_PRICE = 24
"""Characters of the longest price, `US$100.000–200.000`."""
_CLOSED = {
    "permanently_closed": frozenset(
        (
            *("permanently closed", "dauerhaft geschlossen", "définitivement fermé", "cerrado permanentemente"),
            *("chiuso definitivamente", "permanentemente fechado", "fechado permanentemente", "permanent gesloten"),
        )
    ),
    "temporarily_closed": frozenset(
        (
            *("temporarily closed", "vorübergehend geschlossen", "temporairement fermé", "cerrado temporalmente"),
            *("chiuso temporaneamente", "temporariamente fechado", "fechado temporariamente", "tijdelijk gesloten"),
        )
    ),
}


def read_list(tree: LexborHTMLParser) -> list[Sighting]:
    """The places of a list in the order of the page, one per card: an advertisement repeats a place."""
    pairs = [(link, _card_of(link)) for link in card_links(tree)[:MAX_CARDS]]
    shared = Counter(card.mem_id for _, card in pairs)
    cards = [read_card(link, card if shared[card.mem_id] <= _MOST_LINKS else link) for link, card in pairs]
    return [card for card in cards if card is not None]


def card_links(tree: LexborHTMLParser) -> list[LexborNode]:
    """The links of the cards: those of the feed, or all where only a piece of a page is given."""
    feed = tree.css_first(FEED)
    if feed is None and tree.css_first('[role="main"] [data-item-id]') is not None:
        return []  # the page of one place: what it links to are other places
    found = (feed if feed is not None else tree).css(PLACE_LINKS)
    return [node for node in found if _NAMES_PLACE.search(node.attributes.get("href") or "")]


def _card_of(link: LexborNode) -> LexborNode:
    """The article that a link is in; else what stands in the feed; else what the link stands in."""
    node = parent = link.parent
    below = link
    for _ in range(8):
        if node is None or node.tag in ("body", "html"):
            break
        if node.attributes.get("role") == "article":
            return node
        if node.attributes.get("role") == "feed":
            return below
        below = node
        node = node.parent
    return parent if parent is not None else link


@dataclass(slots=True)
class _Reading:
    """What was found on a card so far."""

    values: dict[str, Any] = field(default_factory=dict)

    def know(self, name: str, value: Any) -> None:
        if value is not None and value != ():
            self.values.setdefault(name, value)


def read_card(anchor: LexborNode, card: LexborNode) -> Sighting | None:
    """What a card says that has this link, or None where it is no card of a place."""
    link = links.read_place_link(anchor.attributes.get("href") or "")
    identity = identify(place_id=link.place_id, feature_id=link.feature_id, kgmid=link.kgmid)
    labels = [label for node in (anchor, card) if (label := tidy(node.attributes.get("aria-label")))]
    shown, name = _name(card, labels or [link.name or ""])
    name = name or next(iter(labels), None) or tidy(link.name)
    if identity is None or name is None:
        return None
    reading = _Reading()
    reading.know("lat", link.lat)
    reading.know("lon", link.lon)
    if shown is not None:
        _read_lines(_beside(shown, name), reading)
    reading.know("website", _website(card))
    sponsored = (anchor.attributes.get("jslog") or "").startswith(_LOG_AD) or card.css_first(_AD) is not None
    return Sighting(identity, name, reading.values, sponsored)


# --- the name, and what stands beside it


def _name(card: LexborNode, labels: list[str]) -> tuple[LexborNode | None, str | None]:
    """The element that shows what the card is called, looked for where it usually is, then everywhere."""
    for selector in (_NAME_HINT, "div, span, h1, h2, h3"):
        for node in card.css(selector)[:_MAX_ELEMENTS]:
            text = tidy(node.text())
            # A label may say more than the page shows: `Name · Visited link`.
            if text and any(text == label or label.startswith(f"{text} ·") for label in labels):
                return node, text
    return None, None


def _beside(shown: LexborNode, name: str) -> list[Element]:
    """What stands beside the name, in the smallest element that holds more than the name."""
    node = shown.parent
    for _ in range(_MAX_STEPS):
        if node is None:
            return []
        if tidy(node.text()) != name:
            break
        node = node.parent
    if node is None:
        return []
    around = copied(node)
    if any(below.tag in _CONTROLS and below.texts for below in around.all or ()):
        return []  # the card itself: beside the name stand only buttons
    return [child for child in around.elements if child.texts and (child.texts > _NAME_TEXTS or child.text() != name)]


def _website(card: LexborNode) -> str | None:
    for node in card.css("a[href]"):
        attributes = node.attributes
        log = attributes.get("jslog") or ""
        hinted = not log and _WEBSITE_HINT in (attributes.get("class") or "").split()
        if hinted or log.startswith(_LOG_WEBSITE) or attributes.get("data-value") == "Website":
            return links.website(attributes.get("href"))
    return None


# --- the lines


def _read_lines(groups: list[Element], reading: _Reading) -> None:
    rated = next((number for number, group in enumerate(groups) if _take_stars(group, reading)), None)
    # Without a rating, the first line says so, where there is more than one.
    body = groups[rated + 1 :][:1] if rated is not None else groups[1:2] or groups
    rows = [row for group in body for row in rows_of(group)]
    if rated is None and len(groups) == 1 and _is_note(rows):
        rows = []
    for row in rows:
        _take_phone(row, reading)
    is_hotel = rated is not None and _read_rating_line(groups[rated], reading)
    if rows and not is_hotel:
        _take_category_and_address(rows[0], reading)
    for row in rows:
        _take_status(row, reading)


def _take_stars(group: Element, reading: _Reading) -> bool:
    """Reads the stars of a line and takes them out of it: what is left is price or kind."""
    for element in group.walk():
        found = stars_of(element)
        if found is not None:
            reading.know("rating", found.rating)
            reading.know("review_count", found.count)
            if element.parent is not None:
                element.parent.drop(element)
            return True
    return _take_bare_stars(group, reading)


def _take_bare_stars(group: Element, reading: _Reading) -> bool:
    """A rating without a label: `4.5` and `(216)` in elements of their own, in the first line."""
    shown = shown_stars(group)
    text = numbers.plain(group.text())
    if shown.rating is None or not re.match(r"[0-5][.,\u066b][0-9]", text):
        return False
    reading.know("rating", shown.rating)
    reading.know("review_count", shown.count)
    for element in list(group.walk()):
        for child in [child for child in element.children if isinstance(child, str) and _is_numeric(child)]:
            element.drop(child)
    return True


def _is_numeric(text: str) -> bool:
    text = numbers.plain(text)
    return numbers.rating(text) is not None or numbers.count(text) is not None


def _is_note(rows: list[Row]) -> bool:
    """`No reviews` stands right in its line; what describes a place is set off once more."""
    return len(rows) == 1 and len(rows[0].segments) == 1 and rows[0].segments[0].depth < 2


def _read_rating_line(group: Element, reading: _Reading) -> bool:
    """The price, and for a hotel its stars. Says whether it was a hotel: its next lines name what it offers."""
    is_hotel = False
    for row in rows_of(group):
        for segment in row.free:
            if _is_price(segment.text):
                reading.know("price", segment.take("price"))
            elif not segment.styled and not segment.control and _HOTEL.fullmatch(numbers.plain(segment.text)):
                reading.know("category_labels", (segment.take("category_labels"),))
                is_hotel = True
    return is_hotel


def _is_price(text: str) -> bool:
    """`$$`, `10–20 €`, `AED 50–100`."""
    if len(text) > _PRICE:
        return False
    if "$" in text or (not text.isascii() and any(unicodedata.category(character) == "Sc" for character in text)):
        return True
    text = numbers.plain(text)
    return _AMOUNT.fullmatch(text) is not None and sum(character.isdigit() for character in text) > 1


def _take_phone(row: Row, reading: _Reading) -> None:
    first = not any(segment.hint or segment.styled for segment in row.segments) and len(row.segments) > 1
    for segment in row.free:
        hinted = segment.hint == PHONE_HINT
        if segment.control or segment.styled or (first and not hinted):
            continue
        if phones.looks_like_phone(segment.text, least=3 if hinted else phones.MIN_DIGITS):
            reading.know("phone", segment.take("phone"))


def _take_category_and_address(row: Row, reading: _Reading) -> None:
    """`Category · Address`, either of which may be missing. Open or closed and a phone are of another line."""
    if row.segments[0].styled or row.segments[0].taken_by:
        return
    said = [segment for segment in row.free if not (segment.styled or segment.control or _is_aside(segment))]
    if len(said) > 1:
        _take_category(said[0], reading)
        _take_address(said[-1], reading)
    elif said and _NUMBERED.search(numbers.plain(said[0].text)):
        _take_address(said[0], reading)
    elif said:
        _take_category(said[0], reading)


def _is_aside(segment: Segment) -> bool:
    text = numbers.plain(segment.text)
    return "$" in text or _DISTANCE.fullmatch(text) is not None or (not text.isascii() and _is_price(text))


def _take_category(segment: Segment, reading: _Reading) -> None:
    if any(character.isalpha() for character in segment.text):
        reading.know("category_labels", (segment.take("category_labels"),))


def _take_address(segment: Segment, reading: _Reading) -> None:
    if any(character.isalnum() for character in segment.text) and not _tells_time(segment.text):
        reading.know("address", segment.take("address"))


def _tells_time(text: str) -> bool:
    """`Opens 12 PM` is no address."""
    return _CLOCK.search(numbers.plain(text)) is not None


def _take_status(row: Row, reading: _Reading) -> None:
    for segment in row.segments:
        if segment.styled:
            words = segment.text.casefold().split(" ·")[0].split(" ⋅")[0].strip()
            for status, known in _CLOSED.items():
                if words in known:
                    reading.know("business_status", status)
