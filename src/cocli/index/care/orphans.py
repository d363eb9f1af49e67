"""Shards that no manifest names. Where a manifest is lost, they hold the rows that only it led to.

A shard is also an orphan when its compactor broke off before it wrote a manifest, or when its manifest was collected.
Of the first the inputs are still there, so its rows are no news; the second stands in LATEST as condemned and is left
out, because what a later version removed on purpose must not come back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.errors import FormatError, NotFound
from cocli.formats import usv
from cocli.index.care.recovery import readable_manifests, shard_sizes
from cocli.index.keys import KeySum
from cocli.index.latest import Latest, short
from cocli.index.view import VersionView
from cocli.index.writer import IndexWriter
from cocli.keys.paths import ShardKey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.index.index import Index
    from cocli.index.manifest import Manifest


@dataclass
class OrphanRows:
    """What orphans add to a version: written as batches, to be packed by the next compaction."""

    key_sum: KeySum
    keys: set[str] = field(default_factory=set)
    """Those that the version lacks."""
    records: int = 0
    shards: list[str] = field(default_factory=list)
    """The orphans that had something to add."""


def adopt_orphans(index: Index[Any], chosen: Manifest, known: Latest | None) -> OrphanRows:
    """Write what orphans know and the version does not, one batch a shard. `known` is LATEST, if it could be read."""
    view: VersionView[Any] = VersionView(index, chosen, on_damaged=lambda _: None)
    adopted = OrphanRows(KeySum(chosen.key_sum))
    for name in _orphans(index, known):
        news = list(_news(index, view, name))
        if not news:
            continue
        IndexWriter(index).append([record for _, record, _ in news])
        adopted.records += len(news)
        adopted.shards.append(name)
        for key, _, is_new in news:
            if is_new and key not in adopted.keys:
                adopted.keys.add(key)
                adopted.key_sum.add(key)
    return adopted


def _orphans(index: Index[Any], known: Latest | None) -> list[str]:
    named = {name for candidate in readable_manifests(index) for name in candidate.manifest.names}
    ended = frozenset[str]()
    if known is not None:
        ended = known.doomed.union(*[group.names for group in known.condemned])
    return [name for name in sorted(shard_sizes(index)) if name not in named and short(name) not in ended]


def _news(index: Index[Any], view: VersionView[Any], name: str) -> Iterator[tuple[str, Any, bool]]:
    """The records of a shard that the version has not, or has otherwise: key, record, whether the key is new."""
    records = {index.spec.key_of(record): record for record in _records(index, name)}
    if not records:
        return
    there = {row.key: row for row in view.rows(min(records), max(records)) if row.key in records}
    for key, record in records.items():
        row = there.get(key)
        if row is None or view.reader_of(row.header).record(row.line) != record:
            yield key, record, row is None


def _records(index: Index[Any], name: str) -> list[Any]:
    """The rows that fit the model. A list of consumed objects lies in the same folder, and has none."""
    key = str(ShardKey(index.ref, name))
    try:
        rows = list(usv.read(index.spec.model, index.store.get(key).data, file=key))
    except (FormatError, NotFound):
        return []  # no shard of records, or gone since it was listed
    return [record for record in rows if index.spec.misfit(index.ref, record) is None]
