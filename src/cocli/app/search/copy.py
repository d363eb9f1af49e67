"""The copy that `find` searches: a line for each company and prospect, with the text it is found by already folded.

One file per source, named by what it was made from, in the cache folder. First a line that says how many there are,
then the entries, then their folded texts, so that a hundred thousand of them are loaded by cutting a text into lines.
"""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

from cocli.app.search.ranking import Lines, fold
from cocli.formats.usv_dialect import SEPARATOR, escape, unescape
from cocli.pipeline.exclusions import exclusion_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cocli.index.queries.derived import DerivedFolder
    from cocli.pipeline.exclusions import Exclusions

ENDING = "fz"
COMPANY = "company"
_FORMAT = 3


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
    place_id: str = ""
    domain: str = ""
    """Of a company: what it may be excluded by, beside its title."""
    stands_for: str = ""
    """Of a company on whose page a person corrected something: the hashes of its prospects, which it stands before."""


@dataclass(frozen=True, slots=True)
class SearchPart:
    """The entries of one source: raw lines, taken apart when they are shown."""

    lines: Sequence[str]
    folded: Sequence[tuple[str, str]]


class SearchCopy:
    """All entries of some parts, searched together."""

    def __init__(self, parts: Iterable[SearchPart], exclusions: Mapping[str, Exclusions] | None = None) -> None:
        kept = list(parts)
        self._exclusions = exclusions or {}
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
        return entry.title, " · ".join(filter(None, (entry.detail, whose, self.exclusion(entry))))

    def excluded_in(self, entry: SearchEntry) -> list[str]:
        """The campaigns that exclude a company. Prospects that are excluded are not among the entries."""
        if entry.kind != COMPANY:
            return []
        return [name for name, exclusions in self._exclusions.items() if is_unwanted(entry, exclusions)]

    def exclusion(self, entry: SearchEntry) -> str:
        """The same in words; empty for one that is wanted."""
        campaigns = self.excluded_in(entry)
        return f"excluded in {', '.join(campaigns)}" if campaigns else ""


def is_unwanted(entry: SearchEntry, exclusions: Exclusions) -> bool:
    reason = exclusion_of(exclusions, name=entry.title, place_id=entry.place_id, domain=entry.domain)
    return reason is not None


def without_excluded(companies: SearchPart, exclusions: Exclusions) -> SearchPart:
    """The companies that a campaign wants."""
    if not exclusions:
        return companies
    pairs = zip(companies.lines, companies.folded, strict=True)
    wanted = [(line, folded) for line, folded in pairs if not is_unwanted(read_entry(line), exclusions)]
    return SearchPart([line for line, _ in wanted], [folded for _, folded in wanted])


def write_part(copies: DerivedFolder, name: str, entries: Iterable[tuple[SearchEntry, str]]) -> SearchPart:
    """Write the entries of a source; with each stands whatever else it is to be found by."""
    lines: list[str] = []
    folded: list[str] = []
    for entry, more in entries:
        lines.append(SEPARATOR.join(map(escape, astuple(entry))))
        folded.append(f"{fold(entry.title)}\t{fold(f'{entry.detail} {more}')}")
    temporary = copies.temporary()
    with open(temporary, "x", encoding="utf-8", newline="\n") as file:
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


def corrected(part: SearchPart, companies: SearchPart) -> SearchPart:
    """Prospects, as the pages of their companies have them: what a person wrote there wins here too."""
    pages: dict[str, tuple[SearchEntry, tuple[str, str]]] = {}
    for line, folded in zip(companies.lines, companies.folded, strict=True):
        if line.rpartition(SEPARATOR)[2]:
            page = read_entry(line)
            pages |= dict.fromkeys(page.stands_for.split(), (page, folded))
    if not pages:
        return part
    lines, folded_lines = list(part.lines), list(part.folded)
    for number, line in enumerate(part.lines):
        found = pages.get(line.split(SEPARATOR, 2)[1])
        if found is not None:
            page, folded = found
            entry = replace(read_entry(line), title=page.title, detail=page.detail)
            lines[number] = SEPARATOR.join(map(escape, astuple(entry)))
            folded_lines[number] = (folded[0], f"{folded[1]} {part.folded[number][1]}")
    return SearchPart(lines, folded_lines)


def read_entry(line: str) -> SearchEntry:
    return SearchEntry(*map(unescape, line.split(SEPARATOR)))


def _pair(line: str) -> tuple[str, str]:
    head, _, rest = line.partition("\t")
    return head, rest
