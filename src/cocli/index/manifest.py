"""The manifest of one version: which shards it is made of, what it consumed, and which version came before.

Immutable and named by its content. `manifests/` is a chain: every manifest names its parent.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

from pydantic import StringConstraints

from cocli.index.keys import EMPTY_SUM, Fingerprints
from cocli.models.campaign import CampaignName  # noqa: TC001 - pydantic reads the annotations
from cocli.models.record import Count, Label, Many, Record, RecordPart, Sha256, Text, UtcDatetime
from cocli.models.task import Nonce  # noqa: TC001 - pydantic reads the annotations

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cocli.keys.paths import IndexRef

KeySumText = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]


class ShardEntry(RecordPart):
    """A shard of a run: what is in it, without opening it."""

    sha256: Sha256
    rows: Count
    bytes: Count
    first: Text
    """The sort key of its first row; likewise the last one. No other shard of its run has keys between them."""
    last: Text
    prints: Text | None = None
    """Fingerprints of its keys, for shards of the delta."""

    @cached_property
    def fingerprints(self) -> Fingerprints | None:
        return None if self.prints is None else Fingerprints(self.prints)

    def may_hold(self, key: str) -> bool:
        return self.first <= key <= self.last and (self.fingerprints is None or self.fingerprints.may_hold(key))


class ManifestRef(RecordPart):
    version: Count
    sha256: Sha256


class ConsumedRef(RecordPart):
    """The list of the loose objects and batches that went into a version: a USV file beside the shards."""

    sha256: Sha256
    count: Count


class Loss(RecordPart):
    """A shard that was damaged and could not be restored in full. The object is kept as it was found."""

    sha256: Sha256
    first: Text
    last: Text
    rows: Count
    restored: Count
    """How many of its rows were found elsewhere: in an earlier version, perhaps with less in them, or in what is left
    of the file."""
    noticed_in: Count
    """The version that goes on without it."""


class Manifest(Record):
    """One version. Rows of the delta stand for whole records, and supersede the rows of the base with their key."""

    schema_id = "cocli.index-manifest/1"
    key = ("index", "version")

    index: Label
    campaign: CampaignName | None = None
    record_schema: Label
    version: Count
    sequence: Count = 0
    """The sequence of the pointer that published it."""
    parent: ManifestRef | None = None
    base: Many[ShardEntry] = ()
    delta: Many[ShardEntry] = ()
    rows: Count = 0
    """Distinct keys: base and delta, less what the delta supersedes."""
    key_sum: KeySumText = EMPTY_SUM
    consumed: ConsumedRef | None = None
    removed: Count = 0
    """How many records this version removed on purpose."""
    losses: Many[Loss] = ()
    created_at: UtcDatetime
    writer: Label
    nonce: Nonce

    @property
    def shards(self) -> tuple[ShardEntry, ...]:
        return (*self.base, *self.delta)

    @property
    def names(self) -> set[str]:
        """The content names of everything below `shards/` that this version needs or keeps."""
        consumed = {self.consumed.sha256} if self.consumed else set()
        return {entry.sha256 for entry in self.shards} | consumed | {loss.sha256 for loss in self.losses}


def empty_manifest(ref: IndexRef, record_schema: str, at: datetime) -> Manifest:
    """Version 0, of which no file exists: an index that was never compacted."""
    return Manifest(
        index=ref.name,
        campaign=ref.campaign,
        record_schema=record_schema,
        version=0,
        created_at=at,
        writer="nobody",
        nonce="00000000",
    )


class ShardRun:
    """Shards in key order. At most one of them can hold a key."""

    def __init__(self, entries: Sequence[ShardEntry]) -> None:
        self.entries = tuple(entries)
        self._firsts = [entry.first for entry in self.entries]

    @property
    def rows(self) -> int:
        return sum(entry.rows for entry in self.entries)

    def holder(self, key: str) -> ShardEntry | None:
        """The shard that may hold a key."""
        at = bisect_right(self._firsts, key) - 1
        if at < 0 or not self.entries[at].may_hold(key):
            return None
        return self.entries[at]

    def between(self, low: str | None, high: str | None) -> Sequence[ShardEntry]:
        """The shards with keys from `low` to `high`, both included."""
        return [
            entry
            for entry in self.entries
            if (high is None or entry.first <= high) and (low is None or entry.last >= low)
        ]
