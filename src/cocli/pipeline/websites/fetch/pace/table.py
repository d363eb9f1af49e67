"""The table of paces: for every site and every address when it may be asked next, and who asks it now.

One question decides over all that a request needs, its site and its address: either it takes everything, or nothing and
is told how long to wait. So nobody holds a place while waiting for another, and nobody who dies or gives up has
reserved anything.

An entry is known by the digest of its name and lies in one of a few slots that follow from it. What has passed is free
for others, so nothing is ever removed. Every time in it is at most an hour ahead; whatever is more cannot be, and
counts for nothing: neither a damaged file nor a wrong clock keeps a site closed.
"""

from __future__ import annotations

import hashlib
import math
import os
import struct
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

from cocli import logs
from cocli.pipeline.websites.fetch.pace.cells import MemoryCells, machine_clock, open_cells

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.pipeline.websites.fetch.pace.cells import Cells

_LOG = logs.get_logger(__name__)

LONGEST_REST = 3600.0
"""Seconds that a site is left alone at most, whatever it asks for."""
MOST_COUNTED = 64
"""Requests at a time. Who allows more does not mean a number: they are not counted."""
_SLOTS = 1 << 16
_PROBES = 8
_SLOT = struct.Struct("<16sdddII")
_NEXT_AT, _RESTS_UNTIL, _HELD_UNTIL = 16, 24, 32
TABLE_SIZE = _SLOTS * _SLOT.size
_TIME = struct.Struct("<d")
_HOLD = struct.Struct("<dII")
_POLL = 0.05
"""Seconds until somebody else's request may be over: nobody tells us."""
_STUCK = 5.0
"""Seconds after which whoever holds the lock has been stopped: a question takes some microseconds."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What holds for a site or an address: so many at a time, so many seconds from one to the next."""

    key: bytes
    places: int
    interval: float
    hold: float = math.inf
    """Seconds after which a request does not count any more, though nobody has answered it."""


@dataclass(slots=True)
class _Entry:
    """A slot of the table, as it was read."""

    slot: int
    key: bytes
    is_new: bool = True
    """It is not in the table yet: what is there has passed."""
    next_at: float = 0.0
    rests_until: float = 0.0
    held_until: float = 0.0
    holder: int = 0
    space: int = 0


@dataclass(frozen=True, slots=True)
class Wait:
    """Not yet."""

    seconds: float
    by: Literal["site", "address", "rest", "lock"]


@dataclass(frozen=True, slots=True)
class Grant:
    """A request may start now. It is given back with what came of it."""

    at: float
    pace: _Entry
    """Of the site."""
    places: tuple[_Entry, ...]
    """Nobody else has them meanwhile."""


