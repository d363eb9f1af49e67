"""Rows that name somebody, taken out of a catalogue on PostgreSQL, and out of its files.

A row that is deleted stays in the files of a table until the table is written anew, so that is done here. What the
server wrote to its log and to its backups is its owner's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cocli.documents.catalog.postgres import PostgresDatabase

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

TABLES = (
    "document_states", "outbox", "memo", "jobs", "job_outcomes", "untold", "learned", "facts", "marks", "routes",
    "change_count", "changed", "uploads", "upload_parts",
)  # fmt: skip
"""All of ours: a schema may have others, which belong to somebody else."""
_LOCK_SECONDS = 30
_ROWS = 1000
_TRIES = 5


class RemovedRows(NamedTuple):
    rows: int
    trouble: str | None = None
    """Why the files of a table were not written anew."""


def remove_rows(url: str, finds: Callable[[str], bool], *, dry_run: bool) -> RemovedRows:
    """Remove the rows of all tables in whose text something is found."""
    database = PostgresDatabase(url)
    try:
        with database.connected() as connection:
            counts = {table: _remove(connection, table, finds, dry_run=dry_run) for table in TABLES}
            touched = [table for table, count in counts.items() if count]
            trouble = None if dry_run else _write_anew(connection, touched)
            return RemovedRows(sum(counts.values()), trouble)
    finally:
        database.close()


def _remove(connection: psycopg.Connection[Any], table: str, finds: Callable[[str], bool], *, dry_run: bool) -> int:
    """Nobody is kept waiting: who changes one of the rows meanwhile wins, and the table is looked through again."""
    from psycopg import errors

    for last in (False,) * (_TRIES - 1) + (True,):
        try:
            return _remove_once(connection, table, finds, dry_run=dry_run)
        except errors.SerializationFailure:
            if last:
                raise
    raise AssertionError("the last try returns or raises")


def _remove_once(
    connection: psycopg.Connection[Any], table: str, finds: Callable[[str], bool], *, dry_run: bool
) -> int:
    from psycopg import sql

    name, found = sql.Identifier(table), list[str]()
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        if connection.execute("SELECT to_regclass(%s)", [table]).fetchone() == (None,):
            return 0  # nothing was ever written to this catalogue
        with connection.cursor(name="rows") as cursor:
            cursor.itersize = _ROWS
            for place, *cells in cursor.execute(sql.SQL("SELECT ctid::text, * FROM {}").format(name)):
                if finds(" ".join(map(_text, cells))):
                    found.append(place)
        if found and not dry_run:
            statement = sql.SQL("DELETE FROM {} WHERE ctid = ANY(%s::tid[])").format(name)
            connection.execute(statement, [found])
    return len(found)


def _text(cell: object) -> str:
    if isinstance(cell, (bytes, memoryview)):
        return bytes(cell).decode("utf-8", "surrogateescape")
    return "" if cell is None else str(cell)


def _write_anew(connection: psycopg.Connection[Any], tables: list[str]) -> str | None:
    """Write tables anew, one by one: nobody else reads them meanwhile."""
    from psycopg import errors, sql

    connection.execute(sql.SQL("SET lock_timeout = {}").format(f"{_LOCK_SECONDS}s"))
    for table in tables:
        try:
            connection.execute(sql.SQL("VACUUM FULL {}").format(sql.Identifier(table)))
        except (errors.LockNotAvailable, errors.InsufficientPrivilege) as error:
            return str(error).strip()
    return None
