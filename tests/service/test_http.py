"""Uploads by HTTP, as `curl` would: real requests to the real service."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.service.conftest import Start

from cocli.service.documents.client import DocumentClient


@pytest.fixture(scope="module")
def http(service: Any) -> Iterator[httpx2.Client]:
    headers = {"Authorization": f"Bearer {service.token('alice')}", "Content-Type": "text/html; charset=utf-8"}
    with httpx2.Client(base_url=f"http://{service.http}", headers=headers, timeout=20) as client:
        yield client


def test_a_file_becomes_a_document(http: httpx2.Client, alice: DocumentClient) -> None:
    where = {"uri": "https://example.com/ä?b=c", "connector": "browser", "filename": "seite.html"}
    first = http.post("/v1/documents", params=where, content=b"<p>\xff\x00</p>")
    assert first.status_code == 201, first.text
    receipt = first.json()
    assert (receipt["outcome"], receipt["version"], receipt["reference"]["account"]) == ("created", 1, "alice")
    assert http.post("/v1/documents", params=where, content=b"<p>\xff\x00</p>").json()["outcome"] == "unchanged"
    assert http.post("/v1/documents", params=where, content=b"other").json()["version"] == 2
    document = alice.current(where["uri"], receipt["reference"]["address"], blobs=True)
    assert document.blobs["body"].content == b"other"
    assert (document.source.mime_type, document.source.filename) == ("text/html; charset=utf-8", "seite.html")
    assert document.connector == "browser"


def test_a_large_file_is_streamed_and_one_that_is_too_large_is_refused(http: httpx2.Client) -> None:
    def pieces(count: int) -> Iterator[bytes]:
        for _ in range(count):
            yield b"x" * 10_000

    fits = http.post("/v1/documents", params={"doc": "streamed"}, content=pieces(50))
    assert fits.status_code == 201, fits.text
    announced = http.post("/v1/documents", params={"doc": "large"}, content=b"x" * 500_001)
    assert (announced.status_code, announced.json()["error"]["code"]) == (413, "too_large")
    streamed = http.post("/v1/documents", params={"doc": "large"}, content=pieces(60))
    assert (streamed.status_code, streamed.json()["error"]["code"]) == (413, "too_large")


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({}, "usage"),
        ({"doc": "", "uri": ""}, "usage"),
        ({"doc": "x", "what": "y"}, "usage"),
        ({"doc": "a|b"}, "identity"),
        ({"doc": "x" * 5000}, "identity"),
        ({"doc": "x", "connector": "a|b"}, "identity"),
        ({"doc": "x", "datasource": "a|b"}, "identity"),
    ],
)
def test_what_makes_no_sense_is_an_envelope(http: httpx2.Client, parameters: dict[str, str], code: str) -> None:
    answer = http.post("/v1/documents", params=parameters, content=b"x")
    assert answer.status_code == 400
    assert set(answer.json()["error"]) == {"code", "message", "hint", "retryable", "details"}
    assert answer.json()["error"]["code"] == code


def test_who_is_not_known_gets_nothing(http: httpx2.Client) -> None:
    for value in ("", "Bearer x", "Basic eDp5", http.headers["Authorization"] + "x"):
        answer = http.post("/v1/documents", params={"doc": "x"}, content=b"x", headers={"Authorization": value})
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "token_refused")
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_other_addresses_and_methods(http: httpx2.Client) -> None:
    health = http.get("/healthz", headers={"Authorization": ""})
    assert (health.status_code, health.json()) == (200, {"status": "ok", "store": "ok", "catalog": "ok"})
    assert http.put("/v1/documents").status_code == 405
    missing = http.get("/etc/passwd")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "usage")
    assert "server" not in missing.headers


def test_a_deleted_document_is_gone(http: httpx2.Client, alice: DocumentClient) -> None:
    http.post("/v1/documents", params={"doc": "short-lived"}, content=b"x")
    alice.delete("short-lived")
    answer = http.post("/v1/documents", params={"doc": "short-lived"}, content=b"y")
    assert (answer.status_code, answer.json()["error"]["code"]) == (410, "document_deleted")


def test_many_at_once_are_saved_once(http: httpx2.Client) -> None:
    outcomes: list[str] = []

    def post() -> None:
        answer = http.post("/v1/documents", params={"doc": "contested"}, content=b"same")
        outcomes.append(answer.json()["outcome"])

    threads = [threading.Thread(target=post) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["created", *["unchanged"] * 7]


def test_a_caller_who_leaves_half_way_and_one_who_talks_nonsense(service: Any, http: httpx2.Client) -> None:
    host, _, port = service.http.rpartition(":")
    head = f"POST /v1/documents?doc=half HTTP/1.1\r\nHost: x\r\nAuthorization: {http.headers['Authorization']}\r\n"
    for start in (f"{head}Content-Length: 1000\r\n\r\nabc", "\x00\x01\x02 nonsense\r\n\r\n"):
        with socket.create_connection((host, int(port))) as raw:
            raw.sendall(start.encode())
    assert http.get("/healthz").status_code == 200
    assert "Traceback" not in (service.home / "log").read_text()


def test_requests_and_calls_are_logged_without_tokens(start: Start, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with start(home, COCLI_LOG="info", COCLI_LOG_FORMAT="json") as service:
        token = service.token("alice")
        headers = {"Authorization": f"Bearer {token}"}
        with httpx2.Client(base_url=f"http://{service.http}", headers=headers, timeout=20) as client:
            assert (
                client.post("/v1/documents", params={"doc": "d", "uri": "secret-uri"}, content=b"x").status_code == 201
            )
            assert client.get("/nowhere").status_code == 404
        with service.client("alice") as documents:
            assert [row.doc for row in documents.states("d")] == ["d"]
    written = (home / "log").read_text()
    records = [json.loads(line) for line in written.splitlines() if line.startswith("{")]
    requests = [(record["path"], record["status"]) for record in records if record["message"] == "request"]
    assert ("/v1/documents", 201) in requests
    assert ("/nowhere", 404) in requests
    assert ("ListStates", "ok") in [(r["method"], r["outcome"]) for r in records if r["message"] == "call"]
    assert token not in written
    assert "secret-uri" not in written
