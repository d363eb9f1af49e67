"""Records that are rewritten while they are collected, done right and done wrong: only what was read is deleted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from random import Random

from cocli.errors import AlreadyExists, Conflict, NotFound, StoreError, Unavailable
from cocli.store.base import Store, StoredObject
from tests.kit.simulator import Change, Client, ClientWorld, History, ObservedStore, Scenario

SUMMARY = "summary.json"
WRITERS = 2
VERSIONS = 5


def version_of(stored: StoredObject) -> int:
    return int(stored.data)


def summary_of(stored: StoredObject | None) -> dict[str, int]:
    return {} if stored is None else json.loads(stored.data)


def find(store: Store, key: str) -> StoredObject | None:
    try:
        return store.get(key)
    except NotFound:
        return None


def replace(store: Store, key: str, data: bytes, there: StoredObject | None) -> None:
    if there is None:
        store.put(key, data, if_absent=True)
    else:
        store.put(key, data, if_match=there.etag)


class Inbox(Scenario):
    def clients(self, random: Random) -> Mapping[str, Client]:
        writers = {f"writer-{number}": partial(self._write, f"inbox/{number}") for number in range(WRITERS)}
        return {**writers, "collector-0": self._collect, "collector-1": self._collect}

    def _write(self, key: str, world: ClientWorld) -> None:
        for count in range(VERSIONS):
            version = world.incarnation * 100 + count
            while not self._write_version(world.store, key, version):
                world.clock.sleep(world.random.random())
            world.record("wrote", key=key, version=version)

    def _write_version(self, store: Store, key: str, version: int) -> bool:
        try:
            there = find(store, key)
            if there is None or version_of(there) < version:
                replace(store, key, b"%d" % version, there)
        except (AlreadyExists, Conflict, Unavailable):
            return False
        return True

    def _collect(self, world: ClientWorld) -> None:
        for _ in range(6):
            world.clock.sleep(world.random.random())
            try:
                keys = [info.key for info in world.store.list("inbox/")]
                found = [there for there in world.store.get_many(keys) if isinstance(there, StoredObject)]
                if found:
                    self._publish(world.store, found)
                    self.remove(world.store, found)
            except (AlreadyExists, Conflict, Unavailable):
                continue

    def _publish(self, store: Store, found: Sequence[StoredObject]) -> None:
        there = find(store, SUMMARY)
        summary = summary_of(there)
        for record in found:
            summary[record.key] = max(version_of(record), summary.get(record.key, 0))
        replace(store, SUMMARY, json.dumps(summary).encode(), there)

    def remove(self, store: Store, found: Sequence[StoredObject]) -> None:
        for record in found:
            store.delete(record.key, if_match=record.etag)

    def check(self, change: Change, store: ObservedStore, history: History) -> None:
        if change.wrote and change.before is not None and change.after is None:
            known = summary_of(store.peek(SUMMARY)).get(change.key, 0)
            assert version_of(change.before) <= known, f"{change.key} was deleted before it was collected"

    def check_end(self, store: ObservedStore, history: History) -> None:
        summary = summary_of(store.peek(SUMMARY))
        for event in history.events("wrote"):
            there = store.peek(str(event.details["key"]))
            newest = max(summary.get(str(event.details["key"]), 0), version_of(there) if there else 0)
            assert newest >= int(str(event.details["version"])), f"{event} is lost"


class CarelessInbox(Inbox):
    """Deletes by name what may be another version by now."""

    def remove(self, store: Store, found: Sequence[StoredObject]) -> None:
        for answer in store.delete_many([record.key for record in found]):
            if isinstance(answer, StoreError):
                raise answer
