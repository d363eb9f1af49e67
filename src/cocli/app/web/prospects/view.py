"""A view: which prospects, in which order, as it stands in the address of a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from cocli.app.web.prospects.fields import FIELDS
from cocli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FACETS = {
    "city": "city",
    "region": "region",
    "country": "country",
    "category": "categories",
    "tag": "tags",
    "status": "status",
    "source": "sources",
}
"""The word in an address → the column. Of each the values are counted."""
ALL_NEEDED = frozenset({"tag"})
SORTS = ("best", "name", "city", "rating", "reviews", "updated")
POSITION = "position"
PRESENCES = (*FIELDS, POSITION)
_MOST_TEXT = 500
_MOST_VALUES = 200


@dataclass(frozen=True, slots=True)
class View:
    """Conditions add up. The values of one facet are alternatives; tags must all be there."""

    q: str = ""
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    min_rating: float | None = None
    sort: str = "best"
    desc: bool = False

    @classmethod
    def parse(cls, query: str) -> View:
        """From the query of an address. Names that say nothing of a view are left alone."""
        found: dict[str, list[str]] = {}
        for name, value in parse_qsl(query, max_num_fields=1000):
            if value:
                found.setdefault(name, []).append(value)
        return cls.of(found)

    @classmethod
    def of(cls, found: Mapping[str, Sequence[str]]) -> View:
        """From names with their values."""
        if sum(map(len, found.values())) > _MOST_VALUES:
            raise UsageError(reason=f"A view has {_MOST_VALUES} values at most")
        words = " ".join(found.get("q", ()))
        if len(words) > _MOST_TEXT:
            raise UsageError(reason=f"A search has {_MOST_TEXT} characters at most")
        return cls(
            q=words,
            facets={name: tuple(found[name]) for name in FACETS if found.get(name)},
            has=_presences(found.get("has", ())),
            lacks=_presences(found.get("lacks", ())),
            min_rating=_rating(found.get("min_rating", ())),
            sort=_sort(found.get("sort", ())),
            desc=list(found.get("desc", ())) in (["1"], ["true"]),
        )

    def as_query(self) -> list[tuple[str, str]]:
        """The same as names and values of an address."""
        pairs = [("q", self.q)] if self.q else []
        pairs += [(name, value) for name, values in self.facets.items() for value in values]
        pairs += [("has", name) for name in self.has] + [("lacks", name) for name in self.lacks]
        if self.min_rating is not None:
            pairs.append(("min_rating", f"{self.min_rating:g}"))
        if self.sort != "best":
            pairs.append(("sort", self.sort))
        return [*pairs, ("desc", "1")] if self.desc else pairs


def _presences(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in PRESENCES:
            raise UsageError(reason=f'"{name}" is nothing that a prospect has', hint=f"One of: {', '.join(PRESENCES)}")
    return tuple(dict.fromkeys(names))


def _rating(texts: Sequence[str]) -> float | None:
    if not texts:
        return None
    try:
        rating = float(texts[-1])
    except ValueError:
        rating = -1.0
    if not 0 <= rating <= 5:
        raise UsageError(reason=f'"{texts[-1]}" is no rating', hint="Write min_rating=4, from 0 to 5.")
    return rating


def _sort(texts: Sequence[str]) -> str:
    chosen = texts[-1] if texts else "best"
    if chosen not in SORTS:
        raise UsageError(reason=f'Prospects are not sorted by "{chosen}"', hint=f"One of: {', '.join(SORTS)}")
    return chosen
