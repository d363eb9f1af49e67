"""From an address to a catalogue.

open_catalog("/srv/cocli/documents.sqlite3")         a file (also sqlite:///srv/cocli/documents.sqlite3)
open_catalog("sqlite://:memory:")                    this process's memory
open_catalog("postgresql://user@host/database")      a database that machines share
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cocli.errors import ConfigError

if TYPE_CHECKING:
    from cocli.documents.catalog.database import Database
    from cocli.documents.catalog.sql import SqlCatalog


def open_catalog(url: str, *, durable: bool = True) -> SqlCatalog:
    """Open the catalogue at an address and bring its tables up to date. `durable` is for SQLite: see there."""
    from cocli.documents.catalog.sql import SqlCatalog

    path = sqlite_path(url)
    if path is None:
        from cocli.documents.catalog.postgres import PostgresDatabase

        database: Database = PostgresDatabase(url)
    else:
        from cocli.documents.catalog.sqlite import SqliteDatabase

        database = SqliteDatabase(path, durable=durable)
    try:
        return SqlCatalog(database)
    except BaseException:  # whatever the tables are: nobody gets the connection, so nobody would close it
        database.close()
        raise


def sqlite_path(url: str) -> str | None:
    """The file of a catalogue; None where it is no file but a server."""
    scheme, separator, rest = url.partition("://")
    if separator and scheme in ("postgresql", "postgres"):
        return None
    if separator and scheme != "sqlite":
        raise ConfigError(reason=f'"{scheme}" is not a kind of catalogue; there are sqlite and postgresql')
    path = rest if separator else url
    if not path.strip() or "\0" in path:
        raise ConfigError(reason="the address of the catalogue names no file")
    return os.path.expanduser(path)
