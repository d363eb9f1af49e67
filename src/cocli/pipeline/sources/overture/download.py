"""Loading the part of Overture's places that lies in a box, from its bucket or from a folder of the same layout.

The layout is `release/{release}/theme=places/type=place/*.parquet`. From `s3://` and `https://` DuckDB reads through
its extension httpfs, which is loaded when it is needed; only the row groups whose `bbox` meets the box are read. From a
folder nothing is needed. A mirror on the web says in its `catalog.json` which files a release has (`releases.py`).
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cocli.errors import SourceRefused, SourceUnreachable, UsageError
from cocli.formats.usv_sql import quote_text
from cocli.pipeline.sources.download import Download, DownloadRequest
from cocli.pipeline.sources.open_places.session import sorting_connection, watched
from cocli.pipeline.sources.overture.releases import (
    OVERTURE,
    PLACES,
    is_release,
    is_remote,
    newest_release,
    places_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import duckdb

    from cocli.pipeline.sources.open_places.tiles import Box

_REGION = "us-west-2"


def fetch_overture(
    wanted: DownloadRequest, folder: str, progress: Callable[[int], None] = lambda _percent: None
) -> Download:
    """Write the places of the box into a Parquet file in a folder. `progress` is told the percentage."""
    if wanted.release is not None:
        _check_release(wanted.release)
    scratch = os.path.join(folder, "scratch")
    os.makedirs(scratch, exist_ok=True)
    release = wanted.release or newest_release(wanted.base)
    origin = f"{_base(wanted).rstrip('/')}/release/{release}/{PLACES}/*"
    _check_folder(wanted, release)
    path = os.path.join(folder, f"overture-places-{release}.parquet")
    select = select_box(places_files(_base(wanted), release), wanted.box)
    with sorting_connection(scratch) as connection, _mapped_errors(wanted):
        if _is_remote(wanted):
            _load_httpfs(connection, wanted)
        with watched(connection, progress, 100):
            connection.execute(f"COPY ({select}) TO {quote_text(path)} (FORMAT parquet, COMPRESSION zstd)")
        counted = connection.execute("SELECT count(*) FROM read_parquet(?)", [path]).fetchone()
    rows = int(counted[0]) if counted else 0
    if not rows:
        raise SourceRefused(
            file=origin,
            reason=f"release {release} has no place in the box {wanted.box}",
            hint="The order is west,south,east,north.",
        )
    return Download(path, release, origin, rows)


def _base(wanted: DownloadRequest) -> str:
    return wanted.base or OVERTURE


def _is_remote(wanted: DownloadRequest) -> bool:
    return is_remote(_base(wanted))


def select_box(files: Sequence[str], box: Box) -> str:
    """The rows whose `bbox` meets a box: by it the row groups of a file are skipped unread."""
    spans = " OR ".join(f"(bbox.xmin <= {east!r} AND bbox.xmax >= {west!r})" for west, east in box.spans())
    listed = ", ".join(map(quote_text, files))
    return (
        f"SELECT * FROM read_parquet([{listed}], hive_partitioning = true)"  # noqa: S608  quoted, and numbers
        f" WHERE bbox.ymin <= {box.north!r} AND bbox.ymax >= {box.south!r} AND ({spans})"
    )


def _check_release(release: str) -> None:
    if not is_release(release):
        raise UsageError(
            reason=f'"{release}" is not a release of Overture', hint="It is named by its day: 2026-01-21.0"
        )


def _load_httpfs(connection: duckdb.DuckDBPyConnection, wanted: DownloadRequest) -> None:
    if wanted.extension_folder:
        connection.execute("SET extension_directory = ?", [wanted.extension_folder])
    if wanted.extensions:
        connection.execute("SET custom_extension_repository = ?", [wanted.extensions])
    connection.execute("INSTALL httpfs")
    connection.execute("LOAD httpfs")
    connection.execute("SET s3_region = ?", [_REGION])


def _check_folder(wanted: DownloadRequest, release: str) -> None:
    folder = os.path.join(_base(wanted), "release", release, PLACES)
    if not _is_remote(wanted) and not os.path.isdir(folder):
        raise SourceRefused(file=folder, reason="there is no such folder", hint="Leave --release out for the newest.")


@contextmanager
def _mapped_errors(wanted: DownloadRequest) -> Iterator[None]:
    import duckdb  # here, as in `session`

    try:
        yield
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        if _is_remote(wanted) and isinstance(error, (duckdb.IOException, duckdb.HTTPException)):
            raise SourceUnreachable(source=_base(wanted), reason=reason) from error
        raise SourceRefused(file=_base(wanted), reason=reason) from error
