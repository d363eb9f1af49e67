"""Real servers for tests, started on loopback from packages of requirements/dev.txt and killed afterwards."""

from __future__ import annotations

import base64
import contextlib
import email.utils
import hmac
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from cocli.demo.ports import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ACCESS_KEY = "test-access-key"
SECRET_KEY = "test-secret-key"
REGION = "us-east-1"
OPEN_BUCKET = "open-to-all"
"""A bucket that SeaweedFS lets everybody read, where somebody makes it."""
_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class S3Server:
    """Where a test server listens. Its credentials are the constants of this module."""

    endpoint: str
    pid: int

    def url(self, bucket: str, prefix: str = "") -> str:
        """The address for `open_store`."""
        return f"s3://{bucket}/{prefix}?endpoint={self.endpoint}&region={REGION}"


def credentials_environment() -> dict[str, str]:
    return {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY, "AWS_REGION": REGION}


def executable(name: str) -> str:
    """A program that came with a package: beside the interpreter, or on the path."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        raise FileNotFoundError(f"{name} is not installed; run: make .venv/.dev")
    return found


def seaweedfs_roles(policies: Mapping[str, object]) -> dict[str, object]:
    """Identities that may do what a policy allows, and no more: their keys are their names."""
    identities = [
        {"name": name, "credentials": [{"accessKey": name, "secretKey": f"secret-of-{name}"}], "policyNames": [name]}
        for name in policies
    ]
    contents = [{"name": name, "content": json.dumps(policy)} for name, policy in policies.items()]
    return {"identities": identities, "policies": contents}


@contextlib.contextmanager
def seaweedfs(folder: Path, roles: Mapping[str, object] | None = None) -> Iterator[S3Server]:
    """SeaweedFS' S3 gateway: authentication, policies of roles and conditional writes as S3 has them."""
    config = folder / "s3.json"
    identity = {
        "name": "test",
        "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"],
    }
    everybody = {"name": "anonymous", "actions": [f"Read:{OPEN_BUCKET}"]}
    settings = seaweedfs_roles(roles or {})
    config.write_text(json.dumps({**settings, "identities": [identity, everybody, *settings["identities"]]}))  # type: ignore[misc]
    data = folder / "data"
    data.mkdir()
    names = ("master", "volume", "filer", "s3")
    ports = free_ports(10)
    options = [
        option
        for name, http, grpc in zip(names, ports[:4], ports[4:8], strict=True)
        for option in (f"-{name}.port={http}", f"-{name}.port.grpc={grpc}")
    ]
    command = [
        executable("weed"), "server", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3",
        f"-s3.config={config}", "-s3.autoCreateBucket=false",
        f"-s3.port.iceberg={ports[8]}", f"-s3.port.lance={ports[9]}",
        "-master.telemetry=false", "-master.electionTimeout=1s", "-volume.max=2000", "-volume.preStopSeconds=0",
        *options,
    ]  # fmt: skip
    endpoint = f"http://127.0.0.1:{ports[3]}"
    with running(command, folder / "weed.log") as pid:
        _wait_until_answering(endpoint, folder / "weed.log")
        yield S3Server(endpoint, pid)


@contextlib.contextmanager
def ministack(folder: Path) -> Iterator[S3Server]:
    """Ministack: S3 and SQS that boot in a second. It accepts any secret, unless `AUTH` is set."""
    port = free_ports(1)[0]
    endpoint = f"http://127.0.0.1:{port}"
    settings = {"GATEWAY_PORT": str(port), "BIND_HOST": "127.0.0.1", "SERVICES": "s3,sqs", "HOME": str(folder)}
    with running([executable("ministack")], folder / "ministack.log", settings) as pid:
        _wait_until_answering(endpoint, folder / "ministack.log")
        yield S3Server(endpoint, pid)


