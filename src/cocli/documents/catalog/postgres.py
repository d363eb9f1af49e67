"""A catalogue in PostgreSQL, by psycopg: for machines that share one. Threads have a connection each, up to a number;
those that were lost are made again."""

from __future__ import annotations

import re
from contextlib import contextmanager, nullcontext
from datetime import UTC
from typing import TYPE_CHECKING, Any, cast

from cocli.documents.catalog.pool import ConnectionPool, PoolExhausted
from cocli.documents.catalog.statements import load
from cocli.errors import CatalogError, CatalogUnavailable, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    import psycopg
    from psycopg.sql import SQL

    from cocli.documents.catalog.database import DatabaseSession

_NAME = re.compile(r"(?<![:\w]):(\w+)")
_PASSWORD = re.compile(r"://[^/@]*@|password=\S+")
_MIGRATING = 0x636F636C69  # "cocli": the number of the lock that migrations take
_CONNECT_SECONDS = 10
_CONNECTIONS = 8
"""Of one process: a server has 100 for everybody, unless it is told otherwise."""
_WAIT_SECONDS = 30.0


def _translated(statement: str) -> str:
    return _NAME.sub(r"%(\1)s", statement)


class _Session:
    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        self._connection = connection

    def rows(self, statement: str, parameters: Mapping[str, object]) -> Sequence[Sequence[Any]]:
        return self._connection.execute(cast("SQL", statement), parameters).fetchall()

    def rows_many(
        self, statement: str, parameters: Sequence[Mapping[str, object]]
    ) -> Sequence[Sequence[Sequence[Any]]]:
        if len(parameters) < 2:
            return [self.rows(statement, values) for values in parameters]
        found: list[Sequence[Sequence[Any]]] = []
        with self._connection.cursor() as cursor:
            cursor.executemany(cast("SQL", statement), parameters, returning=True)
            found.append(cursor.fetchall())
            while cursor.nextset():
                found.append(cursor.fetchall())
        return found

    def run(self, statement: str, parameters: Mapping[str, object]) -> int:
        # Without parameters, a script of several statements is allowed.
        return self._connection.execute(cast("SQL", statement), parameters or None).rowcount

    def run_many(self, statement: str, parameters: Sequence[Mapping[str, object]]) -> None:
        if len(parameters) == 1:
            self._connection.execute(cast("SQL", statement), parameters[0])
        elif parameters:
            with self._connection.cursor() as cursor:
                cursor.executemany(cast("SQL", statement), parameters)


class PostgresDatabase:
    """Fits `cocli.documents.catalog.database.Database`."""

    dialect = "postgres"

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtra(feature="A catalogue in PostgreSQL", package="psycopg", extra="postgres") from error
        self._psycopg = psycopg
        self._url = url
        self._pool = ConnectionPool(self._connect, is_whole=_is_whole, most=_CONNECTIONS, wait_seconds=_WAIT_SECONDS)
        self.statements: Mapping[str, str] = load(_translated, lock="FOR SHARE")

    @property
    def address(self) -> str:
        return _PASSWORD.sub(lambda found: "://" if found[0].startswith(":") else "", self._url)

    @contextmanager
    def read(self) -> Iterator[DatabaseSession]:
        with self._errors(), self._pool.taken() as connection:
            yield _Session(connection)

    @contextmanager
    def transaction(self) -> Iterator[DatabaseSession]:
        with self._errors(), self._pool.taken() as connection, connection.transaction():
            yield _Session(connection)

    @contextmanager
    def connected(self) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        """A connection by itself, for what no other database needs."""
        with self._errors(), self._pool.taken() as connection:
            yield connection

    @contextmanager
    def migrating(self) -> Iterator[DatabaseSession]:
        with self.transaction() as session:
            session.rows("SELECT pg_advisory_xact_lock(%(number)s)", {"number": _MIGRATING})
            yield session

    def lock(self, session: DatabaseSession, name: str, *, shared: bool = False) -> None:
        function = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
        session.rows(f"SELECT {function}(hashtext(%(name)s))", {"name": f"cocli {name}"})

    def run_script(self, session: DatabaseSession, script: str) -> None:
        session.run(script, {})

    def write_time(self, moment: datetime) -> object:
        return moment

    def read_time(self, value: Any) -> datetime:
        return cast("datetime", value).astimezone(UTC)

    def tended(self) -> AbstractContextManager[None]:
        return nullcontext()  # the server does so by itself

    def check(self) -> None:
        with self.read() as session:  # a server looks after its own files
            session.rows("SELECT 1", {})

    def close(self) -> None:
        self._pool.close()

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        return self._psycopg.connect(
            self._url, autocommit=True, connect_timeout=_CONNECT_SECONDS, application_name="cocli"
        )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        errors = self._psycopg.errors
        try:
            yield
        except (self._psycopg.OperationalError, self._psycopg.InterfaceError, errors.DeadlockDetected) as error:
            raise CatalogUnavailable(address=self.address, reason=str(error).strip()) from error
        except self._psycopg.Error as error:
            raise CatalogError(address=self.address, reason=str(error).strip()) from error
        except PoolExhausted as error:
            raise CatalogUnavailable(address=self.address, reason=str(error)) from error


def _is_whole(connection: psycopg.Connection[tuple[Any, ...]]) -> bool:
    return not (connection.closed or connection.broken)
