"""Processes that write are killed under load: whoever was not answered is told to try again, nothing that was answered
is lost, nothing is there twice, and the service goes on by the other process, or by threads."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import grpc
import psutil
import pytest
from tests.kit.services import RunningService, environment, running

from cocli.documents import Blob, Document, codec
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.service.documents.client import DocumentClient
from cocli.service.documents.grpc import SERVICE
from cocli.service.documents.saving.save_writers import PROCESSES

CLIENTS = 16
AFTER = 12
"""Saves of each client after the kill."""
_WRITTEN = 200_000
"""Bytes, from which on a process writes saves, and has not only opened the catalogue."""


class Answered(NamedTuple):
    doc: str
    outcome: int
    version: int


class Load:
    """Clients that save one document after the other, and each until it is answered."""

    def __init__(self, service: RunningService) -> None:
        self._address = service.lines[0][1]
        self._token = service.token("default")
        self.answered: list[Answered] = []
        self.refused: Counter[grpc.StatusCode] = Counter()
        self.is_ending = False

    def client(self, number: int) -> None:
        options = [("grpc.use_local_subchannel_pool", 1)]
        with grpc.insecure_channel(self._address, options=options) as channel:
            save = channel.unary_unary(f"/{SERVICE}/Save", None, None)
            left, count = AFTER, 0
            while left:
                left -= self.is_ending
                doc, count = f"doc-{number}-{count}", count + 1
                self._save(save, doc)

    def _save(self, save: grpc.UnaryUnaryMultiCallable[bytes, bytes], doc: str) -> None:
        while True:
            try:
                data = save(message_of(doc), metadata=(("authorization", f"Bearer {self._token}"),), timeout=60)
            except grpc.RpcError as error:
                self.refused[error.code()] += 1
            else:
                said = pb.SaveResponse.FromString(data)
                self.answered.append(Answered(doc, said.outcome, said.row.version))
                return


def page(doc: str) -> Document:
    made = Document.intake(account="default", connector="web", doc=doc)
    return made.with_blob("body", Blob.of(f"the page {doc}".encode(), "text/plain"))


def message_of(doc: str) -> bytes:
    return pb.SaveRequest(document=codec.to_message(page(doc))).SerializeToString()


def writers_of(service: RunningService) -> list[int]:
    """The processes beside the service that have written something; there is no other kind in this test."""
    writers = []
    for child in psutil.Process(service.process.pid).children():
        with suppress(psutil.NoSuchProcess):  # it has just ended
            if child.io_counters().write_bytes > _WRITTEN and child.status() != psutil.STATUS_ZOMBIE:
                writers.append(child.pid)
    return writers


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.05)


@pytest.mark.parametrize("killed", [1, PROCESSES])
def test_processes_that_write_are_killed_under_load(tmp_path: Path, killed: int) -> None:
    home = tmp_path / "home"
    with running(home, "documents", "serve", lines=2, environ=environment(home)) as service:
        load = Load(service)
        with ThreadPoolExecutor(CLIENTS) as clients:
            working = [clients.submit(load.client, number) for number in range(CLIENTS)]
            try:
                until(lambda: len(writers_of(service)) == PROCESSES)
                kill(writers_of(service), killed, load)
            finally:
                load.is_ending = True
            for work in working:
                work.result(120)
        check(service, load)


def kill(writers: list[int], count: int, load: Load) -> None:
    """While they have groups in hand: all are held until nobody is answered any more."""
    for writer in writers:
        os.kill(writer, signal.SIGSTOP)
    answered = -1
    while answered < len(load.answered):
        answered = len(load.answered)
        time.sleep(0.5)
    assert not load.refused
    for writer in writers[:count]:
        os.kill(writer, signal.SIGKILL)
    for writer in writers[count:]:
        os.kill(writer, signal.SIGCONT)


def check(service: RunningService, load: Load) -> None:
    assert set(load.refused) == {grpc.StatusCode.UNAVAILABLE}, "those that it had in hand are told to try again"
    assert load.refused.total() <= CLIENTS, "and nobody else: others go on"
    docs = [answered.doc for answered in load.answered]
    assert len(set(docs)) == len(docs)
    created = pb.SaveResponse.OUTCOME_CREATED, pb.SaveResponse.OUTCOME_UNCHANGED
    assert all(answered.outcome in created and answered.version == 1 for answered in load.answered), "saved twice"
    with DocumentClient(service.lines[0][1], service.token("default")) as client:
        for doc in docs:
            made = page(doc)
            assert client.get(made.reference, blobs=True) == made, f"{doc} is lost"
        assert len(every_row(client)) == len(docs)


def every_row(client: DocumentClient) -> list[str]:
    return [row.doc for row in client.documents(limit=10_000).items]
