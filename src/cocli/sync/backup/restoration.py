"""Writing a snapshot, or a part of it, to a store: the bytes as they were, and nothing over other bytes unasked.

What is there already with the same content is left alone, so a run that was cut off is simply repeated. Objects are
written in the order in which a program would have: what is named before what names it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import AlreadyExists, BackupDamaged, Conflict, NotFound, RestoreRefused, StoreError
from cocli.store.base import Put
from cocli.sync.backup.damage import BackupDamage
from cocli.sync.backup.layout import PACKS, list_key, pack_key, sha256_of
from cocli.sync.backup.order import Turn, turn_of
from cocli.sync.backup.pack import content_of, rows_by_pack, unpacked
from cocli.sync.counts import forget_counts
from cocli.sync.pace import BATCH_BYTES, batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cocli.store.base import Store
    from cocli.sync.backup.repository import BackupRepository
    from cocli.sync.backup.rows import BackupRow, ListRef
    from cocli.sync.backup.snapshot import BackupSnapshot

_LOG = logs.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RestoreOptions:
    """`only` are keys, and folders (which end with a slash); none means everything."""

    only: tuple[str, ...] = ()
    overwrite: bool = False
    keep_going: bool = False

    def wants(self, key: str) -> bool:
        if not self.only:
            return True
        return any(key == wanted or (wanted.endswith("/") and key.startswith(wanted)) for wanted in self.only)


@dataclass(slots=True)
class RestorePlan:
    """What a restore would do. `different` are at the target with other content."""

    snapshot: BackupSnapshot
    absent: list[BackupRow] = field(default_factory=list)
    same: list[BackupRow] = field(default_factory=list)
    different: dict[str, str] = field(default_factory=dict)
    """Key → the etag of what is there."""
    replaced: list[BackupRow] = field(default_factory=list)
    others: int = 0
    """Objects at the target that the snapshot does not have: they stay."""

    @property
    def bytes(self) -> int:
        return sum(row.size for row in (*self.absent, *self.replaced))


@dataclass(slots=True)
class RestoreReport:
    plan: RestorePlan
    written: int = 0
    bytes: int = 0
    damage: list[BackupDamage] = field(default_factory=list)
    """What could not be restored, with `keep_going`."""


class Restorer:
    """`progress` is told how many objects were written."""

    def __init__(
        self,
        repository: BackupRepository,
        target: Store,
        options: RestoreOptions,
        *,
        progress: Callable[[int], None],
    ) -> None:
        self._repository = repository
        self._target = target
        self._options = options
        self._progress = progress
        self._damage: dict[str, BackupDamage] = {}

    def plan(self, snapshot: BackupSnapshot) -> RestorePlan:
        """Compare. `BackupDamaged` where lists or packs are missing, unless it keeps going."""
        rows = list(self._rows(snapshot))
        there = self._repository.existing(PACKS)
        for name, lost in rows_by_pack(rows).items():
            if pack_key(name) not in there:
                self._found(pack_key(name), "is missing", snapshot, lost)
        self._stop_if_damaged()
        return self._compare(snapshot, [row for row in rows if pack_key(row.pack) in there])

    def run(self, snapshot: BackupSnapshot) -> RestoreReport:
        """Write. `RestoreRefused`, before anything is written, where something else would be replaced unasked."""
        plan = self.plan(snapshot)
        if plan.different and not self._options.overwrite:
            raise self._refused(list(plan.different), "Nothing was written.")
        report = RestoreReport(plan)
        wanted = [*plan.absent, *plan.replaced]
        forget_counts(self._target, (row.key for row in wanted))
        for turn in sorted(Turn, reverse=True):
            self._write_turn([row for row in wanted if turn_of(row.key) is turn], report)
        forget_counts(self._target, (row.key for row in wanted))
        report.damage = [self._damage[key] for key in sorted(self._damage)]
        return report

    # --- what is wanted, and what is there

    def _rows(self, snapshot: BackupSnapshot) -> Iterator[BackupRow]:
        parts: dict[ListRef, None] = {}
        for prefix in self._options.only or ("",):
            parts.update(dict.fromkeys(snapshot.lists_of(prefix)))

        def lost(part: ListRef, error: BackupDamaged) -> None:
            damage = self._found(list_key(part.name), str(error.details["reason"]), snapshot, ())
            damage.affects(snapshot.name, keys_between=snapshot.range_of(part))

        for row in self._repository.rows(parts, lost):
            if self._options.wants(row.key):
                yield row

    def _compare(self, snapshot: BackupSnapshot, rows: list[BackupRow]) -> RestorePlan:
        plan = RestorePlan(snapshot)
        sizes = dict(self._listed())
        plan.others = len(sizes.keys() - {row.key for row in rows})
        here = [row for row in rows if row.key in sizes]
        plan.absent = [row for row in rows if row.key not in sizes]
        for batch in batches(here, BATCH_BYTES):
            for row, answer in zip(batch, self._target.get_many([row.key for row in batch]), strict=True):
                if isinstance(answer, NotFound):
                    plan.absent.append(row)
                elif isinstance(answer, StoreError):
                    raise answer
                elif len(answer.data) == row.size and sha256_of(answer.data) == row.sha256:
                    plan.same.append(row)
                else:
                    plan.different[row.key] = answer.etag
                    plan.replaced.append(row)
        return plan

    def _listed(self) -> Iterator[tuple[str, int]]:
        """What is at the target already, of what is wanted."""
        for wanted in self._options.only or ("",):
            folder = wanted[: wanted.rfind("/") + 1]
            for info in self._target.list(folder):
                if self._options.wants(info.key):
                    yield info.key, info.size

    # --- writing

    def _write_turn(self, rows: Sequence[BackupRow], report: RestoreReport) -> None:
        by_pack = rows_by_pack(rows)
        for name, body, error in self._repository.packs(by_pack):
            whole: list[tuple[BackupRow, bytes]] = []
            for row in by_pack[name]:
                data = self._content(row, body)
                if data is None:
                    reason = str(error.details["reason"]) if error else "a content does not match its checksum"
                    self._found(pack_key(name), reason, report.plan.snapshot, [row])
                else:
                    whole.append((row, data))
            self._write(whole, report)
            self._stop_if_damaged()

    def _content(self, row: BackupRow, body: bytes | None) -> bytes | None:
        if body is None:
            return None
        try:
            return unpacked(content_of(row), body)
        except ValueError:
            return None  # it is named as damage

    def _write(self, contents: Sequence[tuple[BackupRow, bytes]], report: RestoreReport) -> None:
        etags = report.plan.different
        puts = [_put(row.key, data, etags.get(row.key)) for row, data in contents]
        for put, answer in zip(puts, self._target.put_many(puts), strict=True):
            if isinstance(answer, AlreadyExists | Conflict):
                if not self._is_there(put):
                    written = f"{report.written} objects were written before somebody else wrote it."
                    raise self._refused([put.key], written)
            elif isinstance(answer, StoreError):
                raise answer
            report.written += 1
            report.bytes += len(put.data)
            self._progress(report.written)

    def _is_there(self, put: Put) -> bool:
        """Whether somebody else has written the same meanwhile, such as another run of this command."""
        try:
            return self._target.get(put.key).data == put.data
        except NotFound:
            return False

    def _refused(self, keys: Sequence[str], written: str) -> RestoreRefused:
        return RestoreRefused(count=len(keys), target=self._target.address, key=keys[0], written=written)

    # --- damage

    def _found(self, key: str, reason: str, snapshot: BackupSnapshot, rows: Iterable[BackupRow]) -> BackupDamage:
        damage = self._damage.setdefault(key, BackupDamage(key, reason))
        for row in rows:
            damage.affects(snapshot.name, key=row.key)
        return damage

    def _stop_if_damaged(self) -> None:
        if self._damage and not self._options.keep_going:
            first = next(iter(self._damage.values()))
            raise self._repository.damaged(first.object, first.reason, len(self._damage))


def _put(key: str, data: bytes, etag: str | None) -> Put:
    if etag is None:
        return Put(key, data, if_absent=True)
    return Put(key, data, if_match=etag)
