"""DuckDB over files of places: bounded memory, a folder to spill into, no extensions, no other files."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import duckdb

_CONFIG = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
}
SORT_MEMORY = "1GB"
"""For sorting a file by tile: a small machine has it, and what does not fit is spilled."""
QUERY_MEMORY = "512MB"
MOST_SPILLED = 64 << 30
"""Bytes that may lie in the folder, where nothing else is known of the size of the data."""
_THREADS = 8
"""Each needs memory of its own, and the process has a limit."""
_LOOKED_EVERY = 0.2


def reading_connection(files: Sequence[str]) -> duckdb.DuckDBPyConnection:
    """A connection that can read these files and do nothing else."""
    connection = _connect()
    connection.execute(f"SET memory_limit = '{QUERY_MEMORY}'")
    connection.execute("SET temp_directory = ''")
    connection.execute("SET parquet_metadata_cache = true")
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET allowed_paths = ?", [sorted(files)])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


@contextmanager
def sorting_connection(spill: str, most_bytes: int = MOST_SPILLED) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection for making a copy: it may spill so much into a folder, and its memory has a limit."""
    connection = _connect()
    try:
        connection.execute("SET temp_directory = ?", [spill])
        connection.execute(f"SET max_temp_directory_size = '{most_bytes}B'")
        connection.execute(f"SET threads = {min(_THREADS, os.cpu_count() or 1)}")
        connection.execute(f"SET memory_limit = '{SORT_MEMORY}'")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET enable_progress_bar = true")  # counted for `watched`, not drawn
        connection.execute("SET enable_progress_bar_print = false")
        yield connection
    finally:
        connection.close()


@contextmanager
def watched(connection: duckdb.DuckDBPyConnection, progress: Callable[[int], None], total: int) -> Iterator[None]:
    """Say how far the statement is that runs meanwhile, as a part of `total`."""
    done = threading.Event()

    def look() -> None:
        while not done.wait(_LOOKED_EVERY):
            progress(int(max(connection.query_progress(), 0.0) / 100 * total))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _connect() -> duckdb.DuckDBPyConnection:
    import duckdb  # here, because a worker that reads no file of places need not load it: a tenth of a second

    return duckdb.connect(":memory:", config=dict(_CONFIG))
