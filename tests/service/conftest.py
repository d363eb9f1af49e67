"""The document service as it is run: `cocli documents serve` in a process of its own, and clients of two accounts."""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
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
    """A certificate for this machine, signed by itself, for a day."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, key_file = folder / "service.pem", folder / "service.key"
    pem.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return pem, key_file
