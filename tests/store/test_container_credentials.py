"""Credentials that are lent to a container: a small server on loopback lends them, a real store takes them."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.kit.servers import ACCESS_KEY, SECRET_KEY, S3Server

from cocli.errors import ConfigError, Denied, Unavailable
from cocli.store import open_store
from cocli.store.container_credentials import FULL, RELATIVE, container_credentials

TOKEN = "Bearer of this container"


class Lender(ThreadingHTTPServer):
    """Lends keys to who knows the token; counts how often it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _LenderHandler)
        self.asked = 0
        self.failures = 0
        self.valid = timedelta(hours=1)
        self.answer: str | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/creds"

    def keys(self) -> str:
        expires = (datetime.now(UTC) + self.valid).isoformat().replace("+00:00", "Z")
        keys = {"AccessKeyId": ACCESS_KEY, "SecretAccessKey": SECRET_KEY, "Expiration": expires}
        return self.answer if self.answer is not None else json.dumps(keys)


class _LenderHandler(BaseHTTPRequestHandler):
    server: Lender

    def do_GET(self) -> None:
        self.server.asked += 1
        status = 200 if self.headers.get("Authorization") == TOKEN else 403
        if self.server.failures:
            self.server.failures -= 1
            status = 503
        body = self.server.keys().encode() if status == 200 else b"no"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def lender(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Lender]:
    """Nothing but the container's variables says where credentials are."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    with Lender() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        monkeypatch.setenv(FULL, server.address)
        monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", TOKEN)
        yield server
        server.shutdown()


def url(server: S3Server) -> str:
    return server.url("cocli-data-test", f"lent-{secrets.token_hex(4)}")


def test_a_whole_address_with_a_token(lender: Lender, seaweedfs: S3Server) -> None:
    with closing(open_store(url(seaweedfs))) as store:
        store.put("a", b"1", if_absent=True)
        store.delete("a", if_match=store.get("a").etag)
        assert list(store.list()) == []
    assert 1 <= lender.asked <= 2, "keys are kept until they expire: one question for each of the two clients"


def test_the_token_of_a_file_is_read_anew(
    lender: Lender, seaweedfs: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text("old one\n")
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", str(file))
    with closing(open_store(url(seaweedfs))) as store:
        with pytest.raises(Denied, match=r"container .*status 403"):
            store.put("a", b"1")
        file.write_text(f"{TOKEN}\n")
        store.put("a", b"1")
        assert store.get("a").data == b"1"


def test_keys_that_ran_out_are_asked_for_again(lender: Lender, seaweedfs: S3Server) -> None:
    lender.valid = timedelta(seconds=1)
    ends = time.monotonic() + 30
    with closing(open_store(url(seaweedfs))) as store:
        while lender.asked < 2 and time.monotonic() < ends:
            store.put("a", b"1")
    assert lender.asked >= 2


def test_a_lender_that_fails_for_a_moment(lender: Lender, seaweedfs: S3Server) -> None:
    lender.failures = 2
    with closing(open_store(url(seaweedfs))) as store:
        store.put("a", b"1")
    assert lender.asked == 3


def test_a_lender_that_cannot_be_reached_may_come_back(
    lender: Lender, seaweedfs: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FULL, "http://127.0.0.1:9/creds")
    with (
        closing(open_store(url(seaweedfs))) as store,
        pytest.raises(Unavailable, match=r"no credentials: .*127\.0\.0\.1:9"),
    ):
        store.get("a")


@pytest.mark.parametrize(
    "said", ["<html>", "[]", "{}", '{"AccessKeyId": "x", "SecretAccessKey": "y", "Expiration": 7}']
)
def test_what_is_no_answer_is_not_quoted(lender: Lender, seaweedfs: S3Server, said: str) -> None:
    lender.answer = said
    with closing(open_store(url(seaweedfs))) as store, pytest.raises(Denied) as caught:
        store.get("a")
    assert "something else than credentials" in str(caught.value)
    assert said not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["http://example.com/creds", "ftp://127.0.0.1/x", "file:///etc/passwd", "http://", "x"]
)
def test_keys_travel_in_clear_to_nobody_else(address: str) -> None:
    with pytest.raises(ConfigError, match=FULL):
        container_credentials({FULL: address})


@pytest.mark.parametrize(
    "address", ["https://lender.example/creds", "http://[::1]:80/x", "http://localhost/x", "http://169.254.170.23/v1"]
)
def test_who_may_be_asked(address: str) -> None:
    lent = container_credentials({FULL: address})
    assert lent is not None
    assert lent.address == address


def test_a_path_is_one_of_the_fixed_address_and_goes_first() -> None:
    lent = container_credentials({RELATIVE: "/v2/credentials/1", FULL: "http://example.com/"})
    assert lent is not None
    assert lent.address == "http://169.254.170.2/v2/credentials/1"
    assert container_credentials({}) is None


_FARGATE = textwrap.dedent("""
    import http.server, json, os, subprocess, threading
    subprocess.run("ip link set lo up && ip addr add 169.254.170.2/32 dev lo", shell=True, check=True)
    class Lends(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/v2/credentials/1" else 404)
            self.end_headers()
            self.wfile.write(b'{"AccessKeyId": "lent", "SecretAccessKey": "s", "Token": "t"}')
    server = http.server.HTTPServer(("169.254.170.2", 80), Lends)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/v2/credentials/1"
    from cocli.store.container_credentials import container_credentials
    print(container_credentials()()["access_key_id"])
""")


@pytest.mark.skipif(os.geteuid() != 0, reason="an address of Fargate is made in a network namespace: as root only")
def test_the_fixed_address_is_asked() -> None:
    done = subprocess.run(["unshare", "-n", sys.executable, "-c", _FARGATE], capture_output=True, text=True)
    if done.returncode != 0 and "unshare" in done.stderr:
        pytest.skip(f"no network namespace here: {done.stderr.strip()}")
    assert done.stdout.strip() == "lent", done.stderr
