"""Batches of saves: the first in a thread of the service, the next by the process that writes; answers are alike."""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from tests.kit.services import environment, running
from tests.service.test_killed_writer import page, until, writers_of
from tests.service.test_save_process import run
from tests.service.test_save_queue import call, outcome

from cocli.app.documents.documents import Documents
from cocli.documents import Blob, Document
from cocli.documents.receipt import Receipt
from cocli.errors import DocumentInvalid, ServiceTroubled
from cocli.service.documents.client import DocumentClient
from cocli.service.documents.saving.save_batches import SaveBatches
from cocli.service.documents.saving.save_group import SaveAnswer, SaveCall
from cocli.service.documents.saving.save_process import BATCHES
from cocli.service.documents.saving.save_writers import SaveWriters
from cocli.service.gentle_start import gently

LARGE = os.urandom(300_000)


def unfit() -> Document:
    """Its blob was not sent along, and the document has none."""
    made = page("unfit")
    return made.with_blob("body", Blob("a" * 64, 10, "text/plain"))


def outcomes(answers: list[Receipt | Exception]) -> list[str]:
    return [answer.outcome if isinstance(answer, Receipt) else type(answer).__name__ for answer in answers]


def test_a_batch_is_answered_alike_by_thread_and_process(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with (
        running(home, "documents", "serve", lines=2, environ=environment(home)) as service,
        DocumentClient(service.lines[0][1], service.token("default")) as client,
    ):
        first = [page(f"first-{number}") for number in range(20)]
        assert outcomes([*client.save_many([(made, ()) for made in first])]) == ["created"] * 20
        until(lambda: by_process(service.process.pid))
        new, old = page("new"), first[0]
        changed = first[1].with_blob("body", Blob.of(b"other", "text/plain"))
        batch = [(new, ()), (old, ()), (changed, ()), (page("bad"), ("",)), (new, ())]
        answers = client.save_many(batch)
        assert outcomes([*answers]) == ["created", "unchanged", "updated", "DocumentInvalid", "unchanged"]
        many = [page(f"many-{number}").with_blob("more", Blob.of(LARGE[:100], "a/b")) for number in range(300)]
        assert outcomes([*client.save_many([(made, ()) for made in many])]) == ["created"] * 300
        assert writers_of(service), "a process wrote it"
        assert client.get(many[299].reference, blobs=True) == many[299]
        assert outcomes([*client.save_many([(unfit(), ()), (new, ())])]) == ["DocumentInvalid", "unchanged"]
        assert client.save_many([]) == []


def by_process(pid: int) -> bool:
    """Whether a process beside the service has opened the catalogue."""
    opened: list[str] = []
    for child in psutil.Process(pid).children():
        with suppress(psutil.NoSuchProcess):  # it has just ended
            opened += (file.path for file in child.open_files())
    return any(path.endswith("catalog.sqlite3") for path in opened)


def test_one_batch_of_an_account_is_written_at_a_time_and_groups_wait_for_none(tmp_path: Path) -> None:
    async def act(documents: Documents) -> None:
        writers = SaveWriters(documents)
        with pytest.raises(ServiceTroubled):
            await writers.write_batch([call("a", "early")])
        assert not writers.can_write_batch(1)
        assert not writers.can_write_batch(100), "it is being started"
        await writers.started()
        assert writers.can_write_batch(1)
        under_way: list[str] = []
        most = 0
        write = writers.write_batch

        async def watched(calls: list[SaveCall]) -> list[SaveAnswer]:
            nonlocal most
            account = calls[0].account
            assert account not in under_way
            under_way.append(account)
            most = max(most, len(under_way))
            answers = await write(calls)
            under_way.remove(account)
            return answers

        writers.write_batch = watched  # type: ignore[method-assign, assignment]
        batches = SaveBatches(writers)
        saving = [
            batches.save(account, [call(account, f"{number}-{each}") for each in range(130)])
            for number in range(2)
            for account in "abc"
        ]
        for answers in await asyncio.gather(*saving):
            assert [outcome(answer) for answer in answers if isinstance(answer, bytes)] == ["created"] * 130
        assert most == BATCHES
        (bad,) = await batches.save("a", [call("a", "bad", [""])])
        assert isinstance(bad, DocumentInvalid)
        await writers.close()

    run(tmp_path / "home", act)


def test_what_is_made_gently_has_a_low_priority_and_nobody_else_has() -> None:
    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    mine = niceness()
    assert gently(niceness) == min(mine + 10, 19)
    assert niceness() == mine
