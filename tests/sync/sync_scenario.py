"""Sync in the simulator: two laptops, one bucket, people who edit, delete and rename, and what must always hold.

python -m tests.kit.simulator tests/sync/sync_scenario.py:SyncScenario --seeds 20000 --jobs 2

The engine, its plan, its state (SQLite) and its conflicts are the real ones. The disks are in the simulated world, so
that everybody acts between any two steps of a run: their clocks tick in whole seconds and inodes tell nothing, which
makes every quick edit of the same size a racy one.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tests.kit.simulator import Faults, Limits, Scenario

from cocli.errors import NotFound, StoreError, Unavailable
from cocli.index.cache import MemoryCache
from cocli.index.compaction import Compactor
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.paths import IndexRef
from cocli.models.domain import Domain
from cocli.pipeline.indexes import open_index
from cocli.store.base import ObjectInfo, Put, StoredObject
from cocli.store.bulk import answer, put_one
from cocli.sync.decision import SyncOptions
from cocli.sync.engine import Syncer
from cocli.sync.folder import Folder, Stamp
from cocli.sync.pair import Direction, SyncPair
from cocli.sync.selection import Selection
from cocli.sync.state import SyncState

LAPTOPS = ("a", "b")
KEYS = [f"people/p{number}.md" for number in range(4)] + ["companies/acme/_index.md", "companies/acme/notes/call.md"]
REPORT = "campaigns/c/reports/report.json"
COMPLETED = "campaigns/c/queues/gm-list/completed/0/t{}.json"
BUCKET = "bucket/"
_TOKEN = "token"


def disk(laptop: str) -> str:
    return f"disk-{laptop}/"


class Below:
    """The part of a store below a folder, as a store of its own."""

    def __init__(self, inner: Any, prefix: str) -> None:
        self._inner = inner
        self._prefix = prefix

    @property
    def address(self) -> str:
        return f"memory://{self._prefix}"

    def get(self, key: str) -> StoredObject:
        return self._cut(self._inner.get(self._prefix + key))  # type: ignore[no-any-return]

    def head(self, key: str) -> ObjectInfo:
        return self._cut(self._inner.head(self._prefix + key))  # type: ignore[no-any-return]

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        return str(self._inner.put(self._prefix + key, data, if_absent=if_absent, if_match=if_match))

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        self._inner.delete(self._prefix + key, if_match=if_match)

    def list(self, prefix: str = "", *, start_after: str | None = None) -> Iterator[ObjectInfo]:
        after = None if start_after is None else self._prefix + start_after
        return (self._cut(info) for info in self._inner.list(self._prefix + prefix, start_after=after))

    def get_many(self, keys: Iterable[str]) -> Sequence[StoredObject | StoreError]:
        found = self._inner.get_many([self._prefix + key for key in keys])
        return [answer if isinstance(answer, StoreError) else self._cut(answer) for answer in found]

    def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
        whole = [Put(self._prefix + put.key, put.data, put.if_absent, put.if_match) for put in puts]
        return list(self._inner.put_many(whole))

    def delete_many(
        self, keys: Iterable[str], *, if_match: Mapping[str, str] | None = None, durable: bool = True
    ) -> Sequence[StoreError | None]:
        etags = {self._prefix + key: etag for key, etag in (if_match or {}).items()}
        return list(self._inner.delete_many([self._prefix + key for key in keys], if_match=etags, durable=durable))

    def now(self) -> datetime:
        return self._inner.now()  # type: ignore[no-any-return]

    def close(self) -> None:
        """Nothing is held open."""

    def whole(self, key: str) -> str:
        return self._prefix + key

    def _cut(self, found: Any) -> Any:
        return found._replace(key=found.key[len(self._prefix) :])


class Disk(Below):
    """A laptop's disk: nothing of it fails, but others act between any two operations."""

    def __init__(self, scenario: SyncScenario, world: Any) -> None:
        super().__init__(scenario.everything, disk(laptop_of(world)))
        self._scenario = scenario
        self._world = world

    def pause(self) -> None:
        self._world.clock.sleep(self._world.random.choice((0.0, 0.001, 0.2)))

    def get(self, key: str) -> StoredObject:
        """A file that is edited in place while it is read is seen half old and half new. (Whoever replaces it by
        renaming, as a sync does, leaves the reader with the old one.)"""
        self.pause()
        before, edits = super().get(key), self._scenario.in_place[self._prefix + key]
        self._world.clock.sleep(self._world.random.choice((0.0, 0.1, 1.5)))
        if self._scenario.in_place[self._prefix + key] == edits:
            return before
        after = super().get(key)
        half = len(before.data) // 2
        return after._replace(data=before.data[:half] + after.data[half:])

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        self.pause()
        etag = super().put(key, data, if_absent=if_absent, if_match=if_match)
        self._scenario.verify()
        return etag

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        self.pause()
        super().delete(key, if_match=if_match)
        self._scenario.verify()

    def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
        return [answer(partial(put_one, self), put) for put in puts]


