"""Broken variants of the index for the simulator: each breaks one promise, and must be caught for it.

python -m tests.kit.simulator tests/index/index_mutants.py:CollectsAtOnce --seeds 100
"""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from cocli.errors import NotFound, StoreError
from cocli.index import reader as reading
from cocli.index.care.garbage import Collector
from cocli.index.compaction import CompactionReport, Compactor
from cocli.index.index import Index
from cocli.index.pending import list_pending
from cocli.index.versions import version

sys.path.insert(0, str(Path(__file__).parent))  # both files are a program's targets as well, so they are no package
from index_scenario import (  # type: ignore[import-not-found,unused-ignore]
    LATEST,
    NAMES,
    REF,
    SPEC,
    IndexScenario,
    ReturningScenario,
    Tally,
)


class Mutant(IndexScenario):  # type: ignore[misc,unused-ignore]
    """`caught_by` is what the simulator has to say of it. `sharp` are seeds that catch what few do: they are tried
    first, and by the suite on what is right. After a change of the protocol they may be others."""

    caught_by = ""
    sharp: tuple[int, ...] = ()


class StoreWith:
    """A client's store with some of its methods replaced."""

    def __init__(self, store: Any, **methods: Any) -> None:
        self._store = store
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        return self._methods.get(name) or getattr(self._store, name)


class DeletesWhatItDidNotRead(Mutant):
    """The compactor deletes whatever waits when it is done, not what it has read."""

    caught_by = "nowhere any more|did not see"

    def make_compactor(self, world: Any) -> Compactor[Tally]:
        compactor: Any = super().make_compactor(world)

        def clean(_current: Any, _report: CompactionReport) -> None:
            for info in list_pending(compactor._index, {}).waiting:
                world.store.delete(info.key)

        compactor._clean = clean
        return compactor  # type: ignore[no-any-return]


