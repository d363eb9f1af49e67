"""What is loaded of a source over a network, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.pipeline.sources.open_places.tiles import Box


@dataclass(frozen=True, slots=True)
class DownloadRequest:
    """What to load, and from where."""

    box: Box
    release: str | None = None
    """None: the newest."""
    base: str | None = None
    """A folder or an address in the source's own layout. None: where the source itself publishes."""
    extensions: str | None = None
    """Where DuckDB looks for its extensions, instead of its own address."""
    extension_folder: str | None = None


@dataclass(frozen=True, slots=True)
class Download:
    path: str
    release: str
    origin: str
    rows: int


Downloader: TypeAlias = "Callable[[DownloadRequest, str, Callable[[int], None]], Download]"
"""Loads what is asked for into a folder, and tells the percentage."""
