"""Making a snapshot: contents that the backup lacks are packed and sent, then lists, then the snapshot, then HEAD.

Nothing of it is seen before HEAD names it. Whoever is killed leaves packs and a draft, from which the next run goes
on; whoever is overtaken by a removal (`pruning`) notices it when HEAD is swapped, and starts again with what is left.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import BackupContested, BackupDamaged, BackupMisplaced, NotFound
from cocli.store.base import Put
from cocli.sync.backup.capture import SourceCapture
from cocli.sync.backup.layout import MARKER, draft_key, list_key, pack_key, sha256_of, snapshot_key
from cocli.sync.backup.pack import PACK_BYTES, PackPlace, PackWriter
from cocli.sync.backup.repository import marker_id
from cocli.sync.backup.rows import ListRef, in_order, render_list, split_rows
from cocli.sync.backup.snapshot import BackupSnapshot, render_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cocli.store.base import Store, StoredObject
    from cocli.sync.backup.head import BackupHead
    from cocli.sync.backup.repository import BackupRepository
    from cocli.sync.backup.rows import BackupRow

_LOG = logs.get_logger(__name__)

_ATTEMPTS = 5
_LONG_PASS = 60.0
"""Seconds. After a longer pass all is looked at again, so that a snapshot is of one moment and not of an hour."""
_PASSES = 3
_DRAFT_EVERY = 64 << 20
"""Bytes that are sent between two notes of how far it has come."""
_LISTS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class CreationOptions:
    """Who makes the snapshot, with what. `read_all` trusts no size and no time, and reads every object."""

    host: str
    program: str
    read_all: bool = False
    pack_bytes: int = PACK_BYTES
    draft_every: int = _DRAFT_EVERY


class BackupCreation:
    """One `create`. `progress` is told how many objects were looked at."""

    def __init__(
        self,
        repository: BackupRepository,
        source: Store,
        options: CreationOptions,
        *,
        monotonic: Callable[[], float],
        progress: Callable[[int], None],
    ) -> None:
        self._repository = repository
        self._store = repository.store
        self._source = source
        self._options = options
        self._monotonic = monotonic
        self._progress = progress
        self._id = ""

    def run(self) -> BackupSnapshot:
        """`BackupMisplaced` where the backup lies in its own source."""
        self._id = self._repository.begin()
        for _ in range(_ATTEMPTS):
            made = self._attempt()
            if made is not None:
                self._store.delete(draft_key(self._source.address))
                _LOG.info("snapshot made: %s", made.name, extra={"objects": made.objects, "bytes": made.stored_bytes})
                return made
            _LOG.warning("objects were removed from the backup meanwhile: what is missing is sent again")
        raise BackupContested(backup=self._repository.address)

    def _attempt(self) -> BackupSnapshot | None:
        began = self._repository.read_head().head
        base = _Base(self._repository, self._source.address, began)
        taking = _Taking(self, base)
        for turn in range(_PASSES):
            started = self._monotonic()
            taking.run(read_all=self._options.read_all and turn == 0)
            if self._monotonic() - started < _LONG_PASS:
                break
        return self._publish(began, base, taking)

    def _publish(self, began: BackupHead, base: _Base, taking: _Taking) -> BackupSnapshot | None:
        rows = in_order(taking.rows.values())
        lists = self.send_lists(rows, base)
        snapshot = BackupSnapshot(
            time=self._store.now(),
            source=self._source.address,
            host=self._options.host,
            program=self._options.program,
            previous=base.previous,
            objects=len(rows),
            bytes=sum(row.size for row in rows),
            stored_objects=taking.writer.stored_objects,
            stored_bytes=taking.writer.stored_bytes,
            lists=lists,
        )
        name, data = render_snapshot(snapshot)
        self._store.put(snapshot_key(name), data)
        used = {snapshot_key(name), *used_objects(rows, lists)}
        done = self._repository.change_head(lambda head: self._with_snapshot(head, name, used, began))
        return None if done is None else replace(snapshot, name=name)

    def _with_snapshot(self, head: BackupHead, name: str, used: set[str], began: BackupHead) -> BackupHead | None:
        """HEAD with the new snapshot: what it uses is condemned no longer. None where something of that is gone."""
        if not used.isdisjoint(head.unusable):
            return None
        was_rebuilt = head.sequence < began.sequence  # then it does not know any more what was removed
        if was_rebuilt and not used <= self._repository.existing().keys() | {snapshot_key(name)}:
            return None
        condemned = {key: since for key, since in head.condemned.items() if key not in used}
        others = tuple(other for other in head.snapshots if other != name)
        return head.following(snapshots=(*others, name), condemned=condemned)

    # --- what the parts of a run share

    @property
    def source(self) -> Store:
        return self._source

    @property
    def repository(self) -> BackupRepository:
        return self._repository

    @property
    def options(self) -> CreationOptions:
        return self._options

    def looked(self, count: int) -> None:
        self._progress(count)

    def refuse_itself(self, stored: StoredObject) -> None:
        """An address can be written in several ways; the marker of this very backup gives it away."""
        if stored.key.rpartition("/")[2] == MARKER and marker_id(stored.data) == self._id:
            reason = f"it is a part of the store that is backed up ({self._source.address})"
            raise BackupMisplaced(backup=self._repository.address, reason=reason)

    def send_lists(self, rows: Sequence[BackupRow], base: _Base) -> tuple[ListRef, ...]:
        """Send those lists that are not there yet."""
        refs: list[ListRef] = []
        puts: list[Put] = []
        for part in split_rows(rows):
            data = render_list(part)
            if list_key(sha256_of(data)) in base.unusable:
                data = render_list(part, salt=secrets.token_hex(8))
            name = sha256_of(data)
            refs.append(ListRef(name, part[0].key, len(part)))
            if list_key(name) not in base.existing:
                puts.append(Put(list_key(name), data))
                base.existing.add(list_key(name))
            if len(puts) >= _LISTS_AT_ONCE:
                self._send(puts)
                puts = []
        self._send(puts)
        return tuple(refs)

    def send_draft(self, rows: Iterable[BackupRow], base: _Base) -> None:
        """Note how far it has come, for whoever goes on if this run does not."""
        lists = self.send_lists(in_order(rows), base)
        draft = {"lists": [list(part) for part in lists]}
        self._store.put(draft_key(self._source.address), json.dumps(draft).encode())

    def _send(self, puts: Sequence[Put]) -> None:
        for answer in self._store.put_many(puts):
            if isinstance(answer, Exception):
                raise answer


class _Base:
    """What the backup has already: rows of the last snapshot of this source, and where contents are."""

    def __init__(self, repository: BackupRepository, source: str, head: BackupHead) -> None:
        self._repository = repository
        self.unusable = head.unusable
        self.existing = repository.existing().keys() - self.unusable
        self.previous: str | None = None
        self.rows: dict[str, BackupRow] = {}
        self.contents: dict[str, PackPlace] = {}
        self._learn(source, head)

    def _learn(self, source: str, head: BackupHead) -> None:
        others: list[ListRef] = []
        for name in reversed(head.snapshots):
            try:
                snapshot = self._repository.snapshot(name)
            except BackupDamaged:  # it cannot be compared with; `verify` names it
                continue
            if snapshot.source == source:
                self.previous = name
                self._take(snapshot.lists, are_ours=True)
                break
            others = others or list(snapshot.lists)
        if self.previous is None:
            self._take(others, are_ours=False)
        self._take(self._draft(source), are_ours=True)

    def _draft(self, source: str) -> list[ListRef]:
        try:
            document = json.loads(self._repository.store.get(draft_key(source)).data)
            return [ListRef(*part) for part in document["lists"]]
        except (NotFound, ValueError, KeyError, TypeError):
            return []  # no draft, or a damaged one: then more is read than necessary

    def _take(self, lists: Iterable[ListRef], *, are_ours: bool) -> None:
        for row in self._repository.rows(lists, self._unread):
            if pack_key(row.pack) in self.existing:  # else the content has to be sent again
                self.contents[row.sha256] = PackPlace(row.pack, row.offset, row.length)
                if are_ours:
                    self.rows[row.key] = row

    def _unread(self, part: ListRef, error: BackupDamaged) -> None:
        _LOG.warning("%d objects are read again: %s", part.rows, error.message)
        self.existing.discard(list_key(part.name))


class _Taking:
    """The rows of the snapshot that is being made, pass by pass."""

    def __init__(self, creation: BackupCreation, base: _Base) -> None:
        self._creation = creation
        self._base = base
        self._known: dict[str, BackupRow] = base.rows
        self._sent_at_draft = 0
        self._looked = 0
        self.rows: dict[str, BackupRow] = {}
        options = creation.options
        self.writer = PackWriter(
            creation.repository.store,
            base.contents,
            self._row,
            unusable=base.unusable,
            pack_bytes=options.pack_bytes,
        )

    def run(self, *, read_all: bool) -> None:
        if self.rows:
            self._known, self.rows = self.rows, {}
        known = {} if read_all else self._known
        SourceCapture(self._creation.source, known, keep=self._keep, reuse=self._row, looked=self._count).run()
        self.writer.flush()

    def _keep(self, stored: StoredObject, is_settled: bool) -> None:
        self._creation.refuse_itself(stored)
        self.writer.add(stored, is_settled=is_settled)
        if self.writer.stored_bytes - self._sent_at_draft >= self._creation.options.draft_every:
            self._sent_at_draft = self.writer.stored_bytes
            self._creation.send_draft((self._known | self.rows).values(), self._base)

    def _row(self, row: BackupRow) -> None:
        self.rows[row.key] = row

    def _count(self) -> None:
        self._looked += 1
        self._creation.looked(self._looked)


def used_objects(rows: Iterable[BackupRow], lists: Iterable[ListRef]) -> set[str]:
    """The keys of the lists and packs that some rows need."""
    packs = {row.pack for row in rows}
    return {*map(pack_key, packs), *(list_key(part.name) for part in lists)}
