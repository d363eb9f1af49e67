"""How the service is started and stopped: TLS, addresses that are taken, secrets that others may read, packages."""

from __future__ import annotations

import datetime as dt
import json
import signal
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cocli.app.documents.documents import opened_documents
from cocli.app.documents.tokens import load_tokens
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.documents import Blob, Document
from cocli.errors import CocliError, ServiceUnavailable
from cocli.service.documents.client import DocumentClient
from cocli.service.documents.server import ServerSettings, serving


def test_tls_by_configuration(start: Any, certificate: tuple[Path, Path], tmp_path: Path) -> None:
    pem, key = certificate
    files = {"COCLI_DOCUMENTS_TLS_CERTIFICATE": str(pem), "COCLI_DOCUMENTS_TLS_KEY": str(key)}
    with start(tmp_path / "home", **files) as service:
        page = Document.intake(account="alice", connector="web", doc="x").with_blob("body", Blob.of(b"secret"))
        with service.client("alice", certificate=pem.read_bytes()) as client:
            assert client.get(client.save(page).reference, blobs=True) == page
        with service.client("alice", timeout=5) as plain, pytest.raises(ServiceUnavailable):
            plain.states("x")
        with service.client("alice", tls=True, timeout=5) as distrustful, pytest.raises(ServiceUnavailable):
            distrustful.states("x")
        trust = ssl.create_default_context(cafile=str(pem))
        headers = {"Authorization": f"Bearer {service.token('alice')}"}
        with httpx2.Client(base_url=f"https://{service.http}", verify=trust, headers=headers) as http:
            assert http.post("/v1/documents", params={"doc": "y"}, content=b"z").status_code == 201
        with pytest.raises(httpx2.HTTPError), httpx2.Client(base_url=f"https://{service.http}") as http:
            http.get("/healthz")


def refused(home: Path, wish: ServerSettings, **settings: str) -> CocliError:
    """The error with which serving ends before it begins."""
    ports = {"COCLI_DOCUMENTS_GRPC_PORT": "0", "COCLI_DOCUMENTS_HTTP_PORT": "0"}
    environ = {
        "HOME": str(home),
        **ports,
        **{f"COCLI_DOCUMENTS_{name.upper()}": text for name, text in settings.items()},
    }
    with pytest.raises(CocliError) as error:
        _serve(environ, wish)
    return error.value


def _serve(environ: dict[str, str], wish: ServerSettings) -> None:
    with open_workspace(environ, Flags()) as workspace, opened_documents(workspace, None) as documents:
        tokens = load_tokens(documents, create=True)
        with serving(documents, tokens, wish, clock=lambda: dt.datetime.now(dt.UTC), log=print):
            pass


def test_what_is_configured_wrongly_is_said_before_anything_is_served(
    tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    pem, key = map(str, certificate)
    assert "both are needed" in refused(tmp_path, ServerSettings(), tls_certificate=pem).message
    assert "no certificate and its key" in refused(tmp_path, ServerSettings(), tls_certificate=key, tls_key=pem).message
    assert (
        "/nowhere cannot be read"
        in refused(tmp_path, ServerSettings(), tls_certificate="/nowhere", tls_key=key).message
    )
    assert "in the clear" in refused(tmp_path, ServerSettings(), host="0.0.0.0").message
    assert "nothing to serve" in refused(tmp_path, ServerSettings(grpc=False, http=False)).message
    secret = tmp_path / "secret"
    secret.write_text("x" * 64)
    secret.chmod(0o644)
    assert refused(tmp_path, ServerSettings(), secret_file=str(secret)).hint == f"Protect it with: chmod 600 {secret}"
    secret.chmod(0o600)
    secret.write_text("short")
    assert "fewer than 32 bytes" in refused(tmp_path, ServerSettings(), secret_file=str(secret)).message
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for name in ("grpc_port", "http_port"):
            error = refused(tmp_path, ServerSettings(), **{name: port})
            assert (error.code, f":{port}" in error.message) == ("service_unavailable", True)


@pytest.mark.parametrize(("package", "extra"), [("grpc", "grpc"), ("uvicorn", "http")])
def test_a_missing_package_is_named_with_the_command(tmp_path: Path, package: str, extra: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; from cocli.cli.main import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "documents", "serve"],
        env={"HOME": str(tmp_path), "COCLI_DOCUMENTS_GRPC_PORT": "0", "COCLI_DOCUMENTS_HTTP_PORT": "0"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 10
    assert f"pip install 'cocli[{extra}]'" in done.stderr


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_stop_it_ends_well(start: Any, tmp_path: Path, how: int) -> None:
    with start(tmp_path / "home") as service:
        service.process.send_signal(how)
        assert service.process.wait(20) == 0
        log = (tmp_path / "home" / "log").read_text()
    assert "Traceback" not in log
    assert "Stopping" in log


def test_a_new_secret_ends_all_tokens_and_the_old_one_is_never_shown(start: Any, tmp_path: Path) -> None:
    secret = tmp_path / "home" / ".local" / "state" / "cocli" / "documents" / "token.secret"
    with start(tmp_path / "home") as service:
        token = service.token("alice")
        assert secret.stat().st_mode & 0o777 == 0o600
        with DocumentClient(service.grpc, token) as client:
            assert client.documents().items == []
        assert secret.read_text().strip() not in (tmp_path / "home" / "log").read_text()
        assert token not in (tmp_path / "home" / "log").read_text()


def test_events_are_sent_by_the_service_where_somebody_reads_them(start: Any, tmp_path: Path) -> None:
    home = tmp_path / "home"
    config = home / "data" / "campaigns" / "plumbers" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[campaign]\nname = "plumbers"\n\n[documents]\nevents = "queue"\n')
    waiting = home / "data" / "campaigns" / "plumbers" / "queues" / "page--main" / "pending"
    with start(home, "-c", "plumbers") as service, service.client("alice") as client:
        for doc in ("sent", "kept"):
            page = Document.intake(account="alice", connector="web", doc=doc).with_blob("body", Blob.of(b"x"))
            client.save(page, publish=["pipestream.main.page"] if doc == "sent" else [])
        until = time.monotonic() + 30
        while not list(waiting.rglob("task.json")) and time.monotonic() < until:
            time.sleep(0.05)
    (task,) = (json.loads(path.read_text()) for path in waiting.rglob("task.json"))
    assert (task["document"]["account"], task["document"]["doc"]) == ("alice", "sent")
