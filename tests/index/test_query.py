"""SQL over an index shows what a reader shows: the newest row of each key, every text as it was, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.kit.effort import effort

from cocli.errors import QueryError
from cocli.formats.columns import columns_of
from cocli.index.cache import FolderCache
from cocli.index.compaction import Compactor
from cocli.index.index import Index
from cocli.index.queries.derived import DerivedFolder
from cocli.index.queries.layers import reader_rows, shard_rows
from cocli.index.queries.names import manifest_name
from cocli.index.queries.query import (
    Layer,
    QuerySession,
    open_session,
    parquet_layer,
    side_by_side,
    stacked,
    usv_layer,
)
from cocli.index.queries.sql import parse_query
from cocli.index.reader import IndexReader, open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash
from cocli.keys.paths import IndexRef
from cocli.models.email import EmailEntry
from cocli.models.prospect import Prospect
from cocli.models.record import Record
from cocli.models.witness import Witness
from cocli.pipeline.indexes import open_index
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
KNOWN: dict[str, type[Record]] = {"prospects": Prospect, "emails": EmailEntry}
texts = st.text(alphabet="ab\\nrtN037\n\r\t\x1e\x1f'\"é🔧", max_size=8)


def prospect(number: int, **values: Any) -> Prospect:
    required: dict[str, Any] = {
        "company_hash": company_hash(str(number)),
        "slug": "x",
        "name": f"No {number}",
        "campaign": "plumbers",
    }
    return Prospect(**(required | {"first_seen": NOON, "updated_at": NOON} | values))


def an_index(folder: Path, store: Any | None = None, name: str = "prospects") -> Index[Any]:
    ref = IndexRef(name, "plumbers" if name == "prospects" else None)
    return open_index(store or MemoryStore(), ref, FolderCache(folder / "cache"))


def ask(reader: IndexReader[Any], folder: Path, sql: str, *, model: type[Any] = Prospect) -> list[tuple[Any, ...]]:
    with open_session(KNOWN | {"asked": model}) as session:
        rows = reader_rows(reader, model, DerivedFolder(str(folder / "copies")), str(folder))
        return list(session.run(sql, lambda _: rows).rows())


def fetched(sql: str) -> list[tuple[Any, ...]]:
    return duckdb.connect().execute(sql).fetchall()


# --- what is seen


changes = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 12), texts, st.integers(0, 9)),
        st.just("compact"),
    ),
    max_size=25,
)


@settings(max_examples=effort(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes, st.booleans(), st.booleans())
def test_sql_sees_what_a_reader_sees(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Any], fresh: bool, derived: bool
) -> None:
    folder = tmp_path_factory.mktemp("q")
    index = an_index(folder)
    for minute, step in enumerate(steps):
        if step == "compact":
            Compactor(index).compact()
        else:
            number, text, count = step
            at = NOON.replace(minute=minute)
            IndexWriter(index).put(prospect(number, name=text or "x", street=text, review_count=count, updated_at=at))
    reader = open_reader(index, fresh=fresh)
    if derived and reader.version:
        copies = DerivedFolder(str(folder / "copies"))
        copies.build(manifest_name(reader.manifest), shard_rows(reader, Prospect))
    found = ask(reader, folder, "select company_hash, name, street, review_count from asked order by 1")
    assert found == [(record.company_hash, record.name, record.street, record.review_count) for record in reader.scan()]


def test_layers_hide_what_lies_below(tmp_path: Path) -> None:
    def layer(*pairs: tuple[int, str]) -> Layer:
        rows = ", ".join(f"('{company_hash(str(number))}', '{name}')" for number, name in pairs)
        return Layer(f"SELECT * FROM (VALUES {rows}) AS t(company_hash, name)")

    layers = [layer((1, "top")), layer((1, "middle"), (2, "middle")), layer((1, "low"), (2, "low"), (3, "low"))]
    rows = stacked(Prospect, layers)
    assert sorted(fetched(f"select name from ({rows.sql})")) == [("low",), ("middle",), ("top",)]
    some = stacked(Prospect, layers, where="name <> 'top'")
    assert len(fetched(f"from ({some.sql})")) == 2, "asked of the newest row, not of those it hides"
    assert len(fetched(f"from ({side_by_side(layers).sql})")) == 6


def test_two_keys_that_are_one_only_together(tmp_path: Path) -> None:
    index = an_index(tmp_path, name="scraped-tiles")
    fixed: dict[str, Any] = {"source": "s", "worker": "w", "campaign": "plumbers", "outcome": "exhausted"}
    for round_number in (1, 2):
        for tile, phrase in (("39.8_-89.7", "plumber"), ("39.8_-89.7", "roofer"), ("39.8_-89.8", "plumber")):
            at = NOON.replace(minute=round_number)
            record = Witness.checked({"tile": tile, "phrase": phrase, "read_at": at, "count": round_number, **fixed})
            IndexWriter(index).put(record)
        Compactor(index).compact()
    found = ask(open_reader(index), tmp_path, "select tile, phrase, count from asked order by 1, 2", model=Witness)
    assert [row[:2] for row in found] == [
        ("39.8_-89.7", "plumber"), ("39.8_-89.7", "roofer"), ("39.8_-89.8", "plumber"),
    ]  # fmt: skip


def test_columns_that_only_some_shards_have(tmp_path: Path) -> None:
    index = an_index(tmp_path)
    IndexWriter(index).put(prospect(1))
    Compactor(index).compact()
    IndexWriter(index).put(prospect(2).with_extras({"feature_id": "0x1:0x2", 'it\'s "odd"': "y"}))
    Compactor(index).compact()
    reader = open_reader(index)
    found = ask(reader, tmp_path, 'select feature_id, "it\'s ""odd""" from asked order by 1 nulls first')
    assert found == [(None, None), ("0x1:0x2", "y")]
    copies = DerivedFolder(str(tmp_path / "copies"))
    copies.build(manifest_name(reader.manifest), shard_rows(reader, Prospect))
    assert ask(reader, tmp_path, "select feature_id from asked order by 1 nulls first") == [(None,), ("0x1:0x2",)]


