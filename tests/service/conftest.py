"""The document service as it is run: `cocli documents serve` in a process of its own, and clients of two accounts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cocli.app.documents.tokens import Tokens
from cocli.service.documents.client import DocumentClient

Start = Callable[..., AbstractContextManager["Service"]]


@dataclass(frozen=True)
class Service:
    """A running service: where it listens, and its home."""

    grpc: str
    http: str
    home: Path
    process: subprocess.Popen[str]

    def token(self, account: str, *, days: float = 1.0) -> str:
        """As `cocli documents token` makes it, without a process for each."""
        secret = self.home / ".local" / "state" / "cocli" / "documents" / "token.secret"
        return Tokens(secret.read_bytes().strip()).make(account, datetime.now(UTC) + timedelta(days=days))

    def client(self, account: str, **options: object) -> DocumentClient:
        return DocumentClient(self.grpc, self.token(account), **options)  # type: ignore[arg-type]


def environment(home: Path, **more: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("COCLI_", "XDG_"))}
    own = {"HOME": str(home), "COCLI_DATA_HOME": str(home / "data"), "COCLI_CONFIG": str(home / "user.toml")}
    ports = {"COCLI_DOCUMENTS_GRPC_PORT": "0", "COCLI_DOCUMENTS_HTTP_PORT": "0"}
    return {**inherited, **own, **ports, **more}


@contextmanager
def started(home: Path, *words: str, **more: str) -> Iterator[Service]:
    home.mkdir(exist_ok=True)
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "cocli", "documents", "serve", *words],
            env=environment(home, **more),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert process.stdout is not None
        try:
            grpc_at, http_at = (process.stdout.readline().split() for _ in range(2))
            assert (grpc_at[:1], http_at[:1]) == (["grpc"], ["http"]), (home / "log").read_text()
            yield Service(grpc_at[1], http_at[1], home, process)
        finally:
            process.terminate()
            try:
                process.wait(20)
            finally:
                process.kill()
                process.stdout.close()


@pytest.fixture(scope="session")
def start() -> Start:
    return started


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with started(
        tmp_path_factory.mktemp("service") / "home",
        COCLI_DOCUMENTS_MAX_MESSAGE_BYTES="1000000",
        COCLI_DOCUMENTS_MAX_UPLOAD_BYTES="500000",
    ) as running:
        yield running


@pytest.fixture(scope="session")
def alice(service: Service) -> Iterator[DocumentClient]:
    with service.client("alice") as client:
        yield client


@pytest.fixture(scope="session")
def mallory(service: Service) -> Iterator[DocumentClient]:
    with service.client("mallory") as client:
        yield client
