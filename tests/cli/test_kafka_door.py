"""A broker that wants TLS and a password, as a person uses it: what goes through it, what is said, and what is not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.certificates import self_signed
from tests.kit.kafka import Door, NoKafka, broker

pytestmark = pytest.mark.waits
PASSWORD = "hunter2-very-secret"
FOLDER = str(Path(__file__).parent)


@pytest.fixture
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a broker, and the certificate of who signed its own."""
    folder = tmp_path_factory.mktemp("door")
    certificate, key = self_signed(folder)
    try:
        with broker(folder / "kafka", door=Door(certificate, key, "cocli", PASSWORD)) as running:
            yield running.address, certificate
    except NoKafka as reason:
        pytest.skip(str(reason))


def work(password: str, *words: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: what a library writes to stderr behind our back is seen."""
    command = [sys.executable, "-m", "cocli", "documents", "work", "parse", "double", "--graph", "nodes_factory:sizes"]
    environ = {**os.environ, "PYTHONPATH": FOLDER, "COCLI_KAFKA_PASSWORD": password, "COCLI_LOG": "warning"}
    done = [*command, "-c", "plumbers", *words]
    return subprocess.run(done, env=environ, capture_output=True, text=True, check=False, timeout=180)


def test_a_password_opens_the_door_and_is_found_nowhere(
    plumbers: Any, home: Path, door: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, certificate = door
    settings = {"events": "kafka", "kafka_servers": address, "kafka_tls": "true", "kafka_user": "cocli"}
    for name, value in (settings | {"kafka_ca": str(certificate)}).items():
        edited = plumbers("campaign", "edit", "plumbers", "--set", f"documents.{name}={value}")
        assert edited.code == 0, edited.err
    plumbers("campaign", "edit", "plumbers", "--set", "workers.here.parse=1")
    (home / "page.html").write_bytes(b"12345")
    saved = plumbers("documents", "save", str(home / "page.html"), "--doc", "a", "--send-to", "parse", "-c", "plumbers")
    assert saved.code == 0, saved.err
    without = plumbers("documents", "work", "page", "-c", "plumbers")
    assert (without.code, "COCLI_KAFKA_PASSWORD is not set" in without.err) == (3, True), without.err
    monkeypatch.setenv("COCLI_KAFKA_PASSWORD", "wrong")
    status = plumbers("cluster", "status", "-c", "plumbers", "--json").json
    (problem,) = [problem for problem in status["problems"] if problem["kind"] == "queue"]
    assert "Authentication failed" in problem["message"]
    done = work(PASSWORD, "--until-empty", "--json")
    assert done.returncode == 0, done.stderr
    assert '"finished": 1' in done.stdout
    assert plumbers("documents", "get", "a", "--node", "double", "-c", "plumbers").code == 0
    monkeypatch.setenv("COCLI_KAFKA_PASSWORD", PASSWORD)
    shown = plumbers("config", "show", "--origin", "-c", "plumbers")
    doctor = plumbers("doctor", "-c", "plumbers")
    assert "COCLI_KAFKA_PASSWORD is not a setting" not in doctor.out + doctor.err
    told = done.stdout + done.stderr + shown.out + shown.err + doctor.out + doctor.err
    assert PASSWORD not in told
    assert [path for path in home.rglob("*") if path.is_file() and PASSWORD.encode() in path.read_bytes()] == []
    assert not [line for line in done.stderr.splitlines() if line.startswith("%")], (
        "what the library says is in the log"
    )
