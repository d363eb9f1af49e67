"""What one account does costs another nothing: replays, slow bodies, floods, a database that is away."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import grpc
import httpx2
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.kit.postgres import postgres

from cocli.documents import Blob, Document
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import JobError, QuotaExceeded, ServiceTroubled
from cocli.service.account_pace import AccountPace
from cocli.service.documents.accounts import AccountLimits, Accounts
from cocli.service.documents.call_threads import OF_ACCOUNT, CallThreads
from cocli.service.documents.client import DocumentClient
from cocli.service.request_places import RequestPlaces

ROOT = Path(__file__).parents[2]


def a_page(account: str, doc: str, body: bytes = b"x") -> Document:
    return Document.intake(account=account, connector="web", doc=doc).with_blob("body", Blob.of(body))


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


# --- parts


def test_threads_go_round_by_account() -> None:
    """Those of one account wait behind each other; another's single call is next."""
    order: list[str] = []
    gate, entered = threading.Event(), threading.Semaphore(0)

    def work(name: str) -> None:
        entered.release()
        gate.wait(30)
        order.append(name)

    async def calls() -> None:
        with CallThreads() as threads:
            many = [asyncio.create_task(threads.call("greedy", lambda: work("greedy"))) for _ in range(3 * OF_ACCOUNT)]
            await asyncio.sleep(0)
            for _ in range(OF_ACCOUNT):
                await asyncio.to_thread(entered.acquire)
            single = asyncio.create_task(threads.call("modest", lambda: order.append("modest")))
            await asyncio.wait_for(single, 30)
            assert order == ["modest"]
            gate.set()
            await asyncio.gather(*many)

    asyncio.run(calls())
    assert order.count("greedy") == 3 * OF_ACCOUNT


def test_places_of_one_account_are_a_share_of_all() -> None:
    places = RequestPlaces(8, share=0.25)
    places.take("a")
    places.take("a")
    with pytest.raises(QuotaExceeded) as refused:
        places.take("a")
    assert (refused.value.retryable, places.of("a")) == (True, 2)
    places.take("b")


def test_quotas_say_when_to_come_back() -> None:
    now = [0.0]
    accounts = Accounts(AccountLimits(requests_per_minute=60, bytes_per_minute=6000, replays=1), lambda: now[0])
    for _ in range(60):
        accounts.admit("a")
    with pytest.raises(QuotaExceeded) as refused:
        accounts.admit("a")
    assert (refused.value.details["wait"], accounts.usage("a").refused) == (1, 1)
    accounts.admit("b", 9000)  # more than a minute's worth is let in once, and paid for afterwards
    with pytest.raises(QuotaExceeded) as larger:
        accounts.admit("b", 1)
    assert larger.value.details["wait"] == 31
    now[0] = 31.0
    accounts.admit("b", 1)
    accounts.admit("a")
    accounts.begin_replay("a")
    with pytest.raises(QuotaExceeded):
        accounts.begin_replay("a")
    accounts.end_replay("a")
    accounts.begin_replay("a")


def test_beside_others_an_account_keeps_a_pace() -> None:
    now = [100.0]
    pace = AccountPace(10, lambda: now[0])
    assert [pace.wait("greedy") for _ in range(50)] == [0.0] * 50, "nobody else is there"
    assert pace.wait("modest") == 0.0
    waits = [pace.wait("greedy") for _ in range(19)]
    assert waits[:9] == [0.0] * 9, "some at once"
    assert waits[9:] == pytest.approx([0.1 * number for number in range(1, 11)]), "then one after the other"
    with pytest.raises(QuotaExceeded) as refused:
        pace.wait("greedy")
    assert refused.value.retryable
    assert pace.wait("modest") == 0.0, "who asks seldom does not wait"
    now[0] += 3.0
    assert [pace.wait("greedy") for _ in range(50)] == [0.0] * 50, "the other one is gone"


def test_mistakes_and_watchers_count_and_refusals_do_not_come_at_one_moment() -> None:
    now = [100.0]
    pace = AccountPace(10, lambda: now[0])
    assert pace.charge("greedy", 5) == 0.0
    pace.wait("greedy")
    pace.wait("modest")
    assert pace.charge("greedy", 5) == pytest.approx(0.5)
    assert pace.wait("greedy") == pytest.approx(0.5)
    assert pace.charge("greedy", 100) == pytest.approx(1.0), "and never longer than that"
    waits = [pace.refusal_wait("greedy") for _ in range(3)]
    assert waits == pytest.approx([1.0, 1.01, 1.02])
    assert max(pace.refusal_wait("greedy") for _ in range(2000)) <= 10.0
    assert pace.refusal_wait("modest") == 1.0
    assert AccountPace(0).wait("anybody") == 0.0


# --- the service


