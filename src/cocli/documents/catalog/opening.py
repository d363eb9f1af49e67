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
    from cocli.documents.catalog.sql import SqlCatalog


def open_catalog(url: str, *, durable: bool = True) -> SqlCatalog:
    """Open the catalogue at an address and bring its tables up to date. `durable` is for SQLite: see there."""
    from cocli.documents.catalog.sql import SqlCatalog

    scheme, separator, rest = url.partition("://")
    if separator and scheme in ("postgresql", "postgres"):
        from cocli.documents.catalog.postgres import PostgresDatabase

        return SqlCatalog(PostgresDatabase(url))
    if separator and scheme != "sqlite":
        raise ConfigError(reason=f'"{scheme}" is not a kind of catalogue; there are sqlite and postgresql')
    path = rest if separator else url
    if not path.strip() or "\0" in path:
        raise ConfigError(reason="the address of the catalogue names no file")
    from cocli.documents.catalog.sqlite import SqliteDatabase

    return SqlCatalog(SqliteDatabase(os.path.expanduser(path), durable=durable))
