"""How many tasks a queue has, without listing them: what was listed once, and what the tallies say has changed since.

A look is one listing of a small folder, and one read for each process that has changed something. The queue itself is
listed where that costs no more, and where the tallies cannot tell: nobody counted it yet, a process fell silent in the
middle of something, somebody changed what cannot be told in numbers, the count is old. What a listing finds in a large
queue is kept for everybody.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeGuard

from cocli import logs
from cocli.errors import FormatError, NotFound, StoreError
from cocli.formats import json_records
from cocli.keys.paths import QueueCountKey, QueueTallyKey
from cocli.models.queue_count import QueueCount, QueueTally, TallyMark
from cocli.queue.base import QueueStats
from cocli.queue.leased.listing import ListedQueue, list_queue
from cocli.queue.leased.tally import PERIOD, RECENT, minute_of
from cocli.store import settled

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from cocli.queue.places import Places
    from cocli.store.base import ObjectInfo, Store, StoredObject

_LOG = logs.get_logger(__name__)

PAGE = 1000
"""Objects that one request lists."""
WORTH = 5 * PAGE
"""A queue of fewer objects is listed: that costs no more than reading what is kept about it."""
SILENT = timedelta(seconds=5 * PERIOD)
"""A process that is changing something writes more often."""
_OLDEST = timedelta(minutes=10)
_SHARE = 20
"""Counting anew takes a twentieth of the time, at most: programs older than tallies change what nobody tells."""
_SETTLED = timedelta(seconds=2)
"""Longer than the step of any file system's clock."""
_REMEMBERED = timedelta(days=7)
_LISTED = timedelta(hours=1)
"""Longer than it takes to list a queue."""
_MANY_OLD = 20
_LOOKS = 3
_FEW = 10
"""So many tallies are always read: side by side, which listings are not."""


@dataclass(frozen=True, slots=True)
class _ToldTally:
    info: ObjectInfo
    tally: QueueTally

    def is_lively(self, now: datetime) -> bool:
        return now - self.info.modified < SILENT

    def moves(self, now: datetime) -> bool:
        return self.tally.state == "moving" and self.is_lively(now)

    def is_lost(self, now: datetime) -> bool:
        return self.tally.state == "moving" and not self.is_lively(now)


@dataclass(frozen=True, slots=True)
class _Known:
    """What lies in the folder of the count."""

    infos: frozenset[ObjectInfo]
    count: QueueCount | None
    tallies: tuple[_ToldTally, ...]


