"""The backends of the contract suite: one fixture, parametrised, so that every test runs on all of them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.kit.servers import S3Server

from cocli.store import Store, open_store

BACKENDS = ("memory", "local", "local-fsync", "seaweedfs", "ministack")


def _store_url(backend: str, request: pytest.FixtureRequest) -> str:
    if backend == "memory":
        return "memory://"
    if backend.startswith("local"):
        folder: Path = request.getfixturevalue("tmp_path")
        return str(folder / "store")
    server: S3Server = request.getfixturevalue(backend)
    return server.url("cocli-data-test", f"t-{secrets.token_hex(6)}")


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    backend = request.param
    opened = open_store(_store_url(backend, request), fsync="always" if backend == "local-fsync" else "never")
    yield opened
    opened.close()


@pytest.fixture(params=("local", "seaweedfs"))
def shared_url(request: pytest.FixtureRequest) -> str:
    """The address of a store that several processes can open."""
    return _store_url(request.param, request)
