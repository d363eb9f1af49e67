"""What the engine does with a document: where it goes, what is stored on the way, and how each way ends."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from cocli.documents import Blob, Document, DocumentSource
from cocli.documents.graph.condition import Compare
from cocli.documents.graph.edge import Edge
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.journey import EngineOptions
from cocli.documents.graph.node import Node, NodeContext
from cocli.documents.graph.quarantine import QuarantineQuery
from cocli.documents.graph.run import Ending
from cocli.errors import DocumentDeleted, GraphInvalid, LeaseLost, NodeInterrupted, Unavailable, UnknownNode, UsageError


def endings(run: Any) -> list[tuple[str, str]]:
    return sorted((one.node, str(one.ending)) for one in run.outcomes)


def test_a_graph_of_inline_edges_stores_nothing(world: Any) -> None:
    engine = world.engine(world.graph("intake>a", "a>b", "b>c"))
    for number in range(1000):
        run = engine.run(world.page(f"https://example.com/{number}", http_status=200))
        assert endings(run) == [("c", "finished")]
        (outcome,) = run.outcomes
        assert set(outcome.document.data) == {"a", "b", "c"}
        assert [step.node for step in outcome.document.steps] == ["a", "b", "c"]
    assert world.rows() == []
    assert world.documents() == []
    assert not world.store.counts
    assert world.catalog.waiting(10) == []


def test_steps_tell_what_was_done_to_what_and_with_which_code(world: Any) -> None:
    engine = world.engine(world.graph("intake>a", "a>b"))
    document = world.page()
    (outcome,) = engine.run(document).outcomes
    first, second = outcome.document.steps
    after_a = document.at("a", "prod").with_data("a", {"after": [], "version": "1"})
    assert (first.input_digest, second.input_digest) == (document.digest, after_a.digest)
    assert (first.code_digest, second.code_digest) == tuple(engine.graph.node(one).code_digest for one in "ab")
    assert first.at == world.time.now()
    assert outcome.document.parent_digest == after_a.digest
    assert (outcome.document.address, outcome.document.cluster) == ("b", "prod")


def test_a_messaging_edge_saves_under_the_node_that_made_it_and_sends_a_reference(world: Any) -> None:
    engine, queues = world.engine(world.graph("intake>a", "a=>b", keep=("b",))), world.queues()
    run = engine.run(world.page())
    assert endings(run) == [("a", "sent")]
    assert world.rows() == [("a", "prod", 1)]
    (worker,) = world.work_off(engine, queues)
    assert worker.tally.endings == {"finished": 1}
    assert world.rows() == [("a", "prod", 1), ("b", "prod", 1)]
    states = world.states()
    assert states["https://example.com/", "b"].parent_digest == states["https://example.com/", "a"].digest
    task = next(iter(world.objects.list("campaigns/c/queues/b--prod/completed/")))
    assert b"example.com" not in world.objects.get(task.key).data


def test_fan_in_keeps_both_states(world: Any) -> None:
    seen = []

    def c(document: Document, context: NodeContext) -> Document:
        seen.append(sorted(document.data))
        return document

    engine, queues = world.engine(world.graph("intake>a", "intake>b", "a=>c", "b=>c", c=c)), world.queues()
    assert endings(engine.run(world.page())) == [("a", "sent"), ("b", "sent")]
    assert world.rows() == [("a", "prod", 1), ("b", "prod", 1)]
    world.work_off(engine, queues)
    assert sorted(seen) == [["a"], ["b"]]
    assert world.rows() == [("a", "prod", 1), ("b", "prod", 1)]
    assert len(world.documents()) == 2


def test_one_node_in_two_clusters_has_two_rows_and_two_objects(world: Any) -> None:
    wanted = world.graph("intake>a", "a=>b")
    prod, staging = world.engine(wanted), world.engine(wanted, "staging")
    prod.run(world.page())
    staging.run(world.page())
    assert world.rows() == [("a", "prod", 1), ("a", "staging", 1)]
    assert len(world.documents()) == 2
    queues = world.queues()
    world.relay(queues).run()
    assert world.worker(staging, queues, "b").step(0.0)
    assert not world.worker(staging, queues, "b").step(0.0), "the other cluster's message is not its own"
    assert world.worker(prod, queues, "b").step(0.0)


def test_from_intake_by_messages(world: Any) -> None:
    engine, queues = world.engine(world.graph("intake=>a", "a>b", keep=("b",))), world.queues()
    document = world.page()
    assert endings(engine.run(document)) == [("intake", "sent")]
    world.work_off(engine, queues)
    assert [row[:2] for row in world.rows()] == [(document.datasource, None), ("b", "prod")]
    assert endings(engine.run(document)) == [("intake", "sent")], "said again"
    (worker,) = world.work_off(engine, queues)
    assert worker.tally.messages == {}, "and not sent again"


def test_an_intake_that_was_saved_before_is_sent_to_a_graph_that_comes_later(world: Any) -> None:
    world.repository.save(world.page())
    engine, queues = world.engine(world.graph("intake=>a", keep=("a",))), world.queues()
    engine.run(world.page())
    world.work_off(engine, queues)
    assert ("a", "prod", 1) in world.rows()


# --- conditions and ends


def conditional(world: Any, *ways: tuple[str, Compare]) -> Graph:
    found = [Edge(source="a", target=target, condition=condition) for target, condition in ways]
    return Graph("g", [Node(name, world.marking) for name in "abc"], [*world.edges("intake>a"), *found])


def test_conditions_choose_the_way_and_no_way_is_an_end_with_a_name(world: Any) -> None:
    is_html = Compare(path="/source/mime_type", op="starts_with", value="text/html")
    is_found = Compare(path="/source/status", op="eq", value=200)
    engine = world.engine(conditional(world, ("b", is_html), ("c", is_found)))
    both = engine.run(world.page(mime_type="text/html", http_status=200))
    assert endings(both) == [("b", "finished"), ("c", "finished")]
    assert endings(engine.run(world.page(mime_type="image/png", http_status=200))) == [("c", "finished")]
    assert endings(engine.run(world.page(mime_type="image/png", http_status=404))) == [("a", "unmatched")]
    assert world.rows() == []


def test_a_condition_that_cannot_be_answered_stops_every_way_and_keeps_the_document(world: Any) -> None:
    is_found = Compare(path="/source/status", op="eq", value=200)
    is_html = Compare(path="/source/mime_type", op="starts_with", value="text/html")
    engine = world.engine(conditional(world, ("b", is_found), ("c", is_html)))
    run = engine.run(world.page(http_status=200))
    assert endings(run) == [("a", "quarantined")]
    (entry,) = engine.quarantine.entries("acct")
    assert (entry.node, entry.code) == ("a", "condition_failed")
    assert "/source/mime_type" in entry.message
    assert entry.document == world.page(http_status=200)


def test_filtered_is_an_end(world: Any) -> None:
    engine = world.engine(world.graph("intake>a", "a>b", a=lambda document, context: None))
    document = world.page()
    assert endings(engine.run(document)) == [("a", "filtered")]
    code = engine.graph.node("a").code_digest
    kept = world.repository.recall(
        "acct", document.doc, "a", "prod", input_digest=document.digest, code_digest=code, origin=document.origin
    )
    assert kept is None, "between inline edges nothing is written, not even that"


def test_who_lost_the_work_saves_nothing_more(world: Any) -> None:
    calls: list[str] = []

    def check() -> None:
        if calls:
            raise LeaseLost(queue="q", worker="w", task_id="t", reason="it was taken over")

    engine = world.engine(world.graph("intake>a", keep=("a",), a=counting(world, calls)))
    with pytest.raises(LeaseLost):
        engine.run(world.page(), manner=EngineOptions(check=check))
    assert calls == ["a"]
    assert world.rows() == []


def test_hops_are_bounded(world: Any) -> None:
    names = [f"n{number}" for number in range(6)]
    chain = ["intake>n0", *(f"{one}>{two}" for one, two in itertools.pairwise(names))]
    assert endings(world.engine(world.graph(*chain), hop_limit=6).run(world.page())) == [("n5", "finished")]
    engine = world.engine(world.graph(*chain), hop_limit=5)
    assert endings(engine.run(world.page())) == [("n5", "quarantined")]
    (entry,) = engine.quarantine.entries("acct")
    assert entry.code == "hop_limit"


# --- what nodes get wrong


def test_what_a_node_must_not_return(world: Any) -> None:
    def at(document: Document, context: NodeContext) -> Any:
        kind = document.doc
        if kind == "other-account":
            return Document.intake(account="other", connector="web", doc=kind)
        if kind == "text":
            return "<html>"
        if kind == "nan":
            return document.with_data("a", {"value": float("nan")})
        if kind == "surrogate":
            return document.with_data("a", {"value": "\ud800"})
        raise ValueError(f"cannot read \ud800 {kind}")

    engine = world.engine(world.graph("intake>a", "a>b", a=at))
    kinds = {"other-account": "account", "text": "str", "nan": "JSON", "surrogate": "surrogate", "else": "ValueError"}
    for kind in kinds:
        assert endings(engine.run(world.page(kind))) == [("a", "quarantined")]
    said = {entry.document.doc: entry.message for entry in engine.quarantine.entries("acct")}
    assert all(word in said[kind] for kind, word in kinds.items()), said
    assert all(entry.node == "a" for entry in engine.quarantine.entries("acct"))
    assert list(engine.quarantine.entries("other")) == []


def test_what_may_pass_is_raised_and_the_other_ways_go_on(world: Any) -> None:
    seen = []

    def failing(document: Document, context: NodeContext) -> Document:
        seen.append(context.node)
        if context.node == "b":
            raise Unavailable(address="there", reason="closed")
        if context.node == "c":
            raise TimeoutError("slow")
        return document

    engine = world.engine(world.graph("intake>a", "a>b", "a>c", "a>d", a=failing, b=failing, c=failing, d=failing))
    with pytest.raises(NodeInterrupted):
        engine.run(world.page())
    assert seen == ["a", "b", "c", "d"]
    assert world.rows() == []
    run = engine.run(world.page(), manner=EngineOptions(final=True))
    assert endings(run) == [("b", "quarantined"), ("c", "quarantined"), ("d", "finished")]
    assert {entry.code for entry in engine.quarantine.entries("acct")} == {"node_interrupted"}


# --- quarantine


def test_quarantine_keeps_what_the_node_was_given_and_lets_it_go_on(world: Any) -> None:
    broken = [True]

    def b(document: Document, context: NodeContext) -> Document:
        if broken[0]:
            raise ValueError("not yet")
        assert document.blobs["body"].content == b"x" * 100_000
        return document.with_data("b", {"ok": True})

    engine = world.engine(world.graph("intake>a", "a>b", "b>c", keep=("c",), b=b))
    document = world.page().with_blob("body", Blob.of(b"x" * 100_000, "text/html"))
    assert endings(engine.run(document)) == [("b", "quarantined")]
    assert endings(engine.run(document)) == [("b", "quarantined")]
    assert world.rows() == [("b", "prod~quarantine", 1)], "the same failure twice is one entry"
    (entry,) = engine.quarantine.entries("acct")
    assert (entry.node, entry.message) == ("b", "Node b failed: ValueError: not yet")
    assert set(entry.document.data) == {"a"}
    assert entry.document.address == "a"

    assert endings(engine.release(entry)) == [("b", "quarantined")], "still broken"
    assert [one.node for one in engine.quarantine.entries("acct")] == ["b"]
    broken[0] = False
    assert endings(engine.release(engine.quarantine.entry("acct", document.doc, "b"))) == [("c", "finished")]
    assert list(engine.quarantine.entries("acct")) == []
    (gone,) = engine.quarantine.entries("acct", QuarantineQuery(released=True))
    assert gone.released
    (state,) = world.states().values()
    assert [step.node for step in state.steps] == ["a", "b", "c"]
    assert "quarantine" not in state.data
    assert state.errors == ()
    broken[0] = True
    engine.run(document)
    assert [one.node for one in engine.quarantine.entries("acct")] == ["b"], "it can come back"


def test_a_document_that_cannot_be_kept_whole_leaves_a_note(world: Any) -> None:
    def a(document: Document, context: NodeContext) -> Document:
        return document.with_source(DocumentSource(uri="x" * (2 << 20)))

    def b(document: Document, context: NodeContext) -> Document:
        raise ValueError("too much")

    engine = world.engine(world.graph("intake>a", "a>b", a=a, b=b))
    assert endings(engine.run(world.page())) == [("b", "quarantined")]
    (entry,) = engine.quarantine.entries("acct")
    assert "could not be kept whole" in entry.message
    with pytest.raises(UsageError, match="whole"):
        engine.release(entry)


def test_quarantine_is_listed_page_by_page_and_only_to_its_account(world: Any) -> None:
    engine = world.engine(world.graph("intake>a", a=lambda document, context: 1))
    for number in range(230):
        engine.run(world.page(f"d{number}"))
    assert len(list(engine.quarantine.entries("acct"))) == 230
    assert list(engine.quarantine.entries("acc")) == []
    assert list(world.engine(engine.graph, "staging").quarantine.entries("acct")) == []


def test_a_deleted_document_is_not_brought_back_by_a_late_message(world: Any) -> None:
    engine, queues = world.engine(world.graph("intake>a", "a=>b", "b=>c", keep=("c",))), world.queues()
    document = world.page()
    world.repository.save(document)
    engine.run(document)
    world.relay(queues).run()
    world.repository.delete("acct", document.doc, by="me")
    workers = world.work_off(engine, queues)
    assert sum(worker.tally.endings.get("deleted", 0) for worker in workers) == 1
    assert world.repository.states("acct", document.doc) == []
    assert endings(engine.run(document)) == [("a", "deleted")]
    with pytest.raises(DocumentDeleted):
        world.repository.save(document)


# --- memory


def counting(world: Any, calls: list[str]) -> Any:
    def node(document: Document, context: NodeContext) -> Document | None:
        calls.append(context.node)
        if document.doc.endswith("dull"):
            return None
        return document.with_data(context.node, {"status": document.source.http_status})

    return node


def test_what_was_done_is_not_done_again(world: Any) -> None:
    calls: list[str] = []
    node = counting(world, calls)
    follow = EngineOptions(follow=True)
    engine = world.engine(world.graph("intake>a", "a=>b", "b>c", keep=("c",), a=node, b=node, c=node))
    engine.run(world.page(http_status=200), manner=follow)
    assert calls == ["a", "b", "c"]
    run = engine.run(world.page(http_status=200), manner=follow)
    assert calls == ["a", "b", "c", "b"], "b is inline and its output is not kept"
    assert (run.ran, run.skipped) == (["b"], ["a", "c"])
    assert endings(run) == [("c", "finished")]
    engine.run(world.page(http_status=200), manner=EngineOptions(follow=True, memo=False))
    assert calls[4:] == ["a", "b", "c"]
    calls.clear()
    engine.run(world.page(http_status=404), manner=follow)
    assert calls == ["a", "b", "c"], "another input"
    assert world.states()["https://example.com/", "c"].data["c"] == {"status": 404}
    calls.clear()
    engine.run(world.page(http_status=200), manner=follow)
    assert calls == ["b"], "an earlier input that came back"
    assert world.states()["https://example.com/", "c"].data["c"] == {"status": 200}, "and its result is current again"


def test_new_code_is_run_and_only_that(world: Any) -> None:
    calls: list[str] = []
    node = counting(world, calls)
    first = Graph("g", [Node("a", node, keep=True), Node("b", node, keep=True)], world.edges("intake>a", "a>b"))
    world.engine(first).run(world.page())
    second = Graph(
        "g", [Node("a", node, keep=True), Node("b", node, version="2", keep=True)], world.edges("intake>a", "a>b")
    )
    world.engine(second).run(world.page())
    assert calls == ["a", "b", "b"]
    world.engine(second, "staging").run(world.page())
    assert calls[3:] == ["a", "b"], "another cluster has states of its own"


def test_what_was_filtered_is_remembered_too(world: Any) -> None:
    calls: list[str] = []
    engine = world.engine(world.graph("intake>a", keep=("a",), a=counting(world, calls)))
    for _ in range(2):
        assert endings(engine.run(world.page("dull"))) == [("a", "filtered")]
    assert calls == ["a"]


def test_a_memo_whose_state_is_gone_is_not_believed(world: Any) -> None:
    calls: list[str] = []
    engine = world.engine(world.graph("intake>a", keep=("a",), a=counting(world, calls)))
    document = world.page()
    engine.run(document)
    world.repository.purge("acct", document.doc, by="me")
    assert endings(engine.run(document)) == [("a", "deleted")]
    assert calls == ["a", "a"]


def test_a_message_whose_work_was_done_is_not_even_read(world: Any) -> None:
    engine = world.engine(world.graph("intake=>a", keep=("a",)))
    (sent,) = engine.run(world.page()).outcomes
    engine.receive(sent.reference, "a")
    world.store.reset()
    run = engine.receive(sent.reference, "a")
    assert run.skipped == ["a"]
    assert not world.store.counts


# --- what is refused


def test_what_is_refused(world: Any) -> None:
    sound = world.graph("intake>a", "a=>b", keep=("b",))
    with pytest.raises(GraphInvalid, match="circle"):
        world.engine(world.graph("intake>a", "a>b", "b>a"))
    with pytest.raises(UsageError, match="quarantine"):
        world.engine(sound, "prod~quarantine")
    engine = world.engine(sound)
    with pytest.raises(UnknownNode):
        engine.run(world.page(), at="c")
    (sent,) = engine.run(world.page()).outcomes
    state = world.repository.get("acct", sent.reference)
    with pytest.raises(UsageError, match="made by a"):
        engine.run(state)
    assert endings(engine.run(state, at="b")) == [("b", "finished")]
    assert Ending.FINISHED in [one.ending for one in engine.receive(sent.reference, "b").outcomes]
