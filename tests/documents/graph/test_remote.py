"""Nodes that run elsewhere: called by gRPC, with a deadline, again where that may help, by reference if large."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.kit.certificates import self_signed

from cocli.documents import Blob, Document
from cocli.documents.graph.definition import GraphDefinition
from cocli.documents.graph.edge import Edge, Transport
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import Node, NodeContext
from cocli.documents.graph.remote import AUTHORITY, TOKEN
from cocli.errors import ConfigError, GraphInvalid, NodeInterrupted
from cocli.service.documents.module import ModuleSettings, serving_module
from cocli.service.listener import Tls

Serve = Callable[..., str]
LARGE = 200_000
PROJECT = Path(__file__).parents[3]
PROTO = PROJECT / "proto"
GRAPH_PAGE = PROJECT / "docs" / "graph.md"
NODE_PACKAGES = Path(sys.prefix) / "module" / "node_modules"


@pytest.fixture
def serve(world: Any) -> Iterator[Serve]:
    """A module with one node `far`, on loopback."""
    with ExitStack() as stack:

        def start(function: Any, **options: Any) -> str:
            graph = Graph("g", [Node("far", function)], [Edge(source="intake", target="far")])
            settings = ModuleSettings("127.0.0.1", 0, ["far"], **options)
            return stack.enter_context(serving_module(graph, world.repository, settings, world.time.now))

        yield start


def graph(address: str, *, more: str = "") -> Graph:
    text = f"""
        name = "g"
        [[nodes]]
        name = "near"
        [[nodes]]
        name = "far"
        version = "7"
        config = {{ least = 3 }}
        keep = true
        remote = "{address}"
        {more}
        [[edges]]
        source = "intake"
        target = "near"
        [[edges]]
        source = "near"
        target = "far"
        transport = "grpc"
    """

    def near(document: Document, context: NodeContext) -> Document:
        return document.with_data("near", {"seen": True})

    return GraphDefinition.from_toml(text).bind({"near": near})


def far(document: Document, context: NodeContext) -> Document | None:
    if document.doc == "dull":
        return None
    if document.doc == "bad":
        raise ValueError("cannot be read")
    assert document.blobs["body"].data is not None
    told = {"after": sorted(document.data), "config": dict(context.config), "version": context.version}
    return document.with_data("far", {**told, "size": document.blobs["body"].size})


def page(world: Any, doc: str, size: int = 5) -> Document:
    made: Document = world.page(doc)
    return made.with_blob("body", Blob.of(b"x" * size, "text/html"))


def test_a_document_goes_there_and_back_and_nothing_is_stored_on_the_way(world: Any, serve: Serve) -> None:
    engine = world.engine(graph(serve(far)))
    run = engine.run(page(world, "a"))
    assert [(outcome.node, str(outcome.ending)) for outcome in run.outcomes] == [("far", "finished")]
    assert world.rows() == [("far", "prod", 1)], "only what the graph says is kept"
    state = world.states()["a", "far"]
    assert state.data["far"] == {"after": ["near"], "config": {"least": 3}, "version": "7", "size": 5}
    assert [step.node for step in state.steps] == ["near", "far"]
    assert world.repository.load(state).blobs["body"].data == b"xxxxx"
    assert [str(outcome.ending) for outcome in engine.run(page(world, "dull")).outcomes] == ["filtered"]
    engine.run(page(world, "bad"))
    (entry,) = engine.quarantine.entries("acct")
    assert (entry.node, entry.code) == ("far", "node_failed")
    assert "INVALID_ARGUMENT: ValueError: cannot be read" in entry.message


def test_what_is_large_goes_by_reference(world: Any, serve: Serve) -> None:
    asked: list[int] = []

    def noting(document: Document, context: NodeContext) -> Document | None:
        asked.append(document.blobs["body"].size)
        return far(document, context)

    engine = world.engine(graph(serve(noting), more="max_bytes = 1024"))
    engine.run(page(world, "small", 10))
    assert ("near", "prod", 1) not in world.rows()
    engine.run(page(world, "large", LARGE))
    assert asked == [10, LARGE]
    assert ("near", "prod", 1) in world.rows(), "its state was saved, so that the module could read it"
    assert world.states()["large", "far"].data["far"]["size"] == LARGE


def test_a_module_that_takes_too_long_is_asked_again_and_then_the_document_waits(world: Any, serve: Serve) -> None:
    release, times = threading.Event(), list[float]()

    def slow(document: Document, context: NodeContext) -> Document | None:
        times.append(time.monotonic())
        if len(times) < 3:
            release.wait(20)
        return far(document, context)

    address = serve(slow)
    engine = world.engine(graph(address, more="deadline_seconds = 0.5\n attempts = 2"))
    with pytest.raises(NodeInterrupted, match="DEADLINE_EXCEEDED"):
        engine.run(page(world, "a"))
    assert len(times) == 2
    assert world.rows() == []
    release.set()
    assert engine.run(page(world, "a")).ran == ["near", "far"]


def test_nobody_there_may_pass(world: Any) -> None:
    engine = world.engine(graph("127.0.0.1:9", more="deadline_seconds = 2\n attempts = 1"))
    with pytest.raises(NodeInterrupted, match="UNAVAILABLE"):
        engine.run(page(world, "a"))
    assert list(engine.quarantine.entries("acct")) == []


def test_who_does_not_know_the_token_is_refused(world: Any, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = world.engine(graph(serve(far, token="s" * 32), more="attempts = 1"))
    with pytest.raises(NodeInterrupted, match="UNAUTHENTICATED"):
        engine.run(page(world, "a"))
    monkeypatch.setenv(TOKEN, "s" * 32)
    assert engine.run(page(world, "a")).ran == ["near", "far"]


def test_beyond_this_machine_there_has_to_be_a_certificate(world: Any) -> None:
    made = Graph("g", [Node("far", far)], [Edge(source="intake", target="far")])
    with (
        pytest.raises(ConfigError, match="no certificate"),
        serving_module(made, world.repository, ModuleSettings("0.0.0.0", 0, ["far"]), world.time.now),
    ):
        pass
    with pytest.raises(GraphInvalid, match=r"10\.0\.0\.5 is another machine: write grpcs://10\.0\.0\.5:9100"):
        graph("10.0.0.5:9100")


def test_by_grpcs_only_a_module_whose_certificate_is_trusted_gets_documents(
    world: Any, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem, key = self_signed(tmp_path)
    asked: list[str] = []

    def noting(document: Document, context: NodeContext) -> Document | None:
        asked.append(document.doc)
        return far(document, context)

    tls = Tls(str(pem), str(key), pem.read_bytes(), key.read_bytes())
    address = serve(noting, token="s" * 32, tls=tls)
    monkeypatch.setenv(TOKEN, "s" * 32)
    with pytest.raises(NodeInterrupted, match="UNAVAILABLE"):
        world.engine(graph(f"grpcs://{address}", more="attempts = 1")).run(page(world, "a"))
    with pytest.raises(NodeInterrupted, match="UNAVAILABLE"):
        world.engine(graph(address, more="attempts = 1")).run(page(world, "a"))
    assert asked == [], "neither without trust nor in the clear"
    monkeypatch.setenv(AUTHORITY, str(pem))
    assert world.engine(graph(f"grpcs://{address}")).run(page(world, "a")).ran == ["near", "far"]
    monkeypatch.setenv(TOKEN, "t" * 32)
    with pytest.raises(NodeInterrupted, match="UNAUTHENTICATED"):
        world.engine(graph(f"grpcs://{address}", more="attempts = 1")).run(page(world, "b"))
    assert asked == ["a"]


# --- a module in another language


def why_no_node() -> str | None:
    if shutil.which("node") is None:
        return "there is no Node.js on the path"
    if not (NODE_PACKAGES / "@grpc" / "grpc-js").is_dir():
        return "gRPC for Node.js is not installed: make module"
    return None


@pytest.fixture
def foreign(tmp_path: Path) -> Iterator[str]:
    """The module of docs/graph.md, in a process of its own."""
    if reason := why_no_node():
        pytest.skip(reason)
    (program,) = [part.partition("```")[0] for part in GRAPH_PAGE.read_text("utf-8").split("```js\n")[1:]]
    file = tmp_path / "module.js"
    file.write_text(program)
    environ = {**os.environ, "NODE_PATH": str(NODE_PACKAGES)}
    process = subprocess.Popen(
        ["node", str(file), str(PROTO), "127.0.0.1:0"], env=environ, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().removeprefix("module ").strip()
    finally:
        process.kill()
        process.communicate()


def test_a_module_in_another_language(world: Any, foreign: str) -> None:
    engine = world.engine(graph(foreign, more="max_bytes = 100000"))
    run = engine.run(page(world, "a", 12))
    assert [(outcome.node, str(outcome.ending)) for outcome in run.outcomes] == [("far", "finished")]
    state = world.states()["a", "far"]
    assert state.data["far"] == {"bytes": 12, "least": 3, "node": "far"}
    assert state.data["near"] == {"seen": True}, "what was there is kept"
    assert world.repository.load(state).blobs["body"].data == b"x" * 12
    assert [str(outcome.ending) for outcome in engine.run(page(world, "small", 2)).outcomes] == ["filtered"]
    engine.run(page(world, "large", LARGE))
    (entry,) = engine.quarantine.entries("acct")
    assert "this module cannot read the store" in entry.message


def test_an_edge_that_does_not_fit_its_node_is_a_fault() -> None:
    nodes = [Node("near", far), Node("far", far, remote="127.0.0.1:9100")]
    edges = [
        Edge(source="intake", target="near", transport=Transport.GRPC),
        Edge(source="near", target="far"),
    ]
    assert Graph("g", nodes, edges).faults() == [
        "edge intake → near: it goes by grpc, and nothing says where near runs",
        "edge near → far: far runs elsewhere; its transport is grpc or messaging",
    ]
