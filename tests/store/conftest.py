"""The backends of the contract suite: one fixture, parametrised, so that every test runs on all of them."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.kit import servers
from tests.kit.servers import S3Server

from cocli.store import Store, open_store

BACKENDS = ("memory", "local", "local-fsync", "seaweedfs", "ministack", "azurite")


@pytest.fixture(scope="session")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not servers.AZURITE.exists() or shutil.which("node") is None:
        pytest.skip("azurite is not installed: make azurite")
    with pytest.MonkeyPatch.context() as patch, servers.azurite(tmp_path_factory.mktemp("azurite")) as address:
        patch.setenv("AZURE_STORAGE_ACCOUNT_KEY", servers.AZURE_KEY)
        yield address


def _store_url(backend: str, request: pytest.FixtureRequest) -> str:
    if backend == "memory":
        return "memory://"
    if backend.startswith("local"):
        folder: Path = request.getfixturevalue("tmp_path")
        return str(folder / "store")
    if backend == "azurite":
        address: str = request.getfixturevalue("azurite")
        return address.format(prefix=f"t-{secrets.token_hex(6)}")
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
