"""The document service as it is run: `cocli documents serve` in a process of its own, and clients of two accounts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.kit.certificates import self_signed
from tests.kit.services import RunningService, environment, running

from cocli.service.documents.client import DocumentClient

Start = Callable[..., AbstractContextManager["Service"]]


@dataclass(frozen=True)
class Service(RunningService):
    """Where the document service listens."""

    grpc: str
    http: str

    def client(self, account: str, **options: object) -> DocumentClient:
        return DocumentClient(self.grpc, self.token(account), **options)  # type: ignore[arg-type]


@contextmanager
def started(home: Path, *words: str, **more: str) -> Iterator[Service]:
    with running(home, "documents", "serve", *words, lines=2, environ=environment(home, **more)) as service:
        grpc_at, http_at = service.lines
        assert (grpc_at[0], http_at[0]) == ("grpc", "http"), service.log
        yield Service(home, service.process, service.lines, grpc_at[1], http_at[1])


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


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return self_signed(tmp_path_factory.mktemp("tls"))
