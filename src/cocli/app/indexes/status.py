"""How the indexes stand: what is published, what waits to be packed, what is missing. Looks, and changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.errors import IndexDamaged
from cocli.index.consumed import read_consumed
from cocli.index.pending import list_pending
from cocli.index.queries.names import manifest_name
from cocli.index.versions import history, version
from cocli.keys.paths import index_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cocli.app.indexes.indexes import Indexes
    from cocli.index.index import Index
    from cocli.index.manifest import Manifest
    from cocli.keys.paths import IndexRef


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """One index at one moment. `problem` says what cannot be read: one bad index must not hide the others."""

    index: str
    campaign: str | None
    at: datetime
    version: int = 0
    rows: int = 0
    shards: int = 0
    bytes: int = 0
    published: datetime | None = None
    unpacked: int = 0
    """Loose records and batches that wait; of batches nobody knows how many records they hold."""
    set_aside: int = 0
    """Loose files and batches of which something could not be read. They stay where they are."""
    strangers: int = 0
    damaged: int = 0
    """Shards that are missing or have another size than they must have; `verify` reads them."""
    lost_rows: int = 0
    """Rows of shards that were damaged for good."""
    has_copy: bool = False
    problem: str | None = None

    @property
    def exists(self) -> bool:
        return bool(self.version or self.unpacked or self.problem or self.set_aside)


@dataclass(frozen=True, slots=True)
class VersionInfo:
    """One line of a history."""

    version: int
    created_at: datetime
    writer: str
    rows: int
    delta_rows: int
    shards: int
    bytes: int
    removed: int
    lost_rows: int
    manifest: str


def index_status(indexes: Indexes, ref: IndexRef) -> IndexStatus:
    index = indexes.open(ref)
    at = indexes.store.now()
    try:
        manifest = version(index)
        consumed = read_consumed(index, manifest)
    except IndexDamaged as error:  # shown in its row: the other indexes are worth seeing all the same
        return IndexStatus(ref.name, ref.campaign, at, problem=error.message)
    listing = list_pending(index, consumed)
    return IndexStatus(
        index=ref.name,
        campaign=ref.campaign,
        at=at,
        version=manifest.version,
        rows=manifest.rows,
        shards=len(manifest.shards),
        bytes=sum(entry.bytes for entry in manifest.shards),
        published=manifest.created_at if manifest.version else None,
        unpacked=_unpacked(index, manifest, len(listing.waiting)),
        set_aside=sum(1 for entry in consumed.values() if entry.rejected is not None),
        strangers=len(listing.foreign),
        damaged=_missing(index, manifest),
        lost_rows=_lost(manifest),
        has_copy=indexes.copies(ref).find(manifest_name(manifest)) is not None,
    )


def index_history(indexes: Indexes, ref: IndexRef) -> Iterator[VersionInfo]:
    """The versions that are kept, newest first."""
    for manifest in history(indexes.open(ref)):
        yield VersionInfo(
            version=manifest.version,
            created_at=manifest.created_at,
            writer=manifest.writer,
            rows=manifest.rows,
            delta_rows=sum(entry.rows for entry in manifest.delta),
            shards=len(manifest.shards),
            bytes=sum(entry.bytes for entry in manifest.shards),
            removed=manifest.removed,
            lost_rows=_lost(manifest),
            manifest=manifest_name(manifest),
        )


def _unpacked(index: Index[Any], manifest: Manifest, waiting: int) -> int:
    # Completions stay where they are when they were packed, so every one of them is listed for ever.
    if index.spec.keeps_loose:
        return max(0, waiting - manifest.rows)
    return waiting


def _missing(index: Index[Any], manifest: Manifest) -> int:
    """Shards that a listing does not show with their size. Nothing is read."""
    if not manifest.shards:
        return 0
    sizes = {info.key.rsplit("/", 1)[-1]: info.size for info in index.store.list(index_folder(index.ref, "shards"))}
    return sum(1 for entry in manifest.shards if sizes.get(f"{entry.sha256}.usv") != entry.bytes)


def _lost(manifest: Manifest) -> int:
    return sum(loss.rows - loss.restored for loss in manifest.losses)
