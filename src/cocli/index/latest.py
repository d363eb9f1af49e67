"""The pointer `LATEST`: which version is the current one, and how far garbage collection has come.

It is the only object of an index that is ever replaced, by compare-and-swap, and every change of what is live or
doomed goes through it: that is what makes two compactors, or a compactor and a collector, safe beside each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import StringConstraints

from cocli.errors import FormatError, IndexDamaged, NotFound
from cocli.formats import json_records
from cocli.index.keys import EMPTY_SUM
from cocli.index.manifest import KeySumText, ManifestRef  # noqa: TC001 - pydantic reads the annotations
from cocli.keys.paths import LatestKey, index_folder
from cocli.models.campaign import CampaignName  # noqa: TC001 - pydantic reads the annotations
from cocli.models.record import Count, Label, Many, Record, RecordPart, UtcDatetime
from cocli.models.task import Nonce  # noqa: TC001 - pydantic reads the annotations
from cocli.store import settled

if TYPE_CHECKING:
    from cocli.index.index import Index

ShortName = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
"""The first 16 digits of a content name: enough to tell, and half as long in an object that everybody reads."""


def short(sha256: str) -> str:
    return sha256[:16]


class Named(RecordPart):
    """The names that one decision was made about, and when."""

    at: UtcDatetime
    names: Many[ShortName]


class Latest(Record):
    schema_id = "cocli.index-latest/1"
    key = ("index",)

    index: Label
    campaign: CampaignName | None = None
    sequence: Count
    """Grows by one with every swap."""
    nonce: Nonce
    manifest: ManifestRef | None = None
    """None before the first version."""
    rows: Count = 0
    key_sum: KeySumText = EMPTY_SUM
    updated_at: UtcDatetime
    writer: Label
    condemned: Many[Named] = ()
    """Nothing reaches these any more; they go after the grace period, unless somebody needs them again."""
    deleting: Many[ShortName] = ()
    """Being deleted now: nobody may rely on these, nor make them again."""
    buried: Many[Named] = ()
    """Deleted not long ago: a delayed request could still delete what was made again under the same name."""

    @property
    def version(self) -> int:
        return self.manifest.version if self.manifest else 0

    @property
    def doomed(self) -> frozenset[str]:
        return frozenset(self.deleting).union(*[group.names for group in self.buried])


class Pointer(NamedTuple):
    """What was read, and the etag to swap it against."""

    latest: Latest
    etag: str


def read_pointer(index: Index[Any]) -> Pointer | None:
    """The pointer, or None where there is no index yet.

    A pointer that is missing although there are manifests is damage, never an empty index: an older program took a
    missing pointer for one, and wrote over everything. (Writers create the pointer before the first manifest, so a
    manifest without a pointer cannot be the first compaction on its way.)
    """
    found = _read(index)
    if found is not None or next(iter(index.store.list(index_folder(index.ref, "manifests"))), None) is None:
        return found
    found = _read(index)
    if found is None:
        raise IndexDamaged(index=index.label, reason="LATEST is missing, but there are manifests")
    return found


def current_pointer(index: Index[Any]) -> Pointer:
    """The pointer; created, pointing at nothing, where there is no index yet."""
    found = read_pointer(index)
    while found is None:
        latest = Latest(
            index=index.ref.name,
            campaign=index.ref.campaign,
            sequence=1,
            nonce=index.nonce(),
            updated_at=index.store.now(),
            writer=index.writer,
        )
        etag = settled.create(index.store, str(LatestKey(index.ref)), json_records.render(latest))
        found = read_pointer(index) if etag is None else Pointer(latest, etag)
    return found


def swap_pointer(index: Index[Any], pointer: Pointer, **changes: object) -> Pointer | None:
    """Replace the pointer that was read; None if somebody else has replaced it first."""
    latest = pointer.latest.with_changes(
        sequence=pointer.latest.sequence + 1,
        nonce=index.nonce(),
        updated_at=index.store.now(),
        writer=index.writer,
        **changes,
    )
    etag = settled.swap(index.store, str(LatestKey(index.ref)), json_records.render(latest), pointer.etag)
    return None if etag is None else Pointer(latest, etag)


def _read(index: Index[Any]) -> Pointer | None:
    key = str(LatestKey(index.ref))
    try:
        stored = index.store.get(key)
    except NotFound:
        return None
    try:
        latest = json_records.read(Latest, stored.data, file=key)
    except FormatError as error:
        raise IndexDamaged(index=index.label, reason=f"LATEST cannot be read: {error.message}") from error
    if (latest.index, latest.campaign) != (index.ref.name, index.ref.campaign):
        owner = f"{latest.index} of {latest.campaign or 'all campaigns'}"
        raise IndexDamaged(index=index.label, reason=f"LATEST is that of another index: {owner}")
    return Pointer(latest, stored.etag)
