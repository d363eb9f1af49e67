"""The versions of an index: the current one, the chain behind it, and any of them by number or by time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.errors import Conflict, IndexDamaged, UnknownVersion
from cocli.index.latest import read_pointer
from cocli.index.manifest import Manifest, empty_manifest
from cocli.keys.paths import LatestKey

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cocli.index.index import Index
    from cocli.index.latest import Latest


_TRIES = 20


def manifest_of(index: Index[Any], latest: Latest | None) -> Manifest:
    """The manifest that a pointer names: two requests for a cold reader, one for a warm one."""
    if latest is None or latest.manifest is None:
        at = latest.updated_at if latest else index.store.now()
        return empty_manifest(index.ref, index.spec.model.schema_id, at)
    return index.objects.manifest(latest.manifest)


def current_version(index: Index[Any]) -> tuple[Latest | None, Manifest]:
    """The pointer and its manifest. A process that stands still in between, beyond the grace period, looks again."""
    for _ in range(_TRIES):
        pointer = read_pointer(index)
        latest = pointer.latest if pointer else None
        try:
            return latest, manifest_of(index, latest)
        except IndexDamaged:
            if is_current(index, latest):
                raise
    raise Conflict(key=str(LatestKey(index.ref)))


def is_current(index: Index[Any], latest: Latest | None) -> bool:
    """Whether a pointer still names the current version. If not, what its version needs may be collected by now."""
    pointer = read_pointer(index)
    current = pointer.latest.manifest if pointer else None
    looked_at = latest.manifest if latest else None
    return current == looked_at


def history(index: Index[Any], latest: Latest | None = None) -> Iterator[Manifest]:
    """The current version (or the one of a pointer) and those before it, newest first, as far as they are kept."""
    manifest = current_version(index)[1] if latest is None else manifest_of(index, latest)
    while manifest.version > 0:
        yield manifest
        if manifest.parent is None:
            return
        try:
            manifest = index.objects.manifest(manifest.parent)
        except IndexDamaged:
            return  # collected as garbage: the chain is kept from here on only


def version(
    index: Index[Any], number: int | None = None, *, as_of: datetime | None = None, empty_before: bool = False
) -> Manifest:
    """One version: the current one, that of a number, or the one that was current at a time.

    `empty_before`: before its first version an index was empty. It is unknown where that version is not kept any more.
    """
    if number is None and as_of is None:
        return current_version(index)[1]
    kept: list[int] = []
    is_whole = True
    for manifest in history(index):
        if manifest.version == number or (as_of is not None and manifest.created_at <= as_of):
            return manifest
        kept.append(manifest.version)
        is_whole = manifest.parent is None
    if as_of is not None and empty_before and is_whole:
        return empty_manifest(index.ref, index.spec.model.schema_id, as_of)
    wanted = f"of {as_of}" if number is None else number
    numbers = f"{kept[-1]} to {kept[0]}" if kept else "none"
    raise UnknownVersion(index=index.label, version=wanted, kept=numbers)
