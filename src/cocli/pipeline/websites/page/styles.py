"""Two things that a page's own style sheet can say about a text: that nobody sees it, that it is shown backwards."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.websites.page.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Mapping

_HIDING = re.compile(
    r"(?:display\s{0,5}:\s{0,5}none|visibility\s{0,5}:\s{0,5}hidden|font-size\s{0,5}:\s{0,5}0(?:px|em|%)?\s{0,5}(?:[;!]|$))"
)
_OVERRIDE = re.compile(r"bidi-override")
_RTL = re.compile(r"direction\s{0,5}:\s{0,5}rtl")
_SIMPLE_SELECTOR = re.compile(r"[a-z0-9]{0,20}([.#][\w-]{1,100})\Z", re.IGNORECASE)
_BRACE = re.compile(r"[{}]")
_MAX_CSS = 300_000

_ALWAYS = frozenset(("style", "hidden", "dir"))
_BY_NAME = frozenset(("class", "id"))
_INLINE = words(
    """
    span b i em strong small font s u del ins code tt sup sub mark bdo bdi big q abbr var kbd
    """
)


@dataclass(frozen=True, slots=True)
class Styles:
    """Names of classes (`.name`) and ids (`#name`) that hide or reverse what carries them."""

    hidden: frozenset[str] = frozenset()
    backwards: frozenset[str] = frozenset()

    @property
    def concerned(self) -> frozenset[str]:
        """The attributes without which nothing here can apply to an element. Most elements have none of them."""
        if self.hidden or self.backwards:
            return _ALWAYS | _BY_NAME
        return _ALWAYS

    def hides(self, tag: str, attributes: Mapping[str, str | None]) -> bool:
        if "hidden" in attributes:
            return True
        style = attributes.get("style")
        if style and _HIDING.search(style.lower()):
            return True
        # A sheet hides menus, tabs and dialogs that a click shows; within a line of text it hides decoys.
        return bool(self.hidden) and tag in _INLINE and _carries(attributes, self.hidden)

    def reverses(self, tag: str, attributes: Mapping[str, str | None]) -> bool:
        if tag == "bdo" and (attributes.get("dir") or "").lower() == "rtl":
            return True
        style = (attributes.get("style") or "").lower()
        if _OVERRIDE.search(style) and (_RTL.search(style) or (attributes.get("dir") or "").lower() == "rtl"):
            return True
        return bool(self.backwards) and _carries(attributes, self.backwards)


def _carries(attributes: Mapping[str, str | None], names: frozenset[str]) -> bool:
    if any(f".{name}" in names for name in (attributes.get("class") or "").split()):
        return True
    return f"#{attributes.get('id')}" in names


def read_styles(sheets: list[str]) -> Styles:
    """What the style elements of a page say. Rules within `@media` and the like hold only at times: left out."""
    hidden: set[str] = set()
    backwards: set[str] = set()
    for sheet in sheets:
        css = sheet[:_MAX_CSS].lower()
        if "none" in css or "hidden" in css or "font-size" in css or "rtl" in css:
            for selectors, body in _plain_rules(sheet[:_MAX_CSS]):
                lowered = body.lower()
                if _HIDING.search(lowered):
                    hidden.update(_simple(selectors))
                elif _OVERRIDE.search(lowered) and _RTL.search(lowered):
                    backwards.update(_simple(selectors))
    return Styles(frozenset(hidden), frozenset(backwards))


def _plain_rules(css: str) -> list[tuple[str, str]]:
    """`selectors { body }` pairs at the top level."""
    rules = []
    depth, rule_start, body_start = 0, 0, 0
    for brace in _BRACE.finditer(css):
        if brace[0] == "{":
            if depth == 0:
                body_start = brace.end()
            depth += 1
            continue
        depth = max(depth - 1, 0)
        if depth == 0:
            selectors = css[rule_start : body_start - 1]
            if "@" not in selectors[-300:]:
                rules.append((selectors[-1000:], css[body_start : brace.start()]))
            rule_start = body_start = brace.end()
    return rules


def _simple(selectors: str) -> list[str]:
    found = (_SIMPLE_SELECTOR.match(selector.strip()) for selector in selectors.split(","))
    return [match[1] for match in found if match]
