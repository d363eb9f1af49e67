"""What this process changes in a queue, told to whoever counts: so that counting is not listing.

Before the first change `moving` is written, so that a crash shows; while changes go on, the numbers are written every
half minute; when they end, that they have ended. Whoever reads `moving` of a process that has fallen silent knows that
some of its changes were never told, and lists the queue once.
"""

from __future__ import annotations

import secrets
import threading
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Literal

from cocli import logs
from cocli.errors import Denied, FormatError, NotFound, StoreError
from cocli.formats import json_records
from cocli.keys.paths import QueueTallyKey
from cocli.models.queue_count import QueueTally
from cocli.queue.runtime import ThreadRuntime
from cocli.store import settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from cocli.queue.leased.claim import LeasedClaim
    from cocli.queue.runtime import Activity, Runtime
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)

PERIOD = 30.0
"""Seconds between two writes while changes go on: as old are the numbers that others read, at most."""
RECENT = timedelta(minutes=15)
_BEAT = 120.0
"""Seconds between two writes of a process that only has tasks in hand."""
_BUSY = 3
"""From so many changes in a period on, more are expected: the next one needs no announcement."""
_TRIES = 5


def minute_of(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M")


@dataclass(slots=True)
class QueueChange:
    """What is being changed. Filled in by whoever changes it, once it is done."""

    waiting: int = 0
    completed: int = 0
    aside: dict[str, int] = field(default_factory=dict)
    doubtful: bool = False
    """What it did to the numbers is not known."""

    def put(self, tasks: int) -> None:
        self.waiting += tasks

    def complete(self, tasks: int = 1) -> None:
        self.waiting -= tasks
        self.completed += tasks

    def set_aside(self, category: str) -> None:
        self.waiting -= 1
        self.aside[category] = self.aside.get(category, 0) + 1

    def doubt(self) -> None:
        self.doubtful = True

    @property
    def is_nothing(self) -> bool:
        return not (self.waiting or self.completed or self.aside or self.doubtful)


_UNHEARD = nullcontext(QueueChange())
"""Of queues that nobody counts: whatever is written into it, nobody reads it."""


class NoTally:
    """For queues that nobody counts but by listing."""

    counts = False
    """Whether anybody wants to know what was changed."""

    def change(self) -> AbstractContextManager[QueueChange]:
        return _UNHEARD

    def hold(self, claims: Sequence[LeasedClaim]) -> None:
        """Claims that somebody works on now."""

    def tell(self) -> None:
        """Write what was not written yet."""

    def close(self) -> None:
        """Nothing more is changed."""


class Tally(NoTally):
    """One per queue that a process works on. Its lock is held while it writes: what follows has to wait for that."""

    def __init__(
        self, store: Store, campaign: str, queue: str, worker: str, runtime: Runtime, nonce: Callable[[], str]
    ) -> None:
        self._store = store
        self._campaign = campaign
        self._queue = queue
        self._worker = worker
        self._runtime = runtime
        self._nonce = nonce
        self._lock = threading.RLock()
        self._activity: Activity | None = None
        self._denied = False
        self._begin_life()

    counts = True

    def _begin_life(self) -> None:
        self._writer = f"{self._worker}-{self._nonce()[:8]}"
        self._sum = QueueChange()
        self._doubts = 0
        self._lately: dict[str, int] = {}
        self._claims: list[LeasedClaim] = []
        self._sequence = 0
        self._etag: str | None = None
        self._under_way = 0
        self._changes = 0
        """Since the last write."""
        self._moving = False
        """Others know that something is being changed."""
        self._written_at = 0.0
        self._held_told = 0

    @contextmanager
    def change(self) -> Iterator[QueueChange]:
        """Everything that changes how many tasks are where happens in here. What fails may have happened."""
        with self._lock:
            self._under_way += 1
            try:
                if not self._moving:
                    self._write("moving")
                self._watch()
            except BaseException:
                self._under_way -= 1
                raise
        change = QueueChange()
        try:
            yield change
        except BaseException:
            change.doubt()
            raise
        finally:
            with self._lock:
                self._under_way -= 1
                self._add(change)

    def hold(self, claims: Sequence[LeasedClaim]) -> None:
        if claims:
            with self._lock:
                self._claims += claims
                self._watch()

    def tell(self) -> None:
        with self._lock:
            if self._sequence and (self._changes or self._moving):
                self._write_or_wait(self._next_state())

    def close(self) -> None:
        """A tally that has nothing to tell is taken away; the next change begins another one."""
        with self._lock:
            activity, self._activity = self._activity, None
        if activity is not None:
            activity.stop()
        with self._lock:
            if self._sequence:
                self._end()
            self._begin_life()

    def _end(self) -> None:
        has_counted = self._doubts or not self._sum.is_nothing
        try:
            if has_counted:
                self._write("closed")
            else:
                self._store.delete(self._key)
        except StoreError as error:  # whoever counts sees that it fell silent, and lists the queue
            _LOG.warning("the tally of %s could not be closed: %s", self._queue, error.message)

    # --- counting

    def _add(self, change: QueueChange) -> None:
        if change.is_nothing:
            return
        self._changes += 1
        self._sum.waiting += change.waiting
        self._sum.completed += change.completed
        self._doubts += change.doubtful
        for category, count in change.aside.items():
            self._sum.aside[category] = self._sum.aside.get(category, 0) + count
        if change.completed:
            minute = minute_of(self._store.now())
            self._lately[minute] = self._lately.get(minute, 0) + change.completed

    @property
    def _held(self) -> int:
        self._claims = [claim for claim in self._claims if not (claim.over or claim.lost)]
        return len(self._claims)

    # --- writing

    @property
    def _key(self) -> str:
        return str(QueueTallyKey(self._campaign, self._queue, self._writer))

    def _watch(self) -> None:
        if self._activity is None and not self._denied:
            self._activity = self._runtime.every(PERIOD, self._tick)

    def _tick(self) -> bool:
        with self._lock:
            age, held = self._runtime.monotonic() - self._written_at, self._held
            has_news = self._changes or self._moving or held != self._held_told
            if (has_news and age >= PERIOD) or (held and age >= _BEAT):
                self._write_or_wait(self._next_state())
            if self._moving or self._changes or self._under_way or held or self._held_told:
                return True
            self._activity = None
            return False

    def _next_state(self) -> Literal["moving", "still"]:
        """One that changes much stays moving: else it would have to say so with every period."""
        if self._under_way or self._changes >= _BUSY:
            return "moving"
        return "still"

    def _write_or_wait(self, state: Literal["moving", "still"]) -> None:
        try:
            self._write(state)
        except StoreError as error:
            _LOG.debug("the tally of %s could not be written now: %s", self._queue, error.message)

    def _write(self, state: Literal["moving", "still", "closed"]) -> None:
        """Against the version before: what was under way for long must not undo what was written since."""
        if self._denied:
            return
        self._moving = False  # until it is written, nobody may rely on it
        try:
            for _ in range(_TRIES):
                if self._under_way and state == "still":
                    state = "moving"
                if self._try_to_write(state):
                    return
        except Denied as error:
            self._denied = True
            _LOG.warning("what is done to %s is not counted: %s", self._queue, error.message)

    def _try_to_write(self, state: Literal["moving", "still", "closed"]) -> bool:
        self._sequence += 1
        tally, changes, now = self._tally(state), self._changes, self._runtime.monotonic()
        data = json_records.render(tally)
        if self._etag is None:
            etag = settled.create(self._store, self._key, data)
        else:
            etag = settled.swap(self._store, self._key, data, self._etag)
        if etag is None:
            self._etag = self._there()
            return False
        self._etag, self._written_at, self._held_told = etag, now, tally.held
        self._changes -= changes
        self._moving = state == "moving"
        return True

    def _there(self) -> str | None:
        """The version to replace, where it is not the one that was written last: None if it was taken away."""
        try:
            stored = self._store.get(self._key)
            self._sequence = max(self._sequence, json_records.read(QueueTally, stored.data, file=self._key).sequence)
        except NotFound:
            return None
        except FormatError:
            return stored.etag
        return stored.etag

    def _tally(self, state: Literal["moving", "still", "closed"]) -> QueueTally:
        now = self._store.now()
        since = minute_of(now - RECENT)
        self._lately = {minute: count for minute, count in self._lately.items() if minute >= since}
        return QueueTally(
            writer=self._writer,
            campaign=self._campaign,
            queue=self._queue,
            state=state,
            at=now,
            waiting=self._sum.waiting,
            completed=self._sum.completed,
            aside=dict(self._sum.aside),
            doubts=self._doubts,
            held=self._held,
            lately=dict(self._lately),
            sequence=self._sequence,
        )


@contextmanager
def doubted(store: Store, campaign: str, queue: str) -> Iterator[None]:
    """For what a person does to a queue, which is not counted: whoever counts lists it afterwards."""
    tally = Tally(store, campaign, queue, "by-hand", ThreadRuntime(), partial(secrets.token_hex, 12))
    try:
        with tally.change() as change:
            change.doubt()
            yield
    finally:
        tally.close()
