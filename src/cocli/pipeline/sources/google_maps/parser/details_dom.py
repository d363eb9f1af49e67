"""The panel of one place, as the page shows it: its heading, and lines that say by `data-item-id` what they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.pipeline.sources.google_maps.parser import links, phones
from cocli.pipeline.sources.google_maps.parser.list_dom import PLACE_LINKS
from cocli.pipeline.sources.google_maps.parser.numbers import plain
from cocli.pipeline.sources.google_maps.parser.place_message import PLUS_CODE
from cocli.pipeline.sources.google_maps.parser.sighting import tidy
from cocli.pipeline.sources.google_maps.parser.stars_dom import counted, shown_stars, stars_of
from cocli.pipeline.sources.google_maps.parser.tree import TreeElement, copied

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_ITEMS = "[data-item-id]"
_BELOW = f"{_ITEMS}, h2, [role='region'], [role='tablist'], [role='feed'], {PLACE_LINKS}"
"""What stands below the heading: lines of the panel, parts with headings of their own, other places."""
_CATEGORY = re.compile(r"(?:^|[.;\s])(?:pane\.)?[\w.]*\.category\b")
_LABEL = re.compile(r"[^:：]{1,40}[:：]\s*")
_PHONE = "phone:tel:"
_HIGHEST = 7
"""How far above the name the heading ends."""


@dataclass(frozen=True, slots=True)
class Panel:
    """What the panel of a place says. Which place it is stands elsewhere: in the address of the page, in its state."""

    name: str
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def is_business(self) -> bool:
        """An area or an address has a heading and perhaps a plus code, but nothing that only a business has."""
        return not {"category_labels", "rating", "phone", "website"}.isdisjoint(self.values)


def read_panel(tree: LexborHTMLParser) -> Panel | None:
    """The panel of a page, or None where it shows none."""
    main, heading = _find(tree)
    if heading is None or main is None:
        return _without_heading(tree)
    name = tidy(copied(heading).text())
    if name is None:
        return None
    values = {**_heading(heading), **_items(main)}
    return Panel(name, {key: value for key, value in values.items() if value not in (None, ())})


def _without_heading(tree: LexborHTMLParser) -> Panel | None:
    """A pane that has lines and no heading, as while a page loads: its label says what the place is called."""
    for main in tree.css('[role="main"][aria-label]')[:10]:
        name = tidy(main.attributes.get("aria-label"))
        if not name or main.css_first('[role="feed"], h1') is not None or main.css_first(_ITEMS) is None:
            continue
        button = main.css_first('button[jsaction*="category"]')
        near = _heading_values(copied(_top_of(button))) if button is not None else {}
        values = {**near, **_items(main)}
        return Panel(name, {key: value for key, value in values.items() if value not in (None, ())})
    return None


def _find(tree: LexborHTMLParser) -> tuple[LexborNode | None, LexborNode | None]:
    """The panel, and in it the heading that is its name: other headings are of advertisements."""
    best: tuple[LexborNode | None, LexborNode | None] = None, None
    for main in tree.css('[role="main"]')[:10]:
        if main.css_first('[role="feed"]') is not None:
            continue
        label = tidy(main.attributes.get("aria-label"))
        for heading in main.css("h1")[:5]:
            text = tidy(heading.text())
            if text and label and (text == label or label.startswith(text) or text.startswith(label)):
                return main, heading
            if text and best[1] is None and not heading.attributes.get("aria-label"):
                best = main, heading
    if best[0] is not None and best[0].css_first(_ITEMS) is not None:
        return best
    return (None, None)


# --- the heading


def _heading(heading: LexborNode) -> dict[str, Any]:
    """Rating, reviews and category stand near the name, above the first of the lines."""
    element = _around(heading)
    return _heading_values(element) if element is not None else {}


def _top_of(node: LexborNode) -> LexborNode:
    """The largest element around a node that holds no line of the panel."""
    for _ in range(_HIGHEST):
        outer = node.parent
        if outer is None or outer.attributes.get("role") == "main" or outer.css_first(_BELOW) is not None:
            break
        node = outer
    return node


def _heading_values(element: TreeElement) -> dict[str, Any]:
    values: dict[str, Any] = {"category_labels": _categories(element)}
    for inner in element.walk():
        found = stars_of(inner)
        if found is not None and "rating" not in values:
            values["rating"] = found.rating
            if found.count is not None:
                values["review_count"] = found.count
        elif "rating" in values and "review_count" not in values and found is None:
            number = counted(inner)
            if number is not None:
                values["review_count"] = number
    if "review_count" not in values:
        shown = shown_stars(element)
        if None not in (shown.rating, shown.count) and values.get("rating", shown.rating) == shown.rating:
            values |= {"rating": shown.rating, "review_count": shown.count}
    return values


def _around(heading: LexborNode) -> TreeElement | None:
    """The smallest element around the name that holds a category or a rating, and no line of the panel."""
    node = heading.parent
    for _ in range(_HIGHEST):
        if node is None or node.attributes.get("role") == "main" or node.css_first(_BELOW) is not None:
            return None
        if node.css_first('[jsaction*="category"]') is not None:
            return copied(node)
        if node.css_first('[role="img"][aria-label]') is not None:
            return copied(_with_category(node))
        node = node.parent
    return None


def _with_category(node: LexborNode) -> LexborNode:
    """One or two elements further, where the category stands below the rating."""
    outer = node.parent
    for _ in range(2):
        if outer is None or outer.css_first(_BELOW) is not None:
            break
        if outer.css_first('[jsaction*="category"]') is not None:
            return outer
        outer = outer.parent
    return node


def _categories(element: TreeElement) -> tuple[str, ...]:
    found = [
        text
        for inner in element.walk()
        if inner.tag == "button" and _CATEGORY.search(inner.get("jsaction")) and (text := tidy(inner.text()))
    ]
    return tuple(dict.fromkeys(found))


# --- the lines


def _items(main: LexborNode) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for node in main.css(_ITEMS)[:200]:
        kind = node.attributes.get("data-item-id") or ""
        if kind == "address":
            values.setdefault("address", _shown(node))
        elif kind == "authority":
            values.setdefault("website", _website(node))
        elif kind.startswith(_PHONE):
            values.update(_phone(node, kind.removeprefix(_PHONE)) if "phone" not in values else {})
        elif kind == "oloc":
            code = _shown(node)
            values.setdefault("plus_code", code if code and PLUS_CODE.fullmatch(code) else None)
        elif kind == "merchant":
            values.setdefault("claimed", False)
    return values


def _shown(node: LexborNode) -> str | None:
    """The text of a line. Its label says the same after the word for what it is, in the page's language."""
    element = copied(node)
    label = tidy(element.get("aria-label")) or ""
    texts = [
        text for inner in element.walk() for child in inner.children if isinstance(child, str) and (text := tidy(child))
    ]
    if not texts:
        if _LABEL.match(label):
            return tidy(_LABEL.sub("", label, count=1))
        return None
    label = plain(label)
    fitting = [text for text in texts if plain(text) in label] or ([] if label else texts)
    return max(fitting, key=len, default=None)


def _website(node: LexborNode) -> str | None:
    href = node.attributes.get("href")
    if href:
        return links.website(href)
    return _shown(node)  # an older form has a button that shows the domain


def _phone(node: LexborNode, dialled: str) -> dict[str, Any]:
    shown = _shown(node) or dialled
    if not phones.looks_like_phone(shown, least=3):
        return {}
    return {"phone": shown, "phone_e164": phones.e164([dialled, shown])}
