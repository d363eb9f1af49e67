"""A backup as it lies in a store: marker, HEAD, snapshots, lists and packs. Every read checks what it read."""

from __future__ import annotations

import secrets
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from cocli import logs
from cocli.errors import (
    AlreadyExists,
    BackupContested,
    BackupDamaged,
    BackupMisplaced,
    NoBackup,
    NotFound,
    StoreError,
    UnknownSnapshot,
)
from cocli.store import settled
from cocli.sync.backup.head import BackupHead, parse_head, render_head
from cocli.sync.backup.layout import (
    FOLDERS,
    HEAD,
    LISTS,
    MARKER,
    PACKS,
    SNAPSHOTS,
    list_key,
    name_in,
    pack_key,
    sha256_of,
    snapshot_key,
    snapshot_name,
)
from cocli.sync.backup.rows import parse_list
from cocli.sync.backup.sealed import seal, unseal
from cocli.sync.backup.snapshot import parse_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cocli.store.base import ObjectInfo, Store
    from cocli.sync.backup.rows import BackupRow, ListRef
    from cocli.sync.backup.snapshot import BackupSnapshot

_LOG = logs.get_logger(__name__)

SCHEMA = "cocli.backup/1"
LATEST = "latest"
_AT_ONCE = 32
_PACKS_AT_ONCE = 4
_TRIES = 20


class HeadState(NamedTuple):
    """HEAD as it was read. Where it is damaged or gone, `head` has the snapshots that lie there."""

    head: BackupHead
    etag: str | None
    problem: str | None = None


