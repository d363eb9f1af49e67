"""The lines of a card: rows of segments with a dot between them, each segment one thing that is said."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cocli.sources.google_maps.tree import Element

SEPARATORS = frozenset("·⋅•∙・")
_SPLIT = re.compile(r"\s+[·⋅•∙・]\s+")
_LINES = frozenset(("div", "p", "section", "li", "ul", "table", "tr", "td"))
_MOST = 40
"""Pieces of one line, and lines of one card."""
_LONGEST = 400
"""Characters of one piece: no address is longer."""
_CONTROLS = frozenset(("a", "button"))
PHONE_HINT = "UsdlK"
"""The class that marks a phone number; a hint beside its form."""
_REMARKABLE = re.compile(rf"role=|style=|{PHONE_HINT}")


@dataclass(slots=True, eq=False)
class Segment:
    """One thing that a line says. `styled`: in colour or weight of its own, as only open and closed are."""

    text: str
    styled: bool = False
    control: bool = False
    depth: int = 0
    hint: str = ""
    taken_by: str | None = None
    """The field whose value it is. A piece of a page is evidence for one field, never for two."""

    def take(self, field_name: str) -> str | None:
        """The text, for a field; None where it is another field's already."""
        if self.taken_by not in (None, field_name):
            return None
        self.taken_by = field_name
        return self.text


@dataclass(slots=True)
class Row:
    segments: list[Segment] = field(default_factory=list)

    @property
    def free(self) -> list[Segment]:
        """The segments that no field has taken."""
        return [segment for segment in self.segments if segment.taken_by is None]


def rows_of(element: Element) -> list[Row]:
    """The lines of an element, each as its segments, without empty ones."""
    rows: list[Row] = []
    stack = [element]
    while stack:
        current = stack.pop()
        inner = [child for child in current.elements if child.texts]
        own = any(isinstance(child, str) and child.strip() for child in current.children)
        if inner and not own and all(child.tag in _LINES for child in inner):
            stack += reversed(inner)
            continue
        row = Row(_segments(current))
        if row.segments:
            rows.append(row)
        if len(rows) == _MOST:
            break
    return rows


class _Leaf(NamedTuple):
    text: str
    styled: bool
    control: bool
    depth: int
    hint: str


def _leaves(row: Element) -> list[_Leaf]:
    leaves: list[_Leaf] = []
    stack: list[tuple[Element | str, bool, bool, int, str]] = [(row, False, False, -1, "")]
    while stack:
        item, styled, control, depth, hint = stack.pop()
        if isinstance(item, str):
            leaves.append(_Leaf(" ".join(item[:_LONGEST].split()), styled, control, depth, hint))
            if len(leaves) == _MOST:
                break
            continue
        if item.mentions(_REMARKABLE):
            if item.get("role") == "img" and item.get("data-tooltip"):
                continue  # an icon that is explained when pointed at
            styled = styled or (item is not row and _is_styled(item))
            hint = hint or (PHONE_HINT if PHONE_HINT in item.get("class").split() else "")
        control = control or (item is not row and item.tag in _CONTROLS)
        for child in reversed(item.children):
            stack.append((child, styled, control, depth + 1, hint))  # noqa: PERF401  a list in between costs more
    return [leaf for leaf in leaves if leaf.text]


def _is_styled(element: Element) -> bool:
    style = element.get("style")
    return "color" in style or "font-weight" in style


def _segments(row: Element) -> list[Segment]:
    segments: list[Segment] = []
    joined = False
    for leaf in _leaves(row):
        if leaf.text in SEPARATORS and not leaf.styled:
            joined = False
            continue
        joined = joined and (leaf.styled or leaf.text[0] not in SEPARATORS)
        for number, piece in enumerate(_pieces(leaf)):
            if joined and number == 0 and segments:
                last = segments[-1]
                segments[-1] = Segment(
                    f"{last.text} {piece}",
                    last.styled or leaf.styled,
                    last.control or leaf.control,
                    min(last.depth, leaf.depth),
                    last.hint or leaf.hint,
                )
            else:
                segments.append(Segment(piece, leaf.styled, leaf.control, leaf.depth, leaf.hint))
        joined = leaf.styled or leaf.text[-1] not in SEPARATORS
    return segments


def _pieces(leaf: _Leaf) -> list[str]:
    if leaf.styled:
        return [leaf.text]
    return [piece for piece in _SPLIT.split(leaf.text.strip("·⋅•∙・ ")) if piece]
