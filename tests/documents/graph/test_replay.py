"""Replay: from the intake or from any node, into a cluster; nothing that did not change is done, written or told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cocli.documents import Document
from cocli.documents.catalog.job_rows import Job
from cocli.documents.graph.condition import Compare
from cocli.documents.graph.edge import Edge, Transport
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import Node, NodeContext
from cocli.documents.replay.jobs import Hold, run_job
from cocli.documents.replay.plan import ReplayPlan
from cocli.documents.replay.replay import plan_replay
from cocli.documents.replay.selection import DocumentQuery
from cocli.errors import UnknownNode, UsageError


def filled(world: Any, count: int = 6) -> Any:
    for number in range(count):
        world.repository.save(world.page(f"https://example.com/{number:03d}", http_status=200))
    return world


def replay(world: Any, engine: Any, **options: Any) -> Job:
    job = plan_replay(engine, "acct", ReplayPlan.of(engine, **options))
    return run_job(engine, "acct", job.job, hold=Hold("r1", 60, world.time), chunk=4)


def counting(log: list[str]) -> Any:
    def node(document: Document, context: NodeContext) -> Document:
        log.append(f"{context.node}{context.version}")
        return document.with_data(context.node, {"version": context.version, "after": sorted(document.data)})

    return node


def chain(log: list[str], *, parse: str = "1", emails: str = "1") -> Graph:
    """intake → parse (messaging) → emails (kept) → rank (kept)."""
    node = counting(log)
    nodes = [
        Node("parse", node, version=parse),
        Node("emails", node, version=emails, keep=True),
        Node("rank", node, keep=True),
    ]
    edges = [
        Edge(source="intake", target="parse"),
        Edge(source="parse", target="emails", transport=Transport.MESSAGING),
        Edge(source="emails", target="rank"),
    ]
    return Graph("g", nodes, edges)


def events(world: Any) -> list[tuple[str, str | None, str]]:
    found = world.catalog.scan_events(0, 10_000)
    return [(one.event.reference.address, one.event.reference.cluster, one.event.destination) for one in found]


def test_the_intake_is_never_modified(world: Any) -> None:
    filled(world)
    intake = {key: world.objects.get(key).data for key in world.documents()}
    told = events(world)
    replay(world, world.engine(chain([])))
    assert {key: world.objects.get(key).data for key in intake} == intake
    assert all(row.version == 1 for row in world.repository.documents("acct", kind="intake").items)
    assert [one for one in events(world) if one[1] is None] == told


def test_a_second_replay_does_nothing(world: Any) -> None:
    log: list[str] = []
    engine = filled(world).engine(chain(log))
    first = replay(world, engine)
    assert (first.done, len(log)) == (6, 18)
    objects, told, rows = world.documents(), events(world), world.rows()
    world.store.counts.clear()
    second = replay(world, engine)
    assert (second.done, second.skipped, len(log)) == (0, 6, 18)
    assert not world.store.counts, "not even a look at the store"
    assert (world.documents(), events(world), world.rows()) == (objects, told, rows)


def test_nothing_is_sent_to_workers(world: Any) -> None:
    replay(world, filled(world).engine(chain([])))
    assert {destination for _, _, destination in events(world)} == {""}


def test_with_a_new_version_of_a_node_only_that_and_what_follows_is_done(world: Any) -> None:
    log: list[str] = []
    filled(world)
    replay(world, world.engine(chain(log)))
    log.clear()
    told = len(events(world))
    job = replay(world, world.engine(chain(log, emails="2")))
    assert job.done == 6
    assert sorted(set(log)) == ["emails2", "rank1"]
    assert len(events(world)) - told == 12
    assert ("parse", "prod", 1) in world.rows()
    assert ("emails", "prod", 2) in world.rows()
    assert ("parse", "prod", 2) not in world.rows()


def test_a_new_version_that_makes_the_same_changes_nothing(world: Any) -> None:
    def steady(document: Document, context: NodeContext) -> Document:
        return document.with_data("a", {"n": 1})

    filled(world)
    one = Graph("g", [Node("a", steady, keep=True)], world.edges("intake>a"))
    two = Graph("g", [Node("a", steady, version="2", keep=True)], world.edges("intake>a"))
    replay(world, world.engine(one))
    told, objects = events(world), world.documents()
    job = replay(world, world.engine(two))
    assert (job.done, job.unchanged) == (0, 6)
    assert (events(world), world.documents()) == (told, objects)


def test_without_memo_everything_is_done_again_and_nothing_is_written(world: Any) -> None:
    log: list[str] = []
    engine = filled(world).engine(chain(log))
    replay(world, engine)
    objects, told = world.documents(), events(world)
    log.clear()
    job = replay(world, engine, memo=False)
    assert (job.unchanged, job.done, len(log)) == (6, 0, 18)
    assert (world.documents(), events(world)) == (objects, told)


def test_a_state_that_somebody_changed_is_made_anew(world: Any) -> None:
    engine = filled(world).engine(chain([]))
    replay(world, engine)
    state = world.states()["https://example.com/002", "rank"]
    world.repository.save(state.with_data("rank", {"wrong": True}))
    job = replay(world, engine)
    assert (job.skipped, job.done) == (5, 1)
    assert world.states()["https://example.com/002", "rank"].data == state.data


def test_what_workers_have_done_is_not_done_again(world: Any) -> None:
    log: list[str] = []
    engine, queues = filled(world).engine(chain(log)), world.queues()
    for row in world.repository.documents("acct", kind="intake").items:
        engine.run(world.repository.get("acct", row.reference))
    world.work_off(engine, queues)
    assert len(log) == 18
    job = replay(world, engine)
    assert (job.skipped, len(log)) == (6, 18)


def test_one_document(world: Any) -> None:
    engine = filled(world).engine(chain([]))
    job = replay(world, engine, query=DocumentQuery(doc="https://example.com/003"))
    assert (job.total, job.done) == (1, 1)
    assert {doc for doc, _ in world.states()} == {"https://example.com/003"}


# --- from a node


def test_from_a_node_on_within_a_cluster(world: Any) -> None:
    log: list[str] = []
    filled(world)
    replay(world, world.engine(chain(log)))
    log.clear()
    engine = world.engine(chain(log, emails="2"))
    job = replay(world, engine, start="emails")
    assert (job.total, job.done) == (6, 6)
    assert sorted(set(log)) == ["emails2", "rank1"]
    assert replay(world, engine, start="emails").skipped == 6


def test_from_a_node_on_into_another_cluster(world: Any) -> None:
    log: list[str] = []
    filled(world)
    replay(world, world.engine(chain(log)))
    log.clear()
    before = world.states("prod")
    job = replay(world, world.engine(chain(log, emails="2"), "staging"), start="emails", source="prod")
    assert (job.done, sorted(set(log))) == (6, ["emails2", "rank1"])
    assert world.states("prod") == before
    states = world.states("staging")
    assert {address for _, address in states} == {"emails", "rank"}
    doc = "https://example.com/000"
    assert states[doc, "emails"].parent_digest == before[doc, "parse"].digest


def test_a_node_is_given_only_what_comes_to_it(world: Any) -> None:
    for number, status in enumerate((200, 404, 200)):
        world.repository.save(world.page(f"https://example.com/{number}", http_status=status))
    found = Compare(path="/source/status", op="eq", value=200)
    edges = [*world.edges("intake>a"), Edge(source="a", target="b", condition=found)]
    nodes = [Node("a", world.marking, keep=True), Node("b", world.marking, keep=True)]
    engine = world.engine(Graph("g", nodes, edges))
    replay(world, engine)
    changed = world.engine(Graph("g", [nodes[0], replace(nodes[1], version="2")], edges))
    job = replay(world, changed, start="b")
    assert (job.total, job.done, job.skipped) == (3, 2, 1)
    assert [doc[-1] for doc, address in world.states() if address == "b"] == ["0", "2"]


def test_where_a_replay_cannot_begin(world: Any) -> None:
    engine = world.engine(world.graph("intake>a", "a>b", "b>c", keep=("b",)))
    with pytest.raises(UsageError, match="not kept") as caught:
        ReplayPlan.of(engine, start="b")
    assert "keep = true" in str(caught.value.hint)
    with pytest.raises(UnknownNode):
        ReplayPlan.of(engine, start="z")
    with pytest.raises(UsageError, match="belong to no edition"):
        ReplayPlan.of(engine, source="prod")
    assert ReplayPlan.of(engine, start="c").source == "prod"
    assert ReplayPlan.of(engine, start="a").source is None, "the node behind the intake is given the intake"


def test_a_damaged_document_is_an_outcome_and_the_others_go_on(world: Any) -> None:
    filled(world)
    key = next(iter(world.documents()))
    world.objects.put(key, b"not a document")
    job = replay(world, world.engine(chain([])))
    assert (job.done, job.failed) == (5, 1)


def test_plans_are_kept_as_they_are(world: Any) -> None:
    query = DocumentQuery(datasource="ds", uri_prefix="https://", http_status=200, saved_from=world.time.now())
    plan = ReplayPlan.of(world.engine(chain([])), query=query, rate=2.5, memo=False)
    assert ReplayPlan.parse(plan.text()) == plan
