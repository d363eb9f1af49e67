"""A replay as a stream: the job runs beside it, and each look at it is a message. Who leaves pauses the job."""

from __future__ import annotations

import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from cocli.app.documents.jobs import ReplayOptions, forecast, job_of, outcomes_of, plan, query_of, run
from cocli.documents.catalog.job_rows import DocumentOutcome
from cocli.documents.graph.node import INTAKE
from cocli.documents.proto.generated import repository_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cocli.app.documents.documents import Documents
    from cocli.documents.catalog.job_rows import Job

_LOOK_SECONDS = 0.5


def replay_messages(
    documents: Documents, graph: str | None, request: pb.ReplayRequest, stopped: Callable[[], bool]
) -> Iterator[pb.ReplayProgress]:
    options = _options(request, graph)
    if request.dry_run:
        found = forecast(documents, options)
        yield pb.ReplayProgress(state="dry-run", total=found.documents, memoised=found.skipped)
        return
    job = job_of(documents, request.job_id) if request.job_id else plan(documents, options)
    yield _progress(job)
    if request.job_id:
        options = ReplayOptions(graph=graph, edition=job.cluster)
    yield from _followed(_Running(documents, job.job, options), stopped)
    ended = job_of(documents, job.job)
    yield _last(documents, ended)


def _followed(running: _Running, stopped: Callable[[], bool]) -> Iterator[pb.ReplayProgress]:
    try:
        while (looked := running.look()) is not None or running.is_alive():
            if looked is not None:
                yield _progress(looked)
            if stopped():
                running.stop.set()
    finally:
        running.stop.set()  # the stream was left: the job is paused, and can be gone on with
        running.join()
    if running.error is not None:
        raise running.error


class _Running(threading.Thread):
    """Runs the job; `look` waits a little for how far it is."""

    def __init__(self, documents: Documents, job: str, options: ReplayOptions) -> None:
        super().__init__(name=f"replay-{job}", daemon=True)
        self.stop = threading.Event()
        self.error: Exception | None = None
        self._documents = documents
        self._job = job
        self._options = options
        self._looks: SimpleQueue[Job] = SimpleQueue()
        self.start()

    def run(self) -> None:
        try:
            run(self._documents, self._job, self._options, on_progress=self._looks.put, stop=self.stop)
        except Exception as error:  # noqa: BLE001  it is raised again where the stream is answered
            self.error = error

    def look(self) -> Job | None:
        try:
            return self._looks.get(timeout=_LOOK_SECONDS if self.is_alive() else 0)
        except Empty:
            return None


def _options(request: pb.ReplayRequest, graph: str | None) -> ReplayOptions:
    return ReplayOptions(
        query=query_of({"doc": request.doc_id, "datasource": request.datasource}),
        start=request.from_node or INTAKE,
        source=request.from_cluster or None,
        edition=request.cluster or None,
        graph=graph,
        rate=request.rate or None,
    )


def _progress(job: Job) -> pb.ReplayProgress:
    return pb.ReplayProgress(
        job_id=job.job,
        state=str(job.state),
        total=job.total,
        done=job.processed,
        changed=job.done,
        unchanged=job.unchanged,
        memoised=job.skipped,
        failed=job.failed,
    )


def _last(documents: Documents, job: Job) -> pb.ReplayProgress:
    message = _progress(job)
    for outcome in outcomes_of(documents, job.job, DocumentOutcome.FAILED, 1) if job.failed else ():
        message.last_doc_id, message.last_error = outcome.doc, f"{outcome.code}: {outcome.error}"
    return message