class QueueCensus:
    """Remembers what it has read: a second look reads what has changed."""

    def __init__(
        self,
        store: Store,
        places: Places,
        campaign: str,
        queue: str,
        expiry: timedelta,
        nonce: Callable[[], str],
        monotonic: Callable[[], float],
        *,
        worth: int = WORTH,
        oldest: timedelta = _OLDEST,
    ) -> None:
        """A queue of up to `worth` objects is listed with every look; any, when its count is older than `oldest`."""
        self._store = store
        self._places = places
        self._campaign = campaign
        self._queue = queue
        self._expiry = expiry
        self._nonce = nonce
        self._monotonic = monotonic
        self._worth = worth
        self._oldest = oldest
        self._key = str(QueueCountKey(campaign, queue))
        self._read: dict[ObjectInfo, _ToldTally] = {}
        self._unreadable: set[ObjectInfo] = set()
        self._infos: frozenset[ObjectInfo] = frozenset()
        """What lay there when the last look began."""
        self._count: tuple[ObjectInfo, str, QueueCount | None] | None = None

    def stats(self) -> QueueStats:
        told = self.told()
        if told is not None:
            return told
        return self.listed().stats(self._store, self._queue, self._expiry)

    def told(self) -> QueueStats | None:
        """What count and tallies say; None where the queue has to be listed."""
        infos = self._infos = self._list()
        base = self._base(infos)
        if base is None:
            self._remove_old(infos)
            return None
        if not self._is_worth_reading(base, infos):
            return None
        known = self._known(infos)
        self._infos = known.infos
        now = self._store.now()
        if known.count is None or self._unreadable or not _tells(known.count, known.tallies, now, self._oldest):
            return None
        return self._told(known.count, known.tallies, now)

    def listed(self) -> ListedQueue:
        """List the queue, after `told` had no answer, and keep what was found if that saves others a listing."""
        kept, started = self._count, self._monotonic()
        listed = list_queue(self._store, self._places)
        seconds = self._monotonic() - started
        was_large = kept is not None and (kept[2] is None or kept[2].objects > self._worth)
        if was_large or listed.objects > self._worth:
            try:
                self._keep(listed, seconds, kept[1] if kept else None)
            except StoreError as error:  # the numbers are right all the same
                _LOG.debug("the count of %s could not be kept: %s", self._queue, error.message)
        return listed

    # --- reading what is kept

    def _list(self) -> frozenset[ObjectInfo]:
        return frozenset(self._store.list(self._places.count))

    def _base(self, infos: frozenset[ObjectInfo]) -> QueueCount | None:
        """The count; None where there is none, or it cannot be read."""
        found = next((info for info in infos if info.key == self._key), None)
        if found is None:
            self._count = None
            return None
        if self._count is None or self._count[0] != found or not self._is_settled(found):
            try:
                stored = self._store.get(self._key)
            except NotFound:
                return None
            try:
                count = json_records.read(QueueCount, stored.data, file=self._key)
            except FormatError:
                count = None  # it is made anew
            self._count = found, stored.etag, count
        return self._count[2]

    def _is_settled(self, info: ObjectInfo) -> bool:
        """Where listings know no etags, what was written just now may be written once more and look the same."""
        return info.etag is not None or self._store.now() - info.modified > _SETTLED

    def _is_worth_reading(self, base: QueueCount, infos: frozenset[ObjectInfo]) -> bool:
        unread = sum(info not in self._read for info in infos) - 1
        return base.objects > self._worth and unread <= max(base.objects // PAGE, _FEW)

    def _known(self, infos: frozenset[ObjectInfo]) -> _Known:
        """The tallies as they were listed. One that went away meanwhile was taken into a newer count: look again."""
        for _ in range(_LOOKS):
            if self._fetch(infos):
                break
            infos = self._list()
        count = self._base(infos)
        tallies = tuple(self._read[info] for info in sorted(infos & self._read.keys()))
        return _Known(infos, count, tallies)

    def _fetch(self, infos: frozenset[ObjectInfo]) -> bool:
        wanted = [info for info in infos if QueueTallyKey.fits(info.key)]
        self._read = {info: told for info, told in self._read.items() if info in infos and self._is_settled(info)}
        self._unreadable &= infos
        unread = sorted(info for info in wanted if info not in self._read)
        whole = True
        for info, answer in zip(unread, self._store.get_many([info.key for info in unread]), strict=True):
            if isinstance(answer, NotFound):
                whole = False
                continue
            if isinstance(answer, StoreError):
                raise answer
            try:
                tally = json_records.read(QueueTally, answer.data, file=info.key)
            except FormatError as error:
                _LOG.debug("a tally cannot be read: %s", error.message)
                self._unreadable.add(info)
                continue  # written by a later program: the queue is listed as long as it is there
            self._read[info] = _ToldTally(info, tally)
        return whole

    # --- listing

    def _keep(self, listed: ListedQueue, seconds: float, etag: str | None) -> None:
        """Kept only if nobody else has kept another count since this look began: `etag` is that of the one before."""
        at, stats = listed.at, listed.stats(self._store, self._queue, self._expiry)
        after = self._known(self._list())
        is_same = _without(self._key, self._infos) == _without(self._key, after.infos)
        still = is_same and not self._unreadable and all(map(self._is_settled, after.infos))
        still = still and not any(told.moves(at) for told in after.tallies)
        held = sum(told.tally.held for told in after.tallies if told.is_lively(at))
        count = QueueCount(
            campaign=self._campaign,
            queue=self._queue,
            at=at,
            seconds=seconds,
            objects=listed.objects,
            still=still,
            pending=stats.pending,
            completed=stats.completed or 0,
            aside=dict(stats.sidelined),
            leased=max(stats.leased - held, 0),
            expired=stats.expired or 0,
            oldest=stats.oldest,
            lately=listed.lately,
            tallies=_marks(after, at),
            nonce=self._nonce(),
        )
        data = json_records.render(count)
        if etag is None:
            written = settled.create(self._store, self._key, data)
        else:
            written = settled.swap(self._store, self._key, data, etag)
        if written is not None:
            self._count = None
            self._remove_ended(after, at)

    def _remove_ended(self, known: _Known, now: datetime) -> None:
        """Tallies of processes that have ended, and that the count before this one had taken in already: whoever still
        reads that one misses nothing."""
        marks = known.count.tallies if known.count else {}
        over = [
            told.info.key
            for told in known.tallies
            if (mark := marks.get(told.tally.writer)) is not None
            and mark.sequence == told.tally.sequence
            and told.tally.state == "closed"
            and now - told.info.modified > RECENT
        ]
        self._store.delete_many(over)

    def _remove_old(self, infos: frozenset[ObjectInfo]) -> None:
        """Where there is no count, tallies of processes that have ended say nothing to anybody. Those of the last hour
        stay: somebody may be listing the queue, and see by them that it was changed meanwhile."""
        now = self._store.now()
        old = sorted(info.key for info in infos if QueueTallyKey.fits(info.key) and now - info.modified > _LISTED)
        if len(old) < _MANY_OLD:
            return
        try:
            answers = self._store.get_many(old[:PAGE])
            over = [found for found in answers if _is_closed(found, now)]
            self._store.delete_many([found.key for found in over])
        except StoreError as error:  # another look does it
            _LOG.debug("old tallies could not be removed now: %s", error.message)

    # --- telling

    def _told(self, count: QueueCount, tallies: tuple[_ToldTally, ...], now: datetime) -> QueueStats:
        pending, completed, aside = count.pending, count.completed, Counter(count.aside)
        held, dead, lately = 0, 0, Counter[str]()
        for told in tallies:
            since = _since(told.tally, count.tallies.get(told.tally.writer))
            pending, completed = pending + since.waiting, completed + since.completed
            aside.update(since.aside)
            lately.update(told.tally.lately)
            if told.is_lively(now):
                held += told.tally.held
            elif told.is_lively(count.at):
                dead += told.tally.held
        is_overdue = now - count.at >= self._expiry
        expired = count.expired + dead + (count.leased if is_overdue else 0)
        leased = held + (0 if is_overdue else count.leased)
        moving = [told.info.modified for told in tallies if told.moves(now)]
        return QueueStats(
            queue=self._queue,
            pending=max(pending, 0),
            leased=min(leased, max(pending, 0)),
            expired=min(expired, max(pending - leased, 0)),
            completed=max(completed, 0),
            sidelined={category: number for category, number in sorted(aside.items()) if number > 0},
            oldest=count.oldest if pending > 0 else None,
            completed_recently=_recently(count, lately, now),
            recent=RECENT,
            as_of=min(moving, default=None),
        )


def _is_closed(stored: StoredObject | StoreError, now: datetime) -> TypeGuard[StoredObject]:
    """Whether its process has ended; or was killed so long ago that nobody waits for it."""
    if isinstance(stored, StoreError):
        return False
    try:
        tally = json_records.read(QueueTally, stored.data, file=stored.key)
        return tally.state == "closed" or now - stored.modified > _REMEMBERED
    except FormatError:
        return False  # of a later program, which removes it


def _tells(count: QueueCount, tallies: tuple[_ToldTally, ...], now: datetime, oldest: timedelta) -> bool:
    """Whether a count and what was told since are the truth, or, while somebody works, not far from it."""
    if now - count.at > max(oldest, _SHARE * timedelta(seconds=count.seconds)):
        return False
    works = any(told.moves(now) for told in tallies)
    if not count.still and not works:
        return False  # it was made while somebody worked, and now nobody does
    for told in tallies:
        mark = count.tallies.get(told.tally.writer)
        if mark is not None and mark.sequence == told.tally.sequence:
            continue
        if told.is_lost(now) or (mark is not None and mark.silent):
            return False
        if told.tally.doubts > (mark.doubts if mark else 0) and not works:
            return False
    return True


def _marks(known: _Known, now: datetime) -> dict[str, TallyMark]:
    """How far each tally is in this count. Those that are gone are remembered: a machine may wake up and go on."""
    earlier = known.count.tallies if known.count else {}
    kept = {writer: mark for writer, mark in earlier.items() if now - mark.at < _REMEMBERED}
    return kept | {told.tally.writer: told.tally.mark(silent=told.is_lost(now)) for told in known.tallies}


def _since(tally: QueueTally, mark: TallyMark | None) -> TallyMark:
    """What a tally says beyond its mark. A mark that is ahead is of a version that was not read yet."""
    now = tally.mark(silent=False)
    if mark is None:
        return now
    if mark.sequence >= tally.sequence:
        return TallyMark(sequence=mark.sequence, at=mark.at)
    aside = Counter(now.aside)
    aside.subtract(mark.aside)
    return now.model_copy(
        update={
            "waiting": now.waiting - mark.waiting,
            "completed": now.completed - mark.completed,
            "aside": dict(aside),
        }
    )


def _recently(count: QueueCount, lately: Counter[str], now: datetime) -> int:
    """Minutes before the count as it was listed, the others as they are told; of the minute between both, the more."""
    since, counted_at = minute_of(now - RECENT), minute_of(count.at)
    minutes = {minute for minute in (*count.lately, *lately) if minute > since}
    return sum(
        count.lately.get(minute, 0)
        if minute < counted_at
        else max(lately[minute], count.lately.get(minute, 0) if minute == counted_at else 0)
        for minute in minutes
    )


def _without(key: str, infos: frozenset[ObjectInfo]) -> frozenset[ObjectInfo]:
    return frozenset(info for info in infos if info.key != key)
