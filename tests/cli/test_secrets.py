"""Passwords: refused in files of settings, taken from the environment or a file of their own, and shown nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

Cocli = Callable[..., Any]
SECRET = "hunter2-very-secret"
CAMPAIGN = '[campaign]\nname = "plumbers"\n'
STORED = {
    "fetch.proxies[0]": f'[fetch]\nproxies = ["http://me:{SECRET}@127.0.0.1:3128"]\n',
    "storage.url": f'[storage]\nurl = "s3://bucket?endpoint=http://me:{SECRET}@127.0.0.1:9000"\n',
    "storage.endpoint": f'[storage]\nurl = "s3://bucket"\nendpoint = "http://me:{SECRET}@127.0.0.1:9000"\n',
    "aws.endpoint": f'[aws]\nendpoint = "http://{SECRET}@127.0.0.1:4566"\n',
    "documents.catalog": f'[documents]\ncatalog = "postgresql://me:{SECRET}@127.0.0.1/cocli"\n',
    "documents.kafka_servers": f'[documents]\nkafka_servers = "me:{SECRET}@127.0.0.1:9092"\n',
    "google_maps.url": f'[google_maps]\nurl = "https://me:{SECRET}@127.0.0.1"\n',
    "fetch.user_agent": f'[fetch]\nuser_agent = "bot (https://example.com/?token={SECRET})"\n',
}


@contextmanager
def listening(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[tuple[int, list[dict[str, str]]]]:
    """A server that writes down the headers of every request."""
    heard: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append({name.lower(): value for name, value in self.headers.items()})
            answer(self)

        do_PUT = do_GET  # noqa: N815 - the name that the library calls

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port, heard
    finally:
        server.shutdown()
        server.server_close()


def page(handler: BaseHTTPRequestHandler) -> None:
    body = b"<title>Acme</title>Write to office@acme-plumbing.com"
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def refused(handler: BaseHTTPRequestHandler) -> None:
    handler.send_error(403)


def assert_nowhere(home: Path, result: Any) -> None:
    assert SECRET not in result.out + result.err
    found = [path for path in home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert found == []


@pytest.mark.parametrize("setting", STORED)
def test_a_password_in_a_stored_setting_is_refused(cocli: Cocli, home: Path, setting: str) -> None:
    cocli("campaign", "new", "plumbers")
    campaign, user = home / "data/campaigns/plumbers/config.toml", home / "user.toml"
    for file, before in ((campaign, CAMPAIGN), (user, "")):
        file.write_text(before + STORED[setting])
        for flags in ((), ("--json",)):
            result = cocli("config", "show", "plumbers", *flags)
            assert result.code == 3, result
            assert setting in result.err
            assert "password" in result.err
            assert SECRET not in result.out + result.err
        file.write_text(before)


def test_a_password_is_not_stored_by_a_command_either(cocli: Cocli, home: Path) -> None:
    cocli("campaign", "new", "plumbers")
    for words in (
        ("campaign", "edit", "plumbers", "--set", f"fetch.proxies+=http://me:{SECRET}@127.0.0.1:3128"),
        ("config", "set", "fetch.proxies", f'["http://me:{SECRET}@127.0.0.1:3128"]'),
    ):
        result = cocli(*words)
        assert result.code == 3, result
        assert "COCLI_FETCH_PROXIES_FILE" in result.err
        assert_nowhere(home, result)


@pytest.mark.parametrize("way", ["environment", "file"])
def test_a_proxy_gets_its_password_from_the_environment_or_a_file(
    cocli: Cocli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    with listening(page) as (port, heard):
        value = f'["http://me:{SECRET}@127.0.0.1:{port}"]'
        if way == "file":
            (tmp_path / "elsewhere").write_text(f"{value}\n")
            monkeypatch.setenv("COCLI_FETCH_PROXIES_FILE", str(tmp_path / "elsewhere"))
        else:
            monkeypatch.setenv("COCLI_FETCH_PROXIES", value)
        monkeypatch.setenv("COCLI_LOG", "debug")
        result = cocli("enrich", "http://acme-plumbing.com/", "--country", "us")
    assert result.code == 0, result.err
    assert "office@acme-plumbing.com" in result.out
    login = "Basic " + b64encode(f"me:{SECRET}".encode()).decode()
    assert {request.get("proxy-authorization") for request in heard} == {login}
    (tmp_path / "elsewhere").unlink(missing_ok=True)
    assert_nowhere(home, result)
    for words in (("config", "show", "--origin"), ("config", "show", "--json"), ("doctor", "--json")):
        if way == "environment":
            assert_nowhere(home, cocli(*words))


def test_a_file_of_a_setting_that_cannot_be_read_is_named(
    cocli: Cocli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COCLI_FETCH_PROXIES_FILE", str(tmp_path / "none"))
    result = cocli("config", "show")
    assert result.code == 3
    assert "COCLI_FETCH_PROXIES_FILE" in result.err


def test_a_browser_is_told_the_login_of_its_proxy() -> None:
    from cocli.pipeline.sources.google_maps.browser.chromium import _proxy_settings

    assert _proxy_settings("http://me:pass%40word@127.0.0.1:3128") == {
        "server": "http://127.0.0.1:3128",
        "username": "me",
        "password": "pass@word",
    }
    assert _proxy_settings("http://127.0.0.1:3128") == {"server": "http://127.0.0.1:3128"}


# --- the metadata address

_ASK_OBSTORE = (
    "from cocli.store import open_store\n"
    "open_store('s3://bucket?endpoint=http://127.0.0.1:9&region=us-east-1').get('key')\n"
)
_ASK_BOTO3 = (
    "from cocli.queue.sqs.connection import *\n"
    "import boto3\n"
    "assert boto3.Session(region_name='us-east-1').get_credentials() is not None\n"
)


@pytest.mark.parametrize("client", [_ASK_OBSTORE, _ASK_BOTO3], ids=["obstore", "boto3"])
def test_the_metadata_address_is_not_asked_where_that_is_forbidden(tmp_path: Path, client: str) -> None:
    with listening(refused) as (port, heard):
        address = f"http://127.0.0.1:{port}"
        environ = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ["PYTHONPATH"],
            "HOME": str(tmp_path),
            "AWS_METADATA_ENDPOINT": address,
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": address,
        }
        ask = [sys.executable, "-c", client]
        forbidden = {**environ, "AWS_EC2_METADATA_DISABLED": "True"}  # as boto3 does, in capitals or not
        done = subprocess.run(ask, env=forbidden, capture_output=True, text=True)
        assert done.returncode != 0
        assert heard == []
        if client == _ASK_OBSTORE:
            assert "AWS_EC2_METADATA_DISABLED" in done.stderr
        subprocess.run(ask, env=environ, capture_output=True)
        assert heard  # so it would have been heard
