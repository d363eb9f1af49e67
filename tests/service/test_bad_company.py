"""The HTTP services in bad company: whatever the others do, health and a neighbour with a token are answered."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import pytest
from tests.kit import crowd as bad
from tests.kit.services import RunningService, running

SEED = 17
PATIENCE = 60.0
pytestmark = pytest.mark.waits
ANSWERED_SECONDS = 15.0
"""Within which a good caller is answered, on a machine that has much to do."""


@dataclass(frozen=True)
class Company:
    """A service, and what a good caller asks of it."""

    service: RunningService
    target: bad.Target
    body: bytes
    good: int

    def good_callers_are_answered(self) -> None:
        headers = {"Authorization": f"Bearer {self.target.token}"}
        address = f"http://{self.target.host}:{self.target.port}"
        for _ in range(2):
            with httpx2.Client(base_url=address, timeout=ANSWERED_SECONDS) as neighbour:
                health = neighbour.get("/healthz")
                assert (health.status_code, health.json()["status"]) == (200, "ok")
                answer = neighbour.post(self.target.path, content=self.body, headers=headers)
                assert answer.status_code == self.good, answer.text

    @contextmanager
    def crowd(self, *behaviours: Any, **options: Any) -> Iterator[bad.Crowd]:
        crowd = bad.Crowd(self.target, behaviours, random.Random(SEED), **options)
        with bad.gathered(crowd):
            yield crowd


def target_of(address: str, path: str, token: str) -> bad.Target:
    host, _, port = address.removeprefix("http://").rpartition(":")
    return bad.Target(host, int(port), path, token)


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Company]:
    with running(tmp_path_factory.mktemp("documents") / "home", "documents", "serve", lines=2) as service:
        path = "/v1/documents?doc=neighbour"
        assert httpx2.post(
            f"http://{service.lines[1][1]}{path}",
            content=b"x",
            headers={"Authorization": f"Bearer {service.token()}"},
        ).is_success
        yield Company(service, target_of(service.lines[1][1], path, service.token()), b"x", 200)
        assert "Traceback" not in service.log


@pytest.fixture(scope="module")
def enrichment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Company]:
    home = tmp_path_factory.mktemp("enrichment") / "home"
    with running(home, "enrichment", "serve", "--port", "0", "--per-minute", "100000") as service:
        body = json.dumps({"domain": "gmail.com"}).encode()
        yield Company(service, target_of(service.lines[0][0], "/v1/enrich", service.token()), body, 200)
        assert "Traceback" not in service.log


@pytest.fixture(params=["documents", "enrichment"])
def company(request: pytest.FixtureRequest) -> Company:
    found: Company = request.getfixturevalue(request.param)
    return found


def until(holds: Any, what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@pytest.mark.parametrize("count", [80, 400])
def test_half_open_connections_shut_nobody_out(company: Company, count: int) -> None:
    half = count // 2
    with company.crowd(*[bad.silent] * half, *[bad.half_head] * half):
        company.good_callers_are_answered()


@pytest.mark.parametrize("behaviours", [(bad.slow_head, bad.silent, bad.half_head), (bad.slow_body,)])
def test_who_is_slow_is_left(company: Company, behaviours: tuple[Any, ...]) -> None:
    """One byte a second: nobody waits for it for ever, however it goes on."""
    with company.crowd(*behaviours * 20) as crowd:
        company.good_callers_are_answered()
        until(lambda: crowd.ended == len(crowd.behaviours), f"{crowd.ended} of {len(crowd.behaviours)} were left")
    if bad.slow_body in behaviours:
        assert crowd.statuses == {"401": 20}


def test_huge_heads_and_nonsense_are_not_kept(company: Company) -> None:
    with company.crowd(*[bad.huge_head, bad.nonsense] * 40) as crowd:
        company.good_callers_are_answered()
        until(lambda: crowd.ended == len(crowd.behaviours), "a head of a megabyte is refused before it has ended")
    assert set(crowd.statuses) <= {"400"}


def test_a_thousand_wrong_tokens_are_cheap(company: Company) -> None:
    with company.crowd(*[bad.wrong_tokens] * 50) as crowd:
        until(lambda: crowd.statuses["401"] >= 60, "the first refusals come at once")
        started, before = time.monotonic(), crowd.statuses["401"]
        company.good_callers_are_answered()
        until(lambda: time.monotonic() > started + 1.0, "a second")
        answered, seconds = crowd.statuses["401"] - before, time.monotonic() - started
        assert answered <= 50 * (seconds + 1), "each of them waits a second for the next refusal"
    assert set(crowd.statuses) == {"401"}
    company.good_callers_are_answered()


def test_a_careless_account_leaves_places_for_its_neighbours(company: Company) -> None:
    careless = replace(company, target=replace(company.target, token=company.service.token("careless")))
    with careless.crowd(*[bad.slow_upload] * 120) as crowd:
        until(lambda: crowd.statuses["429"] > 0, "an account has a share of the places")
        company.good_callers_are_answered()


def test_who_takes_no_answer_is_left(company: Company) -> None:
    with company.crowd(*[bad.deaf] * 10):
        company.good_callers_are_answered()


def test_everybody_at_once(company: Company) -> None:
    with company.crowd(*bad.BEHAVIOURS * 6, tireless=True):
        company.good_callers_are_answered()
