"""vCards of versions 2.1, 3.0 and 4.0: the properties that say who a company is and how to reach it."""

from __future__ import annotations

import quopri
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.pipeline.sources.imports.decoding import decode
from cocli.pipeline.sources.imports.rows import ImportRow, ImportTable, RefusedRow

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROPERTY = re.compile(
    r"(?:[\w-]+\.)?(?P<name>[\w-]+)(?P<parameters>(?:;(?:\"[^\"]*\"|[^:;\"])*)*):(?P<value>.*)", re.DOTALL
)
_PIECES = re.compile(r"\\.|;|[^\\;]+|\\", re.DOTALL)
_TEXTS = {"FN": "fn", "URL": "website", "CATEGORIES": "category", "NOTE": "note"}
_PARTS_OF_NAME = "n"
_LONGEST_HEAD = 1_000
_ADDRESS = ("", "", "street", "city", "region", "postcode", "country")


@dataclass(frozen=True, slots=True)
class _Property:
    name: str
    parameters: str
    value: str

    @property
    def text(self) -> str:
        return _unescaped(self.value)

    @property
    def rank(self) -> tuple[int, bool]:
        """How much it is the company's: work before what is not said, home last; the preferred one first."""
        words = set(re.split(r"[;,=\"]", self.parameters))
        return 0 if "WORK" in words else 2 if "HOME" in words else 1, "PREF" not in words


def read_cards(data: bytes, *, file: str) -> ImportTable:  # noqa: ARG001  all readers are called alike
    """One row per card; a card that is not closed is refused."""
    decoded = decode(data)
    table = ImportTable("vcard", decoded.encoding)
    number, card = 0, list[_Property]()
    is_open = False
    for line in _unfolded(decoded.text):
        upper = line.strip().upper()
        if upper == "BEGIN:VCARD":
            if is_open:
                table.refused.append(RefusedRow(number, "the card is not closed by END:VCARD"))
            number, card, is_open = number + 1, [], True
        elif not is_open:
            continue
        elif upper == "END:VCARD":
            cells = _cells(card)
            table.see(cells)
            table.rows.append(ImportRow(number, cells))
            is_open = False
        elif match := _PROPERTY.fullmatch(line):
            card.append(_Property(match["name"].upper(), match["parameters"].upper(), match["value"]))
    if is_open:
        table.refused.append(RefusedRow(number, "the card is not closed by END:VCARD"))
    return table


def _unfolded(text: str) -> Iterator[str]:
    """Lines, with those that go on behind a blank, or behind `=` in quoted-printable, put together."""
    waiting: _FoldedLine | None = None
    for line in re.split(r"\r\n|\n|\r", text):
        if waiting is not None and waiting.is_to_be_continued:
            waiting.add(f"\n{line}")
        elif waiting is not None and line[:1] in (" ", "\t"):
            waiting.add(line[1:])
        else:
            if waiting is not None:
                yield str(waiting)
            waiting = _FoldedLine()
            waiting.add(line)
    if waiting is not None:
        yield str(waiting)


@dataclass(slots=True)
class _FoldedLine:
    """A line that is put together of many. It is looked at piece by piece, and as a whole once."""

    pieces: list[str] = field(default_factory=list)
    head: str = ""
    """What stands before the colon."""
    has_colon: bool = False
    ends_open: bool = False

    def __str__(self) -> str:
        return "".join(self.pieces)

    @property
    def is_to_be_continued(self) -> bool:
        return self.ends_open and "QUOTED-PRINTABLE" in self.head

    def add(self, piece: str) -> None:
        self.pieces.append(piece)
        if piece:
            self.ends_open = piece.endswith("=")
        if not self.has_colon:
            before, colon, _ = piece.partition(":")
            self.head = f"{self.head}{before.upper()}"[:_LONGEST_HEAD]
            self.has_colon = bool(colon)


def _cells(card: list[_Property]) -> dict[str, str]:
    cells: dict[str, str] = {}
    emails: list[str] = []
    for found in sorted(card, key=lambda value: value.rank):
        if found.name == "EMAIL":
            emails.append(_plain(found).text.strip())
            cells["email"] = ""  # its place among the others
        else:
            _note(cells, found)
    if emails:
        cells["email"] = "; ".join(emails)
    if name := cells.pop(_PARTS_OF_NAME, ""):
        cells.setdefault("fn", name)  # version 2.1 needs no FN
    return cells


def _note(card: dict[str, str], found: _Property) -> None:
    """The first of a kind counts, and of no two addresses a mixture."""
    found = _plain(found)
    value = found.text.strip()
    if found.name == "ADR":
        if not card.keys() & set(_ADDRESS):
            card |= {field: part for field, part in zip(_ADDRESS, _parts(found.value), strict=False) if field and part}
    elif found.name == "ORG":
        card.setdefault("org", _parts(found.value)[0])
    elif found.name == "N":
        family, given = (*_parts(found.value), "")[:2]
        card.setdefault(_PARTS_OF_NAME, f"{given} {family}".strip())
    elif found.name == "GEO":
        _note_position(card, found.value)
    elif found.name == "TEL" and "FAX" not in found.parameters:
        card.setdefault("phone", value.removeprefix("tel:"))
    elif value and (name := _TEXTS.get(found.name)):
        card.setdefault(name, value)


def _parts(value: str) -> list[str]:
    """The parts of a structured value, between semicolons that are not escaped."""
    parts: list[list[str]] = [[]]
    for piece in _PIECES.findall(value):
        if piece == ";":
            parts.append([])
        else:
            parts[-1].append(piece)
    return [_unescaped("".join(part)).strip() for part in parts]


def _note_position(card: dict[str, str], value: str) -> None:
    numbers = re.split(r"[;,]", value.strip().removeprefix("geo:").replace("\\", ""))
    if len(numbers) >= 2:
        card.setdefault("lat", numbers[0])
        card.setdefault("lon", numbers[1])


def _plain(found: _Property) -> _Property:
    if "QUOTED-PRINTABLE" not in found.parameters:
        return found
    raw = quopri.decodestring(found.value.encode("utf-8", "replace"))
    return _Property(found.name, found.parameters, decode(raw).text)


def _unescaped(value: str) -> str:
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] in "nN" else match[1], value)