class BackupRepository:
    """The store that holds a backup, and nothing else."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @property
    def address(self) -> str:
        return self.store.address

    # --- beginning

    def check(self) -> None:
        """`NoBackup` where there is none. One that lost its marker is one all the same."""
        try:
            self.store.get(MARKER)
        except NotFound:
            state = self.read_head()
            if state.etag is None and not state.head.snapshots:
                raise NoBackup(backup=self.address) from None

    def begin(self) -> str:
        """Its id. A new backup is begun where the store is empty: among other things nothing could ever be removed."""
        found = self._marker_id() or self._begun()
        state = self.read_head()
        if state.etag is None and not state.head.snapshots:
            settled.create(self.store, HEAD, render_head(BackupHead().following()))
        return found

    def _begun(self) -> str:
        strange = next((info.key for info in self.store.list() if not _is_ours(info.key)), None)
        if strange is not None:
            raise BackupMisplaced(backup=self.address, reason=f"something else is there already ({strange})")
        data = seal({"schema": SCHEMA, "id": secrets.token_hex(16), "created": self.store.now().isoformat()})
        try:
            self.store.put(MARKER, data, if_absent=True)
        except AlreadyExists:  # somebody else begins it at the same moment, or it is damaged: then it is written anew
            if not self._marker_id():
                self.store.put(MARKER, data)
        return self._marker_id()

    def _marker_id(self) -> str:
        try:
            return marker_id(self.store.get(MARKER).data)
        except NotFound:
            return ""

    # --- HEAD

    def read_head(self) -> HeadState:
        """For whoever only reads, a damaged HEAD is no obstacle: the snapshots are there to be listed."""
        try:
            stored = self.store.get(HEAD)
        except NotFound:
            names = self._listed_snapshots()
            return HeadState(BackupHead(names), None, "is missing" if names else None)
        try:
            return HeadState(parse_head(stored.data), stored.etag)
        except ValueError as error:
            _LOG.warning("HEAD of %s is damaged and taken from the snapshots that are there: %s", self.address, error)
            return HeadState(BackupHead(self._listed_snapshots()), stored.etag, str(error))

    def _listed_snapshots(self) -> tuple[str, ...]:
        return tuple(sorted(snapshot_name(info.key) for info in self.store.list(SNAPSHOTS)))

    def change_head(self, change: Callable[[BackupHead], BackupHead | None]) -> BackupHead | None:
        """Swap HEAD for what `change` makes of it; None where `change` says that it cannot be done any more."""
        for _ in range(_TRIES):
            state = self.read_head()
            wanted = change(state.head)
            if wanted is None:
                return None
            data = render_head(wanted)
            if state.etag is None:
                done = settled.create(self.store, HEAD, data)
            else:
                done = settled.swap(self.store, HEAD, data, state.etag)
            if done is not None:
                return wanted
        raise BackupContested(backup=self.address)

    # --- snapshots

    def snapshots(self) -> list[BackupSnapshot]:
        """All of them, the oldest first. `BackupDamaged` where one cannot be read."""
        found = [self.snapshot(name) for name in self.read_head().head.snapshots]
        return sorted(found, key=lambda snapshot: (snapshot.time, snapshot.name))

    def snapshot(self, name: str) -> BackupSnapshot:
        key = snapshot_key(name)
        data = self._get_named(key)
        try:
            return parse_snapshot(data, name)
        except ValueError as error:
            raise self.damaged(key, str(error)) from error

    def find(self, wanted: str) -> BackupSnapshot:
        """By the beginning of its id or of its name (which begins with the time), or `latest`."""
        names = self.read_head().head.snapshots
        if not names:
            raise NoBackup(backup=self.address)
        if wanted == LATEST:
            return self.snapshot(names[-1])
        fitting = [name for name in names if wanted and wanted in (name, *_beginnings(name, len(wanted)))]
        if len(fitting) != 1:
            raise UnknownSnapshot(backup=self.address, snapshot=wanted)
        return self.snapshot(fitting[0])

    # --- lists and packs

    def rows(self, lists: Iterable[ListRef], failed: Callable[[ListRef, BackupDamaged], None]) -> Iterator[BackupRow]:
        """The rows of some lists, in their order. `failed` is told of each that cannot be read."""
        remaining = iter(lists)
        while parts := list(islice(remaining, _AT_ONCE)):
            for part, answer in zip(parts, self._get_many([list_key(part.name) for part in parts]), strict=True):
                if isinstance(answer, BackupDamaged):
                    failed(part, answer)
                    continue
                try:
                    found = parse_list(answer)
                except ValueError as error:
                    failed(part, self.damaged(list_key(part.name), str(error)))
                    continue
                yield from found

    def packs(self, names: Iterable[str]) -> Iterator[tuple[str, bytes | None, BackupDamaged | None]]:
        """Packs by their names: bytes, and what is wrong with them. A damaged one may have contents that are whole."""
        remaining = iter(names)
        while some := list(islice(remaining, _PACKS_AT_ONCE)):
            answers = self.store.get_many([pack_key(name) for name in some])
            for name, answer in zip(some, answers, strict=True):
                key = pack_key(name)
                if isinstance(answer, NotFound):
                    yield name, None, self.damaged(key, "is missing")
                elif isinstance(answer, StoreError):
                    raise answer
                elif sha256_of(answer.data) != name:
                    yield name, answer.data, self.damaged(key, "its content does not match its name")
                else:
                    yield name, answer.data, None

    def existing(self, *folders: str) -> dict[str, ObjectInfo]:
        """What lies in some folders of the backup; lists and packs, if none is named."""
        every = chain.from_iterable(self.store.list(folder) for folder in folders or (LISTS, PACKS))
        return {info.key: info for info in every}

    def damaged(self, key: str, reason: str, count: int = 1) -> BackupDamaged:
        return BackupDamaged(backup=self.address, object=key, reason=reason, count=count)

    def _get_named(self, key: str) -> bytes:
        (answer,) = self._get_many([key])
        if isinstance(answer, BackupDamaged):
            raise answer
        return answer

    def _get_many(self, keys: Sequence[str]) -> Iterator[bytes | BackupDamaged]:
        """Objects that are named by their content. What cannot be reached is no damage, and raised."""
        for key, answer in zip(keys, self.store.get_many(keys), strict=True):
            if isinstance(answer, NotFound):
                yield self.damaged(key, "is missing")
            elif isinstance(answer, StoreError):
                raise answer
            elif sha256_of(answer.data) != name_in(key):
                yield self.damaged(key, "its content does not match its name")
            else:
                yield answer.data


def marker_id(data: bytes) -> str:
    """The id in a marker; empty where it is none."""
    try:
        return str(unseal(data, SCHEMA)["id"])
    except (ValueError, KeyError):
        return ""  # no marker, or a damaged one: its bytes say nothing


def _is_ours(key: str) -> bool:
    return key in (HEAD, MARKER) or key.startswith(FOLDERS)


def _beginnings(name: str, length: int) -> tuple[str, str]:
    return name[:length], name.rpartition("-")[2][:length]
