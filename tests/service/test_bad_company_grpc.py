"""The gRPC service in bad company: calls that never send, streams that nobody reads. Health and neighbours go on."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.service.conftest import Service, started

from cocli.documents import Blob, Document
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import QuotaExceeded, ServiceError
from cocli.service.documents.client import DocumentClient
from cocli.service.documents.grpc import SERVICE

PATIENCE = 60.0
pytestmark = pytest.mark.waits
ANSWERED_SECONDS = 15.0
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
CHECK = "/grpc.health.v1.Health/Check"
CALLS = 40
"""More than there are threads."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with started(tmp_path_factory.mktemp("service") / "home") as running:
        yield running
        assert "Traceback" not in running.log


@pytest.fixture(scope="module")
def neighbour(service: Service) -> Iterator[DocumentClient]:
    with service.client("neighbour", timeout=ANSWERED_SECONDS) as client:
        yield client


def good_callers_are_answered(service: Service, neighbour: DocumentClient) -> None:
    with grpc.insecure_channel(service.grpc, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        answer = health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(service=SERVICE), timeout=ANSWERED_SECONDS
        )
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    page = Document.intake(account="neighbour", connector="web", doc="page").with_blob("body", Blob.of(b"x"))
    assert neighbour.get(neighbour.save(page).reference, blobs=True) == page


@contextmanager
def half_open(service: Service, method: str, count: int, token: str | None = None) -> Iterator[list[Any]]:
    """Calls that are begun, and never send their message."""
    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    ended = threading.Event()

    def nothing() -> Iterator[bytes]:
        if not ended.wait(PATIENCE):
            yield b""

    with grpc.insecure_channel(service.grpc) as channel, ExitStack() as stack:
        begin = channel.stream_stream(method, None, None)
        calls = [begin(nothing(), metadata=metadata) for _ in range(count)]
        stack.callback(ended.set)
        for call in calls:
            stack.callback(call.cancel)
        yield calls


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_without_a_token_nobody_waits_for_a_message(service: Service, neighbour: DocumentClient) -> None:
    with half_open(service, f"/{SERVICE}/Save", CALLS) as calls:
        until(lambda: all(call.done() for call in calls))
        assert {call.code() for call in calls} == {grpc.StatusCode.UNAUTHENTICATED}
        good_callers_are_answered(service, neighbour)


@pytest.mark.parametrize("method", [CHECK, REFLECTION, f"/{SERVICE}/Save", f"/{SERVICE}/Replay"])
def test_calls_that_never_send_hold_up_nobody(service: Service, neighbour: DocumentClient, method: str) -> None:
    with half_open(service, method, CALLS, service.token("careless")):
        good_callers_are_answered(service, neighbour)


def test_watchers_hold_up_nobody(service: Service, neighbour: DocumentClient) -> None:
    with grpc.insecure_channel(service.grpc) as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch
        watching = [watch(health_pb2.HealthCheckRequest()) for _ in range(90)]
        assert next(watching[0]).status == health_pb2.HealthCheckResponse.SERVING
        good_callers_are_answered(service, neighbour)
        for stream in watching:
            stream.cancel()


def test_replays_that_nobody_reads_hold_up_nobody(service: Service, neighbour: DocumentClient) -> None:
    with service.client("careless") as careless, ExitStack() as stack:
        for number in range(2):
            page = Document.intake(account="careless", connector="web", doc=f"page-{number}")
            careless.save(page.with_blob("body", Blob.of(b"<p>x</p>", "text/html")))
        streams = []
        for number in range(4):
            stream = careless.replay(pb.ReplayRequest(cluster=f"slow{number}", rate=0.01))
            stack.callback(stream.close)  # type: ignore[attr-defined]
            next(stream)
            streams.append(stream)
        with pytest.raises(QuotaExceeded, match="replays at a time"):
            next(careless.replay(pb.ReplayRequest(cluster="more", rate=0.01)))
        good_callers_are_answered(service, neighbour)
        assert next(neighbour.replay(pb.ReplayRequest(dry_run=True))).state == "dry-run"
    until(lambda: _has_a_place(service))


def _has_a_place(service: Service) -> bool:
    """Those who left have given their places back, once what they had in hand was done."""
    with service.client("careless") as careless:
        return careless.usage().replays_now == 0


def test_a_token_of_a_megabyte_is_refused(service: Service, neighbour: DocumentClient) -> None:
    with grpc.insecure_channel(service.grpc, options=[("grpc.max_metadata_size", 10_000_000)]) as channel:
        call = channel.unary_unary(f"/{SERVICE}/Get", None, None)
        with pytest.raises(grpc.RpcError) as refused:
            call(b"", metadata=(("authorization", f"Bearer {'x' * 1_000_000}"),), timeout=ANSWERED_SECONDS)
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    good_callers_are_answered(service, neighbour)


def test_half_open_connections_are_left(service: Service, neighbour: DocumentClient) -> None:
    host, _, port = service.grpc.rpartition(":")
    with ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection((host, int(port)))) for _ in range(80)]
        good_callers_are_answered(service, neighbour)
        for caller in silent:
            caller.settimeout(PATIENCE)
            while caller.recv(1000):
                pass


def test_so_many_calls_at_once_and_the_rest_is_told_to_come_again(service: Service) -> None:
    """Who finds no place is refused at once; nothing of it is lost or half done."""
    outcomes: list[str] = []

    def save(number: int, client: DocumentClient) -> None:
        page = Document.intake(account="many", connector="web", doc=f"many-{number}")
        try:
            outcomes.append(client.save(page.with_blob("body", Blob.of(b"x" * 100_000))).outcome)
        except ServiceError as error:
            outcomes.append(error.code)

    with service.client("many") as client:
        threads = [threading.Thread(target=save, args=(number, client)) for number in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(outcomes) <= {"created", "quota_exceeded"}
        assert len(client.documents(limit=200).items) == outcomes.count("created") >= 60


def test_asked_to_stop_it_pauses_a_replay(tmp_path: Path) -> None:
    with started(tmp_path / "home") as service, service.client("alice") as alice:
        for number in range(3):
            page = Document.intake(account="alice", connector="web", doc=f"page-{number}")
            alice.save(page.with_blob("body", Blob.of(b"<p>x</p>", "text/html")))
        stream = alice.replay(pb.ReplayRequest(cluster="slow", rate=0.01))
        next(stream)
        service.process.terminate()
        assert [look.state for look in stream][-1] == "paused"
        assert service.process.wait(PATIENCE) == 0
        assert "Traceback" not in service.log
