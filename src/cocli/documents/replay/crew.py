"""Who does the work of a job: this process, or others (`engines`). Results come in the order of the documents."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol

from cocli.documents.replay.work import ReplayWork, work_on

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from cocli.documents.graph.engine import Engine
    from cocli.documents.replay.chunks import Chunk
    from cocli.documents.replay.plan import ReplayPlan
    from cocli.models.document import DocumentReference

_AHEAD = 2
"""Stretches per worker that are begun before the oldest one is written."""


class ReplayCrew(Protocol):
    """Workers. `work` may be called by as many threads at a time as there are workers."""

    @property
    def size(self) -> int: ...

    def work(self, plan: ReplayPlan, references: Sequence[DocumentReference]) -> ReplayWork: ...


class Alone:
    """This process."""

    size = 1

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def work(self, plan: ReplayPlan, references: Sequence[DocumentReference]) -> ReplayWork:
        return work_on(self._engine, plan, references)


def work_through(crew: ReplayCrew, plan: ReplayPlan, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, ReplayWork]]:
    """Each stretch and what came of it, in order. Nothing that was begun is left out."""
    if crew.size == 1:
        for chunk in chunks:
            yield chunk, _work(crew, plan, chunk)
        return
    begun: deque[tuple[Chunk, Future[ReplayWork]]] = deque()
    with ThreadPoolExecutor(crew.size, thread_name_prefix="cocli-crew") as pool:
        for chunk in chunks:
            begun.append((chunk, pool.submit(_work, crew, plan, chunk)))
            if len(begun) > _AHEAD * crew.size:
                yield _oldest(begun)
        while begun:
            yield _oldest(begun)


def _oldest(begun: deque[tuple[Chunk, Future[ReplayWork]]]) -> tuple[Chunk, ReplayWork]:
    chunk, future = begun.popleft()
    try:
        return chunk, future.result()
    except BaseException:  # the job stops: what was not begun yet is left for the next run
        for _, other in begun:
            other.cancel()
        raise


def _work(crew: ReplayCrew, plan: ReplayPlan, chunk: Chunk) -> ReplayWork:
    if not chunk.waiting:
        return ReplayWork((), (), ())
    return crew.work(plan, [row.reference for row in chunk.waiting])