class SwapsWithoutACondition(Mutant):
    """LATEST is replaced, whoever has replaced it since it was read."""

    caught_by = "nowhere any more|did not see|came back|LATEST needs it"

    def make_index(self, world: Any) -> Index[Tally]:
        def put(key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
            return str(world.store.put(key, data, if_absent=if_absent, if_match=None if key == LATEST else if_match))

        index = super().make_index(world)
        return Index(StoreWith(world.store, put=put), REF, SPEC, index.cache, index.writer, index.nonce)


class CollectsAtOnce(Mutant):
    """What nothing reaches is deleted at once: a compactor may be about to reach it, a reader may be reading it."""

    caught_by = "LATEST needs it|within the grace period"
    sharp = (11, 14)

    def make_collector(self, world: Any) -> Collector:
        collector: Any = super().make_collector(world)
        collector._grace = timedelta(seconds=-1)
        judge = collector._judge

        def at_once(found: Any) -> Any:
            judge(found)
            return sorted(found.garbage), [], ()

        collector._judge = at_once
        return collector  # type: ignore[no-any-return]


class NeverLooksAgain(Mutant):
    """What was condemned goes after the grace period, though it was made again and published meanwhile."""

    caught_by = "LATEST needs it"
    sharp = (21, 55)

    def make_index(self, world: Any) -> Index[Tally]:
        index = super().make_index(world)
        condemned: list[Any] = []

        def get(key: str) -> Any:
            stored = world.store.get(key)
            if key == LATEST:
                condemned[:] = json.loads(stored.data)["condemned"]
            return stored

        def put(key: str, data: bytes, **conditions: Any) -> str:
            if key == LATEST and not world.name.startswith("collector"):
                data = json.dumps(json.loads(data) | {"condemned": condemned}).encode()
            return str(world.store.put(key, data, **conditions))

        store: Any = StoreWith(world.store, get=get, put=put)
        return Index(store, REF, SPEC, index.cache, index.writer, index.nonce)

    def make_collector(self, world: Any) -> Collector:
        collector: Any = super().make_collector(world)
        original = collector._judge

        def judge(found: Any) -> Any:
            every = {name: found.listed[name] for group in found.pointer.latest.condemned for name in group.names}
            found.garbage.update({name: where for name, where in every.items() if name in found.listed})
            return original(found)

        collector._judge = judge
        return collector  # type: ignore[no-any-return]


class TrustsWhatIsThere(Mutant, ReturningScenario):  # type: ignore[misc,unused-ignore]
    """The compactor skips an upload because the shard is there already, though it is being deleted."""

    caught_by = "LATEST needs it"

    def make_index(self, world: Any) -> Index[Tally]:
        index = super().make_index(world)

        def put_many(puts: Any) -> list[Any]:
            answers: list[Any] = []
            for put in puts:
                try:
                    answers.append(world.store.head(put.key).etag)
                except NotFound:
                    answers.extend(world.store.put_many([put]))
                except StoreError as error:
                    answers.append(error)
            return answers

        store: Any = StoreWith(world.store, put_many=put_many)
        return Index(store, REF, SPEC, index.cache, index.writer, index.nonce)

    def make_compactor(self, world: Any) -> Compactor[Tally]:
        compactor: Any = super().make_compactor(world)
        original = compactor._read

        def read(pointer: Any, removals: Any) -> Any:
            current = original(pointer, removals)
            latest = current.pointer.latest
            blind = latest.model_copy(update={"deleting": (), "buried": ()})
            current.pointer = current.pointer._replace(latest=blind)
            return current

        compactor._read = read
        return compactor  # type: ignore[no-any-return]


class DeletesBeforeTheSwap(Mutant):
    """What was read is deleted first and published then: a crash or a lost race in between loses it."""

    caught_by = "nowhere any more|did not see"

    def make_compactor(self, world: Any) -> Compactor[Tally]:
        compactor: Any = super().make_compactor(world)
        original = compactor._read

        def read(pointer: Any, removals: Any) -> Any:
            current = original(pointer, removals)
            compactor._clean(current, CompactionReport())
            return current

        compactor._read = read
        return compactor  # type: ignore[no-any-return]


class DeletesRewrittenRecords(Mutant):
    """A loose record is deleted although it was rewritten since it was read."""

    caught_by = "nowhere any more|did not see"
    names = NAMES[:2]
    batch_sizes = (1,)

    def make_index(self, world: Any) -> Index[Tally]:
        index = super().make_index(world)
        store: Any = StoreWith(world.store, delete_many=lambda keys, if_match=None: world.store.delete_many(keys))
        return Index(store, REF, SPEC, index.cache, index.writer, index.nonce)


class ForgetsWhatItConsumed(Mutant):
    """Leftovers of a crash are read again: a record that was removed comes back out of them, or they wait for ever."""

    caught_by = "came back|there in the end|something waits"
    sharp = (994,)

    def make_compactor(self, world: Any) -> Compactor[Tally]:
        compactor: Any = super().make_compactor(world)
        compactor._objects_to_remember = lambda _current: []
        return compactor  # type: ignore[no-any-return]


class NeverLooksAtThePointerAgain(Mutant):
    """A fresh reader takes a version and then lists what waits, though a newer version has consumed it meanwhile."""

    caught_by = "did not see"

    def open_fresh(self, index: Index[Tally]) -> reading.IndexReader[Tally]:
        manifest = version(index)
        return reading.IndexReader(index, manifest, waiting=reading._waiting(index, manifest, None, None, None))


MUTANTS: tuple[type[Mutant], ...] = (
    DeletesWhatItDidNotRead,
    SwapsWithoutACondition,
    CollectsAtOnce,
    NeverLooksAgain,
    TrustsWhatIsThere,
    DeletesBeforeTheSwap,
    DeletesRewrittenRecords,
    ForgetsWhatItConsumed,
    NeverLooksAtThePointerAgain,
)
