"""This machine's own copies: caches are dropped, what the machine remembers is redacted, files of open data lose rows.

Caches can be made again, so a file that names somebody goes as a whole. Databases lose the rows, and are packed
afterwards, because SQLite leaves what was deleted where it lay.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from cocli.app.left_alone.changes import Remainder
from cocli.app.left_alone.matcher import unpacked
from cocli.app.whole_file import whole_file
from cocli.config.places import cache_home, state_home
from cocli.documents.catalog.opening import sqlite_path
from cocli.documents.catalog.row_removal import remove_rows
from cocli.errors import CatalogError, FileUnusable, MissingExtra
from cocli.formats.secrets import mask
from cocli.formats.usv_sql import quote_name, quote_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.app.left_alone.changes import SweepReport
    from cocli.app.left_alone.matcher import SubjectMatcher
    from cocli.config.places import Environment

RESUME_FOLDER = "forget"
"""Of the state home: what an interrupted run goes on from. It is removed at the end, and is not swept."""
_SQLITE = b"SQLite format 3\0"
_BESIDE = ("-wal", "-shm", "-journal")
_ALWAYS = ("derived", "web", "scratch")
"""Folders below a cache of indexes: what is in them was made from records, in forms that are not all told by a look."""
_BUSY_SECONDS = 30
_ROW = "row of a database"


class MachineSweep:
    def __init__(
        self,
        environ: Environment,
        matcher: SubjectMatcher,
        report: SweepReport,
        paths: tuple[str, ...],
        *,
        dry_run: bool,
    ) -> None:
        """`paths`: keys of theirs that are only told by name, such as `companies/firm`."""
        self._matcher = matcher
        self._report = report
        self._paths = paths
        self._dry_run = dry_run
        self._cache = cache_home(environ)
        self._state = state_home(environ)

    def run(self) -> None:
        self._drop_derived()
        for path in _files(self._cache):
            self._file(path, is_cache=True)
        for path in _files(self._state):
            if not path.startswith(os.path.join(self._state, RESUME_FOLDER) + os.sep):
                self._file(path, is_cache=False)

    def _drop_derived(self) -> None:
        base = os.path.join(self._cache, "indexes")
        for name in sorted(os.listdir(base)) if os.path.isdir(base) else ():
            for kind in _ALWAYS:
                folder = os.path.join(base, name, kind)
                if os.path.isdir(folder) and not os.path.islink(folder):
                    self._report.files["derived copies", "removed"] += 1
                    if not self._dry_run:
                        shutil.rmtree(folder)

    def _file(self, path: str, *, is_cache: bool) -> None:
        if path.endswith(_BESIDE):
            return  # with its database
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return
        if data.startswith(_SQLITE):
            self.database(path)
        elif self._names(path) or any(self._finds(part.decode("utf-8", "surrogateescape")) for part in unpacked(data)):
            self._found(path, data, is_cache=is_cache)

    def _names(self, path: str) -> bool:
        return self._matcher.strong.finds(os.path.basename(path))

    def _finds(self, text: str) -> bool:
        return self._matcher.touches(text) or any(path in text for path in self._paths)

    def _found(self, path: str, data: bytes, *, is_cache: bool) -> None:
        if data.startswith(b"PAR1") and not is_cache:
            self._note("file of open data", "redacted")
            if not self._dry_run:
                _rewrite_parquet(path, self._matcher)
            return
        kept = b"" if is_cache else self._matcher.redacted("", data)
        if is_cache or self._names(path) or self._finds(kept.decode("utf-8", "surrogateescape")):
            self._note("cache" if is_cache else "state", "removed")
            if not self._dry_run:
                os.unlink(path)
            return
        self._note("state", "redacted")
        if not self._dry_run:
            with whole_file(path) as file:
                file.write(kept)

    def _note(self, kind: str, done: Any) -> None:
        self._report.files[kind, done] += 1

    # --- databases

    def catalogues(self, addresses: Iterable[str]) -> None:
        """Catalogues that lie elsewhere than the state of this machine: in another folder, or on a server."""
        for address in dict.fromkeys(addresses):
            path = sqlite_path(address)
            if path is None:
                self._server(address)
            elif os.path.isfile(path) and not os.path.realpath(path).startswith(os.path.realpath(self._state) + os.sep):
                self.database(path)

    def _server(self, address: str) -> None:
        where = mask(address)
        try:
            gone = remove_rows(address, self._finds, dry_run=self._dry_run)
        except (CatalogError, MissingExtra) as error:
            told = f"{where}: rows of the catalogue: {error.message} {error.hint or ''}"
            self._report.remaining.append(Remainder(_ROW, 0, error.code, told.strip()))
            return
        self._report.files[_ROW, "removed"] += gone.rows
        if gone.trouble:
            told = f"{where}: rows are gone from the catalogue, but not from its files ({gone.trouble}). "
            told += "Its owner writes the tables anew with: VACUUM FULL"
            self._report.remaining.append(Remainder(_ROW, gone.rows, "not_written_anew", told))

    def database(self, path: str) -> None:
        """A file of SQLite."""
        try:
            with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
                connection.execute("PRAGMA secure_delete = ON")
                tables = [str(row[0]) for row in connection.execute(_TABLES)]
                gone = sum(self._table(connection, table) for table in tables)
                if gone and not self._dry_run:
                    connection.execute("VACUUM")
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            raise FileUnusable(
                file=path,
                done="cleaned",
                reason=str(error),
                hint="End what works with it (workers, the dashboard), and run the same command again: it goes on.",
            ) from error
        if gone:
            self._report.files[_ROW, "removed"] += gone

    def _table(self, connection: sqlite3.Connection, table: str) -> int:
        name, gone = quote_name(table), 0
        columns = [str(row[1]) for row in connection.execute(f"PRAGMA table_info({name})")]
        for row in connection.execute(f"SELECT * FROM {name}").fetchall():  # noqa: S608  its own name, quoted
            if not self._finds(" ".join(_cell(cell) for cell in row)):
                continue
            gone += 1
            if not self._dry_run:
                same = " AND ".join(f"{quote_name(column)} IS ?" for column in columns)
                connection.execute(f"DELETE FROM {name} WHERE {same}", row)  # noqa: S608  quoted names
        return gone


_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"


def _cell(cell: Any) -> str:
    if isinstance(cell, bytes):
        return " ".join(part.decode("utf-8", "surrogateescape") for part in unpacked(cell))
    return "" if cell is None else str(cell)


def _files(folder: str) -> Iterator[str]:
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            full = os.path.join(path, name)
            if os.path.isfile(full) and not os.path.islink(full):
                yield full


def _rewrite_parquet(path: str, matcher: SubjectMatcher) -> None:
    """The file without the rows that name them, in its order, replaced when it is whole."""
    import duckdb

    temporary = f"{path}.new"
    with duckdb.connect(":memory:") as connection:
        told = connection.execute(
            "SELECT file_row_number, to_json(row)::VARCHAR FROM read_parquet(?, file_row_number = true) AS row", [path]
        ).fetchall()
        gone = [int(number) for number, text in told if matcher.strong.finds(str(text))]
        numbers = ", ".join(map(str, gone)) or "-1"
        connection.execute(
            f"COPY (SELECT * EXCLUDE (file_row_number) FROM read_parquet({quote_text(path)}, file_row_number = true) "  # noqa: S608
            f"WHERE file_row_number NOT IN ({numbers}) ORDER BY file_row_number) "
            f"TO {quote_text(temporary)} (FORMAT parquet, COMPRESSION zstd)"
        )
    os.replace(temporary, path)
