"""Which task to try next, without a listing per claim.

One listing is remembered and worked off from a random place. It starts at a random shard, goes round, and is left for
what follows when others are found to work there. What it shows of leases is their age by the store's clock: young ones
are passed over unread, old ones are worth a look. Only a worker with nothing else to do reads young leases, once
each and a few in a round, to find tasks that were given back; and only those that are long enough to say so. At the end
of a queue a thousand workers have nothing else to do, and what all of them hold, or have ended and not removed yet,
would be read by each of them.
"""

from __future__ import annotations

import zlib
from collections import deque
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from cocli.keys.paths import task_folders
from cocli.queue.leased.free_lease import shortest_free_lease
from cocli.store.base import ObjectInfo  # noqa: TC001 - a NamedTuple's annotations are read when it is made

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator
    from datetime import datetime, timedelta

    from cocli.store.base import Store

WINDOW = 1000
"""Keys looked at together: what one request of S3 lists."""
_SHARDS = "0123456789abcdef"
_RACES_BEFORE_MOVING = 3
_GONE_BEFORE_MOVING = 2
"""A task that is gone cost three requests: lease it, ask for it, remove the lease. A listing is one."""
_REMEMBERED = 20_000
_YOUNG_AT_ONCE = 32


class TaskCandidate(NamedTuple):
    """A task worth trying, and its lease as the listing shows it (None if it has none)."""

    folder: str
    lease: ObjectInfo | None
    has_task: bool = True

    @property
    def is_new(self) -> bool:
        """Nobody had it when it was listed."""
        return self.lease is None and self.has_task


_new_candidate = partial(tuple.__new__, TaskCandidate)
"""As `TaskCandidate(*values)`, in half of the time: it is done for every task that is listed."""


class Discovery:
    def __init__(
        self, store: Store, pending: str, rng: random.Random, *, expiry: timedelta, listed: Callable[[int, int], None]
    ) -> None:
        """`listed` is told of every stretch how many tasks it had, and how many of them are worth trying."""
        self._store = store
        self._pending = pending
        self._random = rng
        self._expiry = expiry
        self._listed = listed
        self._ready: deque[TaskCandidate] = deque()
        self._round: Iterator[ObjectInfo] | None = None
        self._given = 0
        self._races = 0
        self._gone = 0
        self._young: list[TaskCandidate] = []
        self._least_free = shortest_free_lease()
        self._seen: dict[str, ObjectInfo] = {}
        """Young leases that were read already, each as it was then."""
        self._alone: dict[str, ObjectInfo] = {}
        """Young leases that were listed without a task."""

    @property
    def between_rounds(self) -> bool:
        return self._round is None and not self._ready

    def next(self) -> TaskCandidate | None:
        """The next task to try; None at the end of a round."""
        if self.between_rounds:
            self._start_round()
        while not self._ready:
            if not self._fill() and not self._fill_with_young():
                self._round = None
                return None
        self._given += 1
        return self._ready.popleft()

    def next_new(self) -> TaskCandidate | None:
        """The next task to try if it is known already and nobody had it; else None, and nothing is taken."""
        ready = self._ready
        if not ready:
            return None
        _, lease, has_task = ready[0]
        if lease is not None or not has_task:
            return None
        self._given += 1
        return ready.popleft()

    def won(self) -> None:
        self._races = 0

    def lost_race(self) -> None:
        """Somebody else was faster, and has been at what follows: go on elsewhere. If that happens a few times in a
        row, most of the stretch is taken: list the next."""
        self._races += 1
        self._jump()
        if self._races >= _RACES_BEFORE_MOVING:
            self._move()

    def gone(self) -> None:
        """A task had ended and was removed since it was listed: what else was listed with it is as old."""
        self._gone += 1
        if self._gone >= _GONE_BEFORE_MOVING:
            self._move()

    def _move(self) -> None:
        """To the next stretch of this round. Another round would begin where many have been: what is listed there has
        ended or is in somebody's hands. What is left behind here is met in the next round."""
        self._races = self._gone = 0
        self._ready.clear()

    def _start_round(self) -> None:
        # Behind a whole shard, not at its name: a server that lists folder by folder would skip that folder.
        start = f"{self._pending}{self._random.choice(_SHARDS)}~"
        self._round = chain(self._store.list(self._pending, start_after=start), self._until(start))
        self._given = self._gone = 0
        self._young = []
        for known in (self._seen, self._alone):
            if len(known) > _REMEMBERED:
                known.clear()

    def _until(self, end: str) -> Iterator[ObjectInfo]:
        for info in self._store.list(self._pending):
            if info.key > end:
                return
            yield info

    def _fill(self) -> bool:
        """Look at the next stretch of the round; False at its end."""
        stretch = list(islice(self._round or (), WINDOW))
        if not stretch:
            return False
        now = self._store.now()
        candidates = _grouped(stretch)
        ready = [candidate for candidate in candidates if candidate.lease is None or self._worth_trying(candidate, now)]
        self._listed(len(candidates), len(ready))
        # One order for everybody, each from a place of its own: workers that share a stretch meet at its ends, where
        # shuffling would have them meet at every other task.
        ready.sort(key=_place_in_the_round)
        self._ready.extend(ready)
        self._jump()
        return True

    def _jump(self) -> None:
        if self._ready:
            self._ready.rotate(self._random.randrange(len(self._ready)))

    def _worth_trying(self, candidate: TaskCandidate, now: datetime) -> bool:
        if candidate.lease is None or now - candidate.lease.modified >= self._expiry:
            return True
        if candidate.has_task:
            is_worth_it = self._may_be_free(candidate.folder, candidate.lease)
        else:
            # Its task has ended, and its worker is about to remove it, or was killed: the next round tells.
            is_worth_it = self._alone.get(candidate.folder) == candidate.lease
            self._alone[candidate.folder] = candidate.lease
        if is_worth_it and self._seen.get(candidate.folder) != candidate.lease:
            self._young.append(candidate)
        return False

    def _may_be_free(self, folder: str, lease: ObjectInfo) -> bool:
        """Whether it can have been given back: then it says who had it, and is longer than most that are held."""
        if lease.size <= self._least_free:  # most of them, whatever their id
            return False
        part = folder[folder.rfind("/", 0, -1) + 1 : -1]
        is_its_own_text = "%" not in part and "~" not in part
        return lease.size >= self._least_free + (len(part) if is_its_own_text else 1)

    def _fill_with_young(self) -> bool:
        """The last resort of a round that gave nothing: some young leases, each version of them once."""
        young, self._young = self._young, []
        if self._given or not young:
            return False
        self._random.shuffle(young)
        unread = young[:_YOUNG_AT_ONCE]
        self._seen.update({candidate.folder: candidate.lease for candidate in unread if candidate.lease})
        self._ready.extend(unread)
        return True


def _place_in_the_round(candidate: TaskCandidate) -> int:
    return zlib.crc32(candidate.folder.encode())


def _grouped(stretch: list[ObjectInfo]) -> list[TaskCandidate]:
    """Task and lease of a folder stand next to each other in a listing."""
    folders, leases = task_folders([info.key for info in stretch])
    if not leases:
        return [_new_candidate((folder, None, True)) for folder in folders]
    leased = {folder: stretch[place] for folder, place in leases.items()}
    found = [TaskCandidate(folder, leased.pop(folder, None)) for folder in folders]
    return found + [TaskCandidate(folder, lease, False) for folder, lease in leased.items()]
