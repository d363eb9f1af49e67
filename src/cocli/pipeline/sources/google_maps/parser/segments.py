"""The lines of a card: rows of segments with a dot between them, each segment one thing that is said.

They are read in one pass over the text that lexbor writes out again: there every tag is closed and every attribute
quoted. A tree of its own would cost several times as much.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from cocli.pipeline.sources.google_maps.parser.stars_dom import labelled_stars
from cocli.pipeline.sources.google_maps.parser.tree import ATTRIBUTE, EMPTY, HIDDEN, SILENT, SYMBOLS, TOKEN, VOID

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.pipeline.sources.google_maps.parser.numbers import Stars

SEPARATORS = frozenset("·⋅•∙・")
PHONE_HINT = "UsdlK"
"""The class that marks a phone number; a hint beside its form."""
_SPLIT = re.compile(r"\s+[·⋅•∙・]\s+")
_LINES = frozenset(("div", "p", "section", "li", "ul", "table", "tr", "td"))
_CONTROLS = frozenset(("a", "button"))
_MOST = 200
"""Pieces of text of one card."""
_LONGEST = 400
"""Characters of one piece: no address is longer."""
_LONGEST_HTML = 100_000
_REMARKABLE = re.compile(rf"role=|style=|{PHONE_HINT}")
_STYLED, _HINTED, _CONTROL = 1, 2, 4
_PLAIN = (0, None)
"""Of an element that marks its text in no way."""


@dataclass(slots=True, eq=False)
class Segment:
    """One thing that a line says. `styled`: in colour or weight of its own, as open and closed are."""

    text: str
    styled: bool = False
    depth: int = 0
    hinted: bool = False
    led: bool = False
    """A dot stands before it: something was said, or would be, before it."""
    mended: bool = False
    """Several elements hold it, without a dot between them: it may be one thing, or two."""
    taken_by: str | None = None
    """The field whose value it is. A piece of a page is evidence for one field, never for two."""

    def take(self, field_name: str) -> str | None:
        """The text, for a field; None where it is another field's already."""
        if self.taken_by not in (None, field_name):
            return None
        self.taken_by = field_name
        return self.text


@dataclass(slots=True)
class SegmentRow:
    segments: list[Segment] = field(default_factory=list)

    @property
    def free(self) -> list[Segment]:
        """The segments that no field has taken."""
        return [segment for segment in self.segments if segment.taken_by is None]


class Leaf(NamedTuple):
    """A piece of text, and what it stands in."""

    text: str
    flags: int
    depth: int
    """Elements between it and its line."""
    row: int
    group: int


@dataclass(slots=True)
class Group:
    """What one element beside the name holds: pieces of text, and stars where it has a picture of them."""

    leaves: list[Leaf]
    stars: Stars | None = None

    @property
    def text(self) -> str:
        return " ".join(leaf.text for leaf in self.leaves)

    def rows(self) -> list[SegmentRow]:
        """The lines, each as its segments, without empty ones."""
        found = (_segments(leaves) for _, leaves in groupby(self.leaves, attrgetter("row")))
        return [SegmentRow(segments) for segments in found if segments]


class _Picture(NamedTuple):
    """A picture with a label: perhaps stars."""

    label: str
    start: int
    """Number of pieces of text before it."""


