"""Does a store really honour conditional writes? Asked by racing them, because a sequential check is passed by
servers that let several racers win.

A worker refuses to coordinate through a store that fails here; `cocli doctor` shows the checks one by one.
"""

from __future__ import annotations

import logging
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import AlreadyExists, Conflict, NotFound, StoreError, UnsafeStore
from cocli.keys.paths import probe_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)

_RACERS = 16
_ROUNDS = 6
_WRONG_SERVER = "Use a folder, Amazon S3, or another server that implements conditional writes."


@dataclass(frozen=True, slots=True)
class ProbeCheck:
    """One line of `cocli doctor`."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None
    coordinates: bool = False
    """Whether workers depend on it to stay out of each other's way."""
    error: StoreError | None = None
    """What the store said, where the check could not be made at all."""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    address: str
    checks: list[ProbeCheck]

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    @property
    def safe(self) -> bool:
        """Whether workers may coordinate through it: every race was run, and went as it must."""
        return self.ok and any(check.coordinates for check in self.checks)

    @property
    def broken(self) -> bool:
        """Whether it was seen to break a promise. A store that cannot be reached is neither safe nor broken."""
        return any(check.coordinates and not check.ok and check.error is None for check in self.checks)


def probe(store: Store, *, racers: int = _RACERS, rounds: int = _ROUNDS) -> ProbeReport:
    """Try everything that cocli relies on, in a folder of its own, and clean up."""
    report = _Probe(store, racers, rounds).run()
    for check in report.checks:
        level = logging.DEBUG if check.ok else logging.WARNING
        _LOG.log(level, "probe of %s: %s: %s", report.address, check.name, check.detail, extra={"ok": check.ok})
    return report


def require_safe(store: Store) -> None:
    """Refuse to coordinate through a store that does not keep its promises."""
    report = probe(store)
    for check in report.checks:
        if check.error is not None:
            raise check.error
        if not check.ok:
            raise UnsafeStore(address=report.address, reason=f"{check.name}: {check.detail}")


class _Probe:
    def __init__(self, store: Store, racers: int, rounds: int) -> None:
        self._store = store
        self._racers = racers
        self._rounds = rounds
        self._folder = probe_folder(secrets.token_hex(6))[:-1]

    def run(self) -> ProbeReport:
        checks: list[ProbeCheck] = []
        try:
            for name, action, coordinates in (
                ("write and read", self._write_and_read, False),
                ("list", self._list, False),
                ("create only once", self._create_race, True),
                ("compare and swap", self._swap_race, True),
                ("conditional delete", self._delete_race, True),
            ):
                check = _checked(name, action, coordinates)
                checks.append(check)
                if not check.ok and not coordinates:
                    break  # what cannot be read or written cannot be raced either
        finally:
            self._clean_up()
        return ProbeReport(self._store.address, checks)

    def _write_and_read(self) -> str:
        key = f"{self._folder}/plain"
        etag = self._store.put(key, b"probe")
        stored = self._store.get(key)
        if stored.data != b"probe" or stored.etag != etag:
            raise _Broken("what was read is not what was written")
        return "an object was written and read back"

    def _list(self) -> str:
        if [info.key for info in self._store.list(f"{self._folder}/")] != [f"{self._folder}/plain"]:
            raise _Broken("an object that was just written is not listed")
        return "a new object is listed at once"

    def _create_race(self) -> str:
        for number in range(self._rounds):
            key = f"{self._folder}/create-{number}"
            winners = self._race(partial(self._store.put, key, if_absent=True), AlreadyExists)
            if len(winners) != 1 or self._store.get(key).data != winners[0]:
                raise _Broken(f"{len(winners)} of {self._racers} clients created one object")
        return f"{self._rounds} races of {self._racers}: one winner each"

    def _swap_race(self) -> str:
        for number in range(self._rounds):
            key = f"{self._folder}/swap-{number}"
            etag = self._store.put(key, b"start")
            winners = self._race(partial(self._store.put, key, if_match=etag), Conflict)
            if len(winners) != 1 or self._store.get(key).data != winners[0]:
                raise _Broken(f"{len(winners)} of {self._racers} clients swapped one object")
        return f"{self._rounds} races of {self._racers}: one winner each"

    def _delete_race(self) -> str:
        key = f"{self._folder}/delete"
        old = self._store.put(key, b"old")
        self._store.put(key, b"new")
        with suppress(Conflict):  # as it should be; what counts is what is there afterwards
            self._store.delete(key, if_match=old)
        try:
            if self._store.get(key).data == b"new":
                return "an object that changed meanwhile is kept"
        except NotFound:
            pass
        raise _Broken("an object was deleted although it had changed")

    def _race(self, act: Callable[[bytes], object], loses: type[StoreError]) -> list[bytes]:
        """Let everybody act at once; returns what the winners wrote."""
        gate = threading.Barrier(self._racers)

        def racer(number: int) -> bytes | None:
            mine = f"{number} {secrets.token_hex(8)}".encode()
            gate.wait()
            try:
                act(mine)
            except loses:
                return None
            return mine

        with ThreadPoolExecutor(self._racers) as pool:
            return [mine for mine in pool.map(racer, range(self._racers)) if mine is not None]

    def _clean_up(self) -> None:
        # The checks have reported what is wrong; what cannot be removed lies in a folder of its own.
        with suppress(StoreError):
            self._store.delete_many([info.key for info in self._store.list(f"{self._folder}/")])


class _Broken(Exception):
    """The store did something that it must never do."""


def _checked(name: str, action: Callable[[], str], coordinates: bool) -> ProbeCheck:
    try:
        return ProbeCheck(name, True, action(), coordinates=coordinates)
    except _Broken as broken:
        return ProbeCheck(name, False, str(broken), _WRONG_SERVER, coordinates)
    except StoreError as error:
        return ProbeCheck(name, False, error.message, error.hint, coordinates, error)
