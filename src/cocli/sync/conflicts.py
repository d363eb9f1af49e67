"""What both sides changed: settled by the rule of its kind, so that nothing that a person wrote is lost.

Every step is safe to repeat: a conflict copy is named by its host and by the time of the edit that it keeps, so that a
run that was killed half-way makes the same copy again.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote_to_bytes

from cocli import logs
from cocli.errors import (
    AlreadyExists,
    ChangedMeanwhile,
    ChangedWhileRead,
    CocliError,
    Conflict,
    NotFound,
    StoreError,
)
from cocli.keys.parts import encode_part
from cocli.store.etag import content_etag
from cocli.sync.kinds import SyncRule
from cocli.sync.merge import Choice, choose
from cocli.sync.report import KeptBoth
from cocli.sync.state import row_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.store.base import Store, StoredObject
    from cocli.sync.folder import Content, Stamp
    from cocli.sync.pace import Throttle
    from cocli.sync.pair import Direction, SyncPair
    from cocli.sync.plan import SyncStep
    from cocli.sync.report import SyncReport

_LOG = logs.get_logger(__name__)

_LONGEST_HOST = 40
_LONGEST_STEM = 120


class _Facing(NamedTuple):
    """The two versions of one file, read just now."""

    step: SyncStep
    here: Content
    there: StoredObject
    looked: int


def is_content(etag: str, data: bytes) -> bool:
    """Whether an etag is that of some content: MD5 on S3 (of a plain upload), ours elsewhere. No means: not known."""
    name = etag.strip('"')
    return name in (hashlib.md5(data, usedforsecurity=False).hexdigest(), content_etag(data))


def copy_key(key: str, host: str, stamp: Stamp, digest: str = "") -> str:
    """`notes/call.md` → `notes/call.conflict-laptop-20261116T033000Z.md`."""
    edited = datetime.fromtimestamp(stamp.modified_ns // 10**9, UTC).strftime("%Y%m%dT%H%M%SZ")
    folder, slash, name = key.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem, dot, ending = name, "", ""
    mark = f".conflict-{encode_part(host)[:_LONGEST_HOST].replace('%', '_')}-{edited}"
    if digest:
        mark += f"-{digest[:8]}"
    kept = encode_part(unquote_to_bytes(stem[:_LONGEST_STEM]).decode("utf-8", "ignore"))  # no character in halves
    return f"{folder}{slash}{kept}{mark}{dot}{ending}"


class ConflictSettler:
    """Looks at both versions of a file and brings them together, as far as the direction allows."""

    def __init__(self, pair: SyncPair, report: SyncReport, throttle: Throttle, direction: Direction) -> None:
        self._pair = pair
        self._report = report
        self._throttle = throttle
        self._direction = direction
        self.copies: list[str] = []
        """Files that were made here, to be sent in the same run."""

    def settle(self, steps: Sequence[SyncStep]) -> None:
        """Each on its own: there are few, and one that fails does not stop the others."""
        for step in steps:
            try:
                self._settle(step)
            except (NotFound, Conflict, AlreadyExists):
                self._report.failed[step.key] = ChangedMeanwhile(key=step.key)
            except (StoreError, ChangedWhileRead) as error:
                self._report.failed[step.key] = error

    def _settle(self, step: SyncStep) -> None:
        looked = self._pair.folder.now_ns()
        here = self._pair.folder.read(step.key, looked)
        etag = step.etag_there
        if etag is not None and is_content(etag, here.data):
            self._adopt(step.key, here, etag, looked)
            return
        try:
            there = self._pair.bucket.get(step.key)
        except NotFound:
            self._send_again(step.key, here, looked)
            return
        self._throttle.spend(len(there.data))
        self._report.bytes_down += len(there.data)
        facing = _Facing(step, here, there, looked)
        if there.data == here.data:
            self._adopt(step.key, here, there.etag, looked)
        elif step.kind.rule is SyncRule.PERSON:
            self._keep_both(facing)
        else:
            self._choose(facing)

    def _send_again(self, key: str, here: Content, looked: int) -> None:
        """Changed here, deleted there: an edit outlives a deletion."""
        if not self._direction.up:
            self._report.counts["ahead"] += 1
            return
        etag = self._pair.bucket.put(key, here.data, if_absent=True)
        self._report.bytes_up += len(here.data)
        self._report.counts["uploaded"] += 1
        self._pair.state.advance({key: row_of(here.stamp, looked, content_etag(here.data), etag)})

    def _adopt(self, key: str, here: Content, etag: str, looked: int) -> None:
        self._pair.state.advance({key: row_of(here.stamp, looked, content_etag(here.data), etag)})
        self._report.counts["adopted"] += 1

    # --- a person's

    def _keep_both(self, facing: _Facing) -> None:
        """Ours goes into a copy beside it, theirs takes the name. In this order: nothing is ever nowhere."""
        step = facing.step
        if not self._direction.down:
            self._report.conflicts.append(step.key)
            return
        copy = self._make_copy(facing)
        self.copies.append(copy)
        self._replace_here(facing, facing.there.data, facing.there.etag)
        _LOG.warning("both sides changed %s: ours is kept beside it as %s", step.key, copy)
        self._report.kept_both.append(KeptBoth(step.key, copy))
        self._report.counts["kept_both"] += 1

    def _make_copy(self, facing: _Facing) -> str:
        digest = content_etag(facing.here.data)
        for name in (
            copy_key(facing.step.key, self._pair.host, facing.here.stamp),
            copy_key(facing.step.key, self._pair.host, facing.here.stamp, digest),
        ):
            try:
                self._pair.folder.store.put(name, facing.here.data, if_absent=True)
            except AlreadyExists:
                if self._pair.folder.store.get(name).data != facing.here.data:
                    continue  # another edit of the same second
            return name
        raise ChangedWhileRead(key=facing.step.key)

    # --- a machine's

    def _choose(self, facing: _Facing) -> None:
        step = facing.step
        try:
            choice = choose(step.key, step.kind.rule, facing.here.data, facing.there.data)
        except CocliError as error:  # not readable as what it should be: then a person has to look
            _LOG.warning("%s cannot be merged: %s", step.key, error.message)
            self._keep_both(facing)
            return
        theirs_holds = choice.data == facing.there.data
        _LOG.debug("both sides changed %s: settled by its rule", step.key, extra={"rule": step.kind.rule})
        if theirs_holds or step.kind.pull_only:
            self._take_theirs(facing, choice)
        elif self._direction.up:
            self._send(facing, choice)
        else:
            self._report.counts["ahead"] += 1
            if choice.data != facing.here.data:  # no row: what was merged is still to be sent
                self._pair.folder.replace(step.key, choice.data, content_etag(facing.here.data))

    def _take_theirs(self, facing: _Facing, choice: Choice) -> None:
        if not self._direction.down:
            self._report.counts["behind"] += 1
            return
        for beside, data in choice.beside:
            self._keep_beside(self._pair.folder.store, beside, data)
            self.copies.append(beside)
        self._replace_here(facing, facing.there.data, facing.there.etag)
        self._report.counts["merged"] += 1

    def _send(self, facing: _Facing, choice: Choice) -> None:
        """The merged content, first there and then here: a run that is killed in between finds it there."""
        key = facing.step.key
        for beside, data in choice.beside:
            self._keep_beside(self._pair.bucket, beside, data)
            if self._direction.down:
                self._keep_beside(self._pair.folder.store, beside, data)
        self._throttle.spend(len(choice.data))
        etag = self._pair.bucket.put(key, choice.data, if_match=facing.there.etag)
        self._report.bytes_up += len(choice.data)
        self._report.counts["merged"] += 1
        if choice.data == facing.here.data:
            row = row_of(facing.here.stamp, facing.looked, content_etag(facing.here.data), etag)
            self._pair.state.advance({key: row})
        elif self._direction.down:
            self._replace_here(facing, choice.data, etag)

    def _keep_beside(self, store: Store, key: str, data: bytes) -> None:
        try:
            store.put(key, data, if_absent=True)
        except AlreadyExists:
            return  # named by its content: it is the same

    def _replace_here(self, facing: _Facing, data: bytes, etag: str) -> None:
        key, folder = facing.step.key, self._pair.folder
        looked = folder.now_ns()
        folder.replace(key, data, content_etag(facing.here.data))
        stamp = folder.stamp(key)
        if stamp is not None:
            self._pair.state.advance({key: row_of(stamp, looked, content_etag(data), etag)})
