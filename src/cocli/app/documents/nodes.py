"""Working for nodes: takes the messages of some nodes of a graph and runs the graph from there, on this machine.

How messages get here is `events`; what a worker does with one is `cocli.documents.graph.worker`.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.documents.events import opened_transport, relay_of
from cocli.documents.graph.engine import Engine
from cocli.documents.graph.node import INTAKE
from cocli.documents.graph.worker import NodeWorker
from cocli.documents.replay.engines.workplace import make_graph
from cocli.documents.seeder import Seeder
from cocli.errors import UsageError, WorkerGaveUp
from cocli.models.heartbeat import ActiveTask, WorkerReport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cocli.app.documents.documents import Documents
    from cocli.documents.graph.worker import NodeTally
    from cocli.documents.relay import Relay

_IDLE_SECONDS = {"queue": 0.2, "kafka": 10.0}
"""Without a message for so long, a node has none left. Kafka deals out a topic among its readers first."""
_LOOK_SECONDS = 0.5
_MOST_TROUBLES = 8
_ENDINGS = {"done": "completed", "retried": "waiting", "rejected": "sidelined"}
"""How messages end, in the words of queues."""


@dataclass(frozen=True, slots=True)
class NodeWorkOptions:
    nodes: Sequence[str]
    graph: str
    """`package.module:function`, which makes it."""
    edition: str
    worker: str
    until_empty: bool = False


def work_for_nodes(
    documents: Documents,
    options: NodeWorkOptions,
    stop: threading.Event,
    *,
    on_look: Callable[[Mapping[str, NodeTally]], None] | None = None,
) -> Mapping[str, NodeTally]:
    """Work until asked to stop, or until no message is left. What is in hand comes to its end. Tallies by node.

    `on_look` is called about every second while work goes on.
    """
    if len(set(options.nodes)) < len(options.nodes):
        raise UsageError(reason="a node is named twice")
    graph = make_graph(options.graph, {})
    engine = Engine(graph, documents.repository, edition=options.edition, clock=documents.store.now)
    for node in options.nodes:
        if node != INTAKE:
            graph.node(node)
    with ExitStack() as stack:
        transport = stack.enter_context(opened_transport(documents, worker=options.worker))
        relay = relay_of(documents, transport)
        workers = {node: NodeWorker(engine, transport, relay, node) for node in options.nodes}
        for worker in workers.values():
            stack.callback(worker.close)
        if options.until_empty:
            idle = _IDLE_SECONDS[documents.section.events]
            seeder = Seeder(documents.repository.catalog, room=documents.section.max_waiting_events)
            _until_empty(list(workers.values()), relay, seeder, stop, idle)
        else:
            _side_by_side(workers, stop, on_look)
    return {node: worker.tally for node, worker in workers.items()}


def _until_empty(
    workers: Sequence[NodeWorker], relay: Relay, seeder: Seeder, stop: threading.Event, idle: float
) -> None:
    """In turns: what one node sends on may be for another one of them."""
    busy = True
    while busy and not stop.is_set():
        seeder.turn()
        relay.run()
        busy = False
        for worker in workers:
            while not stop.is_set() and worker.step(idle):
                busy = True
                if worker.troubles >= _MOST_TROUBLES:
                    raise WorkerGaveUp(queue=worker.node, times=worker.troubles, reason=worker.tally.last_error)


def node_report(node: str, worker: str, tally: NodeTally) -> WorkerReport:
    """What a worker of a node tells its supervisor."""
    ended = {_ENDINGS.get(name, name): count for name, count in tally.messages.items() if count}
    held = tally.in_hand
    active: tuple[ActiveTask, ...] = ()
    if held is not None:
        active = (ActiveTask(task_id=held.message_id, worker=worker, claimed_at=held.since),)
    return WorkerReport(queue=node, worker=worker, active=active, ended=ended, last_error=tally.last_error)


def _side_by_side(
    workers: Mapping[str, NodeWorker],
    stop: threading.Event,
    on_look: Callable[[Mapping[str, NodeTally]], None] | None,
) -> None:
    """A thread for each node. The first that cannot go on stops the others, and its error is raised."""
    errors: list[BaseException] = []

    def serve(worker: NodeWorker) -> None:
        try:
            worker.run(stop)
        except BaseException as error:  # noqa: BLE001  a thread must not die unheard: it is raised below
            errors.append(error)
            stop.set()

    threads = [threading.Thread(target=serve, args=(worker,), name=node) for node, worker in workers.items()]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if on_look:
            on_look({node: worker.tally for node, worker in workers.items()})
        threads[0].join(_LOOK_SECONDS)
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
