"""Overture: the places of the Overture Maps Foundation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.sources.file_source import file_source
from cocli.pipeline.sources.licence import Licence

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.pipeline.sources.download import Download, DownloadRequest
    from cocli.pipeline.sources.open_places.kind import OpenFileKind
    from cocli.pipeline.sources.source import Source


def _rows(source: Source) -> OpenFileKind:
    from cocli.pipeline.sources.overture.rows import OvertureRows

    return OvertureRows(source)


def _download(wanted: DownloadRequest, folder: str, progress: Callable[[int], None]) -> Download:
    from cocli.pipeline.sources.overture.download import fetch_overture

    return fetch_overture(wanted, folder, progress)


def _newest(base: str | None) -> str:
    from cocli.pipeline.sources.overture.releases import newest_release

    return newest_release(base)


SOURCE = file_source(
    name="overture",
    title="Overture",
    licence=Licence(
        "CDLA-Permissive-2.0",
        "Overture Maps Foundation, overturemaps.org",
        "https://docs.overturemaps.org/attribution/",
    ),
    identity="GERS ids, which stay from release to release",
    rows=_rows,
    download=_download,
    newest=_newest,
)
