"""An account of AWS on this machine: ministack with TLS, which enforces policies, and its own authority."""

from __future__ import annotations

import contextlib
import datetime as dt
import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cocli.demo.ports import free_ports
from tests.kit.servers import ACCESS_KEY, REGION, SECRET_KEY, executable, running, wait_until_listening

ACCOUNT = "000000000000"


@dataclass(frozen=True, slots=True)
class LocalCloud:
    """Where it listens, and whose certificates it has."""

    endpoint: str
    authority: Path

    @property
    def environment(self) -> dict[str, str]:
        """For programs that use it, as its owner."""
        return {
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_CA_BUNDLE": str(self.authority),
            "SSL_CERT_FILE": str(self.authority),
        }

    def client(self, service: str, keys: dict[str, str] | None = None) -> Any:
        """With the keys of a role, or as the owner."""
        import boto3
        from botocore.config import Config

        keys = keys or self.environment
        return boto3.client(  # type: ignore[call-overload]
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            verify=str(self.authority),
            aws_access_key_id=keys["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=keys["AWS_SECRET_ACCESS_KEY"],
            aws_session_token=keys.get("AWS_SESSION_TOKEN"),
            config=Config(retries={"total_max_attempts": 2}),
        )

    def assume(self, role: str) -> dict[str, str]:
        """Keys of a role, as environment variables."""
        lent = self.client("sts").assume_role(RoleArn=f"arn:aws:iam::{ACCOUNT}:role/{role}", RoleSessionName="test")
        keys = lent["Credentials"]
        return {
            **self.environment,
            "AWS_ACCESS_KEY_ID": keys["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": keys["SecretAccessKey"],
            "AWS_SESSION_TOKEN": keys["SessionToken"],
        }


@contextlib.contextmanager
def local_cloud(folder: Path) -> Iterator[LocalCloud]:
    authority, certificate, key = certificates(folder)
    port = free_ports(1)[0]
    settings = {
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "HOME": str(folder),
        "AUTH": "true",
        "USE_SSL": "1",
        "MINISTACK_SSL_CERT": str(certificate),
        "MINISTACK_SSL_KEY": str(key),
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
    }
    log = folder / "ministack.log"
    with running([executable("ministack")], log, settings):
        wait_until_listening(port, log)
        yield LocalCloud(f"https://localhost:{port}", authority)


def certificates(folder: Path) -> tuple[Path, Path, Path]:
    """An authority, and a certificate of this machine that it signed: some clients take no other."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    now = dt.datetime.now(dt.UTC)
    names = [x509.DNSName(name) for name in ("localhost", "*.localhost")]
    addresses = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))

    def made(name: str, issuer: str, signed: Any, signer: Any, *, is_authority: bool) -> x509.Certificate:
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
            .public_key(signed.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(minutes=5))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        )
        if not is_authority:
            builder = builder.add_extension(x509.SubjectAlternativeName([*names, addresses]), critical=False)
        return builder.sign(signer, hashes.SHA256())

    above, mine = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    files = folder / "authority.pem", folder / "server.pem", folder / "server.key"
    pem = serialization.Encoding.PEM
    files[0].write_bytes(made("test authority", "test authority", above, above, is_authority=True).public_bytes(pem))
    files[1].write_bytes(made("localhost", "test authority", mine, above, is_authority=False).public_bytes(pem))
    plain = serialization.NoEncryption()
    files[2].write_bytes(mine.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    return files