class SimulatedFolder(Folder):
    """The real `Folder`, on a disk of the simulated world."""

    def __init__(self, scenario: SyncScenario, world: Any) -> None:
        self.store: Any = Disk(scenario, world)
        self._case_sensitive = True
        self._skew = scenario.skews[laptop_of(world)]

    def now_ns(self) -> int:
        self.store.pause()
        return self._ns(self.store.now())

    def walk(self, folders: Sequence[str], skipped: Any) -> dict[str, Stamp]:
        found: dict[str, Stamp] = {}
        for folder in folders:
            for info in list(self.store.list(folder)):
                self.store.pause()
                stamp = self.stamp(info.key)
                if stamp is not None:
                    found[info.key] = stamp
        return found

    def stamp(self, key: str) -> Stamp | None:
        try:
            stored = Below.get(self.store, key)
        except NotFound:
            return None
        modified = self._ns(stored.modified)
        return Stamp(len(stored.data), modified, modified, 0)

    def replace(self, key: str, data: bytes, digest: str) -> None:
        self.store.put(key, data, if_match=digest)

    def remove(self, key: str, digest: str) -> None:
        self.store.delete(key, if_match=digest)

    def _ns(self, moment: datetime) -> int:
        return (int(moment.timestamp()) + self._skew) * 10**9


def laptop_of(world: Any) -> str:
    return str(world.name).rpartition("-")[2]