def groups_of(html: str) -> list[Group]:
    """What the elements in an element hold. None of it where a link or a button holds text: that is the card itself."""
    leaves: list[Leaf] = []
    stars: dict[int, Stars] = {}
    stack: list[tuple[str, int, int, _Picture | None]] = []
    flags = row = nested = 0
    depth = group = -1
    silent = ""
    for closing, tag, written, text in TOKEN.findall(EMPTY.sub("", html[:_LONGEST_HTML])):
        if silent:
            if tag == silent:
                nested += -1 if closing else 1
                silent = silent if nested else ""
        elif text:
            if len(stack) > 1 and (text.isascii() or not SYMBOLS.fullmatch(text)):
                if flags & _CONTROL or len(leaves) == _MOST:
                    return []
                if said := _said(text):  # else it is nothing but spaces, such as `&nbsp;`
                    leaves.append(Leaf(said, flags, depth, row, group))
        elif closing:
            if not stack or stack[-1][0] != tag:
                continue  # the end of what was left out
            _, flags, depth, picture = stack.pop()
            if tag in _LINES:
                row += 1
            if picture is not None and group not in stars:
                _read_picture(picture, leaves, stars, group)
        elif tag and tag not in VOID:
            more, picture = _marks(tag, written, len(leaves)) if written and _REMARKABLE.search(written) else _PLAIN
            if more < 0 or tag in SILENT:
                silent, nested = tag, 1
                continue
            stack.append((tag, flags, depth, picture))
            flags |= more
            depth += 1
            if len(stack) == 2:
                group += 1
                row += 1
            if tag in _LINES:
                row, depth = row + 1, 0
            elif tag in _CONTROLS:
                flags |= _CONTROL
    return _grouped(leaves, stars)


def _said(text: str) -> str:
    return " ".join((unescape(text) if "&" in text else text)[:_LONGEST].split())


def _marks(tag: str, written: str, texts: int) -> tuple[int, _Picture | None]:
    """How an element marks its text; -1 where it is left out with all that it holds."""
    attributes = dict(ATTRIBUTE.findall(written))
    style = attributes.get("style", "")
    picture = None
    if attributes.get("role") == "img":
        label = attributes.get("aria-label")
        picture = _Picture(unescape(label), texts) if label else None
    if HIDDEN.search(style) or (attributes.get("role") == "img" and "data-tooltip" in attributes):
        return -1, None  # not shown, or an icon that is explained when pointed at
    marks = 0
    if tag not in _LINES and ("color" in style or "font-weight" in style):
        marks |= _STYLED
    if PHONE_HINT in attributes.get("class", "").split():
        marks |= _HINTED
    return marks, picture


def _read_picture(picture: _Picture, leaves: list[Leaf], stars: dict[int, Stars], group: int) -> None:
    """Stars are taken out: what is left of the line is price or kind."""
    found = labelled_stars(picture.label, [leaf.text for leaf in leaves[picture.start :]])
    if found is not None:
        stars[group] = found
        del leaves[picture.start :]


def _grouped(leaves: list[Leaf], stars: dict[int, Stars]) -> list[Group]:
    groups = {number: Group([], found) for number, found in stars.items()}
    for number, found in groupby(leaves, attrgetter("group")):
        if number in groups:
            groups[number].leaves += found
        else:
            groups[number] = Group(list(found))
    return [groups[number] for number in sorted(groups)]


def _segments(leaves: Iterable[Leaf]) -> list[Segment]:
    segments: list[Segment] = []
    joined = led = False
    for leaf in leaves:
        styled = bool(leaf.flags & _STYLED)
        if leaf.text in SEPARATORS and not styled:
            joined, led = False, True
            continue
        joined = joined and (styled or leaf.text[0] not in SEPARATORS)
        led = led or leaf.text[0] in SEPARATORS
        for number, piece in enumerate((leaf.text,) if styled else _pieces(leaf.text)):
            if joined and number == 0 and segments:
                _join(segments[-1], piece, leaf)
            else:
                hinted = bool(leaf.flags & _HINTED)
                segments.append(Segment(piece, styled, leaf.depth, hinted, led or number > 0))
        joined = styled or leaf.text[-1] not in SEPARATORS
        led = not joined
    return segments


def _join(last: Segment, piece: str, leaf: Leaf) -> None:
    last.text = f"{last.text} {piece}"
    last.mended = True
    last.styled = last.styled or bool(leaf.flags & _STYLED)
    last.hinted = last.hinted or bool(leaf.flags & _HINTED)
    last.depth = min(last.depth, leaf.depth)


def _pieces(text: str) -> list[str]:
    return [piece for piece in _SPLIT.split(text.strip("·⋅•∙・ ")) if piece]