class PaceTable:
    """One per fetcher; those with the same file share what they know."""

    def __init__(
        self, cells: Cells | None = None, *, clock: Callable[[], float] = machine_clock, hold: float = 120.0
    ) -> None:
        """`hold` are the seconds after which a request is over for certain, whatever became of its process."""
        self._cells = cells or MemoryCells(TABLE_SIZE)
        self.clock = clock
        self._hold = hold
        self._locked_out_since: float | None = None
        self._me = os.getpid(), _pid_space()

    def close(self) -> None:
        self._cells.close()

    def take(self, site: Bound, address: Bound | None = None) -> Grant | Wait:
        """Everything that a request needs, or how long to wait before asking again."""
        try:
            return self._take(site, address)
        except OSError as error:  # a full disk, for example
            self._go_alone(error)
            return self._take(site, address)

    def give_back(self, grant: Grant, next_at: float | None, rest: float = 0.0) -> None:
        """The request is over. The site may be asked again at `next_at`, and after so many seconds of rest.

        None takes the request back: it never reached anybody. There is no lock here: nobody else changes a place
        that is held, and every value is written by itself.
        """
        try:
            pace = self._values(grant.pace)
            if pace[0] == grant.pace.key:
                self._set_pace(grant, grant.pace.next_at if next_at is None else next_at, rest)
            for place in grant.places:
                key, _, _, held_until, *holder = pace if place.slot == grant.pace.slot else self._values(place)
                is_mine = key == place.key and (*holder,) == self._me
                if is_mine and held_until == place.held_until:  # else it was given to somebody else meanwhile
                    self._put(place, _HELD_UNTIL, _HOLD.pack(0.0, 0, 0))
        except OSError as error:  # as above
            self._go_alone(error)

    def _take(self, site: Bound, address: Bound | None) -> Grant | Wait:
        now = self.clock()
        if not self._cells.lock() and not self._is_stuck(now):
            return Wait(_POLL / 10, "lock")
        self._locked_out_since = None
        try:
            pace = self._entry(site.key, now)
            if pace.rests_until > now:
                return Wait(pace.rests_until - now, "rest")
            place = self._place(site, pace, now, "site")
            if isinstance(place, Wait) or address is None:
                return place if isinstance(place, Wait) else self._granted(now, (site, pace, place))
            address_pace = self._entry(address.key, now)
            room = self._place(address, address_pace, now, "address")
            if isinstance(room, Wait):
                return room
            return self._granted(now, (site, pace, place), (address, address_pace, room))
        finally:
            self._cells.unlock()

    def _place(self, bound: Bound, pace: _Entry, now: float, by: Literal["site", "address"]) -> _Entry | Wait:
        """A place that is free. The first is in the entry that has the pace."""
        if pace.next_at > now:
            return Wait(pace.next_at - now, by)
        if bound.places > MOST_COUNTED:
            return pace
        for number in range(bound.places):
            entry = pace if number == 0 else self._entry(_place_key(bound.key, number), now)
            if entry.held_until <= now or not self._is_alive(entry):
                return entry
        return Wait(_POLL, by)

    def _granted(self, now: float, *taken: tuple[Bound, _Entry, _Entry]) -> Grant:
        for bound, pace, place in taken:
            next_at, place.held_until = now + bound.interval, now + min(bound.hold, self._hold)
            if pace is place and pace.is_new:  # nearly always: all of it is written at once
                self._write_new(pace, next_at, place.held_until)
                continue
            for entry in (pace, place):
                if entry.is_new:
                    self._write_new(entry)
            self._put(pace, _NEXT_AT, _TIME.pack(next_at))
            self._put(place, _HELD_UNTIL, _HOLD.pack(place.held_until, *self._me))
        return Grant(now, taken[0][1], tuple(place for _, _, place in taken))

    def _write_new(self, entry: _Entry, next_at: float = 0.0, held_until: float = 0.0) -> None:
        holder = self._me if held_until else (0, 0)
        self._cells.write(entry.slot, _SLOT.pack(entry.key, next_at, 0.0, held_until, *holder))
        entry.is_new = False

    # --- slots

    def _entry(self, key: bytes, now: float) -> _Entry:
        """The entry of a key, or a slot for it: one that has passed, else the one that passes first."""
        first = int.from_bytes(key[:4], "little") % (_SLOTS - _PROBES) * _SLOT.size
        window = self._cells.read(first, _PROBES * _SLOT.size)
        best, passes = first, now + 2 * LONGEST_REST
        for number, values in enumerate(_SLOT.iter_unpack(window)):
            slot = first + number * _SLOT.size
            if values[0] == key:
                return _entry_of(slot, values, now)
            over_at = max(values[1:4])
            if not now < over_at <= now + LONGEST_REST:
                over_at = 0.0
            if over_at < passes:
                best, passes = slot, over_at
        return _Entry(best, key)

    def _values(self, entry: _Entry) -> tuple[bytes, float, float, float, int, int]:
        """What the slot of an entry has now: perhaps somebody else's."""
        return _SLOT.unpack(self._cells.read(entry.slot, _SLOT.size))

    def _put(self, entry: _Entry, field: int, value: bytes) -> None:
        self._cells.write(entry.slot + field, value)

    def _set_pace(self, grant: Grant, next_at: float, rest: float) -> None:
        now = self.clock()
        self._put(grant.pace, _NEXT_AT, _TIME.pack(min(next_at, now + LONGEST_REST)))
        if rest > 0:
            self._put(grant.pace, _RESTS_UNTIL, _TIME.pack(now + min(rest, LONGEST_REST)))

    # --- others

    def _is_alive(self, entry: _Entry) -> bool:
        """Whether the process that holds a place still runs. One of another container is taken to."""
        return entry.space != self._me[1] or entry.holder == self._me[0] or _runs(entry.holder)

    def _is_stuck(self, now: float) -> bool:
        """A process that was stopped in the middle must not stop the others."""
        if self._locked_out_since is None:
            self._locked_out_since = now
        return now - self._locked_out_since > _STUCK

    def _go_alone(self, error: OSError) -> None:
        _LOG.warning("other processes no longer know when this one asks a site: %s", error)
        self._cells.close()
        self._cells = MemoryCells(TABLE_SIZE)


def open_pace_table(folder: str, *, hold: float = 120.0) -> PaceTable:
    """The table that the processes of this machine share in a folder of theirs."""
    return PaceTable(open_cells(folder, TABLE_SIZE), hold=hold)


@lru_cache(maxsize=20_000)
def pace_key(kind: str, name: str) -> bytes:
    """What an entry is known by. Of a `kind`: a site and an address never meet."""
    return hashlib.blake2b(f"{kind}\n{name}".encode(), digest_size=16).digest()


def _place_key(key: bytes, number: int) -> bytes:
    return hashlib.blake2b(key + bytes([number % 256, number // 256]), digest_size=16).digest()


def _entry_of(slot: int, values: tuple[bytes, float, float, float, int, int], now: float) -> _Entry:
    """What the bytes of a slot say. A time that cannot be, and one that is no number, say nothing."""
    key, *times, holder, space = values
    next_at, rests_until, held_until = (at if at <= now + LONGEST_REST else 0.0 for at in times)
    return _Entry(slot, key, False, next_at, rests_until, held_until, holder, space)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # somebody else's, or no process at all: its time will pass
        return True
    return True


@cache
def _pid_space() -> int:
    """Which processes a number means: containers count their own."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino & 0xFFFF_FFFF
    except OSError:  # not Linux
        return 0
