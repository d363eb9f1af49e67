"""DuckDB reads our files as we do: same fields, same nulls, same texts."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.kit.effort import effort

from cocli.formats import usv
from cocli.models.email import EmailEntry
from cocli.models.prospect import Prospect

NOON = datetime(2026, 11, 15, 12, 0, 0, 250, tzinfo=UTC)
texts = st.one_of(st.text(), st.text(alphabet="\\nrt0367N\n\r\t\x1e\x1f\"'"))


@pytest.fixture(scope="module")
def duck() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def prospect(**values: Any) -> Prospect:
    required = {"company_hash": "0" * 16, "slug": "acme", "name": "Acme", "campaign": "roofers"}
    return Prospect(**(required | {"first_seen": NOON, "updated_at": NOON} | values))


@settings(max_examples=effort(120), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(texts, min_size=1, max_size=20))
def test_the_expression_decodes_as_python_does(duck: duckdb.DuckDBPyConnection, values: list[str]) -> None:
    fields = [usv.escape(value) for value in values]
    expression = usv.decode_expression("field")
    rows = duck.execute(f"SELECT {expression} FROM (SELECT unnest(?::VARCHAR[]) AS field)", [fields]).fetchall()
    assert [row[0] for row in rows] == [usv.unescape(field) for field in fields] == values


@settings(max_examples=effort(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(texts, st.none() | texts, st.lists(texts, max_size=2)), min_size=1, max_size=5))
def test_whole_files(
    duck: duckdb.DuckDBPyConnection, tmp_path: Path, rows: list[tuple[str, str | None, list[str]]]
) -> None:
    file = tmp_path / "it's a shard.usv"
    records = [prospect(name=name, phone=phone, categories=categories) for name, phone, categories in rows]
    file.write_bytes(usv.render(Prospect, records))
    query = usv.select_usv(Prospect, str(file))
    found = duck.sql(f"SELECT name, phone, categories::VARCHAR FROM ({query})").fetchall()
    assert [(name, phone, json.loads(categories)) for name, phone, categories in found] == rows


def test_types_nulls_and_megabytes(duck: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    file = tmp_path / "a.usv"
    long = "x\\\n" * 1_000_000
    records = [
        prospect(name="", phone=None, lat=33.5, review_count=7, socials={"x": 'say "hi"'}),
        prospect(name=long, phone="\\N", website="\x00"),
    ]
    file.write_bytes(usv.render(Prospect, records))
    query = usv.select_usv(Prospect, [str(file), str(file)])
    columns = "name, phone, website, lat, review_count, updated_at, socials->>'x'"
    first, second, *_ = duck.sql(f"SELECT {columns} FROM ({query})").fetchall()
    assert first == ("", None, None, 33.5, 7, NOON.replace(tzinfo=None), 'say "hi"')
    assert second[:3] == (long, "\\N", "\x00")
    assert duck.sql(f"SELECT count(*) FROM ({query})").fetchall() == [(4,)]


def test_another_header_reads_by_name(duck: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    file = tmp_path / "a.usv"
    header = ["last_seen", "first_seen", "gra\"de'", "domain", "email"]
    row = ["2026-11-15T12:00:00Z", "2026-11-15T12:00:00Z", r"g\\n", "b.de", "a@b.de"]
    file.write_text("\x1f".join(header) + "\n" + "\x1f".join(row) + "\n")
    relation = duck.sql(usv.select_usv(EmailEntry, str(file), header=header))
    (values,) = relation.fetchall()
    found = dict(zip(relation.columns, values, strict=True))
    assert (found["email"], found["domain"], found["tags"], found["gra\"de'"]) == ("a@b.de", "b.de", None, "g\\n")


def test_duckdb_is_not_loaded_to_read_files() -> None:
    code = "import sys, cocli.formats.usv; print('duckdb' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout == "False\n"
