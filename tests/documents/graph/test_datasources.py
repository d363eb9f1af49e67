"""Two datasources have documents of one id: each has states of its own, whoever comes first."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.conftest import postgres_server  # noqa: F401 - a fixture
from tests.kit.effort import effort
from tests.kit.postgres import PostgresServer

from cocli.documents import Document, DocumentRepository, open_catalog
from cocli.documents.care import fsck
from cocli.documents.catalog import migrations
from cocli.documents.catalog.base import MemoQuestion
from cocli.documents.catalog.postgres import PostgresDatabase
from cocli.documents.catalog.sql import SqlCatalog
from cocli.documents.catalog.sqlite import SqliteDatabase
from cocli.documents.replay.compare import compare_editions
from cocli.documents.replay.jobs import Hold, list_outcomes, run_job
from cocli.documents.replay.plan import ReplayPlan
from cocli.documents.replay.replay import plan_replay
from cocli.documents.subscriptions import EVERYBODY
from cocli.errors import UsageError
from cocli.keys.identities import origin_id
from cocli.store.base import Store
from cocli.store.memory import MemoryStore

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
OWNERS = [["web", "one"], ["web", "two"], ["other", "one"]]


def came_in(connector: str, datasource: str, **data: Any) -> Document:
    document = Document.intake(account="acct", connector=connector, doc="d", datasource=datasource)
    return document.with_data("n", data) if data else document


SAVES = [came_in(*owner, came="in") for owner in OWNERS] + [
    came_in(*owner).at(node, edition).with_data(node, {"by": owner})
    for owner in OWNERS
    for node, edition in (("parser", "prod"), ("parser", "next"))
]


def rows_of(catalog: SqlCatalog) -> list[Any]:
    return [row.model_copy(update={"saved_at": NOON}) for row in catalog.scan(None, 100)]


def repository_of(store: Store, catalog: SqlCatalog) -> DocumentRepository:
    return DocumentRepository(store, catalog, clock=lambda: NOON, subscriptions=EVERYBODY)


@settings(max_examples=effort(12), deadline=None)
@given(st.permutations(range(len(SAVES))))
def test_the_order_of_saves_does_not_matter(order: list[int]) -> None:
    store, catalog = MemoryStore(clock=lambda: NOON), open_catalog("sqlite://:memory:")
    repository = repository_of(store, catalog)
    saved = {number: repository.save(SAVES[number]) for number in order}
    assert {receipt.outcome for receipt in saved.values()} == {"created"}
    for number, document in enumerate(SAVES):
        assert repository.get("acct", saved[number].reference) == document
    rows, events = rows_of(catalog), {event.event_id for event in catalog.waiting(100)}
    assert [(row.state_key, row.digest) for row in rows] == sorted(
        ((document.state_key, document.digest) for document in SAVES),
        key=lambda found: (found[0].cluster or "", _address(found[0]), found[0].datasource, found[0].connector),
    )
    assert len(events) == len(SAVES), "each is told of, also where both have the same content"
    fsck.rebuild(repository)
    assert rows_of(catalog) == rows, "the store alone says as much"
    assert {event.event_id for event in catalog.waiting(100)} == events
    catalog.close()


def _address(state: Any) -> str:
    return "parser" if state.cluster else state.datasource


def test_machines_tell_each_other_of_both(tmp_path: Path) -> None:
    store = MemoryStore(clock=lambda: NOON)
    first, second = (open_catalog(str(tmp_path / name)) for name in ("a.sqlite3", "b.sqlite3"))
    here, there = repository_of(store, first), repository_of(store, second)
    for number, document in enumerate(SAVES):
        (here, there)[number % 2].save(document)
    for repository in (here, there):
        repository.teller.tell()
    for repository in (here, there):
        repository.learner.learn()
        assert repository.census.count().read == 0, "nothing lies in the store that nobody told of"
    assert rows_of(first) == rows_of(second)
    assert len(rows_of(first)) == len(SAVES)
    first.close()
    second.close()


def test_a_state_that_nobody_told_of_is_found_by_its_datasource(tmp_path: Path) -> None:
    """The uuid and the cluster are known: of another datasource."""
    store = MemoryStore(clock=lambda: NOON)
    first, second = (open_catalog(str(tmp_path / name)) for name in ("a.sqlite3", "b.sqlite3"))
    here, there = repository_of(store, first), repository_of(store, second)
    here.save(SAVES[3])
    there.save(SAVES[5])
    assert here.census.count().read == 1
    assert len(rows_of(first)) == 2
    first.close()
    second.close()


def test_which_one_is_meant_has_to_be_said(catalog: SqlCatalog) -> None:
    repository = repository_of(MemoryStore(clock=lambda: NOON), catalog)
    for document in SAVES:
        repository.save(document)
    with pytest.raises(UsageError, match="several datasources"):
        repository.current("acct", "d", "parser", "prod")
    found = repository.current("acct", "d", "parser", "prod", datasource="two")
    assert found.data["parser"] == {"by": ["web", "two"]}
    repository.delete("acct", "d")
    assert repository.states("acct", "d") == []
    repository.restore("acct", "d")
    assert len(repository.states("acct", "d")) == len(SAVES)
    assert len(repository.purge("acct", "d")) == len(OWNERS)
    assert fsck.check(repository).clean


# --- through a graph


def both(world: Any, **data: Any) -> list[Document]:
    """The same content from two datasources."""
    documents = [came_in("web", name, **data) for name in ("one", "two")]
    for document in documents:
        world.repository.save(document)
    return documents


def test_a_step_of_one_datasource_is_not_taken_for_the_others(world: Any) -> None:
    first, second = both(world, same="content")
    assert first.digest == second.digest
    engine = world.engine(world.graph("intake>a", keep=("a",)))
    assert engine.run(first).ran
    assert engine.run(second).ran, "what was remembered is the step of the other datasource"
    assert {row.datasource for row in world.repository.states("acct", "d", cluster="prod")} == {"one", "two"}
    assert not engine.run(second).ran


def test_a_replay_has_an_outcome_for_each(world: Any) -> None:
    both(world, same="content")
    engine = world.engine(world.graph("intake>a", keep=("a",)))

    def replay(**options: Any) -> Any:
        job = plan_replay(engine, "acct", ReplayPlan.of(engine, **options))
        return run_job(engine, "acct", job.job, hold=Hold("r1", 60, world.time))

    first = replay()
    assert (first.done, first.skipped) == (2, 0)
    outcomes = list_outcomes(world.repository, "acct", first.job)
    assert [outcome.datasource for outcome in outcomes] == ["one", "two"]
    again = replay()
    assert (again.done, again.skipped) == (0, 2)
    world.repository.delete("acct", "d", cluster="prod")
    world.repository.restore("acct", "d", cluster="prod")
    assert fsck.check(world.repository).clean


def test_compare_tells_them_apart(world: Any) -> None:
    for owner, edition, name in (
        *(("one", "old", "x"), ("one", "new", "y")),
        *(("two", "old", "x"), ("two", "new", "x"), ("three", "new", "z")),
    ):
        world.repository.save(came_in("web", owner).at("a", edition).with_data("a", {"name": name}))
    found = compare_editions(world.repository, "acct", "old", "new")
    assert (found.documents, found.identical, found.different, found.only_right) == (2, 1, 1, 1)
    (example,) = found.fields["/a/name"].examples
    assert (example.doc, example.datasource) == ("d", "one")
    assert found.examples_only_right == ["d (three)"]
    only = compare_editions(world.repository, "acct", "old", "new", datasource="two")
    assert (only.documents, only.identical) == (1, 1)


# --- a catalogue from before


def _before(database: Any) -> None:
    """The tables as they were, with a document, its state, a memo and an outcome."""
    migrations.migrate(database, migrations.of_dialect(database.dialect)[:3])
    intake, state = came_in("web", "one"), came_in("web", "one").at("a", "prod")
    with database.transaction() as session:
        for document in (intake, state):
            place = f"'{document.uuid}', '{document.cluster or ''}'"
            session.run(
                "INSERT INTO pipedocs (uuid, cluster, account, connector, datasource, doc, address, kind, digest, "
                f"size, version, saved_at) VALUES ({place}, 'acct', 'web', 'one', 'd', '{document.address}', "
                f"'{'state' if document.cluster else 'intake'}', '{document.digest}', 1, 1, "
                "'2026-11-15T12:00:00.000000Z')",
                {},
            )
            session.run(f"INSERT INTO untold (uuid, cluster) VALUES ({place})", {})
        session.run("INSERT INTO untold (uuid, cluster) VALUES ('gone', '')", {})
        session.run(
            "INSERT INTO memo (account, doc, node, cluster, input_digest, code_digest, output_digest, at) VALUES "
            f"('acct', 'd', 'a', 'prod', '{intake.digest}', 'c', '{state.digest}', '2026-11-15T12:00:00.000000Z')",
            {},
        )


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_a_catalogue_from_before_is_brought_up_to_date(
    dialect: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if dialect == "sqlite":
        address = str(tmp_path / "old.sqlite3")
        database: Any = SqliteDatabase(address, durable=False)
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        address = server.new_schema()
        database = PostgresDatabase(address)
    _before(database)
    database.close()
    catalog = open_catalog(address, durable=False)
    rows = catalog.scan(None, 10)
    assert [(row.cluster, row.address) for row in rows] == [(None, "one"), ("prod", "a")]
    assert catalog.untold_places() == {row.state_key for row in rows}
    intake, state = rows
    asked = MemoQuestion("acct", "d", "a", "prod", intake.digest, "c", origin_id("web", "one"))
    (memo,) = catalog.recall_many([asked])
    assert memo is not None
    assert memo.output_digest == state.digest
    with catalog.database.read() as session:
        keys = [key for (key,) in session.rows("SELECT object_key FROM pipedocs ORDER BY cluster_id IS NOT NULL", {})]
    folder = "uploads/acct/web/one/d"
    assert keys == [f"{folder}/intake/{intake.uuid}.pb", f"{folder}/prod/{state.uuid}.pb"], "written down afterwards"
    catalog.close()


# --- the names of the design that this follows

ALL_STATES = "SELECT * FROM pipedocs WHERE doc_id = '{doc}' AND account_id = '{account}'"
INTAKE = f"{ALL_STATES} AND cluster_id IS NULL"
IN_CLUSTERS = f"{ALL_STATES} AND cluster_id IS NOT NULL"
ONE_CLUSTER = f"{ALL_STATES} AND cluster_id = 'prod'"
COLUMNS = "node_id, doc_id, graph_address_id, account_id, datasource_id, connector_id, checksum, cluster_id, object_key"


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_the_queries_of_the_original_design_run_as_written(
    dialect: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address = str(tmp_path / "c.sqlite3")
    if dialect == "postgres":
        address = request.getfixturevalue("postgres_server").new_schema()
    catalog, store = open_catalog(address, durable=False), MemoryStore(clock=lambda: NOON)
    repository = DocumentRepository(store, catalog, clock=lambda: NOON, prefix="my docs")
    url = "https://example.com/" + "ü" * 200
    page = Document.intake(account="acct", connector="web", doc=url, datasource="one")
    theirs = Document.intake(account="theirs", connector="web", doc=url, datasource="one")
    states = [page, page.at("parser", "prod"), page.at("parser", "next"), page.at("chunker", "prod"), theirs]
    for document in states:
        repository.save(document)
    repository.save(page.at("gone", "prod"))
    repository.save(page.at("gone", "old"))
    repository.delete("acct", url, cluster="old")

    def ask(query: str) -> set[tuple[Any, ...]]:
        with catalog.database.read() as session:
            found = session.rows(query.format(doc=url, account="acct").replace("*", COLUMNS), {})
        return {tuple(map(str, columns)) for columns in found}

    every = ask(ALL_STATES)
    wanted = {
        (
            *(document.uuid, url, document.address, "acct", "one", "web", document.digest, str(document.cluster)),
            repository.objects.place(document).current,
        )
        for document in (*states[:-1], page.at("gone", "prod"))
    }
    assert every == wanted
    assert {columns[8] for columns in every} <= {info.key for info in store.list()}, "there is an object at every key"
    assert {columns[2] for columns in ask(INTAKE)} == {"one"}
    assert {columns[7] for columns in ask(IN_CLUSTERS)} == {"prod", "next"}
    assert {columns[2] for columns in ask(ONE_CLUSTER)} == {"parser", "chunker", "gone"}
    catalog.close()
