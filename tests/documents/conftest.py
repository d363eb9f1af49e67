"""Catalogues of both kinds, a clock that ticks, and a repository over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.kit.postgres import PostgresServer, postgres

from cocli.documents import Blob, Document, DocumentRepository, DocumentSource, open_catalog
from cocli.documents.catalog.sql import SqlCatalog
from cocli.documents.subscriptions import EVERYBODY
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore


class Clock:
    """Goes on by a second with every look."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 15, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    with postgres() as server:
        yield server


@pytest.fixture(params=("sqlite", "postgres"))
def catalog_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite://{tmp_path / 'catalog' / 'documents.sqlite3'}"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.new_schema()


@pytest.fixture
def any_catalog(catalog_url: str) -> Iterator[SqlCatalog]:
    opened = open_catalog(catalog_url, durable=False)
    yield opened
    opened.close()


@pytest.fixture
def catalog() -> Iterator[SqlCatalog]:
    opened = open_catalog("sqlite://:memory:")
    yield opened
    opened.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store() -> CountingStore:
    return CountingStore(MemoryStore(clock=lambda: datetime(2026, 11, 15, tzinfo=UTC)))


@pytest.fixture
def repository(store: CountingStore, catalog: SqlCatalog, clock: Clock) -> DocumentRepository:
    return DocumentRepository(store, catalog, clock=clock, inline_limit=100, subscriptions=EVERYBODY)


MakePage = Callable[..., Document]


@pytest.fixture
def page() -> MakePage:
    """A page as it came in; what is not said is the same every time."""

    def make(
        doc: str = "https://example.com/",
        body: bytes = b"<p>hello</p>",
        *,
        account: str = "acct",
        connector: str = "web",
        datasource: str | None = None,
        fetched_at: datetime | None = None,
        date: str = "Sun, 15 Nov 2026 00:00:00 GMT",
    ) -> Document:
        source = DocumentSource(
            uri="https://example.com/",
            mime_type="text/html",
            fetched_at=fetched_at or datetime(2026, 11, 15, tzinfo=UTC),
            http_status=200,
            headers={"Content-Type": "text/html; charset=utf-8", "Date": date},
        )
        document = Document.intake(account=account, connector=connector, doc=doc, datasource=datasource, source=source)
        return document.with_blob("body", Blob.of(body, "text/html"))

    return make