# --- what is fetched


def test_only_what_is_named_is_fetched_and_only_once(tmp_path: Path) -> None:
    store = CountingStore(MemoryStore())
    index = an_index(tmp_path, store)
    IndexWriter(index).append(prospect(number) for number in range(50))
    Compactor(index).compact()
    cold = open_index(store, index.ref, FolderCache(tmp_path / "other"))
    asked: list[str] = []

    def source(name: str) -> Layer:
        asked.append(name)
        return reader_rows(open_reader(cold), Prospect, DerivedFolder(str(tmp_path / "copies")), str(tmp_path))

    def run(sql: str) -> list[tuple[Any, ...]]:
        asked.clear()
        store.reset()
        with open_session(KNOWN) as session:
            return list(session.run(sql, source).rows())

    assert run("select 1 as prospects") == [(1,)]
    assert asked == []
    assert run("select count(*) from Prospects where name in (select name from prospects)") == [(50,)]
    assert asked == ["prospects"]
    assert (store.counts["get"], store.counts["list"], store.counts["head"]) == (3, 0, 0)
    assert run("with one as (select 1 as n) select count(*) from prospects, one") == [(50,)]
    assert (store.counts["get"], store.counts["list"]) == (1, 0)
    assert run("with emails as (select 7 as n) select n from emails") == [(7,)]
    assert run("select * from query('select count(*) from prospects')") == [(50,)]
    assert set(asked) == set(KNOWN), "what is named in a text cannot be known"


@pytest.mark.parametrize(
    ("sql", "views"),
    [
        ("from prospects", {"prospects"}),
        ("table prospects", {"prospects"}),
        ("describe emails", {"emails"}),
        ("summarize prospects", {"prospects"}),
        ("select * from memory.main.prospects", {"prospects"}),
        ('select * from "PROSPECTS" p join emails e using (company_hash)', {"prospects", "emails"}),
        ("select (select count(*) from emails) from range(3)", {"emails"}),
        ("select 1 where exists (from prospects) union all from (values (1))", {"prospects"}),
        ("pivot prospects on city in ('a', 'b') using count(*)", {"prospects"}),
        ("with recursive r(n) as (select 1 union all select n + 1 from r where n < 3) from r", set()),
        ("with a as (with b as (from emails) from b) from a", {"emails"}),
        ("select * from information_schema.tables", set()),
        ("select 'from prospects' -- from emails", set()),
        ("show tables", set()),
    ],
)
def test_the_views_of_a_query(sql: str, views: set[str]) -> None:
    assert parse_query(duckdb.connect(), sql, KNOWN).views == views


