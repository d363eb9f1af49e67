"""The catalogue: one suite, both databases."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cocli.documents import CLUSTERS, EVERY, Cursor, Event, Memo, Operation, open_catalog
from cocli.documents.catalog import migrations
from cocli.documents.catalog.base import MemoQuestion
from cocli.documents.catalog.sql import SqlCatalog
from cocli.documents.ids import node_uuid
from cocli.documents.outbox import event_id
from cocli.errors import CatalogError, CatalogUnavailable, ConfigError, InvalidKey, RecordError, UsageError
from cocli.models.document import PipeDoc, Step

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def row(
    doc: str = "d", cluster: str | None = None, address: str = "ds", account: str = "acct", **values: Any
) -> PipeDoc:
    return PipeDoc.checked(
        {
            "uuid": node_uuid(doc, address, account),
            "account": account,
            "connector": "web",
            "datasource": "ds",
            "doc": doc,
            "address": address,
            "cluster": cluster,
            "digest": "0" * 64,
            "size": 10,
            "kind": "intake" if cluster is None else "state",
            "saved_at": NOON,
        }
        | values
    )


def event(of: PipeDoc, destination: str = "", operation: Operation = Operation.CREATED) -> Event:
    name = event_id(of.state_key, of.version, of.digest, operation, destination)
    return Event(name, of.uuid, operation, destination, of.reference, of.version, of.saved_at)


def found(catalog: SqlCatalog, of: PipeDoc) -> PipeDoc | None:
    return catalog.find(of.account, of.state_key, of.uuid).row


def test_a_row_survives(any_catalog: SqlCatalog) -> None:
    step = Step(node="n", code_digest="1" * 64, input_digest="2" * 64, at=NOON)
    full = row(
        "dóc 😀 'quoted' ",
        "main",
        "parser",
        content_type="text/html",
        filename='a"b',
        source_uri="https://a.de/?x=%s:y",
        http_status=404,
        etag="e",
        parent_digest="3" * 64,
        steps=(step, step),
        saved_at=NOON + timedelta(microseconds=1),
        deleted_at=NOON,
        purged_at=NOON,
    )
    any_catalog.commit([full, row()], [])
    assert found(any_catalog, full) == full
    assert found(any_catalog, row()) == row()


def test_an_older_version_never_replaces_a_newer_one(any_catalog: SqlCatalog) -> None:
    newer = row(version=3, digest="3" * 64)
    any_catalog.commit([newer], [])
    any_catalog.commit([row(version=2, digest="2" * 64)], [])
    assert found(any_catalog, newer) == newer
    any_catalog.replace([row(version=2)], [])
    assert found(any_catalog, newer) == row(version=2)


def test_rows_and_events_are_one_transaction(any_catalog: SqlCatalog) -> None:
    broken = event(row("a")).__class__(**{**_fields(event(row("a"))), "destination": None})
    with pytest.raises(CatalogError):
        any_catalog.commit([row("a")], [broken])
    assert found(any_catalog, row("a")) is None
    assert any_catalog.waiting(10) == []


def _fields(one: Event) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__}


def test_a_state_is_not_committed_once_its_document_is_deleted(any_catalog: SqlCatalog) -> None:
    any_catalog.commit([row("d", deleted_at=NOON)], [])
    intake = node_uuid("d", "ds", "acct")
    state = row("d", "main", "parser")
    assert not any_catalog.commit([state], [event(state)], intake=intake)
    assert found(any_catalog, state) is None
    assert any_catalog.find("acct", state.state_key, intake).document_deleted_at == NOON
    assert any_catalog.commit([state], [], intake=node_uuid("other", "ds", "acct"))


@pytest.mark.parametrize(
    "values",
    [
        {"kind": "intake", "cluster": "main"},
        {"kind": "state", "cluster": None},
        {"kind": "intake", "cluster": None, "address": "parser"},
        {"kind": "other", "cluster": None},
        {"kind": "state", "cluster": "intake", "address": "parser"},
        {"account": ""},
        {"version": 0},
        {"digest": "short"},
    ],
)
def test_the_database_itself_refuses_impossible_rows(any_catalog: SqlCatalog, values: dict[str, Any]) -> None:
    """Whoever writes into the tables with a program of their own is held to the same rules."""
    impossible = row().model_copy(update=values)
    with pytest.raises((CatalogError, InvalidKey), match=r"(?i)check|the key"):
        any_catalog.commit([impossible], [])


def test_one_intake_per_document_and_datasource(any_catalog: SqlCatalog) -> None:
    any_catalog.commit([row("d"), row("d", address="ds2", datasource="ds2")], [])
    any_catalog.commit([row("d", version=2)], [])
    assert [one.version for one in any_catalog.states("acct", "d", None, deleted=False)] == [2, 1]


def test_the_four_query_patterns(any_catalog: SqlCatalog) -> None:
    intake, other = row("d"), row("e")
    prod = [row("d", "prod", node) for node in ("chunker", "parser")]
    staging = row("d", "staging", "parser")
    theirs = row("d", "prod", "parser", account="other")
    any_catalog.commit([staging, intake, *prod, theirs, other], [])
    assert any_catalog.states("acct", "d", EVERY, deleted=False) == [intake, *prod, staging]
    assert any_catalog.states("acct", "d", None, deleted=False) == [intake]
    assert any_catalog.states("acct", "d", CLUSTERS, deleted=False) == [*prod, staging]
    assert any_catalog.states("acct", "d", "prod", deleted=False) == prod
    assert any_catalog.states("acct", "d", "nothing", deleted=False) == []
    assert any_catalog.states("other", "d", EVERY, deleted=False) == [theirs]


def test_the_same_node_in_two_clusters_stands_side_by_side(any_catalog: SqlCatalog) -> None:
    prod, staging = row("d", "prod", "parser"), row("d", "staging", "parser")
    assert prod.uuid == staging.uuid
    any_catalog.commit([prod, staging], [event(prod), event(staging)])
    assert len(any_catalog.states("acct", "d", EVERY, deleted=False)) == 2
    assert len(any_catalog.waiting(10)) == 2


def pages(catalog: SqlCatalog, limit: int, **filters: Any) -> list[PipeDoc]:
    answer: list[PipeDoc] = []
    after: Cursor | None = None
    options = {"datasource": None, "cluster": None, "kind": None, "deleted": False} | filters
    while rows := catalog.page("acct", after=after, limit=limit, **options):
        answer += rows
        after = Cursor.behind(rows[-1])
    return answer


def test_pages_are_complete_and_in_order(any_catalog: SqlCatalog) -> None:
    docs = ["a", "B", "b", "ä", "Z", "😀", "a b", "a-b", "a/b", "ab"]
    rows = [row(doc) for doc in docs]
    rows += [row(doc, cluster, node) for doc in docs for cluster in ("main", "Test") for node in ("p", "Q")]
    rows += [row("x", address="ds2", datasource="ds2"), row("x", "main", "p", datasource="ds2")]
    rows += [row("x", "main", "p"), row("x", "main", "p", connector="other"), row("x", "main", "p", datasource="ds1")]
    gone = row("gone", deleted_at=NOON)
    any_catalog.commit([*rows, gone, row("theirs", account="other")], [])

    def order(one: PipeDoc) -> tuple[bytes, ...]:
        parts = (one.doc, one.cluster or "", one.address, one.datasource, one.connector)
        return tuple(part.encode() for part in parts)

    expected = sorted(rows, key=order)
    for limit in (1, 7, 1000):
        assert pages(any_catalog, limit) == expected
        assert pages(any_catalog, limit, deleted=True) == sorted([*rows, gone], key=order)
        for filters in (
            {"kind": "intake"},
            {"kind": "state"},
            {"cluster": "main"},
            {"datasource": "ds2"},
            {"datasource": "ds2", "kind": "intake"},
            {"datasource": "ds", "cluster": "Test"},
            {"datasource": "ds", "kind": "state"},
        ):
            wanted = [one for one in expected if all(getattr(one, name) == value for name, value in filters.items())]
            assert wanted
            assert pages(any_catalog, limit, **filters) == wanted, filters


def test_a_page_goes_on_although_rows_come_and_go(any_catalog: SqlCatalog) -> None:
    any_catalog.commit([row(doc) for doc in "bdf"], [])
    first = any_catalog.page("acct", datasource=None, cluster=None, kind=None, after=None, limit=2, deleted=False)
    any_catalog.commit([row("a"), row("e")], [])
    any_catalog.replace([], [], remove=[row("d")])
    after = Cursor.behind(first[-1])
    rest = any_catalog.page("acct", datasource=None, cluster=None, kind=None, after=after, limit=9, deleted=False)
    assert [one.doc for one in (*first, *rest)] == ["b", "d", "e", "f"]


def test_scanning_sees_every_account(any_catalog: SqlCatalog) -> None:
    rows = [row(doc, account=account) for account in ("a", "b") for doc in "xyz"]
    any_catalog.commit(rows, [])
    seen: list[PipeDoc] = []
    while page := any_catalog.scan(seen[-1] if seen else None, 2):
        seen += page
    assert seen == rows


def test_an_event_is_written_once(any_catalog: SqlCatalog) -> None:
    one = event(row(), "parser")
    any_catalog.commit([], [one, one])
    any_catalog.commit([], [one])
    assert any_catalog.waiting(10) == [one]
    any_catalog.mark_published([one.event_id], NOON)
    any_catalog.commit([], [one])
    assert any_catalog.waiting(10) == []
    assert any_catalog.known_events([one.event_id, "other"]) == {one.event_id}
    assert any_catalog.scan_events(0, 10)[0].published_at == NOON


def test_pruned_events_are_remembered_as_such(any_catalog: SqlCatalog) -> None:
    one, other = event(row("a")), event(row("b"))
    any_catalog.commit([], [one, other])
    assert any_catalog.pruned_before() is None
    any_catalog.mark_published([one.event_id], NOON)
    assert any_catalog.prune_events(NOON) == 0
    assert any_catalog.prune_events(NOON + timedelta(seconds=1)) == 1
    assert any_catalog.prune_events(NOON) == 0
    assert any_catalog.pruned_before() == NOON + timedelta(seconds=1)
    assert any_catalog.waiting(10) == [other], "one that was not published is never pruned"


def test_memos(any_catalog: SqlCatalog) -> None:
    memo = Memo("acct", "d", "parser", "main", "1" * 64, "2" * 64, "3" * 64, NOON, "origin")
    key = ("acct", "d", "parser", "main", "1" * 64, "2" * 64)
    asked = MemoQuestion(*key, "origin")
    assert any_catalog.recall_many([asked]) == [None]
    any_catalog.remember(memo)
    any_catalog.remember(memo)
    assert any_catalog.recall_many([asked]) == [memo]
    strangers = asked._replace(account="other"), asked._replace(origin="elsewhere")
    assert any_catalog.recall_many([strangers[0], asked, strangers[1]]) == [None, memo, None]
    assert any_catalog.recall_many([]) == []
    nothing = Memo(*key, None, NOON, "origin")
    any_catalog.remember(nothing)
    assert any_catalog.recall_many([asked]) == [nothing]
    any_catalog.forget("acct", "d")
    assert any_catalog.recall_many([asked]) == [None]


def test_clearing_empties_everything(any_catalog: SqlCatalog) -> None:
    any_catalog.commit([row()], [event(row())])
    any_catalog.remember(Memo("acct", "d", "n", "c", "1" * 64, "2" * 64, None, NOON, "o"))
    any_catalog.clear()
    assert any_catalog.scan(None, 10) == []
    assert any_catalog.waiting(10) == []


def test_another_account_is_not_found_by_its_uuid(any_catalog: SqlCatalog) -> None:
    mine = row("d", account="mine")
    any_catalog.commit([mine], [])
    assert any_catalog.find("theirs", mine.state_key, mine.uuid).row is None


def test_threads_share_a_catalogue(any_catalog: SqlCatalog) -> None:
    def save(number: int) -> None:
        one = row(f"d{number % 20}", version=number + 1)
        any_catalog.commit([one], [event(one)])
        assert found(any_catalog, one) is not None

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(save, range(100)))
    assert len(any_catalog.scan(None, 1000)) == 20
    assert len(any_catalog.scan_events(0, 1000)) == 100


def test_processes_share_a_catalogue(catalog_url: str) -> None:
    program = (
        "import sys; from cocli.documents import open_catalog; from datetime import UTC, datetime\n"
        "from cocli.documents.catalog.base import Memo\n"
        "catalog = open_catalog(sys.argv[1], durable=False)\n"
        "for n in range(50): catalog.remember(Memo('a', sys.argv[2], 'n', 'c', f'{n:064d}', '2'*64, None, "
        "datetime(2026, 1, 1, tzinfo=UTC), 'o'))\n"
    )
    # All of them open it at once: only one makes the tables.
    running = [
        subprocess.Popen([sys.executable, "-c", program, catalog_url, str(number)], stderr=subprocess.PIPE)
        for number in range(3)
    ]
    for process in running:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors.decode()
    catalog = open_catalog(catalog_url)
    last = [MemoQuestion("a", str(number), "n", "c", f"{49:064d}", "2" * 64, "o") for number in range(3)]
    assert all(catalog.recall_many(last))
    catalog.close()


# --- migrations


def test_both_dialects_have_the_same_migrations() -> None:
    names = {dialect: [one.name for one in migrations.of_dialect(dialect)] for dialect in ("sqlite", "postgres")}
    assert names["sqlite"] == names["postgres"]
    numbers = [one.number for one in migrations.of_dialect("sqlite")]
    assert numbers == list(range(1, len(numbers) + 1))


def test_migrations_are_applied_once_and_in_order(any_catalog: SqlCatalog) -> None:
    database = any_catalog.database
    wanted = migrations.of_dialect(database.dialect)
    assert migrations.migrate(database) == []
    script = "CREATE TABLE extra (a TEXT);\nCREATE TABLE extra2 (a TEXT DEFAULT ';');\n"
    extra = migrations.CatalogMigration(9999, "9999_extra.sql", script)
    assert migrations.migrate(database, [*wanted, extra]) == ["9999_extra.sql"]
    assert migrations.migrate(database, [*wanted, extra]) == []


def test_a_migration_that_fails_leaves_nothing(any_catalog: SqlCatalog) -> None:
    database = any_catalog.database
    bad = migrations.CatalogMigration(
        9999, "9999_bad.sql", "CREATE TABLE half (a TEXT);\nCREATE TABLE pipedocs (a TEXT);\n"
    )
    with pytest.raises(CatalogError):
        migrations.migrate(database, [*migrations.of_dialect(database.dialect), bad])
    good = migrations.CatalogMigration(9999, "9999_good.sql", "CREATE TABLE half (a TEXT);\n")
    assert migrations.migrate(database, [*migrations.of_dialect(database.dialect), good]) == ["9999_good.sql"]


def test_a_changed_or_newer_catalogue_is_refused(any_catalog: SqlCatalog) -> None:
    database = any_catalog.database
    wanted = migrations.of_dialect(database.dialect)
    changed = [migrations.CatalogMigration(wanted[0].number, wanted[0].name, "-- another\n"), *wanted[1:]]
    with pytest.raises(CatalogError, match="is not what was applied"):
        migrations.migrate(database, changed)
    with pytest.raises(CatalogError, match="does not know"):
        migrations.migrate(database, [])


def test_texts_are_ordered_by_their_bytes_on_postgres(any_catalog: SqlCatalog) -> None:
    """The server of the tests has no other order; a real one often has, and pages would be cut in the wrong places."""
    if any_catalog.database.dialect == "sqlite":
        return
    names = "SELECT column_name FROM information_schema.columns "
    names += "WHERE table_name = 'document_states' AND collation_name = 'C'"
    with any_catalog.database.read() as session:
        columns = {name for (name,) in session.rows(names + " AND table_schema = current_schema()", {})}
    assert {"account", "doc", "cluster", "address", "datasource"} <= columns


# --- opening


def test_addresses(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "c.sqlite3"
    open_catalog(f"sqlite://{path}").close()
    open_catalog(str(path)).close()
    assert path.exists()
    for bad in ("mysql://x", "sqlite://", "", "  "):
        with pytest.raises(ConfigError):
            open_catalog(bad)


def test_a_database_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(CatalogUnavailable) as caught:
        open_catalog("postgresql://me:secret@127.0.0.1:1/nothing?connect_timeout=2")
    assert caught.value.retryable
    assert "secret" not in str(caught.value.as_dict())


def test_a_lost_connection_is_made_again(any_catalog: SqlCatalog) -> None:
    if any_catalog.database.dialect == "sqlite":
        return
    any_catalog.commit([row()], [])
    with pytest.raises(CatalogUnavailable), any_catalog.database.read() as session:
        session.rows("SELECT pg_terminate_backend(pg_backend_pid())", {})
    assert found(any_catalog, row()) == row()


def test_a_file_that_is_no_database_is_an_error_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite3"
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(CatalogError, match="not a database") as caught:
        open_catalog(str(path))
    assert "rebuild" in str(caught.value.hint)


def test_without_psycopg_the_error_names_the_command() -> None:
    program = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from cocli.documents import open_catalog; from cocli.errors import MissingExtra\n"
        "try: open_catalog('postgresql://localhost/x')\n"
        "except MissingExtra as error: print(error.hint)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "Install it with: pip install 'cocli[postgres]'", done.stderr


def test_the_pages_use_an_index(tmp_path: Path) -> None:
    """A page costs what it shows, not what is there."""
    path = str(tmp_path / "c.sqlite3")
    catalog = open_catalog(path)
    statements = catalog.database.statements
    catalog.close()
    connection = sqlite3.connect(path)
    for name, statement in statements.items():
        if name.startswith(("page", "states", "find", "scan", "waiting", "known", "mark_published", "recall")):
            plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", dict.fromkeys(_PARAMETERS, "")).fetchall()
            text = " ".join(str(one) for one in plan)
            assert "SCAN document_states" not in text or name == "scan", (name, text)
            # Within one document, a few rows may be put in order; nothing more.
            assert "TEMP B-TREE" not in text.replace("TEMP B-TREE FOR RIGHT PART", ""), (name, text)
    connection.close()


_PARAMETERS = (
    *("account", "doc", "cluster", "address", "datasource", "limit", "deleted", "states", "after", "after_doc"),
    *("after_cluster", "after_address", "uuid", "intake", "event_id", "at", "node", "input_digest", "code_digest"),
    *("reason", "name", "before", "connector", "after_datasource", "after_connector", "origin"),
)


def test_a_cursor_survives_its_token() -> None:
    for cursor in (Cursor("d", None, "ds"), Cursor("dóc 😀", "main", "p/q", "ds", "web")):
        assert Cursor.parse(cursor.token()) == cursor
    for bad in ("", "x", "!!!", "W10", "bnVsbA"):
        with pytest.raises(UsageError):
            Cursor.parse(bad)


def test_a_row_that_somebody_spoiled_is_an_error_not_a_crash(any_catalog: SqlCatalog) -> None:
    any_catalog.commit([row()], [])
    with any_catalog.database.transaction() as session:
        session.run("UPDATE document_states SET uuid = 'nonsense'", {})
    with pytest.raises(CatalogError) as caught:
        any_catalog.scan(None, 10)
    assert isinstance(caught.value.__cause__, RecordError)
    assert "fsck --rebuild" in str(caught.value.hint)
