"""Applies the table of rules to two records of one key. Knows no model by name; the tables are `rules.py`.

Every rule is the maximum of some total order, taken field by field, so the result depends neither on the order in which
records meet nor on how often they do. A value competes with the observation it came from; a value without
one gets the record's own time before it is compared, and keeps that.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cocli.errors import MergeError
from cocli.models.origin import Origin, Stamp
from cocli.models.record import Record
from cocli.pipeline.merge.rules import EXCEPTIONS, GRADES, PAIRS, RULES, SOURCES, UNKNOWN, MergeRule
from cocli.pipeline.sources.imports import IMPORT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

R = TypeVar("R", bound=Record)

Filled = int
"""0: null or an empty list; 1: blank text; 2: a value. Pairs count their halves."""
_UNLISTED = SOURCES[IMPORT]
NO_TIME = datetime(1, 1, 1, tzinfo=UTC)
_NO_STAMP: Stamp = (NO_TIME, "", "", "")


@dataclass(frozen=True)
class Merger(Generic[R]):
    """Merges records of one model."""

    model: type[R]
    implied: Callable[[R], tuple[str, datetime]] | None = None
    """Source and time of the values of a record that say nothing themselves. None: the model keeps no origins."""
    order: Callable[[R], Any] | None = None
    """For rule `whole`: the record for which this is the greatest stays."""

    def __call__(self, left: R, right: R) -> R:
        self._refuse_strangers(left, right)
        if left == right:
            return left
        stays = self._whole(left, right)
        merge = _Merge(self, left, right)
        merge.fields()
        merge.extras()
        copy = stays.model_copy(update=merge.values)
        object.__setattr__(copy, "__pydantic_extra__", merge.columns or None)
        return copy

    def _refuse_strangers(self, left: R, right: R) -> None:
        for record in (left, right):
            if type(record) is not self.model:
                raise TypeError(f"expected {self.model.__name__}, not {type(record).__name__}")
        for name in self.must_agree:
            mine, theirs = getattr(left, name), getattr(right, name)
            if mine != theirs:
                raise MergeError(model=self.model.__name__, field=name, left=mine, right=theirs)

    def _whole(self, left: R, right: R) -> R:
        if self.order is None:
            return left
        mine, theirs = self.order(left), self.order(right)
        if mine == theirs:  # what is left is the text of everything
            mine, theirs = left.model_dump_json(), right.model_dump_json()
        if mine >= theirs:
            return left
        return right

    @cached_property
    def steps(self) -> tuple[tuple[str, str], ...]:
        """Field and rule, without the rules that look at the record as a whole. Plain texts: an enum hashes slowly."""
        elsewhere = {MergeRule.SAME, MergeRule.PAIRED, MergeRule.WHOLE, MergeRule.ORIGINS}
        return tuple((name, rule.value) for name, rule in RULES[self.model].items() if rule not in elsewhere)

    @cached_property
    def must_agree(self) -> tuple[str, ...]:
        return tuple(name for name, rule in RULES[self.model].items() if rule is MergeRule.SAME)

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        return PAIRS.get(self.model, ())

    @cached_property
    def grades(self) -> Mapping[str, Mapping[object, int]]:
        return GRADES.get(self.model, {})

    @cached_property
    def qualities(self) -> Mapping[str, Mapping[str, int]]:
        """How much each source counts, for the fields where that is not as in `SOURCES`."""
        return {name: {**SOURCES, **changed} for name, changed in EXCEPTIONS.get(self.model, {}).items()}


@dataclass
class _Merge(Generic[R]):
    """One meeting of two records."""

    merger: Merger[R]
    left: R
    right: R
    values: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._mine, self._theirs = self.left.__dict__, self.right.__dict__
        self._my_origins, self._my_implied = self._origins(self.left)
        self._their_origins, self._their_implied = self._origins(self.right)
        self._kept: defaultdict[Stamp, list[str]] = defaultdict(list)

    def _origins(self, record: R) -> tuple[dict[str, Stamp], Stamp]:
        if self.merger.implied is None:
            return {}, _NO_STAMP
        stamps: dict[str, Stamp] = {}
        for origin in record.__dict__["origins"]:
            stamps.update(dict.fromkeys(origin.fields, origin.stamp))
        source, at = self.merger.implied(record)
        return stamps, (at, source, "", "")

    def fields(self) -> None:
        mine, theirs = self._mine, self._theirs
        for name, rule in self.merger.steps:
            if rule == "best":
                self.values[name] = self._best(name, mine[name], theirs[name])
            else:
                self.values[name] = self._by_rule(rule, name, mine[name], theirs[name])
        for pair in self.merger.pairs:
            self._pair(*pair)

    def _by_rule(self, rule: str, name: str, mine: Any, theirs: Any) -> Any:
        if rule == "entries":
            return self._entries(name, mine, theirs)
        if rule == "oldest":
            return self._oldest(name, mine, theirs)
        return _WITHOUT_ORIGIN[rule](mine, theirs)

    def extras(self) -> None:
        """Columns that this program does not know are merged like fields; so are origins of what it does not know."""
        mine, theirs, rules = self.left.extras, self.right.extras, RULES[self.merger.model]
        for column in {**mine, **theirs}:
            if column.partition(".")[0] in rules:  # `socials.x` would be taken for the entry of that name
                self.columns[column] = max(
                    mine.get(column), theirs.get(column), key=lambda cell: (cell or "", repr(cell))
                )
            else:
                self.columns[column] = self._best(column, mine.get(column), theirs.get(column))
        if self.merger.implied is not None:
            self._foreign_origins()
            self.values["origins"] = self._kept_origins()

    def _foreign_origins(self) -> None:
        rules = RULES[self.merger.model]
        for name in {**self._my_origins, **self._their_origins}:
            if name.partition(".")[0] in rules or name in self.columns:
                continue
            found = [stamps[name] for stamps in (self._my_origins, self._their_origins) if name in stamps]
            self._kept[max(found)].append(name)

    def _kept_origins(self) -> tuple[Origin, ...]:
        return tuple(
            Origin(
                fields=tuple(sorted(names)),
                observed_at=stamp[0],
                source=stamp[1],
                document=stamp[2] or None,
                reason=stamp[3] or None,
            )
            for stamp, names in sorted(self._kept.items())
        )

    def _best(self, name: str, mine: Any, theirs: Any) -> Any:
        my_stamp = self._my_origins.get(name, self._my_implied)
        their_stamp = self._their_origins.get(name, self._their_implied)
        value, stamp, filled = mine, my_stamp, _filled(mine)
        if mine != theirs or my_stamp != their_stamp:
            their_filled = _filled(theirs)
            if filled != their_filled:
                they_win = their_filled > filled
            elif filled < 2:
                they_win = repr(theirs) > repr(mine)  # nothing against blanks: only that the answer is the same
            else:
                they_win = self._is_better(name, theirs, their_stamp, mine, my_stamp)
            if they_win:
                value, stamp, filled = theirs, their_stamp, their_filled
        if filled == 2:
            self._kept[stamp].append(name)
        return value

    def _is_better(self, name: str, value: Any, stamp: Stamp, than: Any, than_stamp: Stamp) -> bool:
        if grades := self.merger.grades.get(name):
            grade, than_grade = grades.get(value, 1), grades.get(than, 1)
            if grade != than_grade:
                return grade > than_grade
        if stamp == than_stamp:
            return repr(value) > repr(than)
        if stamp[1] != than_stamp[1]:
            qualities = self.merger.qualities.get(name, SOURCES)
            quality, than_quality = qualities.get(stamp[1], _UNLISTED), qualities.get(than_stamp[1], _UNLISTED)
            if quality != than_quality:
                return quality > than_quality
        return stamp > than_stamp

    def _oldest(self, name: str, mine: Any, theirs: Any) -> Any:
        candidates = [
            (2 - _filled(mine), self._my_origins.get(name, self._my_implied), mine),
            (2 - _filled(theirs), self._their_origins.get(name, self._their_implied), theirs),
        ]
        empty, stamp, value = min(candidates)
        if not empty:
            self._kept[stamp].append(name)
        return value

    def _pair(self, first: str, second: str) -> None:
        candidates = [
            self._pair_of(self._mine, self._my_origins, self._my_implied, first, second),
            self._pair_of(self._theirs, self._their_origins, self._their_implied, first, second),
        ]
        qualities = self.merger.qualities.get(first, SOURCES)
        best = max(
            candidates,
            key=lambda candidate: (
                candidate[0],
                qualities.get(candidate[1][1], _UNLISTED),
                candidate[1],
                repr(candidate[2]),
            ),
        )
        filled, stamp, (self.values[first], self.values[second]) = best
        if filled:
            self._kept[stamp] += (first, second)

    @staticmethod
    def _pair_of(
        values: dict[str, Any], origins: dict[str, Stamp], implied: Stamp, first: str, second: str
    ) -> tuple[int, Stamp, tuple[Any, Any]]:
        pair = values[first], values[second]
        stamp = origins.get(first) or origins.get(second) or implied
        return 2 - pair.count(None), stamp, pair

    def _entries(self, name: str, mine: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
        return {
            entry: self._best(f"{name}.{entry}", mine.get(entry), theirs.get(entry))
            for entry in sorted({*mine, *theirs})
        }


def _filled(value: Any) -> Filled:
    if value:
        if type(value) is str and value.isspace():
            return 1
        return 2
    if value is None or value == ():
        return 0
    if value == "":
        return 1
    return 2


def _union(mine: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    if mine == theirs:
        return mine
    return tuple(sorted({*mine, *theirs}))


def _earliest(mine: Any, theirs: Any) -> Any:
    if mine is not None and theirs is not None:
        return min(mine, theirs)
    return mine or theirs


def _latest(mine: Any, theirs: Any) -> Any:
    if mine is not None and theirs is not None:
        return max(mine, theirs)
    return mine or theirs


def _smallest(mine: Any, theirs: Any) -> Any:
    return min((2 - _filled(value), repr(value), value) for value in (mine, theirs))[2]


_WITHOUT_ORIGIN: Mapping[str, Callable[[Any, Any], Any]] = {
    "union": _union,
    "earliest": _earliest,
    "latest": _latest,
    "smallest": _smallest,
    "either": lambda mine, theirs: mine or theirs,
}


def implied_by_sources(sources: tuple[str, ...]) -> str:
    """The source of values that name none: the record's only one, where it has one only."""
    if len(sources) == 1:
        return sources[0]
    return UNKNOWN
