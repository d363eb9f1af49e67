"""What a person's SQL says before anything is fetched: that it is one SELECT, and which views it names.

DuckDB itself takes the text apart; nothing here guesses with patterns. A view that is only named in a text
(`query('…')`) cannot be known, so then all of them are meant.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb

from cocli.config.schema import nearest
from cocli.errors import DiskFull, QueryError, no_room_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_BY_NAME_AT_RUN_TIME = frozenset({"query", "query_table"})
_OWN_SCHEMAS = frozenset({"information_schema", "pg_catalog"})
_LOOKS_AROUND = ("SHOW_REF", "TABLE_FUNCTION")
"""`SHOW TABLES`, `DESCRIBE`, `duckdb_columns()`: what there is, whether the query names it or not."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    statement: str
    views: frozenset[str]
    """The views that are named, in lower case."""
    looks_around: bool
    """It may ask which views there are, or what they look like."""


def parse_query(connection: duckdb.DuckDBPyConnection, sql: str, known: Collection[str]) -> ParsedQuery:
    """Refuse what is no single SELECT, and what names a table that nobody has."""
    statement = _single(connection, sql)
    tree = json.loads(_serialized(connection, sql))
    if tree["error"]:
        raise QueryError(
            reason=f"{tree['error_message']}", hint="Write one SELECT; a PIVOT needs its values: PIVOT … IN (…)."
        )
    tables = list(_nodes(tree, "BASE_TABLE"))
    named = {node["table_name"].lower() for node in tables if not _is_own(node)}
    looks_around = any(map(_is_own, tables)) or any(node.get("type") in _LOOKS_AROUND for node in _all_nodes(tree))
    own = {name.lower() for name in _local_names(tree)}
    functions = {node.get("function_name", "") for node in _all_nodes(tree)}
    if functions & _BY_NAME_AT_RUN_TIME:
        return ParsedQuery(statement.query, frozenset(known), looks_around)
    for stranger in sorted(named - own - set(known)):
        raise _unknown(stranger, known)
    return ParsedQuery(statement.query, frozenset(named & set(known)), looks_around)


def query_error(error: duckdb.Error) -> QueryError | DiskFull:
    """What DuckDB says, without the words that only its makers need."""
    if isinstance(error, duckdb.IOException) and (full := no_room_in(str(error))):
        way_out = "Free some space, or name another place in COCLI_CACHE_HOME."
        return DiskFull(file="The cache", done="written", reason=full, hint=way_out)
    kind = type(error).__name__.removesuffix("Exception")
    reason = str(error).strip().partition(": ")[2] or str(error)
    hint = "A query reads the views of the indexes and nothing else." if kind == "Permission" else None
    return QueryError(reason=reason, kind=kind, hint=hint)


def _single(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise query_error(error) from error
    if len(statements) != 1:
        raise QueryError(reason=f"expected one statement, found {len(statements)}")
    statement = statements[0]
    if statement.type not in (duckdb.StatementType.SELECT, duckdb.StatementType.MULTI):
        kind = str(statement.type).rpartition(".")[2]
        raise QueryError(reason=f"expected a SELECT, found {kind}: the indexes are only read here")
    return statement


def _serialized(connection: duckdb.DuckDBPyConnection, sql: str) -> str:
    row = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchone()
    return str(row[0]) if row else '{"error": true, "error_message": "the statement is empty"}'


def _is_own(node: dict[str, Any]) -> bool:
    return str(node.get("schema_name") or node.get("schema") or "").lower() in _OWN_SCHEMAS


def _nodes(tree: object, kind: str) -> Iterator[dict[str, Any]]:
    return (node for node in _all_nodes(tree) if node.get("type") == kind)


def _all_nodes(tree: object) -> Iterator[dict[str, Any]]:
    """Every object of the tree; without recursion, because a person's brackets may be nested deeply."""
    waiting: list[object] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _local_names(tree: object) -> Iterator[str]:
    """What the query itself gives a name to: common table expressions."""
    for node in _all_nodes(tree):
        if isinstance(entries := node.get("cte_map"), dict):
            yield from (str(entry["key"]) for entry in entries.get("map", ()))


def _unknown(name: str, known: Collection[str]) -> QueryError:
    meant = nearest(name, sorted(known))
    hint = 'See them with: cocli index query "show tables"'
    if meant:
        hint = f"Did you mean: {meant}"
    return QueryError(reason=f'there is no view "{name}". Known views: {", ".join(sorted(known))}.', hint=hint)
