"""Documents that travel by messages: crashes between any two steps, failures that pass, workers side by side."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.effort import effort
from tests.kit.faulty_store import Crashed, Fault, FaultKind, FaultyStore, Operation

from cocli.documents import Document, DocumentRepository, DocumentSource, Relay, open_catalog
from cocli.documents.care.fsck import rebuild
from cocli.documents.graph.edge import Edge, Transport
from cocli.documents.graph.engine import Engine
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.journey import EngineOptions
from cocli.documents.graph.node import Node, NodeContext
from cocli.documents.graph.publisher import GraphPublisher
from cocli.documents.graph.run import Ending
from cocli.documents.graph.transports.queue import QueueTransport
from cocli.documents.subscriptions import EVERYBODY
from cocli.errors import Denied, DocumentNotFound, Unavailable
from cocli.queue.base import NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import open_store
from cocli.store.memory import MemoryStore

HERE = Path(__file__).parent
CHAIN = ("intake=>a", "a=>b", "b>c", "b=>d")
KEEP = ("c", "d")


def contents(states: dict[Any, Document]) -> dict[Any, str]:
    return {key: document.digest for key, document in states.items()}


# --- crashes


def run_with_crash(make_world: Any, at: int, kind: FaultKind, *, another_machine: bool) -> tuple[Any, bool]:
    """One document through the chain; the process ends at a write to the store, and another goes on."""
    writes, crashed = itertools.count(1), [False]

    def plan(operation: Operation) -> Fault | None:
        if operation.name in ("put", "delete") and next(writes) == at:
            crashed[0] = True
            return Fault(kind)
        return None

    first = make_world(wrap=lambda store: FaultyStore(store, plan))
    machine = first
    engine = machine.engine(machine.graph(*CHAIN, keep=KEEP))
    try:
        engine.run(machine.page())
        machine.work_off(engine, machine.queues("before"))
    except Crashed:
        machine.time.pass_by(300, renewing=False)
        if another_machine:
            machine = make_world(first.objects)
        engine = machine.engine(machine.graph(*CHAIN, keep=KEEP))
        engine.run(machine.page())
        machine.work_off(engine, machine.queues("after"))
        machine.work_off(engine, machine.queues("again"))
    return machine, crashed[0]


@pytest.mark.parametrize("another_machine", [False, True], ids=["same-machine", "another-machine"])
@pytest.mark.parametrize("kind", [FaultKind.CRASH_BEFORE, FaultKind.CRASH_AFTER])
def test_killed_anywhere_it_comes_to_the_same_end(make_world: Any, kind: FaultKind, another_machine: bool) -> None:
    calm, _ = run_with_crash(make_world, 0, kind, another_machine=False)
    expected = contents(calm.states())
    assert {address for _, address in expected} == {"a", "b", "c", "d"}
    for at in itertools.count(1):
        machine, crashed = run_with_crash(make_world, at, kind, another_machine=another_machine)
        if not crashed:
            break
        keys = [info.key for info in machine.objects.list()]
        assert not [key for key in keys if "/sideline/" in key or "/quarantine/" in key], at
        assert not [key for key in keys if key.endswith("/task.json")], f"a message was left after {at}"
        if another_machine:
            rebuild(machine.repository, announce=False)  # what the dead machine saved is in its own catalogue only
        assert contents(machine.states()) == expected, at
        assert [row[2] for row in machine.rows()] == [1] * 5, f"something was saved twice after {at}"
        assert machine.catalog.waiting(10) == [], at
        done = Counter(key.split("/")[3] for key in keys if "/completed/" in key)
        assert done == {"a--prod": 1, "b--prod": 1, "d--prod": 1}, at
    assert at > 15


# --- versions


def test_an_old_message_does_not_bring_old_content_back(world: Any) -> None:
    engine = world.engine(world.graph("intake=>a", keep=("a",)))
    old, new = world.page(http_status=200), world.page(http_status=404)
    for version in (old, new):
        world.repository.save(version)

    def intake() -> tuple[int, str]:
        row = world.repository.find("acct", new.doc, new.datasource, None)
        return row.version, world.repository.current_of(row).digest

    for reference, ending in ((old.reference, "superseded"), (new.reference, "sent"), (old.reference, "superseded")):
        run = engine.receive(reference, "intake")
        assert [(outcome.node, str(outcome.ending)) for outcome in run.outcomes] == [("intake", ending)]
        assert intake() == (2, new.digest)
    engine.run(old, manner=EngineOptions(follow=True))
    assert intake() == (2, new.digest), "nor does a replay of an older version"
    world.work_off(engine, world.queues("worker"))
    (state,) = world.states().values()
    assert state.source.http_status == 404
    world.repository.save(old)
    assert [str(outcome.ending) for outcome in engine.receive(old.reference, "intake").outcomes] == ["sent"]
    assert intake() == (3, old.digest), "content that came back is new"


# --- any graph


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[int, int, bool, int | None]]:
    """Edges (source, target, messaging, condition) of a sound graph; source -1 is the intake."""
    size = draw(st.integers(1, 6))
    pairs = {(-1, 0)}
    for target in range(1, size):
        pairs.add((draw(st.integers(-1, target - 1)), target))
    extra = st.tuples(st.integers(-1, size - 1), st.integers(0, size - 1)).filter(lambda pair: pair[0] < pair[1])
    pairs |= set(draw(st.lists(extra, max_size=5)))
    return [
        (source, target, draw(st.booleans()), draw(st.sampled_from([None, None, 1, 2])))
        for source, target in sorted(pairs)
    ]


def mixing(document: Document, context: NodeContext) -> Document | None:
    """A pure function that depends on the way by which the document came; some documents fail, some go no further."""
    total = sum(value["n"] for value in document.data.values()) + len(document.data) + int(context.node[1:]) * 7
    if total % 11 == 3:
        return None
    if total % 13 == 5:
        raise ValueError(f"{total} is of no use")
    return document.with_data(context.node, {"n": total % 1000, "big": total % 3 == 0})


def build(written: list[tuple[int, int, bool, int | None]], *, inline: bool) -> Graph:
    name = {-1: "intake"} | {number: f"n{number}" for number in range(10)}
    wanted = [
        Edge.model_validate(
            {
                "source": name[source],
                "target": name[target],
                "transport": Transport.MESSAGING if messaging and not inline else Transport.INLINE,
                "condition": None
                if condition is None or source < 0
                else {"path": f"/data/{name[source]}/n", "op": "gt" if condition == 1 else "le", "value": 8},
            }
        )
        for source, target, messaging, condition in written
    ]
    nodes = sorted({edge.target for edge in wanted})
    return Graph("g", [Node(one, mixing) for one in nodes], wanted)


Results = set[tuple[str, str, str]]


def results_of(engine: Engine, transport: QueueTransport, relay: Relay, documents: list[Document]) -> Results:
    from cocli.documents.graph.worker import NodeWorker

    runs = [engine.run(document) for document in documents]
    relay.run()
    workers = [NodeWorker(engine, transport, relay, node, on_run=runs.append) for node in engine.graph.receivers()]
    while any([worker.step(0.0) for worker in workers]):  # noqa: C419 - every worker has its turn
        pass
    for worker in workers:
        worker.close()
    found = set()
    for run in runs:
        for one in run.outcomes:
            if one.ending in (Ending.FINISHED, Ending.UNMATCHED):
                found.add((one.node, str(one.ending), one.document.digest if one.document else "?"))
            elif one.ending is not Ending.SENT:
                found.add((one.node, str(one.ending), one.detail or ""))
    return found


@settings(max_examples=effort(40))
@given(graphs(), st.integers(1, 4))
def test_how_documents_travel_changes_nothing_about_where_they_arrive(
    written: list[tuple[int, int, bool, int | None]], count: int
) -> None:
    now = datetime(2026, 11, 15, tzinfo=UTC)
    documents = [
        Document.intake(account="acct", connector="web", doc=f"d{n}", source=DocumentSource(uri=f"u{n}"))
        for n in range(count)
    ]
    found = []
    for inline in (True, False):
        store, catalog = MemoryStore(clock=lambda: now), open_catalog("sqlite://:memory:")
        repository = DocumentRepository(store, catalog, clock=lambda: now, subscriptions=EVERYBODY)
        transport = QueueTransport(lambda name, store=store: LeasedQueue(store, "c", name), sleep=lambda _: None)  # type: ignore[misc]
        engine = Engine(build(written, inline=inline), repository, edition="prod", clock=lambda: now)
        relay = Relay(catalog, GraphPublisher(transport), clock=lambda: now)
        found.append(results_of(engine, transport, relay, documents))
        transport.close()
        catalog.close()
    assert found[0] == found[1]
    assert found[0]


# --- failures


def test_what_may_pass_comes_again_later_and_goes_into_quarantine_in_the_end(world: Any) -> None:
    tries: list[float] = []

    def a(document: Document, context: NodeContext) -> Document:
        tries.append(world.time.seconds)
        raise Unavailable(address="there", reason="closed")

    engine, queues = world.engine(world.graph("intake=>a", a=a)), world.queues()
    engine.run(world.page())
    world.relay(queues).run()
    worker = world.worker(engine, queues, "a", attempts=3)
    for _ in range(200):
        worker.step(0.0)
        world.time.pass_by(5)
    assert len(tries) == 3
    assert all(later - earlier >= 15 for earlier, later in itertools.pairwise(tries)), "it waited"
    assert worker.tally.messages == {"retried": 2, "done": 1}
    (entry,) = engine.quarantine.entries("acct")
    assert (entry.code, entry.retryable) == ("node_interrupted", True)
    assert list(world.objects.list("campaigns/c/queues/a--prod/pending/")) == []


def test_a_message_that_kills_its_workers_goes_into_quarantine(world: Any) -> None:
    def a(document: Document, context: NodeContext) -> Document:
        raise Crashed("out of memory")

    engine, queues = world.engine(world.graph("intake=>a", a=a)), world.queues()
    engine.run(world.page())
    world.relay(queues).run()
    for number in range(3):
        with pytest.raises(Crashed):
            world.worker(engine, world.queues(f"w{number}"), "a", attempts=3).step(0.0)
        world.time.pass_by(200, renewing=False)
    assert world.worker(engine, world.queues("last"), "a", attempts=3).step(0.0)
    (entry,) = engine.quarantine.entries("acct")
    assert "3 workers began with it" in entry.message


def test_messages_without_a_document_are_set_aside_and_the_others_go_on(world: Any) -> None:
    engine, queues = world.engine(world.graph("intake=>a", keep=("a",))), world.queues()
    queue = LeasedQueue(world.objects, "c", "a--prod", runtime=world.time)
    queue.put(NewTask("nonsense", {"what": "ever"}))
    missing = world.page("gone").reference
    queue.put(NewTask("gone", {}, missing))
    with pytest.raises(DocumentNotFound):
        engine.receive(missing, "a")
    engine.run(world.page())
    (worker,) = world.work_off(engine, queues)
    assert worker.tally.messages == {"rejected": 2, "done": 1}
    aside = [info.key for info in world.objects.list("campaigns/c/queues/a--prod/sideline/")]
    assert len(aside) == 2
    assert list(engine.quarantine.entries("acct")) == []
    world.repository.save(world.page("gone"))
    assert [one.outcome for one in queue.recover(task_ids=["gone"])] == ["recovered"]
    (worker,) = world.work_off(engine, queues)
    assert worker.tally.messages == {"done": 1}


def test_a_worker_that_cannot_work_gives_the_message_back_and_says_why(make_world: Any) -> None:
    denied = [False]

    class Locked(FaultyStore):
        def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
            if denied[0] and key.startswith("uploads/"):
                raise Denied(address="here", key=key, credentials="none", reason="no")
            return super().put(key, data, if_absent=if_absent, if_match=if_match)

    world = make_world(wrap=lambda store: Locked(store, lambda operation: None))
    engine, queues = world.engine(world.graph("intake=>a", keep=("a",))), world.queues()
    engine.run(world.page())
    world.relay(queues).run()
    denied[0] = True
    with pytest.raises(Denied):
        world.worker(engine, queues, "a").step(0.0)
    denied[0] = False
    assert world.worker(engine, world.queues("other"), "a").step(0.0), "it can be had at once"
    assert ("a", "prod", 1) in world.rows()


def test_the_message_stays_until_what_follows_was_sent(world: Any) -> None:
    engine, queues = world.engine(world.graph("intake=>a", "a=>b", keep=("b",))), world.queues()
    engine.run(world.page())
    world.relay(queues).run()

    class Closed:
        closed = True

        def publish(self, messages: Any) -> Any:
            if self.closed:
                raise Unavailable(address="there", reason="closed")
            return queues.publish(messages)

        def consumer(self, destination: Any) -> Any:
            return queues.consumer(destination)

        def close(self) -> None:
            pass

    transport = Closed()
    worker = world.worker(engine, transport, "a")
    assert worker.step(0.0)
    assert worker.tally.messages == {"released": 1}, "no fault of the message: the attempt is not counted"
    transport.closed = False
    world.time.pass_by(60)
    assert worker.step(0.0)
    assert worker.tally.messages == {"released": 1, "done": 1}
    assert world.worker(engine, queues, "b").step(0.0)
    assert ("b", "prod", 1) in world.rows()


def test_a_worker_that_lost_its_message_leaves_it_to_the_other(world: Any) -> None:
    def a(document: Document, context: NodeContext) -> Document:
        if not others:
            world.time.pass_by(200, renewing=False)
            others.append(world.worker(engine, world.queues("other"), "a"))
            assert others[0].step(0.0)
        return document

    others: list[Any] = []
    engine = world.engine(world.graph("intake=>a", keep=("a",), a=a))
    engine.run(world.page())
    world.relay(world.queues()).run()
    worker = world.worker(engine, world.queues("slow"), "a")
    assert worker.step(0.0)
    assert worker.tally.messages == {"lost": 1}
    assert others[0].tally.messages == {"done": 1}
    assert ("a", "prod", 1) in world.rows()


def test_asked_to_stop_it_finishes_what_it_has(world: Any) -> None:
    stop, seen = threading.Event(), []

    def a(document: Document, context: NodeContext) -> Document:
        seen.append(document.doc)
        stop.set()
        return document

    engine = world.engine(world.graph("intake=>a", keep=("a",), a=a))
    for number in range(3):
        engine.run(world.page(f"d{number}"))
    queues = world.queues()
    world.relay(queues).run()
    tally = world.worker(engine, queues, "a").run(stop, wait=0.0)
    assert len(seen) == 1
    assert tally.messages == {"done": 1}
    assert tally.endings == {"finished": 1}
    tally = world.worker(engine, queues, "a").run(threading.Event(), until_idle=True, wait=0.0)
    assert tally.messages == {"done": 2}


# --- real processes


def start(store: Path, catalog: Path, log: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(HERE / "graph_worker.py"), str(store), str(catalog), str(log), "queue", *options]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def machine(store: Path, catalog: Path) -> tuple[Any, DocumentRepository, Engine, Relay]:
    sys.path.insert(0, str(HERE))
    from graph_worker import make_engine, make_relay, open_queues  # type: ignore[import-not-found,unused-ignore]

    opened = open_store(str(store), fsync="never")
    table = open_catalog(str(catalog))
    repository = DocumentRepository(opened, table, clock=lambda: datetime.now(UTC), subscriptions=EVERYBODY)
    return table, repository, make_engine(repository, "prod", None), make_relay(table, open_queues(opened, "test"))


def test_two_processes_share_one_queue(tmp_path: Path) -> None:
    store, catalog, count = tmp_path / "store", tmp_path / "catalog.sqlite3", 60
    table, repository, engine, relay = machine(store, catalog)
    for number in range(count):
        engine.run(Document.intake(account="acct", connector="web", doc=f"d{number}"))
    assert relay.run().published >= count
    logs = [tmp_path / "one", tmp_path / "two"]
    processes = [start(store, catalog, log, "until-idle") for log in logs]
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    worked = [log.read_text().split() for log in logs]
    assert all(worked), "both had something to do"
    assert Counter(worked[0] + worked[1]) == {f"d{number}": 1 for number in range(count)}
    page = repository.documents("acct", cluster="prod", limit=1000)
    assert sorted(row.doc for row in page.items) == sorted(f"d{number}" for number in range(count))
    table.close()


def test_killed_between_work_and_ack_the_message_comes_again_and_does_no_harm(tmp_path: Path) -> None:
    store, catalog, log = tmp_path / "store", tmp_path / "catalog.sqlite3", tmp_path / "log"
    table, repository, engine, relay = machine(store, catalog)
    engine.run(Document.intake(account="acct", connector="web", doc="d"))
    relay.run()
    first = start(store, catalog, log, "pause")
    assert first.stdout is not None
    assert first.stdout.readline() == "worked\n"
    os.kill(first.pid, signal.SIGKILL)
    first.communicate(timeout=10)
    rows = repository.documents("acct", cluster="prod", limit=10).items
    assert [(row.address, row.version) for row in rows] == [("work", 1)], "the work was done"
    second = start(store, catalog, log, "one")
    out, _ = second.communicate(timeout=60)
    assert out == "done 1 skipped 1\n"
    assert log.read_text().split() == ["d"], "and not done again"
    rows = repository.documents("acct", cluster="prod", limit=10).items
    assert [(row.address, row.version) for row in rows] == [("work", 1)]
    left = [info.key for info in open_store(str(store), fsync="never").list("campaigns/") if "/pending/" in info.key]
    assert left == []
    table.close()
