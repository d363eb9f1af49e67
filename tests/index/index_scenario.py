"""The index in the simulator: the real code, and what must always hold.

python -m tests.kit.simulator tests/index/index_scenario.py:IndexScenario --seeds 20000 --jobs 2
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Any

from tests.kit.simulator import Fault, Faults, Limits, Scenario

from cocli.errors import Conflict, IndexDamaged, Unavailable
from cocli.index import reader as reading
from cocli.index.cache import MemoryCache
from cocli.index.care.garbage import Collector
from cocli.index.care.repair import repair
from cocli.index.compaction import Compactor
from cocli.index.index import Index
from cocli.index.keys import KeySum
from cocli.index.reader import open_reader
from cocli.index.spec import IndexSpec, LooseFormat
from cocli.index.writer import IndexWriter
from cocli.keys.paths import IndexRef, LatestKey, ProspectKey, ShardKey
from cocli.models.record import Hash16, Many, Record, Text

REF = IndexRef("prospects", "c")
NAMES = [f"{number:016x}" for number in range(0, 160, 16)]
GRACE = timedelta(seconds=100)
LATEST = str(LatestKey(REF))


class Tally(Record):
    """A set of numbers under a name: a record from which it can be told which writes have reached it."""

    schema_id = "cocli.tally/1"
    key = ("name",)

    name: Hash16
    seen: Many[int] = ()
    note: Text | None = None
    mark: bool = False
    """The last two are never used: with four columns there are enough ways to spell a shard."""


def union(left: Tally, right: Tally) -> Tally:
    return left.with_changes(seen=tuple(sorted({*left.seen, *right.seen})))


SPEC = IndexSpec(
    name="prospects",
    model=Tally,
    key_text=str,
    merge=union,
    loose_format=LooseFormat.USV,
    loose_key=lambda ref, record: str(ProspectKey(str(ref.campaign), record.name)),
    loose_folder=lambda ref: ref.folder,
    is_loose=ProspectKey.fits,
    shard_rows=3,
    fold_rows=5,
)

Contents = dict[str, set[int]]


class Oracle:
    """What the objects of a store say, read without any of the code under test."""

    def __init__(self) -> None:
        self._shards: dict[str, Contents] = {}
        self._versions: dict[str, Contents] = {}

    def version(self, objects: Mapping[str, Any]) -> Contents:
        latest = json.loads(objects[LATEST].data)
        if latest["manifest"] is None:
            return {}
        name = f"{latest['manifest']['version']:08d}-{latest['manifest']['sha256']}"
        found = objects.get(f"{REF.folder}manifests/{name}.json")
        assert found is not None, f"the manifest {name} is gone, but LATEST needs it"
        manifest = json.loads(found.data)
        shards = [entry["sha256"] for run in ("base", "delta") for entry in manifest[run]]
        for shard in shards:
            assert str(ShardKey(REF, shard)) in objects, f"the shard {shard} is gone, but LATEST needs it"
        if name not in self._versions:
            self._versions[name] = self._contents(manifest, objects)
        return self._versions[name]

    def _contents(self, manifest: Any, objects: Mapping[str, Any]) -> Contents:
        runs: dict[str, Contents] = {}
        for run in ("base", "delta"):
            rows: Contents = {}
            for entry in manifest[run]:
                shard = self.rows(objects[str(ShardKey(REF, entry["sha256"]))].data)
                assert not set(shard) & set(rows), "a run has a key twice"
                rows |= shard
            runs[run] = rows
        visible = runs["base"] | runs["delta"]
        total = KeySum()
        for key in visible:
            total.add(key)
        assert (len(visible), str(total)) == (manifest["rows"], manifest["key_sum"]), "rows or sum are wrong"
        return visible

    def rows(self, data: bytes) -> Contents:
        header, *lines = data.decode().splitlines()
        names = header.split("\x1f")
        rows = [dict(zip(names, line.split("\x1f"), strict=True)) for line in lines]
        contents: Contents = defaultdict(set)
        for row in rows:
            contents[row["name"]] |= set(json.loads(row["seen"]))
        return contents

    def waiting(self, objects: Mapping[str, Any]) -> Contents:
        contents: Contents = defaultdict(set)
        for key, stored in objects.items():
            if "/wal/" in key or ProspectKey.fits(key):
                for name, seen in self.rows(stored.data).items():
                    contents[name] |= seen
        return contents


class IndexScenario(Scenario):
    """Writers of single records and batches, two compactors, a collector, readers, and somebody who removes records."""

    faults = Faults(pause_seconds=240, delay_seconds=20)
    limits = Limits(storm_steps=700, max_steps=12_000)
    names = NAMES
    batch_sizes = (1, 1, 2, 4)

    def __init__(self) -> None:
        self._oracle = Oracle()
        self._written: Contents = defaultdict(set)
        self._removed: set[str] = set()
        self._expected: dict[str, Contents] = {}
        self._blind = False
        """Whether the index is known to be damaged at the moment."""

    def clients(self, random: Random) -> Mapping[str, Any]:
        writers = {f"writer-{number}": partial(self._write, number) for number in range(random.randint(1, 3))}
        readers = {f"reader-{number}": self._read for number in range(random.randint(1, 2))}
        return {
            **writers,
            **readers,
            "compactor-0": self._compact,
            "compactor-1": self._compact,
            "collector": self._collect,
            "remover": self._remove,
        }

    def calm_clients(self, clients: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: client for name, client in clients.items() if not name.startswith(("writer", "remover"))}

    def make_index(self, world: Any) -> Index[Tally]:
        return Index(
            world.store,
            REF,
            SPEC,
            MemoryCache(),
            writer=world.name,
            nonce=lambda: f"{world.random.getrandbits(64):016x}",
        )

    def make_compactor(self, world: Any) -> Compactor[Tally]:
        return Compactor(self.make_index(world), round_records=6)

    def make_collector(self, world: Any) -> Collector:
        return Collector(
            self.make_index(world), keep_versions=2, keep=timedelta(0), grace=GRACE, bury=timedelta(seconds=2000)
        )

    # --- who takes part

    def _write(self, number: int, world: Any) -> None:
        writer = IndexWriter(self.make_index(world))
        for count in range(8):
            value = (number * 100 + world.incarnation) * 100 + count
            names = world.random.sample(self.names, world.random.choice(self.batch_sizes))
            if len(names) == 1:
                writer.put(Tally(name=names[0], seen=(value,)))
            else:
                writer.append([Tally(name=name, seen=(value,)) for name in names])
            world.record("wrote", names=names, value=value)
            world.clock.sleep(world.random.uniform(0, 60))

    def _compact(self, world: Any) -> None:
        for _ in range(3 if world.calm else 12):
            report = self.make_compactor(world).compact()
            world.record("compacted", version=report.version)
            for _ in range(report.conflicts):
                world.record("raced")
            world.clock.sleep(world.random.uniform(0, 120))

    def _collect(self, world: Any) -> None:
        for _ in range(4 if world.calm else 12):
            collector = self.make_collector(world)
            for key in collector.collect().deleted:
                world.record("collected", key=key)
            world.clock.sleep(world.random.uniform(20, 120))

    def _remove(self, world: Any) -> None:
        """Writes records that nobody else writes, removes them, and expects them to stay away."""
        for count in range(4):
            name = f"{world.incarnation * 160 + count * 16 + 8:016x}"
            index = self.make_index(world)
            IndexWriter(index).append([Tally(name=name, seen=(1,))])
            IndexWriter(index).put(Tally(name=name, seen=(2,)))
            world.clock.sleep(world.random.uniform(0, 200))
            self.make_compactor(world).remove([name])
            world.record("removed", name=name)
            world.clock.sleep(world.random.uniform(0, 100))

    def _read(self, world: Any) -> None:
        for _ in range(2 if world.calm else 8):
            self._read_fresh(world)
            self._read_slowly(world)
            world.clock.sleep(world.random.uniform(0, 60))

    def _read_fresh(self, world: Any) -> None:
        world.record("opening", reader=world.name)
        opened = world.store.now()
        try:
            fresh = self.open_fresh(self.make_index(world))
            sees = {record.name: set(record.seen) for record in fresh.scan()}
        except IndexDamaged as error:
            self._forgive(world, opened, error)
        else:
            world.record("read", reader=world.name, sees=sees)

    def _forgive(self, world: Any, opened: datetime, error: IndexDamaged) -> None:
        """Who takes longer than the grace period may find its version collected; nobody else may."""
        took = world.store.now() - opened
        assert took > GRACE or self._blind, f"within the grace period, after {took}: {error}"
        world.record("too_slow")

    def open_fresh(self, index: Index[Tally]) -> reading.IndexReader[Tally]:
        return open_reader(index, fresh=True)

    def _read_slowly(self, world: Any) -> None:
        """A reader that takes its time, but less than the grace period, must find all of its version."""
        opened = world.store.now()
        reader = open_reader(self.make_index(world))
        world.clock.sleep(world.random.uniform(0, 90))
        try:
            keys = [record.name for record in reader.scan()]
        except IndexDamaged as error:
            self._forgive(world, opened, error)
            return
        total = KeySum()
        for key in keys:
            total.add(key)
        manifest = reader.manifest
        assert (len(keys), str(total)) == (manifest.rows, manifest.key_sum), "a reader saw a mixture"
        assert keys == sorted(set(keys)), "not in order"
        world.record("read_slowly", rows=len(keys))

    # --- what must hold

    def notice(self, event: Any, store: Any, history: Any) -> None:
        details = event.details
        if event.kind == "wrote":
            for name in details["names"]:
                self._written[name].add(details["value"])
        elif event.kind == "removed":
            self._removed.add(details["name"])
        elif event.kind == "opening":
            self._expected[details["reader"]] = {name: set(seen) for name, seen in self._written.items()}
        elif event.kind == "read":
            self._covered(self._expected[details["reader"]], details["sees"], "a fresh reader did not see")

    def check(self, change: Any, store: Any, history: Any) -> None:
        if not change.wrote or self._blind or LATEST not in store.objects:
            return
        if change.after is None or change.key == LATEST:
            version = self._oracle.version(store.objects)
            waiting = self._oracle.waiting(store.objects)
            everything = {name: version.get(name, set()) | waiting.get(name, set()) for name in {*version, *waiting}}
            self._covered(self._written, everything, "written and acknowledged, but nowhere any more:")
            back = self._removed & set(version)
            assert not back, f"removed, but came back: {back}"

    def check_end(self, store: Any, history: Any) -> None:
        version = self._oracle.version(store.objects)
        self._covered(self._written, version, "not in the last version:")
        assert not self._removed & set(version), "removed, but there in the end"
        assert not self._oracle.waiting(store.objects), "something waits, though it was compacted in the calm"

    def _covered(self, wanted: Contents, there: Mapping[str, set[int]], message: str) -> None:
        for name, seen in wanted.items():
            missing = seen - there.get(name, set())
            assert not missing, f"{message} {name} {sorted(missing)}"


class DamageScenario(IndexScenario):
    """The same, and somebody destroys the pointer or a shard, then repairs what was destroyed."""

    expected_errors = (Unavailable, IndexDamaged, Conflict)
    limits = Limits(storm_steps=900, max_steps=12_000)

    def __init__(self) -> None:
        super().__init__()
        self._disk = MemoryCache()
        self._mended_at: datetime | None = None

    def clients(self, random: Random) -> Mapping[str, Any]:
        return {**super().clients(random), "vandal": self._destroy}

    def calm_clients(self, clients: Mapping[str, Any]) -> Mapping[str, Any]:
        waiting = {name: partial(self._after_repair, client) for name, client in super().calm_clients(clients).items()}
        return {**waiting, "vandal": self._mend}

    def _after_repair(self, client: Any, world: Any) -> None:
        world.clock.sleep(1000)
        client(world)

    def make_index(self, world: Any) -> Index[Tally]:
        index = super().make_index(world)
        if world.name != "vandal":
            return index
        return Index(world.store, REF, SPEC, self._disk, index.writer, index.nonce)  # its cache outlives a crash

    def _destroy(self, world: Any) -> None:
        if world.incarnation > 1:
            world.clock.sleep(300)  # what it sent before it crashed has arrived
            self._mend(world)
            return
        world.clock.sleep(world.random.uniform(100, 400))
        index = self.make_index(world)
        reader = open_reader(index)
        rows = len(list(reader.scan()))  # so that this machine's cache has all of the version
        if not rows:
            return
        world.record("destroying")
        kind = world.random.choice(("gone", "garbage", "shard"))
        if kind == "gone":
            world.store.delete(LATEST)
        elif kind == "garbage":
            world.store.put(LATEST, b'{"sequence": 7')
        else:
            shard = world.random.choice(reader.manifest.shards)
            world.store.put(str(ShardKey(REF, shard.sha256)), b"name\x1fseen\n0000")
        world.record("destroyed", what=kind)
        world.clock.sleep(world.random.uniform(300, 500))  # a person notices; requests under way have arrived
        self._mend(world)

    def _forgive(self, world: Any, opened: datetime, error: IndexDamaged) -> None:
        if self._mended_at is not None and opened <= self._mended_at:
            world.record("too_slow")  # what it read was destroyed, though it is whole again by now
        else:
            super()._forgive(world, opened, error)

    def _mend(self, world: Any) -> None:
        report = repair(self.make_index(world))
        assert not report.losses, f"the cache has it, but it was given up: {report.losses}"
        self._mended_at = world.store.now()
        world.record("mended", pointer=report.pointer, restored=len(report.restored))

    def notice(self, event: Any, store: Any, history: Any) -> None:
        if event.kind == "destroying":
            self._blind = True
        if event.kind == "mended":
            self._blind = False
        if event.kind == "read" and self._blind:
            return
        super().notice(event, store, history)


class ReturningScenario(IndexScenario):
    """Records come and go, so that the same shards are made again and again, while deletions arrive late or never."""

    faults = Faults(delay_seconds=200, straggler=0.02, crash=0.02)
    limits = Limits(storm_steps=500, max_steps=12_000)

    def clients(self, random: Random) -> Mapping[str, Any]:
        return {"remover": self._come_and_go, "collector": self._collect, "reader": self._read}

    def calm_clients(self, clients: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"collector": self._collect, "remover": self._compact}

    def inject(self, request: Any, drawn: Fault | None) -> Fault | None:
        if request.operation == "delete" and "/shards/" in request.key:
            return Fault.STRAGGLER if hash_of(request.key) % 3 else drawn
        return drawn

    def make_collector(self, world: Any) -> Collector:
        return Collector(
            self.make_index(world), keep_versions=1, keep=timedelta(0), grace=GRACE / 4, bury=timedelta(seconds=2000)
        )

    def _forgive(self, world: Any, opened: datetime, error: IndexDamaged) -> None:
        world.record("too_slow")  # the grace is short here on purpose

    def _come_and_go(self, world: Any) -> None:
        for count in range(12):
            index = self.make_index(world)
            name = NAMES[count % 2]
            IndexWriter(index).append([Tally(name=name, seen=(1,))])
            self.make_compactor(world).compact()
            world.clock.sleep(world.random.uniform(0, 60))
            self.make_compactor(world).remove([name])
            world.clock.sleep(world.random.uniform(0, 60))


def hash_of(text: str) -> int:
    return sum(text.encode())
