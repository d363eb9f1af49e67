"""Replacing records: a version that says of some keys exactly what is given, instead of merging it with what is known.

For whoever makes records anew from their evidence. What waits to be packed is not touched: whatever somebody wrote
meanwhile comes on top. The version is published against the one that was read; if another one came in between,
nothing is written, and the caller looks again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from cocli.index.changes import Changes
from cocli.index.consumed import read_consumed
from cocli.index.latest import current_pointer
from cocli.index.publication import publish
from cocli.index.versions import manifest_of
from cocli.index.view import VersionView
from cocli.models.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cocli.index.index import Index

R = TypeVar("R", bound=Record)


def replace_records(index: Index[R], version: int, records: Mapping[str, R], gone: Iterable[str]) -> bool:
    """Say these records, by their sort keys, and none for the keys that are `gone`. False if `version` is not current.

    Records that are there as they are given cost nothing; where nothing differs, no version is published.
    """
    pointer = current_pointer(index)
    if pointer.latest.version != version:
        return False
    manifest = manifest_of(index, pointer.latest)
    view: VersionView[R] = VersionView(index, manifest)
    changes = Changes(index.spec, view, frozenset(gone) - records.keys())
    changes.replace(records)
    if changes.is_empty:
        return True
    consumed = read_consumed(index, manifest).values()
    return publish(index, pointer, view, changes, consumed, removed=changes.removed) is not None
