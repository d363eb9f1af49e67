"""Which version to go on with when the pointer is lost: what the manifests themselves tell.

A manifest may have been written and never published (its compactor crashed, or lost the race), and nothing in it says
so. Going on with such a one is harmless if it is the newest: what it consumed is only removed after publication, so it
has everything that its parent has and more. Of several of one version only one was published; its inputs may be gone,
the others' are not. So one is chosen, and what the others have beyond it is written again as a batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.errors import IndexDamaged, InvalidKey
from cocli.index.diff import diff_keys
from cocli.index.manifest import Manifest, ManifestRef
from cocli.index.shards import content_name
from cocli.index.view import View
from cocli.paths import ManifestKey, ShardKey, index_folder
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.index.opening import Index


@dataclass(frozen=True)
class Candidate:
    ref: ManifestRef
    manifest: Manifest
    whole: bool
    """Whether all of its shards are there, with the right size."""


def find_candidates(index: Index[Any]) -> list[Candidate]:
    """The newest whole version first, then everything that may know more than it. Empty if nothing can be read."""
    sizes = _shard_sizes(index)
    candidates = [_candidate(index, stored, sizes) for stored in _stored_manifests(index)]
    readable = [one for one in candidates if one is not None]
    # Of one version one that removed records on purpose, if there is one: what was removed must not come back.
    readable.sort(key=lambda one: (one.whole, one.ref.version, one.manifest.removed, one.manifest.rows, one.ref.sha256))
    if not readable:
        return []
    chosen = readable.pop()
    return [chosen, *(one for one in reversed(readable) if one.ref.version >= chosen.ref.version)]


def newer_records(index: Index[Any], chosen: Manifest, other: Manifest, note: Callable[[str], None]) -> list[Any]:
    """The records that another version changed against its parent, as far as they can be read."""
    lost: list[str] = []
    view: View[Any] = View(index, other, on_damaged=lambda damaged: lost.append(str(damaged)))
    before: View[Any] = View(index, _parent(index, other) or chosen, on_damaged=lambda _: None)
    records = [view.reader_of(row.header).record(row.line) for row in diff_keys(before, view)]
    if lost:
        note(f"of version {other.version}, which is newer, could not be read: {'; '.join(lost)}")
    if other.removed:
        note(f"version {other.version} removed {other.removed} records; they may be back")
    return records


def _parent(index: Index[Any], manifest: Manifest) -> Manifest | None:
    if manifest.parent is None:
        return None
    try:
        return index.objects.manifest(manifest.parent)
    except IndexDamaged:
        return None  # then everything that differs from the chosen version is taken


def _shard_sizes(index: Index[Any]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for info in index.store.list(index_folder(index.ref, "shards")):
        if ShardKey.fits(info.key):
            sizes[ShardKey.parse(info.key).sha256] = info.size
    return sizes


def _stored_manifests(index: Index[Any]) -> list[StoredObject]:
    keys = [info.key for info in index.store.list(index_folder(index.ref, "manifests")) if ManifestKey.fits(info.key)]
    answers = index.store.get_many(sorted(keys)[-64:])
    return [answer for answer in answers if isinstance(answer, StoredObject)]


def _candidate(index: Index[Any], stored: StoredObject, sizes: dict[str, int]) -> Candidate | None:
    try:
        key = ManifestKey.parse(stored.key)
        if content_name(stored.data) != key.sha256:
            return None
        manifest = index.objects.parse_manifest(stored.data, stored.key)
    except (IndexDamaged, InvalidKey):
        return None  # not a manifest of this index: another one has to do
    whole = all(sizes.get(entry.sha256) == entry.bytes for entry in manifest.shards)
    return Candidate(ManifestRef(version=key.version, sha256=key.sha256), manifest, whole)
