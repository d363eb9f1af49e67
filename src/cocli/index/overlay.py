"""What waits to be packed, over a version: merged with its records when somebody asks for them.

A worker asks for the records of a few sites, again and again, while thousands wait. Merging all of them for each of its
looks would take the longer the more it has written.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cocli.models.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cocli.index.spec import IndexSpec
    from cocli.index.view import VersionView

R = TypeVar("R", bound=Record)


class Overlay(Generic[R]):
    """Of one reader."""

    def __init__(self, spec: IndexSpec[R], view: VersionView[Any], waiting: Mapping[str, Sequence[R]]) -> None:
        """`waiting`: sort key → what was written of it, in the order of its objects."""
        self._spec = spec
        self._view = view
        self._waiting = waiting
        self._merged: dict[str, R] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, key: str) -> bool:
        return key in self._waiting

    def __iter__(self) -> Iterator[str]:
        return iter(self._waiting)

    def records(self, keys: Iterable[str]) -> dict[str, R]:
        """Of those keys that wait, each merged with the record of the version."""
        wanted = [key for key in keys if key in self._waiting]
        unmerged = [key for key in wanted if key not in self._merged]
        if unmerged:
            packed = self._view.records(unmerged)
            for key in unmerged:
                written = reduce(self._spec.merge, self._waiting[key])
                self._merged[key] = self._spec.merge(packed[key], written) if key in packed else written
        return {key: self._merged[key] for key in wanted}