class SyncScenario(Scenario):
    """People work on both laptops while both are synced; each process may die at any moment."""

    faults = Faults(pause_seconds=120, delay_seconds=20, crash=0.015)
    limits = Limits(storm_steps=500, max_steps=15_000)
    edits = 20
    keys = KEYS
    directions: tuple[Direction, ...] = (Direction.BOTH, Direction.BOTH, Direction.PUSH, Direction.PULL)

    def __init__(self) -> None:
        self.everything: Any = None
        self.skews: dict[str, int] = {}
        self._live: dict[str, str] = {}
        """Tokens that nobody has overwritten or deleted knowingly: each must be somewhere, always."""
        self._written: set[str] = set()
        self.in_place: Counter[str] = Counter()
        """How often a person has saved each file."""
        self._folder = tempfile.mkdtemp(prefix="cocli-sync-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)

    def __del__(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    # --- who takes part

    def clients(self, random: Random) -> Mapping[str, Any]:
        self.skews = {laptop: random.randint(-5000, 5000) for laptop in LAPTOPS}
        people = {f"person-{laptop}": self._work for laptop in LAPTOPS}
        return {**people, **{f"laptop-{laptop}": self._sync for laptop in LAPTOPS}}

    def calm_clients(self, clients: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: client for name, client in clients.items() if name.startswith("laptop")}

    def prepare(self, store: Any, random: Random) -> None:
        self.everything = store
        for number, key in enumerate(self.keys[:4]):
            store.put(BUCKET + key, self._new(f"0-{number:05}", key))

    def _new(self, name: str, key: str) -> bytes:
        """Something that nobody has written before. Twice in one file, so that a torn one is seen to be torn."""
        token = f"{_TOKEN}-{name}|{_TOKEN}-{name}"
        self._live[token] = key
        self._written.add(token)
        return token.encode()

    @contextmanager
    def make_pair(self, world: Any) -> Iterator[SyncPair]:
        state = self.make_state(Path(self._folder) / f"{laptop_of(world)}.sqlite3")
        try:
            yield SyncPair(
                self.make_folder(world),
                self.make_bucket(world),
                state,
                host=laptop_of(world),
                now=world.clock.wall,
                sleep=world.clock.sleep,
                monotonic=world.clock.monotonic,
                nonce=lambda: f"{world.random.getrandbits(64):016x}",
            )
        finally:
            state.close()

    def make_syncer(self, pair: SyncPair, direction: Direction) -> Syncer:
        return Syncer(pair, Selection(), SyncOptions(direction, delete=True))

    def make_state(self, path: Path) -> SyncState:
        return SyncState(str(path))

    def make_folder(self, world: Any) -> Any:
        return SimulatedFolder(self, world)

    def make_bucket(self, world: Any) -> Any:
        return Below(world.store, BUCKET)

    def _sync(self, world: Any) -> None:
        noise = None if world.calm else world.spawn(partial(self._draw_faults, world))
        with self.make_pair(world) as pair:
            for number in range(8 if world.calm else 12):
                direction = Direction.BOTH if world.calm else world.random.choice(self.directions)
                try:
                    report = self.make_syncer(pair, direction).run(many_deletions=True, emptied=True)
                except Unavailable:
                    world.record("gave_up")
                else:
                    self._note(world, report)
                    if world.calm and number >= 6:
                        assert report.did_nothing, f"both are the same, but a run still does something: {report}"
                        assert not report.failed, f"in the calm: {report.failed}"
                world.clock.sleep(100 if world.calm else world.random.uniform(0, 60))
        if noise is not None:
            noise.stop()

    def _note(self, world: Any, report: Any) -> None:
        world.record("synced")
        for name, count in report.counts.items():
            for _ in range(count):
                world.record(name)
        for error in report.failed.values():
            world.record(error.code)

    def _draw_faults(self, world: Any) -> None:
        """A process dies in the middle of its work on the disk as well, not only in a request."""
        while True:
            world.clock.sleep(world.random.uniform(0, 5))
            try:
                world.store.head("noise")
            except (NotFound, Unavailable):
                continue

    def _work(self, world: Any) -> None:
        laptop = laptop_of(world)
        for number in range(self.edits):
            world.clock.sleep(world.random.choice((0.02, 0.3, 5.0, 60.0)) * world.random.random())
            key = self._act(world, laptop, f"{laptop}-{world.incarnation:02}{number:03}")
            if key is not None and world.random.random() < 0.6:
                world.clock.sleep(world.random.random())  # saved once more, perhaps in the same second
                self._edit(
                    Below(self.everything, disk(laptop)), key, f"{laptop}-{world.incarnation:02}{number + 500:03}"
                )

    def _edit(self, files: Below, key: str, name: str) -> None:
        self._overwrite(files, key)
        files.put(key, self._new(name, key))
        self.in_place[files.whole(key)] += 1
        self.verify()

    def _act(self, world: Any, laptop: str, name: str) -> str | None:
        """One keystroke of a person: at once, and knowing what was there. Returns what was edited."""
        files = Below(self.everything, disk(laptop))
        here = [info.key for info in files.list() if info.key.startswith(("people/", "companies/"))]
        action = world.random.choice(("edit", "edit", "edit", "delete", "rename", "report", "complete"))
        if action == "report":
            files.put(REPORT, json.dumps({"updated_at": f"{world.store.now().isoformat()}", "by": name}).encode())
        elif action == "complete":
            key = COMPLETED.format(world.random.randrange(5))
            files.put(key, key.encode())
        elif action == "edit" or not here:
            key = world.random.choice([*here, *self.keys])
            self._edit(files, key, name)
            world.record("person_edit")
            return str(key)
        else:
            key = world.random.choice(here)
            stored = files.get(key)
            if action == "rename":
                target = f"people/r-{name}.md"
                files.put(target, stored.data)
            else:
                self._overwrite(files, key)
            files.delete(key)
        world.record(f"person_{action}")
        self.verify()
        return None

    def _overwrite(self, files: Below, key: str) -> None:
        """Somebody who saw a token has replaced or deleted it on purpose."""
        try:
            self._live.pop(files.get(key).data.decode(), None)
        except NotFound:
            return

    # --- what must hold

    def verify(self) -> None:
        there = {stored.data.decode() for stored in self.everything.objects.values()}
        lost = [token for token in self._live if token not in there]
        assert not lost, f"a person's edit is nowhere any more: {lost}"
        torn = [text for text in there if text.startswith(_TOKEN) and text not in self._written]
        assert not torn, f"nobody ever wrote this: {torn}"

    def check(self, change: Any, store: Any, history: Any) -> None:
        if change.wrote:
            self.verify()

    def check_end(self, store: Any, history: Any) -> None:
        bucket = self._tree(store, BUCKET)
        for laptop in LAPTOPS:
            found = self._tree(store, disk(laptop))
            differing = {key for key in {*found, *bucket} if found.get(key) != bucket.get(key)}
            assert not differing, f"{laptop} and the bucket differ in {sorted(differing)}"
        lost = [token for token in self._live if token.encode() not in bucket.values()]
        assert not lost, f"a person's edit did not arrive: {lost}"

    def _tree(self, store: Any, prefix: str) -> dict[str, bytes]:
        return {stored.key[len(prefix) :]: stored.data for stored in store.below(prefix)}


class IndexScenario(SyncScenario):
    """Both laptops publish versions of an index, another machine packs the one in the bucket: no record is lost."""

    faults = Faults(pause_seconds=60, delay_seconds=10, crash=0.008)
    limits = Limits(storm_steps=700, max_steps=30_000)
    ref = IndexRef("domains")

    def __init__(self) -> None:
        super().__init__()
        self._domains: set[str] = set()

    def clients(self, random: Random) -> Mapping[str, Any]:
        return {**super().clients(random), "packer-z": self._pack}

    def prepare(self, store: Any, random: Random) -> None:
        self.everything = store

    def _index(self, store: Any, world: Any) -> Any:
        return open_index(
            store, self.ref, MemoryCache(), writer=world.name, nonce=lambda: f"{world.random.getrandbits(64):016x}"
        )

    def _work(self, world: Any) -> None:
        """A worker on a laptop: writes records, and packs them now and then."""
        index = self._index(Disk(self, world), world)
        for number in range(5):
            name = f"{laptop_of(world)}{world.incarnation}{number}.example"
            IndexWriter(index).append([Domain(domain=name)])
            self._domains.add(name)
            world.record("wrote")
            if world.random.random() < 0.7:
                world.record("packed", version=Compactor(index).compact().version)
            world.clock.sleep(world.random.uniform(0, 60))

    def _pack(self, world: Any) -> None:
        index = self._index(Below(world.store, BUCKET), world)
        for _ in range(4):
            world.clock.sleep(world.random.uniform(0, 60))
            Compactor(index).compact()

    def _note(self, world: Any, report: Any) -> None:
        super()._note(world, report)
        for moved in report.indexes:
            world.record(moved.outcome)

    def verify(self) -> None:
        """Looked at in the end: a record may be in a shard, a batch, or both."""

    def check_end(self, store: Any, history: Any) -> None:
        found = {prefix: self._records(store, prefix) for prefix in (BUCKET, *map(disk, LAPTOPS))}
        for prefix, domains in found.items():
            missing = self._domains - domains
            assert not missing, f"a record is not in {prefix}: {sorted(missing)}"

    def _records(self, store: Any, prefix: str) -> set[str]:
        index = open_index(Below(store, prefix), self.ref, MemoryCache())
        return {record.domain for record in open_reader(index, fresh=True).scan()}
