"""How good a second run was: the changes that it told against those of the town."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.demo.town.epoch import changes_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cocli.demo.town.epoch import TrueChange
    from cocli.demo.town.town import Town

_WITH_VALUES = ("renamed", "phone", "email", "website")
"""Both values have to be right; of who moved, both streets."""


@dataclass(frozen=True, slots=True)
class ChangeScore:
    """`wrong` are changes that were told and are none, or have other values; `missed` those that nobody told."""

    right: int
    wrong: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def precision(self) -> float:
        return self.right / max(self.right + len(self.wrong), 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.right + len(self.missed), 1)


def score_changes(
    rows: Iterable[Mapping[str, Any]], before: Town, after: Town, phrases: Sequence[str] | None = None
) -> ChangeScore:
    """Compare the rows of `cocli campaign changes --json`. Each change of the town can be told once."""
    owners = _owners(before, after)
    true = {(change.number, change.kind): change for change in changes_between(before, after)}
    searched = {number: phrase for number, phrase in _phrases(before, after) if phrases is None or phrase in phrases}
    open_ = {key: change for key, change in true.items() if key[0] in searched}
    right, wrong = 0, list[str]()
    for row in rows:
        numbers = {owners.get(str(known).rpartition(":")[2]) for known in row["source_ids"]}
        number = numbers.pop() if len(numbers) == 1 else None
        change = open_.pop((number, row["kind"]), None) if number is not None else None
        if change is not None and _has_both_values(row, change):
            right += 1
        else:
            wrong.append(f"{row['name']}: {row['kind']} {row['before']} → {row['after']}")
    missed = [f"{change.name}: {change.kind} {change.before} → {change.after}" for change in open_.values()]
    return ChangeScore(right, tuple(wrong), tuple(missed))


def _has_both_values(row: Mapping[str, Any], change: TrueChange) -> bool:
    if change.kind == "moved":
        streets = [(text or "").partition(",")[0] for text in (change.before, change.after)]
        return all(street in (row[side] or "") for street, side in zip(streets, ("before", "after"), strict=True))
    if change.kind not in _WITH_VALUES:
        return True
    return (row["before"], row["after"]) == (change.before, change.after)


def _owners(before: Town, after: Town) -> dict[str, int]:
    return {
        row: business.number
        for town in (before, after)
        for business in town.businesses
        for row in (business.gers_id, business.twin_id)
        if row is not None
    }


def _phrases(before: Town, after: Town) -> Iterable[tuple[int, str]]:
    return [(business.number, business.trade.phrase) for town in (before, after) for business in town.businesses]
