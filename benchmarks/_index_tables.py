"""The peers of the index: Delta Lake, Iceberg and Lance tables with the same rows. Each can commit rows and read all.

None of them syncs its files itself. So that all are compared at the same durability, the files that a commit wrote
are synced here, and what that takes is added to the commit's time; finding those files is not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import deltalake
import duckdb
import lance
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog

from cocli.index.writer import IndexWriter
from cocli.models.prospect import Prospect


class Table(Protocol):
    """A table that has rows already."""

    def commit(self, rows: pa.Table) -> None: ...

    def read(self) -> pa.Table: ...


class DeltaTable:
    def __init__(self, folder: Path, rows: pa.Table) -> None:
        self._folder = str(folder)
        deltalake.write_deltalake(self._folder, rows)
        self._table = deltalake.DeltaTable(self._folder)

    def commit(self, rows: pa.Table) -> None:
        deltalake.write_deltalake(self._table, rows, mode="append")

    def read(self) -> pa.Table:
        return deltalake.DeltaTable(self._folder).to_pyarrow_table()


class IcebergTable:
    def __init__(self, folder: Path, rows: pa.Table) -> None:
        folder.mkdir()
        self._catalog = SqlCatalog("bench", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
        self._catalog.create_namespace("bench")
        self._table = self._catalog.create_table("bench.prospects", schema=rows.schema)
        self._table.append(rows)

    def commit(self, rows: pa.Table) -> None:
        self._table.append(rows)

    def read(self) -> pa.Table:
        return self._catalog.load_table("bench.prospects").scan().to_arrow()


class LanceTable:
    def __init__(self, folder: Path, rows: pa.Table) -> None:
        self._folder = str(folder)
        self._table = lance.write_dataset(rows, self._folder)

    def commit(self, rows: pa.Table) -> None:
        self._table = lance.write_dataset(rows, self._table, mode="append")

    def read(self) -> pa.Table:
        return lance.dataset(self._folder).to_table()


PEERS: dict[str, Callable[[Path, pa.Table], Table]] = {
    "delta": DeltaTable,
    "iceberg": IcebergTable,
    "lance": LanceTable,
}
WITHOUT_DUCKLAKE = "DuckLake: not measured, its extension is not in a package and has to be downloaded"


class Committer:
    """Times the commits of one table, with the sync of what each wrote."""

    def __init__(self, folder: Path, commit: Callable[[Any], object], *, syncs_itself: bool) -> None:
        self._folder = folder
        self._commit = commit
        self._syncs_itself = syncs_itself
        self._known = set() if syncs_itself else _files(folder)
        self.seconds: list[float] = []
        self.unsynced: list[float] = []

    def commit(self, rows: Any) -> None:
        started = time.perf_counter()
        self._commit(rows)
        spent = time.perf_counter() - started
        self.unsynced.append(spent)
        self.seconds.append(spent if self._syncs_itself else spent + self._sync())

    def _sync(self) -> float:
        found = _files(self._folder)
        new = found - self._known
        self._known = found
        started = time.perf_counter()
        for path in sorted(new | {os.path.dirname(path) for path in new}):
            descriptor = os.open(path, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
        return time.perf_counter() - started

    @property
    def rate(self) -> float:
        return len(self.seconds) / sum(self.seconds)


class BareFiles:
    """What no durable commit can be quicker than: a new file with as many bytes, synced, and its folder."""

    def __init__(self, folder: Path, data: bytes) -> None:
        folder.mkdir()
        self._folder = str(folder)
        self._data = data
        self._number = 0

    def commit(self, _rows: object) -> None:
        self._number += 1
        path = f"{self._folder}/{self._number}"
        with open(f"{path}.tmp", "xb") as file:
            file.write(self._data)
            file.flush()
            os.fsync(file.fileno())
        os.rename(f"{path}.tmp", path)
        descriptor = os.open(self._folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def our_committer(writer: IndexWriter[Prospect]) -> Committer:
    return Committer(Path(), writer.append, syncs_itself=True)


def arrow_rows(file: str) -> pa.Table:
    """A Parquet file as the tables take it: times with their zone, no types of DuckDB's own."""
    table = pq.read_table(file)
    return table.cast(pa.schema([pa.field(field.name, _plain(field.type)) for field in table.schema]))


def _plain(kind: pa.DataType) -> pa.DataType:
    if isinstance(kind, pa.BaseExtensionType):
        return kind.storage_type
    return pa.timestamp("us", tz="UTC") if pa.types.is_timestamp(kind) else kind


def read_parquet(file: str) -> pa.Table:
    return pq.read_table(file)


def read_by_duckdb(sql: str) -> pa.Table:
    with duckdb.connect() as connection:
        return connection.sql(sql).to_arrow_table()


def _files(folder: Path) -> set[str]:
    return {os.path.join(where, name) for where, _, names in os.walk(folder) for name in names}
