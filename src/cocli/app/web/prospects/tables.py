"""The rows in their order, as lines of text, with the columns that are counted and sorted by."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cocli.app.search.ranking import fold
from cocli.app.web.prospects.fields import FIELDS
from cocli.app.web.prospects.folding import folded_cells, ordered
from cocli.app.web.prospects.matches import values_of
from cocli.app.web.prospects.view import FACETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_TOLD = 50
"""The values of a facet that a manifest counts: those that most rows have."""


@dataclass(frozen=True, slots=True)
class ProspectTable:
    """Every row, in the order of the names."""

    names: tuple[str, ...]
    rows: list[list[str]] = field(default_factory=list)

    @property
    def searched(self) -> int:
        """So many of the columns, from the first on, are searched."""
        return sum(FIELDS[name].searched for name in self.names)

    @property
    def at(self) -> str | None:
        """The time of the youngest row; None where rows do not say."""
        if "updated" not in self.names or not self.rows:
            return None
        place = self.names.index("updated")
        return max(row[place] for row in self.rows)

    def cells(self, row: Sequence[str]) -> dict[str, str]:
        return dict(zip(self.names, row, strict=True))

    def folded(self, row: Sequence[str]) -> str:
        return folded_cells(row[: self.searched])

    def line(self, row: Sequence[str]) -> str:
        """The cells with tabs between them. Behind them the folded text, where lower case alone does not give it."""
        plain = "\t".join(row)
        if plain.isascii():
            return f"{plain}\t"
        return f"{plain}\t{self.folded(row)}"

    def facets(self) -> list[str]:
        """The facets whose columns are there."""
        return [facet for facet, column in FACETS.items() if column in self.names]

    def counted(self) -> dict[str, list[list[str | int]]]:
        """For each facet its most frequent values, over all rows."""
        counts: dict[str, list[list[str | int]]] = {}
        for facet in self.facets():
            place, counter = self.names.index(FACETS[facet]), Counter[str]()
            for cell, count in Counter(row[place] for row in self.rows).items():
                for value in values_of({FACETS[facet]: cell}, facet):
                    counter[value] += count
            counts[facet] = top_values(counter)
        return counts


def top_values(counter: Counter[str]) -> list[list[str | int]]:
    """The most frequent first; what is equally frequent in the order of browsers."""
    ranked = sorted(counter.items(), key=lambda pair: (-pair[1], ordered(pair[0])))
    return [[value, count] for value, count in ranked[:_TOLD]]


def table_of(names: tuple[str, ...], rows: Iterable[list[str]]) -> ProspectTable:
    """The rows, sorted."""
    name, identity = names.index("name"), names.index("id")
    return ProspectTable(names, sorted(rows, key=lambda row: (ordered(fold(row[name])), row[identity])))


def seconds_of(updated: str) -> int:
    """`2026-11-17T10:45:00Z` as seconds since 1970."""
    return int(datetime.strptime(updated, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp())
