"""Which of some tasks have ended, for whoever puts them: the price follows their number, not what ended before.

What has ended is listed as long as that is cheaper than to look for each task. Who puts ten thousand into a small queue
lists it once; who puts a hundred into a queue in which a million have ended looks for the hundred.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from cocli.errors import NotFound
from cocli.queue.base import PutOutcome
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from cocli.queue.places import Places
    from cocli.store.base import Store

_PAGE = 1000
"""Objects that one request lists."""
_PAGES = 5
"""So many are listed for any number of tasks."""
_TASKS_FOR_A_PAGE = 20
"""To look for so many takes as long as to list a page, and costs three times as much."""


class EndedTasks:
    """Remembers what was listed: what is asked later is answered as of then, if all of it was."""

    def __init__(self, store: Store, places: Places) -> None:
        self._store = store
        self._places = places
        self._asked = 0
        self._listed = 0
        self._known: dict[str, PutOutcome] = {}
        """By spot."""
        self._sidelined = self._list_sidelined()
        self._completed = self._list_completed()
        self._knows_sideline = False
        self._knows_all = False
        self.looked_at: datetime = store.now()
        """Since when the last answer may be wrong."""

    @property
    def are_none(self) -> bool:
        """Whether nothing at all has ended."""
        return self._knows_all and not self._known

    @property
    def lists(self) -> bool:
        """Whether answers come from a listing, at no further price."""
        return self._knows_all

    def among(self, task_ids: Sequence[str]) -> list[PutOutcome | None]:
        """How each of them has ended; None if it has not."""
        self._asked += len(task_ids)
        self._list(_PAGE * (_PAGES + self._asked // _TASKS_FOR_A_PAGE))
        spots = [self._places.spot(task_id) for task_id in task_ids]
        if not self._knows_all:
            self.looked_at = self._store.now()
            self._look_for([spot for spot in spots if spot not in self._known])
        return [self._known.get(spot) for spot in spots]

    def _list(self, limit: int) -> None:
        if not self._knows_sideline:
            self._knows_sideline = self._take(self._sidelined, limit)
        if self._knows_sideline and not self._knows_all:
            self._knows_all = self._take(self._completed, limit)

    def _take(self, ended: Iterator[tuple[str, PutOutcome] | None], limit: int) -> bool:
        """Go on with a listing until so many objects were seen; whether it came to its end."""
        wanted = max(limit - self._listed, 0)
        found = list(islice(ended, wanted))
        self._listed += len(found)
        self._known.update(filter(None, found))
        return len(found) < wanted

    def _list_sidelined(self) -> Iterator[tuple[str, PutOutcome] | None]:
        for info in self._store.list(self._places.sideline):
            found = self._places.spot_of_sidelined(info.key)
            yield None if found is None else (found[1], PutOutcome.ALREADY_SIDELINED)

    def _list_completed(self) -> Iterator[tuple[str, PutOutcome] | None]:
        for info in self._store.list(self._places.completed):
            spot = self._places.spot_of_completion(info.key)
            yield None if spot is None else (spot, PutOutcome.ALREADY_COMPLETED)

    def _look_for(self, spots: Sequence[str]) -> None:
        """A look for each. What is not found now may be found by a later look."""
        wanted: list[tuple[str, str, PutOutcome]] = []
        for spot in spots:
            keys = self._places.completions_at(spot)
            wanted += [(key, spot, PutOutcome.ALREADY_COMPLETED) for key in keys]
            if not self._knows_sideline:
                aside = self._places.sidelines_at(spot)
                wanted += [(key, spot, PutOutcome.ALREADY_SIDELINED) for key in aside]
        answers = self._store.get_many([key for key, _, _ in wanted])
        for (_, spot, outcome), answer in zip(wanted, answers, strict=True):
            if isinstance(answer, StoredObject):
                self._known.setdefault(spot, outcome)
            elif not isinstance(answer, NotFound):
                raise answer
