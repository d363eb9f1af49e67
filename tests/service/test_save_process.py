"""The process that writes saves when many come at a time: what was answered stays, and who was not answered is told to
try again."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.kit.services import environment
from tests.service.test_save_queue import call, outcome, page

from cocli.app.documents.documents import Documents, opened_documents
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.documents import Blob, codec
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import DocumentInvalid, ServiceTroubled
from cocli.models.left_alone.suppression import Suppression
from cocli.pipeline.suppression.stored import write_entry
from cocli.service.documents.documents_place import DocumentsPlace
from cocli.service.documents.saving import save_writers
from cocli.service.documents.saving.save_group import SaveCall
from cocli.service.documents.saving.save_process import SaveProcess
from cocli.service.documents.saving.save_writers import MANY, PROCESSES, SaveWriters

FORGOTTEN = "jane@left-alone.example"


def run(home: Path, act: Callable[[Documents], Awaitable[None]]) -> None:
    with open_workspace(environment(home), Flags()) as workspace, opened_documents(workspace, None) as documents:
        asyncio.run(_run(act, documents))


async def _run(act: Callable[[Documents], Awaitable[None]], documents: Documents) -> None:
    await asyncio.wait_for(act(documents), 120)


def forget(documents: Documents) -> None:
    at = documents.store.now()
    digest = hashlib.sha256(FORGOTTEN.encode()).hexdigest()
    entry = Suppression(
        kind="email", sha256=digest, value=FORGOTTEN, forgotten=True, added_by="me", added_at=at, updated_at=at
    )
    write_entry(documents.store, entry)


def with_body(account: str, doc: str, body: bytes) -> SaveCall:
    document = page(account, doc).with_blob("body", Blob.of(body, "text/html"))
    return SaveCall(account, "me", pb.SaveRequest(document=codec.to_message(document)).SerializeToString())


def body_of(documents: Documents, account: str, doc: str) -> bytes:
    (row,) = documents.repository.states(account, doc)
    return documents.repository.current_of(row, blobs=True).blobs["body"].content


@asynccontextmanager
async def opened(documents: Documents) -> AsyncIterator[SaveWriters]:
    """Closed in any case: its processes end when they are told to, and not when they are asked to terminate."""
    writers = SaveWriters(documents)
    try:
        yield writers
    finally:
        await writers.close()


def test_many_are_written_by_processes_that_may_die(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few are written by threads; when many come a process is started, and then another; killed, they leave nobody
    without an answer, and later there are others."""

    async def act(documents: Documents) -> None:
        forget(documents)
        async with opened(documents) as writers:
            (first,) = await writers.write([call("a", "first")], 1)
            assert isinstance(first, bytes)
            assert not writers.process_ids
            await writers.write([call("a", "second")], MANY)
            await writers.started()
            (process,) = writers.process_ids
            answers = await writers.write(
                [call("a", "third"), call("b", "bad", [""]), with_body("b", "page", b"write to " + FORGOTTEN.encode())],
                1,
            )
            assert isinstance(answers[0], bytes)
            assert isinstance(answers[1], DocumentInvalid)
            assert outcome(answers[0]) == "created"
            assert body_of(documents, "a", "third") == b"x"
            assert FORGOTTEN.encode() not in body_of(documents, "b", "page"), "who was forgotten came back"
            await killed(writers, process, writers.process_ids)
            monkeypatch.setattr(save_writers, "_AGAIN_SECONDS", 0.0)
            await writers.write([call("a", "later")], MANY)
            await writers.started()
            assert len(writers.process_ids) == 1
            assert process not in writers.process_ids
            (last,) = await writers.write([call("a", "later")], 1)
            assert isinstance(last, bytes)
            assert outcome(last) == "unchanged"

    run(tmp_path / "home", act)


async def killed(writers: SaveWriters, process: int, held: Sequence[int]) -> None:
    """One is killed while all are held: those that it had in hand are told to try again, and do."""
    for number in held:
        os.kill(number, signal.SIGSTOP)
    waiting = [writers.write([call("a", f"lost-{process}-{number}")], 1) for number in range(3 * len(held))]
    os.kill(process, signal.SIGKILL)
    await asyncio.wait(waiting, return_when=asyncio.FIRST_EXCEPTION)
    assert process not in writers.process_ids
    for number in writers.process_ids:
        os.kill(number, signal.SIGCONT)
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    troubled = [answer for answer in answers if isinstance(answer, ServiceTroubled)]
    assert len(troubled) == 3, "each had as many in hand"
    assert all(trouble.retryable for trouble in troubled)
    again = await writers.write([call("a", f"lost-{process}-{number}") for number in range(3 * len(held))], 1)
    outcomes = [outcome(answer) for answer in again if isinstance(answer, bytes)]
    assert outcomes.count("created") == 3
    assert outcomes.count("unchanged") == 3 * len(held) - 3


async def many(writers: SaveWriters, groups: int) -> list[int]:
    """Write so many groups while many save; the processes afterwards."""
    for number in range(groups):
        await writers.write([call("a", f"group-{number}")], MANY)
    await writers.started()
    return writers.process_ids


def test_two_processes_share_the_groups_and_one_goes_on_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(save_writers, "_LASTING", 3)

    async def act(documents: Documents) -> None:
        async with opened(documents) as writers:
            assert len(await many(writers, 1)) == 1
            assert len(await many(writers, 3)) == 1, "a burst starts no more"
            processes = await many(writers, 1)
            assert len(set(processes)) == PROCESSES
            assert await many(writers, 4) == processes, "and no more than these"
            await killed(writers, processes[0], processes)
            assert writers.process_ids == processes[1:]
            assert await many(writers, 4) == processes[1:], "one that has just died is not replaced at once"
            monkeypatch.setattr(save_writers, "_AGAIN_SECONDS", 0.0)
            await many(writers, 4)
            assert writers.process_ids[:-1] == processes[1:]
            assert len(writers.process_ids) == PROCESSES

    run(tmp_path / "home", act)


def test_a_process_that_cannot_open_the_documents_is_done_without(tmp_path: Path) -> None:
    async def act(documents: Documents) -> None:
        blocked = tmp_path / "file"
        blocked.write_text("no folder")
        place = replace(DocumentsPlace.of(documents), catalog=f"sqlite://{blocked}/catalog.sqlite3")
        process = SaveProcess(place, 1)
        await process.start()
        assert not process.is_ready
        with pytest.raises(ServiceTroubled):
            await process.write([call("a", "one")])
        await process.close()

    run(tmp_path / "home", act)
