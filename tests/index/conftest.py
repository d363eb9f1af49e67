"""The stores that the index is tested on, and prospects to put into it."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.kit.manual_time import ManualTime
from tests.kit.servers import S3Server

from cocli.index.cache import FolderCache
from cocli.index.index import Index
from cocli.keys.paths import IndexRef
from cocli.models.prospect import Prospect
from cocli.pipeline.indexes import open_index
from cocli.store import Store, open_store
from cocli.store.memory import MemoryStore

SEEN = datetime(2026, 11, 15, 12, tzinfo=UTC)
MakeProspect = Callable[..., Prospect]


@pytest.fixture
def prospect() -> MakeProspect:
    """Number → a prospect; other fields as given."""

    def make(number: int, **fields: Any) -> Prospect:
        values: dict[str, Any] = {
            "company_hash": hashlib.sha256(str(number).encode()).hexdigest()[:16],
            "slug": f"shop-{number}",
            "name": f"Shop {number}",
            "campaign": "plumbers",
            "first_seen": SEEN,
            "updated_at": SEEN,
        }
        return Prospect.checked(values | fields)

    return make


@pytest.fixture
def time() -> ManualTime:
    return ManualTime()


@pytest.fixture
def store(time: ManualTime) -> MemoryStore:
    return MemoryStore(clock=time.now)


@pytest.fixture
def prospects(store: MemoryStore, tmp_path: Path) -> Index[Prospect]:
    return open_index(store, IndexRef("prospects", "plumbers"), FolderCache(tmp_path / "cache"))


@pytest.fixture(params=("memory", "local", "seaweedfs"))
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "seaweedfs":
        server: S3Server = request.getfixturevalue("seaweedfs")
        opened = open_store(server.url("cocli-data-test", f"i-{secrets.token_hex(6)}"))
    else:
        opened = open_store("memory://" if request.param == "memory" else str(tmp_path / "store"), fsync="never")
    yield opened
    opened.close()
