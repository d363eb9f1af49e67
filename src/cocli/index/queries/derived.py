"""Derived copies: the rows of one version in one Parquet file, for queries that are asked again and again.

A copy is named by the hash of its manifest, so it is current or it is not there: nothing has to be compared. It lies
in the cache folder and can be removed at any time. It has its name only once it is whole.
"""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from cocli.config.private import make_private
from cocli.formats.usv_sql import quote_text

if TYPE_CHECKING:
    from cocli.index.queries.query import Layer

_LAYOUT = 1
"""Grows when the same manifest would give another file: then older copies are not found any more."""
_TEMPORARY = ".tmp-"
_ABANDONED_SECONDS = 24 * 3600
_MEMORY = "768MB"


class DerivedFolder:
    """The derived copies of one index."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def path(self, manifest: str, ending: str = "parquet") -> str:
        return os.path.join(self.folder, f"{manifest}-{_LAYOUT}.{ending}")

    def find(self, manifest: str, ending: str = "parquet") -> str | None:
        """The copy of a version, if there is one."""
        path = self.path(manifest, ending)
        return path if os.path.isfile(path) else None

    def paths(self, ending: str) -> list[str]:
        """Every copy that there is, of whatever version."""
        if not os.path.isdir(self.folder):
            return []
        names = sorted(os.listdir(self.folder))
        return [os.path.join(self.folder, name) for name in names if name.endswith(f".{ending}")]

    def build(self, manifest: str, rows: Layer) -> str:
        """Write the copy of a version, and forget those of other versions."""
        temporary = self.temporary()
        try:
            write_copy(rows, temporary)
            return self.keep(temporary, manifest)
        except BaseException:  # also Ctrl-C: half a copy is none
            _remove(temporary)
            raise

    def temporary(self) -> str:
        """A place to write in; what is written there has no meaning before `keep`."""
        make_private(self.folder)
        return os.path.join(self.folder, f"{_TEMPORARY}{secrets.token_hex(8)}")

    def keep(self, temporary: str, manifest: str, ending: str = "parquet") -> str:
        path = self.path(manifest, ending)
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())  # a power cut must not leave a name without its content: nobody would notice
        os.rename(temporary, path)
        self._forget(path, ending)
        return path

    def _forget(self, kept: str, ending: str) -> None:
        """Remove other versions, and what a crash left. Whoever still reads one of them has it open already."""
        with os.scandir(self.folder) as entries:
            for entry in entries:
                abandoned = entry.name.startswith(_TEMPORARY) and _age(entry) > _ABANDONED_SECONDS
                if abandoned or (entry.name.endswith(f".{ending}") and entry.path != kept):
                    _remove(entry.path)


def write_copy(rows: Layer, path: str) -> None:
    """Rows as one Parquet file: the base in its order, then what the layers above it changed."""
    import duckdb  # here, because finding a copy must not cost the tenth of a second that loading it takes

    from cocli.index.queries.sql import query_error

    connection = duckdb.connect(":memory:", config={"python_enable_replacements": "false"})
    try:
        # Bounded, and in the order of the shards: rows of one key range stay together, so that a lookup skips the rest.
        connection.execute(f"SET memory_limit = '{_MEMORY}'")
        connection.execute("SET temp_directory = ?", [f"{path}.spill"])
        connection.execute(f"COPY ({rows.sql}) TO {quote_text(path)} (FORMAT parquet, COMPRESSION zstd)")
    except duckdb.Error as error:
        raise query_error(error) from error
    finally:
        connection.close()


def _age(entry: os.DirEntry[str]) -> float:
    try:
        return time.time() - entry.stat().st_mtime
    except OSError:  # gone meanwhile: somebody else cleans up too
        return 0.0


def _remove(path: str) -> None:
    with suppress(OSError):  # gone already, or in use elsewhere: a stray copy does no harm
        os.unlink(path)
