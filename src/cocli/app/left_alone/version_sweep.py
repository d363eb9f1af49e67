"""What a bucket keeps of objects that were replaced or deleted: versions that name somebody go, and marks of them.

A version is judged as if it were the object: what would be removed or redacted there is removed here, because nobody
reads it who does not look for what was. The current version is never touched. Running it twice is running it once, so
an interrupted sweep is simply begun again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from cocli.app.left_alone.changes import Remainder, SweepReport
from cocli.errors import CocliError, Denied, MissingExtra, NotFound
from cocli.models.left_alone.forgotten import ForgottenObject
from cocli.store.base import StoredObject
from cocli.store.kinds import scheme_of
from cocli.store.versions import versions_of

if TYPE_CHECKING:
    from cocli.app.left_alone.store_sweep import StoreSweep
    from cocli.app.workspace import Progress
    from cocli.store.base import Store
    from cocli.store.versions import ObjectVersion, ObjectVersions

VERSION = "earlier version"
_MARKER = "delete marker"
_LOT = 64
_RIGHTS = "s3:GetBucketVersioning, s3:ListBucketVersions, s3:GetObjectVersion, s3:DeleteObjectVersion"
_GRANT = f"Run it once more with credentials that have {_RIGHTS}, or with --keep-versions."
_OTHER_KINDS = ("az",)


class VersionSweep:
    """`judge` is a sweep of the same store that changes nothing; `changed` are keys that are somebody's anyway."""

    def __init__(
        self, store: Store, judge: StoreSweep, report: SweepReport, changed: set[str], paths: tuple[str, ...]
    ) -> None:
        self._store = store
        self._judge = judge
        self._report = report
        self._changed = changed
        self._paths = paths
        self._proofs: dict[tuple[str, str], ForgottenObject] = {}
        self._failed: Counter[str] = Counter()
        self._last: CocliError | None = None

    def run(self, *, dry_run: bool, progress: Progress) -> None:
        versions = versions_of(self._store)
        if versions is None:
            if scheme_of(self._store.address) in _OTHER_KINDS:
                told = "what its container keeps of blobs that were replaced or deleted is not looked at: end it there."
                self._report.beyond.append(f"{self._where}: {told}")
            return
        try:
            if versions.are_kept():
                self._sweep(versions, dry_run=dry_run, progress=progress)
        except (Denied, MissingExtra) as error:
            self._failed[error.code] += 0
            self._last = error
        for reason, count in self._failed.items():
            self._report.remaining.append(Remainder(VERSION, count, reason, self._told(count)))

    @property
    def _where(self) -> str:
        return self._store.address.partition(" (")[0]

    def _told(self, count: int) -> str:
        known = f"{count:,} earlier versions of objects" if count else "earlier versions of objects, if it keeps them"
        hint = self._last.hint if isinstance(self._last, MissingExtra) else _GRANT
        return f"{self._where}: {known} ({self._last.code if self._last else 'refused'}). {hint}"

    def _sweep(self, versions: ObjectVersions, *, dry_run: bool, progress: Progress) -> None:
        done = 0
        groups = versions.listed()
        while lot := list(islice(groups, _LOT)):
            theirs = self._theirs(versions, lot)
            gone = theirs if dry_run else self._removed(versions, theirs)
            self._report.counts[VERSION, "removed"] += len(gone)
            self._report.objects += [self._proofs.pop(_name(version)) for version in gone]
            idle = self._idle_markers(lot, set(map(_name, gone)))
            self._report.counts[_MARKER, "removed"] += len(idle if dry_run else self._removed(versions, idle))
            done += len(lot)
            progress(done)

    def _theirs(self, versions: ObjectVersions, lot: list[list[ObjectVersion]]) -> list[ObjectVersion]:
        """Versions that nobody gets who does not ask for them, and that name somebody."""
        old = [version for group in lot for version in group if not (version.is_current or version.is_marker)]
        found: list[ObjectVersion] = []
        for version, answer in zip(old, versions.get_many(old), strict=True):
            if isinstance(answer, StoredObject):
                if self._is_theirs(answer):
                    found.append(version)
                    self._proofs[_name(version)] = _proof_of(answer.data)
            elif isinstance(answer, Denied):
                self._fail(answer)
            elif not isinstance(answer, NotFound):  # gone meanwhile: nothing is left of it
                raise answer
        return found

    def _is_theirs(self, stored: StoredObject) -> bool:
        key = stored.key
        return key in self._changed or key.startswith(self._paths) or self._judge.concerns(stored)

    def _is_named(self, key: str) -> bool:
        return key.startswith(self._paths) or self._judge.names(key)

    def _removed(self, versions: ObjectVersions, wanted: list[ObjectVersion]) -> list[ObjectVersion]:
        if not wanted:
            return []
        answers = versions.remove(wanted)
        for error in answers:
            if error is not None:
                self._fail(error)
        return [version for version, error in zip(wanted, answers, strict=True) if error is None]

    def _fail(self, error: CocliError) -> None:
        self._failed[error.code] += 1
        self._last = error

    def _idle_markers(self, lot: list[list[ObjectVersion]], gone: set[tuple[str, str]]) -> list[ObjectVersion]:
        """Marks of deletion that hide nothing any more, because all that they hid is gone."""
        found: list[ObjectVersion] = []
        for group in lot:
            content = [version for version in group if not version.is_marker]
            is_empty = all(_name(version) in gone for version in content)
            if is_empty and (content or self._is_named(group[0].key)):
                found += [version for version in group if version.is_marker]
        return found


def _name(version: ObjectVersion) -> tuple[str, str]:
    return version.key, version.version


def _proof_of(data: bytes) -> ForgottenObject:
    digest = hashlib.sha256(data).hexdigest()
    return ForgottenObject(kind=VERSION, sha256=digest, size=len(data), done="removed")
