"""Events are written where somebody reads them, and nowhere else: by saves, deletions, purges, repairs, rebuilds."""

from __future__ import annotations

import logging
import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from tests.documents.conftest import MakePage

from cocli.documents import DocumentRepository, open_catalog
from cocli.documents.care import fsck
from cocli.documents.catalog.sql import SqlCatalog
from cocli.documents.graph.subscriptions import NodeSubscriptions
from cocli.documents.outbox import Event
from cocli.documents.relay import KEPT, Relay, RelayLoop
from cocli.documents.subscriptions import EVERYBODY, NOBODY, Subscriptions
from cocli.errors import BrokerUnavailable, CocliError, DocumentInvalid
from cocli.store.memory import MemoryStore

NODE = "pipestream.main.emails"
NODES = NodeSubscriptions()


def rows(catalog: SqlCatalog) -> list[str]:
    return [entry.event.destination for entry in catalog.scan_events(0, 1000)]


def opened(store: Any, clock: Any, subscriptions: Subscriptions) -> DocumentRepository:
    return DocumentRepository(
        store, open_catalog("sqlite://:memory:"), clock=clock, inline_limit=100, subscriptions=subscriptions
    )


def everything_once(repository: DocumentRepository, page: MakePage) -> None:
    """Every action that tells something."""
    repository.save(page("a"), publish=[NODE, "someone"])
    repository.save(page("a", body=b"other"), publish=[NODE])
    repository.save(page("a", body=b"other"), publish=["late"])  # the content is known, the destination is new
    repository.save_many([(page(f"many-{number}"), (NODE,)) for number in range(3)])
    repository.save(page("b"))
    repository.delete("acct", "b")
    repository.restore("acct", "b")
    repository.purge("acct", "b", by="me", reason="a test")


@pytest.mark.parametrize(
    ("subscriptions", "read", "unread"),
    [
        (NOBODY, (), ("", NODE, "someone")),
        (NODES, (NODE,), ("", "someone", "pipestream.", "pipestream.x", "pipestreamXa.b")),
        (EVERYBODY, ("", NODE, "someone"), ()),
    ],
)
def test_who_reads_what(subscriptions: Subscriptions, read: Sequence[str], unread: Sequence[str]) -> None:
    assert all(subscriptions.reads(destination) for destination in read)
    assert not any(subscriptions.reads(destination) for destination in unread)


def test_nobody_reads_so_nothing_is_written(clock: Any, page: MakePage) -> None:
    repository = opened(MemoryStore(clock=clock), clock, NOBODY)
    everything_once(repository, page)
    assert rows(repository.catalog) == []  # type: ignore[arg-type]
    assert fsck.check(repository).findings == []


def test_nodes_are_sent_their_own_and_nothing_else(clock: Any, page: MakePage) -> None:
    repository = opened(MemoryStore(clock=clock), clock, NODES)
    everything_once(repository, page)
    assert rows(repository.catalog) == [NODE] * 5  # type: ignore[arg-type]
    assert fsck.check(repository).findings == []


@pytest.mark.parametrize("subscriptions", [NOBODY, NODES, EVERYBODY])
def test_a_rebuild_and_a_repair_write_what_is_read(clock: Any, page: MakePage, subscriptions: Subscriptions) -> None:
    store = MemoryStore(clock=clock)
    everything_once(opened(store, clock, EVERYBODY), page)
    rebuilt, repaired = opened(store, clock, subscriptions), opened(store, clock, subscriptions)
    fsck.rebuild(rebuilt)
    fsck.check(repaired, repair=True)
    for repository in (rebuilt, repaired):
        destinations = set(rows(repository.catalog))  # type: ignore[arg-type]
        assert destinations == {name for name in ("", NODE, "someone") if subscriptions.reads(name)}
        assert fsck.check(repository).findings == []


def test_who_subscribes_later_gets_what_was_sent_to_it_before_by_a_repair(clock: Any, page: MakePage) -> None:
    store = MemoryStore(clock=clock)
    silent = opened(store, clock, NOBODY)
    silent.save(page("a"), publish=[NODE])
    later = DocumentRepository(store, silent.catalog, clock=clock, inline_limit=100, subscriptions=NODES)
    assert [finding.problem.value for finding in fsck.check(later).findings] == ["document_without_event"]
    fsck.check(later, repair=True)
    assert rows(later.catalog) == [NODE]  # type: ignore[arg-type]


# --- the loop of a relay


class Carrier:
    """Takes events, or refuses them."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.error: Exception | None = None

    def publish(self, events: Sequence[Event]) -> dict[str, CocliError]:
        if self.error is not None:
            raise self.error
        self.taken += [event.event_id for event in events]
        return {}


class Bench:
    def __init__(self, clock: Any) -> None:
        self.repository = opened(MemoryStore(clock=clock), clock, NODES)
        self.carrier = Carrier()
        self.seconds = 0.0
        relay = Relay(self.repository.catalog, self.carrier, clock=clock)
        self.loop = RelayLoop(relay, monotonic=lambda: self.seconds, rng=random.Random(1))


def test_a_turn_sends_what_waits_and_forgets_it_later(clock: Any, page: MakePage) -> None:
    bench = Bench(clock)
    bench.repository.save(page("a"), publish=[NODE])
    assert bench.loop.turn()
    assert len(bench.carrier.taken) == 1
    assert rows(bench.repository.catalog) == [NODE]  # type: ignore[arg-type]
    clock.now += KEPT + timedelta(seconds=1)
    bench.loop.turn()
    assert rows(bench.repository.catalog) == []  # type: ignore[arg-type]
    assert fsck.check(bench.repository).findings == []
    assert len(bench.carrier.taken) == 1


@pytest.mark.parametrize(
    "error", [BrokerUnavailable(queue="q", reason="it is away"), DocumentInvalid(doc="a", reason="refused")]
)
def test_what_cannot_be_sent_waits_longer_each_time(
    clock: Any, page: MakePage, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    bench = Bench(clock)
    bench.repository.save(page("a"), publish=[NODE])
    bench.carrier.error = error
    with caplog.at_level(logging.WARNING):
        bench.loop.turn()
        bench.loop.turn()  # too early: nothing is tried
    assert len(caplog.records) == 1
    assert "events of documents wait" in caplog.text
    tries = 0
    while bench.seconds < 4000:
        bench.seconds += 1.0
        caplog.clear()
        bench.loop.turn()
        tries += len(caplog.records)
    assert 4000 / 300 <= tries <= 40  # doubling, and at the longest every 150 to 300 seconds
    bench.carrier.error = None
    bench.loop.send()
    assert len(bench.carrier.taken) == 1
    bench.repository.save(page("b"), publish=[NODE])
    bench.loop.turn()  # at once again
    assert len(bench.carrier.taken) == 2
