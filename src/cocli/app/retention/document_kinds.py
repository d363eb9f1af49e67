"""Documents by rule: captures that are old, states of editions that nobody uses, earlier versions."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from cocli.app.retention.evidence import named_documents, pages_of_sites
from cocli.app.retention.kinds import KindPlan
from cocli.documents.care.expiry import ExpiryNote, superseded
from cocli.documents.care.survey import kind_of, surveys
from cocli.keys.paths import account_prefix
from cocli.models.retention.age import moment_before
from cocli.models.retention.record import RemovedItem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from cocli.app.documents.documents import Documents
    from cocli.app.retention.kinds import Announce
    from cocli.app.retention.rules import RetentionRules
    from cocli.app.workspace import Progress, Workspace
    from cocli.documents.catalog.base import Cursor, Kind
    from cocli.documents.header import RemovedObject
    from cocli.models.document import PipeDoc
    from cocli.store.base import ObjectInfo

_PAGE = 1000
_BATCH = 100


@dataclass(slots=True)
class CaptureKind:
    """What came in so long ago, whole. What values still name stays, unless `with_evidence`."""

    age: str
    workspace: Workspace
    documents: Documents
    rules: RetentionRules
    by: str
    with_evidence: bool = False
    name: str = "captures"
    _found: list[PipeDoc] = field(default_factory=list)

    def look(self, progress: Progress) -> KindPlan:
        before = moment_before(self.documents.store.now(), self.age)
        rows = list(_rows(self.documents, kind="intake", progress=progress, deleted=True))
        unfinished = [row for row in rows if row.expired_at is not None and row.purged_at is None]
        old = [row for row in rows if row.deleted_at is None and row.saved_at < before]
        plan = KindPlan(self.name, self.age)
        values = self._values(old)
        plan.values = sum(values)
        plan.kept = 0 if self.with_evidence else sum(map(bool, values))
        going = [row for row, count in zip(old, values, strict=True) if self.with_evidence or not count]
        self._found = [*unfinished, *going]
        plan.count, plan.bytes = len(self._found), sum(row.size for row in self._found)
        return plan

    def remove(self, announce: Announce, progress: Progress) -> int:
        note = ExpiryNote(self.by, f'retention: captures = "{self.age}"')
        done = 0
        for start in range(0, len(self._found), _BATCH):
            batch = self._found[start : start + _BATCH]
            announce(_items(batch))
            for row in batch:
                done += not self.documents.repository.expiry.expire_document(row, note).missed
            progress(done)
        return done

    def _values(self, rows: Sequence[PipeDoc]) -> list[int]:
        """How many values name each document, by itself, by a state of it, or by the site that it is a page of."""
        if not rows:
            return []
        named = named_documents(self.workspace, self.rules.campaigns)
        pages = pages_of_sites(self.documents, named)
        repository, account = self.documents.repository, self.documents.account
        return [
            pages[row.doc]
            + sum(
                named[uuid]
                for uuid in {state.uuid for state in repository.states(account, row.doc) if state.origin == row.origin}
            )
            for row in rows
        ]


@dataclass(slots=True)
class EditionKind:
    """States that an edition made which no campaign uses any more."""

    age: str
    documents: Documents
    rules: RetentionRules
    by: str
    name: str = "editions"
    _found: list[PipeDoc] = field(default_factory=list)

    def look(self, progress: Progress) -> KindPlan:
        before = moment_before(self.documents.store.now(), self.age)
        self._found = [
            row
            for row in _rows(self.documents, kind="state", progress=progress)
            if row.saved_at < before and row.cluster not in self.rules.editions
        ]
        return KindPlan(self.name, self.age, len(self._found), sum(row.size for row in self._found))

    def remove(self, announce: Announce, progress: Progress) -> int:
        note = ExpiryNote(self.by, f'retention: editions = "{self.age}"')
        done = 0
        for start in range(0, len(self._found), _BATCH):
            batch = self._found[start : start + _BATCH]
            announce(_items(batch))
            for row in batch:
                done += not self.documents.repository.expiry.expire_state(row, note).missed
            progress(done)
        return done


@dataclass(slots=True)
class VersionKind:
    """Earlier versions of documents, and blobs that only they have."""

    age: str
    keep: int
    documents: Documents
    name: str = "versions"
    _folders: list[str] = field(default_factory=list)
    _before: datetime | None = None

    def look(self, progress: Progress) -> KindPlan:
        objects = self.documents.repository.objects
        self._before = moment_before(self.documents.store.now(), self.age)
        plan = KindPlan(self.name, self.age)
        self._folders = []
        for survey in surveys(objects.store, self._with_versions(progress), objects.prefix, []):
            old = superseded(survey.versions, keep=self.keep, before=self._before)
            if old and not survey.corrupt and not survey.damaged:
                self._folders.append(survey.folder)
                plan.count += len(old)
                plan.bytes += sum(len(surveyed.stored.data) for surveyed in old)
        return plan

    def remove(self, announce: Announce, progress: Progress) -> int:
        expiry = self.documents.repository.expiry
        done = 0

        def tell(removed: Sequence[RemovedObject]) -> None:
            announce([_item(found) for found in removed])

        for start in range(0, len(self._folders), _BATCH):
            for folder in self._folders[start : start + _BATCH]:
                removed = expiry.drop_versions(folder, keep=self.keep, before=self._before, announce=tell)
                done += sum(found.kind == "version" for found in removed)
            progress(done)
        return done

    def _with_versions(self, progress: Progress) -> Iterator[ObjectInfo]:
        """The objects of documents that have earlier versions: others need not be read."""
        store, prefix = self.documents.store, self.documents.repository.objects.prefix
        listing = store.list(account_prefix(prefix, self.documents.account))
        described = ((info, kind) for info in listing if (kind := kind_of(info.key)) is not None)
        for number, (_, group) in enumerate(groupby(described, key=lambda found: found[1].folder), start=1):
            found = list(group)
            progress(number)
            if any(kind.kind == "version" for _, kind in found):
                yield from (info for info, _ in found)


def _item(found: RemovedObject) -> RemovedItem:
    where = f"{found.cluster or 'intake'}/{found.uuid}" if found.uuid else ""
    return RemovedItem(name=f"{found.kind} {where}".strip(), digest=found.digest or None, size=found.size)


def _items(rows: Sequence[PipeDoc]) -> list[RemovedItem]:
    return [RemovedItem(name=f"{row.cluster or 'intake'}/{row.uuid}", digest=row.digest, size=row.size) for row in rows]


def _rows(documents: Documents, *, kind: Kind, progress: Progress, deleted: bool = False) -> Iterator[PipeDoc]:
    after: Cursor | None = None
    seen = 0
    while True:
        page = documents.repository.documents(documents.account, kind=kind, after=after, limit=_PAGE, deleted=deleted)
        yield from page.items
        seen += len(page.items)
        progress(seen)
        if (after := page.next) is None:
            return
