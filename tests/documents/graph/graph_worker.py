"""A worker in a process of its own: `python graph_worker.py STORE CATALOG LOG TRANSPORT OPTION`.

TRANSPORT is `queue`, or `kafka;SERVERS;CLUSTER;SESSION_MILLISECONDS`. Its node writes the document's id to LOG each
time it is run: an oracle outside of the graph. OPTION is `until-idle`, `one` (one message, then what came of it),
`pause` (says `worked` when all but letting the message go is done, and waits), `die` (is killed by its message).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cocli.documents import Document, DocumentRepository, Relay, open_catalog
from cocli.documents.graph.edge import Edge, Transport
from cocli.documents.graph.engine import Engine
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import Node, NodeContext
from cocli.documents.graph.publisher import GraphPublisher
from cocli.documents.graph.run import GraphRun
from cocli.documents.graph.transports.kafka import KafkaTransport
from cocli.documents.graph.transports.queue import QueueTransport
from cocli.documents.graph.worker import NodeWorker
from cocli.documents.subscriptions import EVERYBODY
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import Store, open_store

LONGEST = 45.0


def make_engine(repository: DocumentRepository, cluster: str, log: Path | None, *, deadly: bool = False) -> Engine:
    def work(document: Document, context: NodeContext) -> Document:
        if log is not None:
            with log.open("a") as lines:
                lines.write(f"{document.doc}\n")
        if deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return document.with_data("work", {"seen": document.doc})

    graph = Graph(
        "g", [Node("work", work, keep=True)], [Edge(source="intake", target="work", transport=Transport.MESSAGING)]
    )
    return Engine(graph, repository, edition=cluster, clock=lambda: datetime.now(UTC))


def open_queues(store: Store, worker: str) -> QueueTransport:
    def open_queue(name: str) -> LeasedQueue:
        return LeasedQueue(store, "c", name, worker=worker, lease_seconds=1, margin=0.1)

    return QueueTransport(open_queue)


def open_kafka(servers: str, session: str) -> KafkaTransport:
    soon = {"session.timeout.ms": session, "heartbeat.interval.ms": 300, "topic.metadata.refresh.interval.ms": 500}
    return KafkaTransport(servers, settings={"log_level": 0}, consumer_settings=soon)


def make_relay(catalog: Any, transport: Any) -> Relay:
    return Relay(catalog, GraphPublisher(transport), clock=lambda: datetime.now(UTC))


class Pausing:
    """A transport whose messages wait, right before they are let go, for somebody to kill the process."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def consumer(self, destination: Any) -> Any:
        consumer = self._inner.consumer(destination)
        receive = consumer.receive

        @contextmanager
        def paused(timeout: float) -> Iterator[Any]:
            with receive(timeout) as delivery:
                if delivery is not None:
                    delivery.done = self._wait
                yield delivery

        consumer.receive = paused
        return consumer

    def _wait(self, _: Any) -> None:
        print("worked", flush=True)
        time.sleep(LONGEST)


def main(store_url: str, catalog_url: str, log: str, how: str, option: str) -> None:
    store, catalog = open_store(store_url, fsync="never"), open_catalog(catalog_url)
    repository = DocumentRepository(store, catalog, clock=lambda: datetime.now(UTC), subscriptions=EVERYBODY)
    transport: Any
    if how == "queue":
        cluster, transport = "prod", open_queues(store, f"w{os.getpid()}")
    else:
        _, servers, cluster, session = how.split(";")
        transport = open_kafka(servers, session)
    engine = make_engine(repository, cluster, Path(log), deadly=option == "die")
    runs: list[GraphRun] = []
    if option == "pause":
        transport = Pausing(transport)
    worker = NodeWorker(engine, transport, make_relay(catalog, transport), "work", attempts=3, on_run=runs.append)
    if option == "until-idle":
        worker.run(threading.Event(), until_idle=True, wait=2.0)
    else:
        until = time.monotonic() + LONGEST
        while not worker.step(1.0) and time.monotonic() < until:
            pass
        print(f"done {worker.tally.messages['done']} skipped {sum(len(run.skipped) for run in runs)}", flush=True)
    worker.close()
    transport.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
