"""A graph by its dotted name, and a replay in a process of its own that can be killed: `python replay_factory.py …`."""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime
from typing import Any

from cocli.documents import Document
from cocli.documents.catalog.job_rows import Job
from cocli.documents.graph.edge import Edge, Transport
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import Node, NodeContext

FACTORY = "replay_factory:make_graph"


def measure(document: Document, context: NodeContext) -> Document:
    time.sleep(float(os.environ.get("REPLAY_PAUSE", "0")))
    if document.doc.endswith("7"):
        raise ValueError("sevens are refused")
    if document.doc.endswith("3"):
        raise TimeoutError("threes take too long")
    return document.with_data("measure", {"length": len(document.doc), "version": context.version})


def rank(document: Document, context: NodeContext) -> Document | None:
    return None if document.doc.endswith("5") else document.with_data("rank", {"last": document.doc[-1]})


def make_graph(version: str = "1") -> Graph:
    nodes = [
        Node("measure", measure, version=version),
        Node("rank", rank, keep=True),
    ]
    edges = [
        Edge(source="intake", target="measure"),
        Edge(source="measure", target="rank", transport=Transport.MESSAGING),
    ]
    return Graph("kill", nodes, edges)


def no_graph() -> str:
    return "not a graph"


def main(store: str, catalog: str, jobs: str) -> None:
    """Run the job, or go on with it, as soon as whoever had it is given up."""
    from cocli.documents.replay.engines.processes import ProcessCrew
    from cocli.documents.replay.engines.workplace import Workplace
    from cocli.documents.replay.jobs import Hold, run_job
    from cocli.documents.replay.plan import ReplayPlan
    from cocli.documents.replay.replay import plan_replay
    from cocli.documents.subscriptions import EVERYBODY
    from cocli.errors import JobBusy

    place = Workplace(store, catalog, FACTORY, "prod", fsync="never", subscriptions=EVERYBODY)

    def now() -> datetime:
        return datetime.now(UTC)

    def progress(job: Job) -> None:
        print(job.processed, flush=True)

    with place.opened(now) as engine:
        job = plan_replay(engine, "acct", ReplayPlan.of(engine))
        options: dict[str, Any] = {"hold": Hold(seconds=0.3), "chunk": 4, "on_progress": progress}
        while True:
            try:
                if jobs == "1":
                    done = run_job(engine, "acct", job.job, **options)
                else:
                    with ProcessCrew(place, jobs=int(jobs)) as crew:
                        done = run_job(engine, "acct", job.job, crew=crew, **options)
                break
            except JobBusy:
                time.sleep(0.05)
    print(f"{done.state} {done.done} {done.failed}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