@contextlib.contextmanager
def rclone_s3(folder: Path) -> Iterator[S3Server]:
    """rclone's S3 gateway, which ignores conditions: a store that must be refused."""
    port = free_ports(1)[0]
    data = folder / "data"
    data.mkdir()
    command = [
        executable("rclone"), "serve", "s3", "--addr", f"127.0.0.1:{port}",
        "--auth-key", f"{ACCESS_KEY},{SECRET_KEY}", str(data),
    ]  # fmt: skip
    endpoint = f"http://127.0.0.1:{port}"
    with running(command, folder / "rclone.log", {"RCLONE_CONFIG": str(folder / "rclone.conf")}) as pid:
        _wait_until_answering(endpoint, folder / "rclone.log")
        yield S3Server(endpoint, pid)


AZURE_ACCOUNT = "devstoreaccount1"
AZURE_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="  # of every Azurite
)
AZURITE = Path(sys.prefix) / "azurite" / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"


@contextlib.contextmanager
def azurite(folder: Path) -> Iterator[str]:
    """Azure's own emulator of its storage, with one container; the address of a store in it."""
    port = free_ports(1)[0]
    node = shutil.which("node")
    if node is None or not AZURITE.exists():
        raise FileNotFoundError("azurite is not installed; run: make azurite")
    command = [node, str(AZURITE), "--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(folder)]
    endpoint = f"http://127.0.0.1:{port}/{AZURE_ACCOUNT}"
    with running([*command, "--silent", "--skipApiVersionCheck"], folder / "azurite.log"):
        wait_until_listening(port, folder / "azurite.log")
        _create_container(endpoint, "test")
        yield f"az://test/{{prefix}}?account={AZURE_ACCOUNT}&endpoint={endpoint}"


def _create_container(endpoint: str, name: str) -> None:
    """Signed by hand: nothing else here needs Azure's own library."""
    at = email.utils.formatdate(usegmt=True)
    said = f"x-ms-date:{at}\nx-ms-version:2021-12-02\n/{AZURE_ACCOUNT}/{AZURE_ACCOUNT}/{name}\nrestype:container"
    text = "PUT" + "\n" * 12 + said
    key = hmac.digest(base64.b64decode(AZURE_KEY), text.encode(), "sha256")
    headers = {
        "x-ms-date": at,
        "x-ms-version": "2021-12-02",
        "Authorization": f"SharedKey {AZURE_ACCOUNT}:{base64.b64encode(key).decode()}",
    }
    request = Request(f"{endpoint}/{name}?restype=container", method="PUT", headers=headers, data=None)
    with urlopen(request, timeout=30):
        pass


def create_bucket(server: S3Server, bucket: str) -> None:
    """Buckets are made by whoever owns the account, never by the product: so by boto3 here."""
    import boto3

    client = boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        region_name=REGION,
    )
    client.create_bucket(Bucket=bucket)


@contextlib.contextmanager
def running(command: Sequence[str], log: Path, settings: Mapping[str, str] | None = None) -> Iterator[int]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **(settings or {})},
            start_new_session=True,
        )
    try:
        yield process.pid
    finally:
        # The folder is thrown away: no reason to wait for an orderly end.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_until_listening(port: int, log: Path) -> None:
    """For a server that is not asked by HTTP, or whose certificate nobody knows here."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=2):
                return
        except OSError:
            time.sleep(0.1)  # not listening yet
    raise TimeoutError(
        f"port {port} did not open within {_START_SECONDS:.0f} s; its log ends: {log.read_text()[-2000:]}"
    )


def _wait_until_answering(endpoint: str, log: Path) -> None:
    """Any HTTP answer below 500 will do, a refusal as well."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        try:
            with urlopen(endpoint, timeout=2):
                return
        except HTTPError as error:
            error.close()
            if error.code < 500:
                return
        except (URLError, OSError):
            pass  # not listening yet
        time.sleep(0.1)
    raise TimeoutError(
        f"{endpoint} did not answer within {_START_SECONDS:.0f} s; its log ends: {log.read_text()[-2000:]}"
    )
