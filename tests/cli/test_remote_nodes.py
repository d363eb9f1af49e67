"""The example of docs/graph.md: three nodes in three processes, a message by Kafka and a call by gRPC, with kills."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cocli.documents.graph.destination import Destination
from cocli.documents.graph.transports.base import NodeMessage
from cocli.documents.graph.transports.kafka import KafkaTransport
from cocli.models.document import DocumentReference
from tests.kit.kafka import some_kafka

FOLDER = Path(__file__).parent
DOCS = Path(__file__).parents[2] / "docs" / "graph.md"
DOCUMENTS = 12


def example() -> str:
    """The graph of the docs, which is what is run here."""
    found = [part for part in DOCS.read_text("utf-8").split("```toml\n")[1:] if 'name = "scores"' in part]
    return found[0].partition("```")[0]


def started(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "cocli", "documents", *words, "-c", "plumbers"]
    return subprocess.Popen(command, env=os.environ.copy(), stdout=subprocess.PIPE, text=True)


def module(graph: Path, port: int) -> subprocess.Popen[str]:
    process = started("module", "words", "--graph", str(graph), "--port", str(port))
    assert process.stdout is not None
    assert process.stdout.readline() == f"module 127.0.0.1:{port}\n"
    return process


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)


def test_three_nodes_in_three_processes_with_kills(
    plumbers: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("PYTHONPATH", f"{FOLDER}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    graph = tmp_path / "scores.toml"
    graph.write_text(example().replace("my_package.nodes:", "scores_nodes:").replace(":9100", f":{port}"))
    with some_kafka(tmp_path / "kafka") as address:
        plumbers("campaign", "edit", "plumbers", "--set", "documents.events=kafka")
        plumbers("campaign", "edit", "plumbers", "--set", f"documents.kafka_servers={address}")
        for number in range(DOCUMENTS):
            file = home / f"{number}.txt"
            file.write_text("word " * (number + 1))
            saved = plumbers(
                "documents", "save", str(file), "--doc", f"d{number}", "--send-to", "parse", "-c", "plumbers"
            )
            assert saved.code == 0, saved.err
        running = [
            module(graph, port),
            started("work", "parse", "--graph", str(graph)),
            started("work", "score", "--graph", str(graph)),
        ]
        try:
            wait_for(plumbers, 1)
            kill(running[0])
            running[0] = module(graph, port)
            kill(running[1])
            running[1] = started("work", "parse", "--graph", str(graph))
            kill(running[2])
            running[2] = started("work", "score", "--graph", str(graph))
            wait_for(plumbers, DOCUMENTS)
        finally:
            for process in running:
                kill(process)
        check_the_backlog(plumbers, address)
    for number in range(DOCUMENTS):
        got = plumbers("documents", "get", f"d{number}", "--node", "score", "-c", "plumbers", "--json")
        assert got.json["data"]["score"] == {"score": 10 * (number + 1)}, number
    rows = plumbers("documents", "ls", "-c", "plumbers", "--edition", "main", "--json").json["states"]
    assert {row["address"] for row in rows} == {"words", "score"}, "what went by gRPC was not stored before"


def check_the_backlog(cocli: Any, address: str) -> None:
    """What waits in Kafka is counted like what waits in a queue; where the broker is away, that is said."""
    for node in ("parse", "score"):
        cocli("campaign", "edit", "plumbers", "--set", f"workers.here.{node}=1")
    lost = DocumentReference(
        account="default", connector="web", datasource="ds", doc="x", address="ds", cluster=None, digest="0" * 64
    )
    with closing(KafkaTransport(address, settings={"log_level": 0})) as transport:
        transport.publish([NodeMessage(f"m{number}", Destination("main", "parse"), lost) for number in range(3)])
    status = cocli("cluster", "status", "-c", "plumbers", "--json").json
    found = {queue["queue"]: queue for queue in status["queues"]}
    assert (found["parse--main"]["pending"], found["score--main"]["pending"]) == (3, 0)
    assert found["parse--main"]["oldest"] is not None
    cocli("campaign", "edit", "plumbers", "--set", "documents.kafka_servers=127.0.0.1:1")
    status = cocli("cluster", "status", "-c", "plumbers", "--json").json
    assert {problem["subject"] for problem in status["problems"] if problem["kind"] == "queue"} >= {"parse--main"}


def wait_for(cocli: Any, count: int) -> None:
    """Until so many documents have come to their end."""
    until = time.monotonic() + 240
    done: list[Any] = []
    while len(done) < count:
        assert time.monotonic() < until, f"{len(done)} of {count}"
        time.sleep(0.5)
        listed = cocli("documents", "ls", "-c", "plumbers", "--edition", "main", "--json").json["states"]
        done = [row for row in listed if row["address"] == "score"]
