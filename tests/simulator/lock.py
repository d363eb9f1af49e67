"""A lock with a lease, done right and done wrong: renewed in the background, taken over when its holder is silent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from random import Random

from cocli.errors import AlreadyExists, Conflict, NotFound, Unavailable
from cocli.store.base import StoredObject
from tests.kit.simulator import Change, Client, ClientWorld, Faults, History, ObservedStore, Scenario

KEY = "lock.json"
LENGTH = timedelta(seconds=30)
ROUNDS = 3


@dataclass(frozen=True)
class Lease:
    token: int
    holder: str | None
    expires: str
    nonce: str

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()


def decode(stored: StoredObject) -> Lease:
    return Lease(**json.loads(stored.data))


class Lock:
    """One client's side of the lock."""

    def __init__(self, world: ClientWorld) -> None:
        self.world = world
        self.store = world.store
        self.lease = Lease(0, None, "", "")
        self.etag: str | None = None

    def acquire(self) -> None:
        while not self._try_acquire():
            self.world.clock.sleep(self.world.random.uniform(1, 10))

    def _try_acquire(self) -> bool:
        try:
            stored = self.store.get(KEY)
        except Unavailable:
            return False
        except NotFound:
            return self._write(self._mine(1), None)
        there = decode(stored)
        if there.nonce == self.lease.nonce:
            self.etag = stored.etag  # the answer was lost, the lock was not
            return not self.expired(stored)
        if there.holder is None or self.expired(stored):
            return self._write(self._mine(there.token + 1), stored.etag)
        return False

    def _mine(self, token: int) -> Lease:
        nonce = f"{self.world.random.getrandbits(64):x}"
        return Lease(token, self.world.name, (self.world.clock.wall() + LENGTH).isoformat(), nonce)

    def _write(self, lease: Lease, etag: str | None) -> bool:
        self.lease = lease
        try:
            self.etag = self.put(lease, etag)
        except (AlreadyExists, Conflict, Unavailable):
            return False
        return True

    def put(self, lease: Lease, etag: str | None) -> str:
        if etag is None:
            return self.store.put(KEY, lease.encode(), if_absent=True)
        return self.store.put(KEY, lease.encode(), if_match=etag)

    def expired(self, stored: StoredObject) -> bool:
        return stored.modified + LENGTH <= self.store.now()

    def keep_renewing(self) -> None:
        while True:
            self.world.clock.sleep(LENGTH.total_seconds() / 3)
            if not self._write(self._mine(self.lease.token), self.etag):
                return

    def release(self) -> None:
        """Free, but with its token: it must never start again at 1."""
        self._write(replace(self._mine(self.lease.token), holder=None), self.etag)


class LockScenario(Scenario):
    faults = Faults(pause_seconds=120)
    lock = Lock

    def __init__(self) -> None:
        self._highest_token = 0

    def clients(self, random: Random) -> Mapping[str, Client]:
        return {f"holder-{number}": self._client for number in range(random.randint(2, 4))}

    def _client(self, world: ClientWorld) -> None:
        for _ in range(ROUNDS):
            lock = self.lock(world)
            lock.acquire()
            renewal = world.spawn(lock.keep_renewing)
            world.record("acquired", token=lock.lease.token)
            world.clock.sleep(world.random.uniform(0, 60))
            renewal.stop()
            renewal.join()
            lock.release()

    def check(self, change: Change, store: ObservedStore, history: History) -> None:
        if not change.wrote:
            return
        before = decode(change.before) if change.before else None
        after = decode(change.after) if change.after else None
        if before and before.holder and not (after and after.token == before.token and after.holder == before.holder):
            by_holder = change.client.split("#")[0] == before.holder
            assert by_holder or self._was_expired(change, store.now()), f"a living lock was taken: {before} → {after}"
        if after:
            assert after.token >= self._highest_token, (
                f"the token went back from {self._highest_token} to {after.token}"
            )
            self._highest_token = after.token

    @staticmethod
    def _was_expired(change: Change, now: datetime) -> bool:
        return change.before is not None and change.before.modified + LENGTH <= now


class DeletedLock(Lock):
    """Released by deletion, so that the next one starts again at token 1."""

    def release(self) -> None:
        try:
            self.store.delete(KEY, if_match=self.etag)
        except (Conflict, Unavailable):
            return


class DeletedLockScenario(LockScenario):
    lock = DeletedLock


class WallClockLock(Lock):
    """Believes the holder's clock, and its own."""

    def expired(self, stored: StoredObject) -> bool:
        return datetime.fromisoformat(decode(stored).expires) <= self.world.clock.wall()


class WallClockLockScenario(LockScenario):
    lock = WallClockLock


class CarelessLock(Lock):
    """Writes what it believes to be its own without looking."""

    def put(self, lease: Lease, etag: str | None) -> str:
        if lease.holder is None:
            return self.store.put(KEY, lease.encode())
        return super().put(lease, etag)


class CarelessLockScenario(LockScenario):
    lock = CarelessLock
