"""The copy that `fz` searches: a line for each company and prospect, with the text it is found by already folded.

One file per source, named by what it was made from, in the cache folder. First a line that says how many there are,
then the entries, then their folded texts, so that a hundred thousand of them are loaded by cutting a text into lines.
"""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from cocli.app.search.ranking import Lines, fold
from cocli.formats.usv_dialect import SEPARATOR, escape, unescape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cocli.index.queries.derived import DerivedFolder

ENDING = "fz"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class SearchEntry:
    """A company or a prospect, as it is listed."""

    kind: str
    id: str
    """The slug of a company, the hash of a prospect."""
    campaign: str
    title: str
    detail: str
    key: str
    """The company's object; empty for a prospect, which lies in a shard with others."""
    stamp: str = ""
    """What tells whether the object has changed."""


@dataclass(frozen=True, slots=True)
class SearchPart:
    """The entries of one source: raw lines, taken apart when they are shown."""

    lines: Sequence[str]
    folded: Sequence[tuple[str, str]]


class SearchCopy:
    """All entries of some parts, searched together."""

    def __init__(self, parts: Iterable[SearchPart]) -> None:
        kept = list(parts)
        self._lines = [line for part in kept for line in part.lines]
        self._searched = Lines([folded for part in kept for folded in part.folded])

    def __len__(self) -> int:
        return len(self._lines)

    def best(self, query: str, limit: int) -> tuple[list[int], bool]:
        return self._searched.best(query, limit)

    def entry(self, number: int) -> SearchEntry:
        return read_entry(self._lines[number])

    def label(self, number: int) -> tuple[str, str]:
        entry = self.entry(number)
        whose = entry.kind if not entry.campaign else f"{entry.kind} of {entry.campaign}"
        return entry.title, " · ".join(filter(None, (entry.detail, whose)))


def write_part(copies: DerivedFolder, name: str, entries: Iterable[tuple[SearchEntry, str]]) -> SearchPart:
    """Write the entries of a source; with each stands whatever else it is to be found by."""
    lines: list[str] = []
    folded: list[str] = []
    for entry, more in entries:
        lines.append(SEPARATOR.join(map(escape, astuple(entry))))
        folded.append(f"{fold(entry.title)}\t{fold(f'{entry.detail} {more}')}")
    temporary = copies.temporary()
    with open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps({"format": _FORMAT, "entries": len(lines)}) + "\n")
        file.writelines(f"{line}\n" for line in (*lines, *folded))
    copies.keep(temporary, name, ENDING)
    return SearchPart(lines, [_pair(line) for line in folded])


def read_part(path: str) -> SearchPart | None:
    """A part that was written before; None if it is not whole, or from another version of this program."""
    with open(path, encoding="utf-8", newline="\n") as file:
        header, *lines = file.read().split("\n")
    try:
        about = json.loads(header)
        count = int(about["entries"])
    except (ValueError, KeyError, TypeError):
        return None  # it is made again
    if about.get("format") != _FORMAT or len(lines) != 2 * count + 1:
        return None
    return SearchPart(lines[:count], [_pair(line) for line in lines[count : 2 * count]])


def read_entry(line: str) -> SearchEntry:
    return SearchEntry(*map(unescape, line.split(SEPARATOR)))


def _pair(line: str) -> tuple[str, str]:
    head, _, rest = line.partition("\t")
    return head, rest
