"""Which version to go on with when the pointer is lost: what the manifests themselves tell.

A manifest may have been written and never published (its compactor crashed, or lost the race), and nothing in it says
so. To go on with such a manifest is harmless if it is the newest: what it consumed is only removed after publication,
so it has everything that its parent has and more. Of several manifests of one version only one was published; its
inputs may be gone, those of the others are still there. So one manifest is chosen. Another one may have consumed
something that the chosen one did not, and that is gone now: then the records that it changed are written again as a
batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.errors import IndexDamaged, InvalidKey, NotFound, StoreError
from cocli.index.consumed import read_consumed
from cocli.index.diff import diff_keys
from cocli.index.manifest import Manifest, ManifestRef
from cocli.index.shards import content_name
from cocli.index.view import VersionView
from cocli.keys.paths import ManifestKey, ShardKey, index_folder
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.index.index import Index


_LOOKED_AT = 64
"""How many manifests are looked at, the newest."""


@dataclass(frozen=True)
class VersionCandidate:
    ref: ManifestRef
    manifest: Manifest
    whole: bool
    """Whether all of its shards are there, with the right size."""


def find_candidates(index: Index[Any]) -> list[VersionCandidate]:
    """The newest whole version first, then everything that may know more than it. Empty if nothing can be read."""
    readable = readable_manifests(index, _LOOKED_AT)
    # Of one version one that removed records on purpose, if there is one: what was removed must not come back.
    readable.sort(key=_preference)
    if not readable:
        return []
    chosen = readable.pop()
    return [chosen, *(other for other in reversed(readable) if other.ref.version >= chosen.ref.version)]


def readable_manifests(index: Index[Any], newest: int | None = None) -> list[VersionCandidate]:
    """Every manifest that is what its name says; or only so many of the newest."""
    sizes = shard_sizes(index)
    candidates = [_candidate(index, stored, sizes) for stored in _stored_manifests(index, newest)]
    return [candidate for candidate in candidates if candidate is not None]


def _preference(candidate: VersionCandidate) -> tuple[bool, int, int, int, str]:
    manifest = candidate.manifest
    return candidate.whole, candidate.ref.version, manifest.removed, manifest.rows, candidate.ref.sha256


def newer_records(index: Index[Any], chosen: Manifest, other: Manifest, note: Callable[[str], None]) -> list[Any]:
    """The records that another version changed against its parent, as far as they can be read and may be needed."""
    parent = _parent(index, other)
    if not _knows_more(index, chosen, other, parent):
        return []
    lost: list[str] = []
    view: VersionView[Any] = VersionView(index, other, on_damaged=lambda damaged: lost.append(str(damaged)))
    before: VersionView[Any] = VersionView(index, parent or chosen, on_damaged=lambda _: None)
    records = [view.reader_of(row.header).record(row.line) for row in diff_keys(before, view)]
    if lost:
        note(f"of version {other.version}, which is newer, could not be read: {'; '.join(lost)}")
    if other.removed:
        note(f"version {other.version} removed {other.removed} records; they may be back")
    return records


def _knows_more(index: Index[Any], chosen: Manifest, other: Manifest, parent: Manifest | None) -> bool:
    """Whether something is gone that only the other version consumed. What is still there will be read again."""
    try:
        mine, theirs = read_consumed(index, chosen), read_consumed(index, other)
        carried = {} if parent is None else read_consumed(index, parent)
    except IndexDamaged:
        return True  # nobody can say: better twice than never
    known = {(consumed.object, consumed.etag) for consumed in (*mine.values(), *carried.values())}
    beyond = {
        consumed.object: consumed.etag for consumed in theirs.values() if (consumed.object, consumed.etag) not in known
    }
    for answer, etag in zip(index.store.get_many(beyond), beyond.values(), strict=True):
        if isinstance(answer, StoreError) and not isinstance(answer, NotFound):
            raise answer
        if not isinstance(answer, StoredObject) or answer.etag != etag:
            return True
    return False


def _parent(index: Index[Any], manifest: Manifest) -> Manifest | None:
    if manifest.parent is None:
        return None
    try:
        return index.objects.manifest(manifest.parent)
    except IndexDamaged:
        return None  # then everything that differs from the chosen version is taken


def shard_sizes(index: Index[Any]) -> dict[str, int]:
    """What lies in the folder of shards: name → size."""
    sizes: dict[str, int] = {}
    for info in index.store.list(index_folder(index.ref, "shards")):
        if ShardKey.fits(info.key):
            sizes[ShardKey.parse(info.key).sha256] = info.size
    return sizes


def _stored_manifests(index: Index[Any], newest: int | None) -> list[StoredObject]:
    keys = [info.key for info in index.store.list(index_folder(index.ref, "manifests")) if ManifestKey.fits(info.key)]
    stored: list[StoredObject] = []
    chosen = sorted(keys) if newest is None else sorted(keys)[-newest:]
    for answer in index.store.get_many(chosen):
        if isinstance(answer, StoredObject):
            stored.append(answer)
        elif not isinstance(answer, NotFound):
            raise answer  # to leave one out because the store failed would be to forget what only that one knows
    return stored


def _candidate(index: Index[Any], stored: StoredObject, sizes: dict[str, int]) -> VersionCandidate | None:
    try:
        key = ManifestKey.parse(stored.key)
        if content_name(stored.data) != key.sha256:
            return None
        manifest = index.objects.parse_manifest(stored.data, stored.key)
    except (IndexDamaged, InvalidKey):
        return None  # not a manifest of this index: another one has to do
    whole = all(sizes.get(entry.sha256) == entry.bytes for entry in manifest.shards)
    return VersionCandidate(ManifestRef(version=key.version, sha256=key.sha256), manifest, whole)
