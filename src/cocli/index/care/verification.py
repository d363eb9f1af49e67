"""Verification: all that a version is made of is read from the store and held against its name and its manifest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cocli.errors import FormatError, IndexDamaged
from cocli.formats import usv
from cocli.index.cache import MemoryCache
from cocli.index.consumed import read_consumed
from cocli.index.keys import KeySum
from cocli.index.objects import DamagedShard
from cocli.index.shards import Shard
from cocli.index.versions import version
from cocli.index.view import VersionView
from cocli.keys.paths import ShardKey

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.index.index import Index
    from cocli.index.manifest import Manifest, ShardEntry


@dataclass
class VerifyReport:
    version: int = 0
    rows: int = 0
    """Distinct keys that were found."""
    shards: int = 0
    bytes: int = 0
    damaged: list[DamagedShard] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Everything that is not as it must be, damaged shards included."""

    @property
    def ok(self) -> bool:
        return not self.problems


def verify(
    index: Index[Any], number: int | None = None, *, progress: Callable[[VerifyReport], None] | None = None
) -> VerifyReport:
    """Read all of a version. A pointer or manifest that cannot be read is a problem, not an error."""
    report = VerifyReport()
    stored = replace(index, cache=MemoryCache())  # what only the cache has is lost for every other machine
    try:
        manifest = version(stored, number)
        report.version = manifest.version
        read_consumed(stored, manifest)
    except IndexDamaged as error:
        report.problems.append(error.message)
        return report
    for run in ("base", "delta"):
        before = ""
        for entry in getattr(manifest, run):
            if entry.first <= before:
                report.problems.append(f"shard {entry.sha256} of the {run} begins before the one before it ends")
            before = entry.last
            _verify_shard(index, entry, report)
            if progress is not None:
                progress(report)
    if report.ok:
        _verify_keys(index, manifest, report)
    return report


def _verify_shard(index: Index[Any], entry: ShardEntry, report: VerifyReport) -> None:
    data = index.objects.read(entry)
    report.shards += 1
    if isinstance(data, DamagedShard):
        report.damaged.append(data)
        report.problems.append(str(data))
        return
    report.bytes += len(data)
    try:
        shard: Shard[Any] = Shard(index.spec, data, file=str(ShardKey(index.ref, entry.sha256)))
        keys = [key for key, _ in shard.lines()]
        reader = usv.read(index.spec.model, data, file=shard.file)
        unfit = len(keys) - sum(1 for _ in reader)
    except FormatError as error:
        report.problems.append(error.message)
        return
    if any(key >= following for key, following in pairwise(keys)):
        report.problems.append(f"shard {entry.sha256} is not sorted, or has a key twice")
    if (len(keys), keys[0], keys[-1], len(data)) != (entry.rows, entry.first, entry.last, entry.bytes):
        report.problems.append(f"shard {entry.sha256} does not have what the manifest says")
    if unfit:
        report.problems.append(f"shard {entry.sha256}: {unfit} rows do not fit; the first: {reader.rejected[0].reason}")


def _verify_keys(index: Index[Any], manifest: Manifest, report: VerifyReport) -> None:
    found = count_keys(VersionView(index, manifest))
    report.rows = found[0]
    if found != (manifest.rows, manifest.key_sum):
        expected = f"{manifest.rows} with the sum {manifest.key_sum}"
        report.problems.append(f"{found[0]} distinct keys with the sum {found[1]}, but the manifest says {expected}")


def count_keys(view: VersionView[Any]) -> tuple[int, str]:
    """The number of distinct keys of a version, and their sum."""
    total, count = KeySum(), 0
    for row in view.rows():
        total.add(row.key)
        count += 1
    return count, str(total)