def test_replays_run_by_themselves_and_are_listed_paused_resumed_and_cancelled(alice: DocumentClient) -> None:
    for number in range(6):
        alice.save(a_page("alice", f"long-{number}", b"<title>x</title>"))
    request = pb.ReplayRequest(datasource=alice.states("long-0")[0].datasource, cluster="by-itself", rate=0.5)
    job = alice.start_replay(request)
    assert alice.start_replay(request).job_id == job.job_id
    until(lambda: alice.replay_job(job.job_id).state == "running")
    assert alice.usage().replays_now == 1
    assert alice.pause_replay(job.job_id).state == "paused"
    until(lambda: alice.usage().replays_now == 0)
    assert alice.replay_job(job.job_id).state == "paused"
    alice.resume_replay(job.job_id)
    until(lambda: alice.replay_job(job.job_id).state == "running")
    alice.cancel_replay(job.job_id)
    until(lambda: alice.usage().replays_now == 0)
    with pytest.raises(JobError):
        alice.resume_replay(job.job_id)
    other = alice.start_replay(pb.ReplayRequest(doc_id="long-0", cluster="another"))
    until(lambda: alice.replay_job(other.job_id).state == "done")
    first = alice.replays(page_size=1)
    assert [found.job_id for found in first.jobs] == [other.job_id]
    assert job.job_id in [found.job_id for found in alice.replays(page_token=first.next_page_token).jobs]


def test_streams_that_nobody_reads_and_idle_bodies_leave_everybody_else_alone(start: Any, tmp_path: Path) -> None:
    """Sixteen replays, ninety bodies that never end, watchers: another account, health and the same account go on."""
    with start(tmp_path / "home", COCLI_DOCUMENTS_ACCOUNT_REPLAYS="0") as service, ExitStack() as stack:
        bad, good = service.client("bad"), service.client("good")
        stack.callback(bad.close)
        stack.callback(good.close)
        bad.save(a_page("bad", "one"))
        for number in range(16):
            request = pb.ReplayRequest(doc_id="one", cluster=f"c{number}", rate=0.01)
            next(bad.replay(request))
            next(bad.watch())
        host, port = service.http.split(":")
        head = f"POST /v1/documents?doc=slow HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.token('bad')}\r\n"
        for _ in range(90):
            idle = stack.enter_context(socket.create_connection((host, int(port))))
            idle.sendall((head + "Content-Length: 100\r\n\r\nx").encode())
        headers = {"Authorization": f"Bearer {service.token('good')}"}
        with httpx2.Client(base_url=f"http://{service.http}", headers=headers, timeout=60) as http:
            assert http.get("/healthz").json() == {"status": "ok", "store": "ok", "catalog": "ok"}
            assert http.post("/v1/documents", params={"doc": "x"}, content=b"y").status_code == 201
            assert http.get("/v1/documents").status_code == 200
        assert good.save(a_page("good", "two")).outcome == "created"
        with grpc.insecure_channel(service.grpc) as channel:
            answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=30)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        token = {"Authorization": f"Bearer {service.token('bad')}"}
        assert httpx2.get(f"http://{service.http}/v1/documents", headers=token, timeout=60).status_code == 200


def test_who_asks_too_often_is_told_when_to_come_back(start: Any, tmp_path: Path) -> None:
    with start(tmp_path / "home", COCLI_DOCUMENTS_ACCOUNT_REQUESTS_PER_MINUTE="5") as service:
        with service.client("often") as often, service.client("rare") as rare:
            for _ in range(5):
                often.documents()
            with pytest.raises(QuotaExceeded) as refused:
                often.documents()
            assert refused.value.retryable
            rare.documents()
        headers = {"Authorization": f"Bearer {service.token('often')}"}
        answer = httpx2.get(f"http://{service.http}/v1/usage", headers=headers, timeout=60)
        assert (answer.status_code, int(answer.headers["retry-after"]) > 0) == (429, True)


@contextmanager
def reached(port: int) -> Iterator[None]:
    """While the block runs, the database can be reached at another address."""
    command = [sys.executable, "-m", "tests.kit.forwarding", "127.0.0.2", "127.0.0.1", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "listening\n"
        try:
            yield
        finally:
            process.kill()


def test_a_database_that_is_away_comes_back_and_the_client_goes_on(start: Any, tmp_path: Path) -> None:
    with postgres() as server, ExitStack() as stack:
        address = server.new_schema().replace("127.0.0.1", "127.0.0.2")
        with reached(server.port):
            service = stack.enter_context(start(tmp_path / "home", COCLI_DOCUMENTS_CATALOG=address))
            client = stack.enter_context(service.client("alice"))
            client.save(a_page("alice", "before"))
        with pytest.raises(ServiceTroubled) as refused:
            client.save(a_page("alice", "meanwhile"))
        assert refused.value.retryable
        health = f"http://{service.http}/healthz"
        until(lambda: httpx2.get(health, timeout=60).status_code == 503)
        assert httpx2.get(health, timeout=60).json() == {"status": "degraded", "store": "ok", "catalog": "away"}
        patient = stack.enter_context(service.client("alice", patience=90.0))
        with ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(patient.save, a_page("alice", "patient"))
            with reached(server.port):
                assert waiting.result(90).outcome == "created"
                until(lambda: httpx2.get(health, timeout=60).status_code == 200)
                assert client.save(a_page("alice", "before")).outcome == "unchanged"
