"""Replays that callers ask for. They run in the process beside the service; how far they are is in their job's row."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from cocli.app.documents.jobs import ReplayOptions, cancel, job_of, jobs_of, outcomes_of, pause, query_of
from cocli.documents.catalog.job_rows import DocumentOutcome, JobCursor
from cocli.documents.graph.node import INTAKE
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import JobBusy, JobError
from cocli.service.documents import messages

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from concurrent.futures import Future

    from cocli.app.documents.documents import Documents
    from cocli.documents.catalog.job_rows import Job
    from cocli.service.documents.accounts import Accounts
    from cocli.service.documents.call_threads import CallThreads
    from cocli.service.documents.work_process import WorkProcess

_FIRST_LOOK_SECONDS = 0.1
_LOOK_SECONDS = 1.0
_REFUSED_SECONDS = 0.5
"""Within which a job says that it cannot be run at all: somebody else runs it, its graph is another one."""


class Replays:
    """`graph` names the graph that is replayed: `package.module:function`, chosen by who serves, never by who calls."""

    def __init__(
        self, documents: Documents, threads: CallThreads, work: WorkProcess, accounts: Accounts, graph: str | None
    ) -> None:
        self._documents = documents
        self._threads = threads
        self._work = work
        self._accounts = accounts
        self._graph = graph
        self._running: dict[str, tuple[int, Future[Job]]] = {}
        self._streams: set[int] = set()
        self._stopping: set[int] = set()
        self._leaving: set[int] = set()  # of streams that the service is about to end

    # --- operations that go on by themselves

    async def start(self, account: str, request: pb.ReplayRequest) -> pb.ReplayJob:
        """Plan it and let it run. The same plan again is the same job, as long as it has not ended."""
        job = await self._planned(account, request)
        return await self._begun(account, job.job)

    async def resume(self, account: str, job_id: str) -> pb.ReplayJob:
        job = await self._job(account, job_id)
        if job.state.is_final:
            raise JobError(job=job.job, reason=f"it is {job.state}", hint="Plan a new one.")
        return await self._begun(account, job.job)

    async def get(self, account: str, job_id: str) -> pb.ReplayJob:
        return messages.job_message(await self._job(account, job_id))

    async def page(self, account: str, page_size: int, page_token: str) -> pb.ListReplaysResponse:
        before = JobCursor.parse(page_token) if page_token else None
        look = partial(jobs_of, self._documents.of(account), page_size + 1, before)
        found = await self._threads.call(account, look)
        shown, token = found[:page_size], ""
        if len(found) > page_size:
            token = JobCursor(shown[-1].planned_at, shown[-1].job).token()
        return pb.ListReplaysResponse(jobs=map(messages.job_message, shown), next_page_token=token)

    async def pause(self, account: str, job_id: str) -> pb.ReplayJob:
        return await self._ended(account, job_id, for_good=False)

    async def cancel(self, account: str, job_id: str) -> pb.ReplayJob:
        return await self._ended(account, job_id, for_good=True)

    async def _ended(self, account: str, job_id: str, *, for_good: bool) -> pb.ReplayJob:
        action = cancel if for_good else pause
        job = await self._threads.call(account, partial(action, self._documents.of(account), job_id))
        running = self._running.get(job.job)
        if running is not None:
            self._stop(running[0])
        return messages.job_message(job)

    async def _begun(self, account: str, job: str) -> pb.ReplayJob:
        _, future = self._begin(account, job)
        await asyncio.wait({_heard(future)}, timeout=_REFUSED_SECONDS)
        if future.done():
            future.result()
        return await self.get(account, job)

    def _begin(self, account: str, job: str) -> tuple[int, Future[Job]]:
        running = self._running.get(job)
        if running is not None and not running[1].done():
            if running[0] in self._stopping:
                raise JobBusy(job=job, holder="This service", until="what it has in hand is done")
            return running
        self._accounts.begin_replay(account)
        try:
            number, future = self._work.do("run", account, job, self._graph)
        except BaseException:  # whatever it was, it does not run
            self._accounts.end_replay(account)
            raise
        self._running[job] = number, future

        def ended(_: Future[Job]) -> None:
            self._accounts.end_replay(account)
            self._stopping.discard(number)
            if self._running.get(job, (0,))[0] == number:
                del self._running[job]

        future.add_done_callback(ended)
        return number, future

    async def release(
        self, account: str, request: pb.ReleaseQuarantineRequest, by: str
    ) -> pb.ReleaseQuarantineResponse:
        """Let documents go on that failed for good: the same graph, and one of the account's replays meanwhile."""
        self._accounts.begin_replay(account)
        try:
            _, future = self._work.do("release", account, request.SerializeToString(), self._graph, by)
        except BaseException:  # whatever it was, it does not run
            self._accounts.end_replay(account)
            raise
        future.add_done_callback(lambda _: self._accounts.end_replay(account))
        return pb.ReleaseQuarantineResponse.FromString(await asyncio.wrap_future(future))

    # --- a stream

    async def stream(self, account: str, request: pb.ReplayRequest) -> AsyncIterator[pb.ReplayProgress]:
        """How far it is, until it ends. Who leaves pauses it; who does not listen holds up nobody."""
        if request.dry_run:
            _, forecast = self._work.do("forecast", account, _options(request, self._graph))
            total, skipped = await asyncio.wrap_future(forecast)
            yield pb.ReplayProgress(state="dry-run", total=total, memoised=skipped)
            return
        job = await self._planned(account, request)
        number, future = self._begin(account, job.job)
        self._streams.add(number)
        ended, wait = _heard(future), _FIRST_LOOK_SECONDS
        try:
            yield messages.progress_message(job)
            while not (await asyncio.wait({ended}, timeout=wait))[0]:
                if number in self._leaving:
                    # Said now, whatever the runner has in hand: it sees the pause when that is done.
                    yield messages.progress_message(await self._paused(account, job.job))
                    return
                wait = min(2 * wait, _LOOK_SECONDS)
                yield messages.progress_message(await self._job(account, job.job))
            ended.result()  # raises what the work raised
        finally:
            self._streams.discard(number)
            if not future.done():
                self._stop(number)
        yield await self._last(account, job.job)

    def end_streams(self) -> None:
        """What is streamed pauses, and tells so."""
        self._leaving |= self._streams
        for number in self._leaving:
            self._stop(number)

    def _stop(self, number: int) -> None:
        self._stopping.add(number)
        self._work.stop(number)

    async def _last(self, account: str, job_id: str) -> pb.ReplayProgress:
        job = await self._job(account, job_id)
        message = messages.progress_message(job)
        if job.failed:
            look = partial(outcomes_of, self._documents.of(account), job.job, DocumentOutcome.FAILED, 1)
            for outcome in await self._threads.call(account, look):
                message.last_doc_id, message.last_error = outcome.doc, f"{outcome.code}: {outcome.error}"
        return message

    # --- plumbing

    async def _planned(self, account: str, request: pb.ReplayRequest) -> Job:
        if request.job_id:
            return await self._job(account, request.job_id)
        _, future = self._work.do("plan", account, _options(request, self._graph))
        return await asyncio.wrap_future(future)

    async def _paused(self, account: str, job_id: str) -> Job:
        return await self._threads.call(account, partial(pause, self._documents.of(account), job_id))

    async def _job(self, account: str, job_id: str) -> Job:
        return await self._threads.call(account, partial(job_of, self._documents.of(account), job_id))


def _heard(future: Future[Job]) -> asyncio.Future[Job]:
    """To wait for. What it raises is in the job's row as well, for whoever no longer waits when it does."""
    wrapped = asyncio.wrap_future(future)
    wrapped.add_done_callback(lambda done: done.cancelled() or done.exception())
    return wrapped


def _options(request: pb.ReplayRequest, graph: str | None) -> ReplayOptions:
    return ReplayOptions(
        query=query_of({"doc": request.doc_id, "datasource": request.datasource}),
        start=request.from_node or INTAKE,
        source=request.from_cluster or None,
        edition=request.cluster or None,
        graph=graph,
        rate=request.rate or None,
    )
