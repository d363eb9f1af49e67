"""Fixtures that every part of the suite shares: real servers, started once per test process when first asked for."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.kit import servers
from tests.kit.effort import effort
from tests.kit.kafka import kafka_used
from tests.kit.order import spread, workers

ROOT = str(Path(__file__).parents[1])

settings.register_profile(
    "suite",
    deadline=None,
    max_examples=effort(20),
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("suite")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A runner that was started in the background ignores Ctrl-C, and so would every program that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)


gc.disable()  # until the tests are known: nothing of what is collected is let go, and looking for it takes seconds


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = spread(items, workers())


def pytest_collection_finish() -> None:
    """What there is now stays: no later look for garbage goes through thousands of tests and their modules."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # at the end everything goes: libraries tell what stays


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the tests of Kafka ran on, where there were any."""
    reports = terminalreporter.stats.get("passed", []) + terminalreporter.stats.get("failed", [])
    if any("test_kafka" in report.nodeid for report in reports):
        terminalreporter.line(kafka_used())


@pytest.fixture(autouse=True, scope="session")
def _no_foreign_settings() -> Iterator[None]:
    """The suite sees neither this machine's settings nor its credentials, and never asks an instance role."""
    kept = dict(os.environ)
    for name in list(os.environ):
        if name.startswith(("COCLI_", "AWS_")) or name == "CAMPAIGN_NAME":
            del os.environ[name]
    os.environ.update(servers.credentials_environment(), AWS_EC2_METADATA_DISABLED="true")
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (ROOT, kept.get("PYTHONPATH")))
    )  # programs that tests start
    yield
    os.environ.clear()
    os.environ.update(kept)


@pytest.fixture(scope="session")
def seaweedfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.S3Server]:
    with servers.seaweedfs(tmp_path_factory.mktemp("seaweedfs")) as server:
        servers.create_bucket(server, "cocli-data-test")
        yield server


@pytest.fixture(scope="session")
def ministack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.S3Server]:
    with servers.ministack(tmp_path_factory.mktemp("ministack")) as server:
        servers.create_bucket(server, "cocli-data-test")
        yield server


@pytest.fixture(scope="session")
def rclone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.S3Server]:
    with servers.rclone_s3(tmp_path_factory.mktemp("rclone")) as server:
        servers.create_bucket(server, "cocli-data-test")
        yield server


@pytest.fixture(scope="session")
def captures() -> Path:
    """Real pages that belong to others: read where they lie, never copied."""
    folder = Path(__file__).parents[2] / "shared" / "captures"
    if not folder.is_dir():
        pytest.skip(f"the captured pages are not here ({folder}): this test reads them where they lie")
    return folder
