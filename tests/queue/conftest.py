"""The stores that the queue is tested on, and workers whose time a test decides."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.kit.manual_time import ManualTime
from tests.kit.servers import S3Server

from cocli.queue.leased.queue import LeasedQueue
from cocli.store import Store, open_store
from cocli.store.memory import MemoryStore


@pytest.fixture
def time() -> ManualTime:
    return ManualTime()


@pytest.fixture
def store(time: ManualTime) -> MemoryStore:
    return MemoryStore(clock=time.now)


MakeQueue = Callable[..., LeasedQueue]


@pytest.fixture
def make_queue(store: MemoryStore, time: ManualTime) -> MakeQueue:
    def make(worker: str = "w1", **settings: object) -> LeasedQueue:
        options: dict[str, object] = {"lease_seconds": 60, "attempts": 3, "runtime": time} | settings
        on = options.pop("store", store)
        return LeasedQueue(on, "c", "enrichment", worker=worker, rng=random.Random(worker), **options)  # type: ignore[arg-type]

    return make


@pytest.fixture(params=("memory", "local", "seaweedfs"))
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "seaweedfs":
        server: S3Server = request.getfixturevalue("seaweedfs")
        opened = open_store(server.url("cocli-data-test", f"q-{secrets.token_hex(6)}"))
    else:
        opened = open_store("memory://" if request.param == "memory" else str(tmp_path / "store"), fsync="never")
    yield opened
    opened.close()
