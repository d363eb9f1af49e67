"""Publishing a version: its shards, its list, its manifest, and last the pointer. Until then nobody sees any of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cocli import logs
from cocli.index.consumed import ConsumedObject, write_consumed
from cocli.index.latest import Latest, Named, Pointer, short, swap_pointer
from cocli.index.manifest import Loss, Manifest, ShardEntry
from cocli.index.runs import RowChange, RunWriter, rewrite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.index.changes import Changes
    from cocli.index.index import Index
    from cocli.index.view import VersionView, ViewRow

_LOG = logs.get_logger(__name__)

FOLD_SHARE = 16


class Published(NamedTuple):
    latest: Latest
    shards_written: int


class _Runs(NamedTuple):
    base: tuple[ShardEntry, ...]
    delta: tuple[ShardEntry, ...]
    written: int


def publish(
    index: Index[Any],
    pointer: Pointer,
    view: VersionView[Any],
    changes: Changes[Any],
    consumed: Iterable[ConsumedObject],
    *,
    removed: int = 0,
    losses: tuple[Loss, ...] = (),
) -> Published | None:
    """Write the version that follows from these changes; None if somebody else published first."""
    runs = _write_runs(index, view, changes, pointer.latest.doomed)
    manifest = Manifest(
        index=index.ref.name,
        campaign=index.ref.campaign,
        record_schema=index.spec.model.schema_id,
        version=pointer.latest.version + 1,
        sequence=pointer.latest.sequence + 1,
        parent=pointer.latest.manifest,
        base=runs.base,
        delta=runs.delta,
        rows=changes.rows,
        key_sum=str(changes.key_sum),
        consumed=write_consumed(index, consumed),
        removed=removed,
        losses=(*view.manifest.losses, *losses),
        created_at=index.store.now(),
        writer=index.writer,
        nonce=index.nonce(),
    )
    ref = index.objects.write_manifest(manifest)
    needed = {short(name) for name in (*manifest.names, ref.sha256)}
    swapped = swap_pointer(
        index,
        pointer,
        manifest=ref,
        rows=manifest.rows,
        key_sum=manifest.key_sum,
        condemned=without(pointer.latest.condemned, needed),
    )
    if swapped is None:
        _LOG.debug("version %d is dropped: somebody else published first", manifest.version, extra=index.log_fields)
        return None
    written = {"rows": manifest.rows, "shards_written": runs.written}
    _LOG.info("version %d published", manifest.version, extra=index.log_fields | written)
    return Published(swapped.latest, runs.written)


def without(groups: Iterable[Named], names: set[str]) -> tuple[Named, ...]:
    """The groups less some names; a group that has none left is gone."""
    kept = [Named(at=group.at, names=tuple(name for name in group.names if name not in names)) for group in groups]
    return tuple(group for group in kept if group.names)


def _write_runs(index: Index[Any], view: VersionView[Any], changes: Changes[Any], doomed: frozenset[str]) -> _Runs:
    delta_rows, base_rows = view.delta.rows + len(changes), view.base.rows
    if delta_rows > max(index.spec.fold_rows, base_rows // FOLD_SHARE) or changes.removed_keys:
        # A removal concerns both runs, and a row must not reappear because only the upper one went.
        base = RunWriter(index, doomed, with_prints=False)
        rewrite(view.base.entries, _delta_and(changes.rows_in_order(), view), view.shard, base)
        return _Runs(base.finish(), (), base.written)
    delta = RunWriter(index, doomed, with_prints=True)
    rewrite(view.delta.entries, changes.rows_in_order(), view.shard, delta)
    return _Runs(view.base.entries, delta.finish(), delta.written)


def _delta_and(changes: Iterator[RowChange], view: VersionView[Any]) -> Iterator[RowChange]:
    """The rows of the delta, superseded by the changes, in key order."""
    upper = next(changes, None)
    for row in _delta_rows(view):
        while upper is not None and upper.key < row.key:
            yield upper
            upper = next(changes, None)
        if upper is None or upper.key != row.key:
            yield RowChange(row.key, row.line, row.header)
    while upper is not None:
        yield upper
        upper = next(changes, None)


def _delta_rows(view: VersionView[Any]) -> Iterator[ViewRow]:
    return view.run_rows(view.delta)