@pytest.mark.parametrize(
    "sql",
    [
        "select name from (show tables)",
        "select table_name from information_schema.tables",
        "select view_name from duckdb_views() where not internal",
        "select distinct table_name from information_schema.columns",
    ],
)
def test_who_looks_around_sees_every_view(sql: str) -> None:
    with open_session(KNOWN) as session:
        assert {row[0] for row in session.run(sql, lambda _: Layer("")).rows()} == set(KNOWN)


def test_who_looks_around_sees_the_columns_of_a_view_that_the_query_does_not_name() -> None:
    with open_session(KNOWN) as session:
        found = session.run("select name from pragma_table_info('prospects')", lambda _: Layer(""))
        assert [row[0] for row in found.rows()] == [column.name for column in columns_of(Prospect)]


def test_only_who_looks_around_waits_for_views_that_the_query_does_not_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dozen of them take longer than most queries, and every figure is a query."""
    created: list[str] = []
    create = QuerySession._create

    def noted(session: QuerySession, name: str, sql: str) -> None:
        created.append(name)
        create(session, name, sql)

    monkeypatch.setattr(QuerySession, "_create", noted)
    with open_session(KNOWN) as session:
        assert list(session.run("select a from prospects", lambda _: Layer("select 7 as a")).rows()) == [(7,)]
    assert created == ["prospects"]


# --- what is refused


@pytest.fixture
def locked(tmp_path: Path) -> Callable[[str], list[tuple[Any, ...]]]:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    index = an_index(tmp_path)
    IndexWriter(index).put(prospect(1))
    Compactor(index).compact()
    reader = open_reader(index)

    def run(sql: str) -> list[tuple[Any, ...]]:
        return ask(reader, tmp_path, sql.replace("SECRET", str(tmp_path / "secret.csv")))

    return run


SECRET_VALUE = duckdb.sql("select 42 as answer")
"""A relation of this process, which a query must not see by the name of its variable."""


@pytest.mark.parametrize(
    "sql",
    [
        "from read_csv('SECRET')",
        "from 'SECRET'",
        "from read_text('SECRET')",
        "from read_blob('SECRET')",
        "from read_json('SECRET')",
        "from sniff_csv('SECRET')",
        "from glob('/etc/*')",
        "from query('from ''SECRET''')",
        "from SECRET_VALUE",
        "from query('from SECRET_VALUE')",
        "from duckdb_secrets()",
        "select getenv('HOME')",
        "copy asked to 'SECRET'",
        "export database 'SECRET'",
        "attach 'SECRET' as s",
        "load httpfs",
        "install httpfs",
        "set lock_configuration = false",
        "reset enable_external_access",
        "pragma enable_external_access",
        "create table t as from asked",
        "create or replace view asked as select 1",
        "update asked set name = 'x'",
        "delete from asked",
        "checkpoint",
        "call pragma_version()",
        "explain analyze from asked",
        "prepare p as select 1",
        "select 1; from read_csv('SECRET')",
    ],
)
def test_a_query_can_do_nothing_but_read_its_views(locked: Any, tmp_path: Path, sql: str) -> None:
    with pytest.raises(QueryError):
        locked(sql)
    assert (tmp_path / "secret.csv").read_text() == "a\n1\n"
    assert locked("select count(*) from asked") == [(1,)]


def test_deep_brackets_are_an_error_and_no_crash(locked: Any) -> None:
    with pytest.raises(QueryError):
        locked("select " + "(" * 5000 + "1" + ")" * 5000)
    assert locked("select " + "(" * 50 + "1" + ")" * 50) == [(1,)]


def test_names_of_columns_are_distinct(tmp_path: Path) -> None:
    with open_session(KNOWN) as session:
        result = session.run("select 1 as a, 2 as a, 3 as a_1, 4 as b", lambda _: Layer(""))
        assert [column.name for column in result.columns] == ["a", "a_1", "a_1_1", "b"]


def test_parquet_of_a_query(tmp_path: Path) -> None:
    path = str(tmp_path / "x.parquet")
    with open_session(KNOWN) as session:
        assert session.write_parquet("from range(7) -- a comment", lambda _: Layer(""), path) == 7
    assert len(fetched(parquet_layer(path).sql)) == 7


def test_a_file_whose_name_needs_quoting(tmp_path: Path) -> None:
    from cocli.formats import usv

    file = tmp_path / "it's.usv"
    data = usv.render(Prospect, [prospect(1)])
    file.write_bytes(data)
    header = tuple(data.split(b"\n")[0].decode().split("\x1f"))
    rows = usv_layer(Prospect, [(str(file), header)])
    assert fetched(f"select name from ({rows.sql})") == [("No 1",)]
