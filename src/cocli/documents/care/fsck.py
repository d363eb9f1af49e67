"""Compares store, catalogue and outbox, and makes them agree: `check(repository, repair=True)`, `rebuild(repository)`.

The objects are the truth: rows and events follow them. What looks wrong is looked at a second time before it is
reported, because others may be saving meanwhile. Nothing is thrown away that anybody could read: what is no document is
set aside byte for byte, and only blobs that nothing refers to are removed, once they are old enough.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from cocli import logs
from cocli.documents.care.findings import FsckFinding, FsckProblem, FsckReport
from cocli.documents.care.repairs import Mending
from cocli.documents.care.survey import kind_of, survey_one, surveys
from cocli.documents.care.telling import TellingCheck
from cocli.documents.care.tombstones import EMPTY_DIGEST
from cocli.documents.outbox import events_of
from cocli.documents.places import DocumentPlace
from cocli.errors import NotFound
from cocli.keys.paths import account_prefix
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from cocli.documents.care.survey import Survey, SurveyedState
    from cocli.documents.header import DocumentState
    from cocli.documents.outbox import Event
    from cocli.documents.repository import DocumentRepository
    from cocli.models.document import PipeDoc

_LOG = logs.get_logger(__name__)

GRACE = timedelta(days=1)
_PAGE = 500


def check(
    repository: DocumentRepository,
    *,
    account: str | None = None,
    repair: bool = False,
    deep: bool = False,
    grace: timedelta = GRACE,
) -> FsckReport:
    """Look at everything, or at one account. `deep` also reads every blob; `grace` is how old rubbish has to be."""
    options = _Options(account, repair, deep, grace)
    return Fsck(repository, options).run()


def rebuild(
    repository: DocumentRepository, *, announce: bool = True, now: Callable[[], datetime] | None = None
) -> FsckReport:
    """Empty the catalogue and build it anew from the store alone.

    Which events were published is not known any more. With `announce` all of them wait to be published again, under
    the ids they had; without, they count as published: for a second machine that gets a catalogue of its own.
    """
    repository.catalog.clear()
    repository.learner.learn()  # what others told is not told a second time; the objects correct it where it is wrong
    report = check(repository, repair=True)
    if not announce:
        moment = (now or repository.objects.store.now)()
        while waiting := repository.catalog.waiting(_PAGE):
            repository.catalog.mark_published([event.event_id for event in waiting], moment)
    return report


@dataclass(frozen=True, slots=True)
class _Options:
    account: str | None
    repair: bool
    deep: bool
    grace: timedelta


class Fsck:
    def __init__(self, repository: DocumentRepository, options: _Options) -> None:
        self._repository = repository
        self._options = options
        self._objects = repository.objects
        self._store = repository.objects.store
        self._catalog = repository.catalog
        self._mending = Mending(repository)
        self._report = FsckReport()
        self._seen: set[bytes] = set()
        """Current objects, and versions, that are there: a short hash of each, because there may be millions."""
        self._unreadable: set[str] = set()
        """Objects that are there but are no documents, and were not set aside."""
        self._purged: set[str] = set()
        """Folders of documents that were purged: events that point into them are history."""
        self._pruned_before = self._catalog.pruned_before()

    def run(self) -> FsckReport:
        prefix = self._objects.prefix
        strangers: list[str] = []
        listing = self._store.list(account_prefix(prefix, self._options.account))
        for survey in surveys(self._store, listing, prefix, strangers):
            self._report.documents += 1
            self._document(survey)
        for key in strangers:
            self._found(FsckProblem.STRANGER, "?", "?", key)
        told = TellingCheck(self._repository)
        for row in self._rows():
            self._row(row)
            told.look(row)
        self._untold(told)
        self._events()
        self._census()
        _LOG.info("documents checked", extra={"documents": self._report.documents, "found": len(self._report.findings)})
        return self._report

    # --- one document

    def _document(self, survey: Survey) -> None:
        self._report.objects += len(survey.states) + len(survey.versions) + len(survey.misplaced) + len(survey.corrupt)
        self._report.blobs += len(survey.blobs)
        self._broken(survey)
        for surveyed in (*survey.states, *survey.versions):
            document = surveyed.state.document
            self._see(
                surveyed.key, DocumentPlace.of(self._objects.prefix, document).current, surveyed.state.header.digest
            )
        self._purge(survey)
        for found in survey.states:
            self._state(found)
        self._told(survey)
        self._blobs(survey)
        self._raised(survey)

    def _broken(self, survey: Survey) -> None:
        for corrupt in survey.corrupt:
            done = self._mend(partial(self._mending.set_aside, corrupt.stored, corrupt.kind))
            if done is None:
                self._unreadable.add(corrupt.key)
            owner = corrupt.kind.place
            where = (owner.account, owner.doc) if owner else ("?", "?")
            self._found(FsckProblem.CORRUPT_OBJECT, *where, f"{corrupt.key}: {corrupt.reason}", done)
        for misplaced in survey.misplaced:
            document = misplaced.state.document
            done = self._mend(partial(self._mending.move, misplaced))
            detail = f"{misplaced.key} belongs to {misplaced.right}"
            self._found(FsckProblem.WRONG_PATH, document.account, document.doc, detail, done)
            if done is not None:
                self._see(
                    misplaced.right,
                    DocumentPlace.of(self._objects.prefix, document).current,
                    misplaced.state.header.digest,
                )

    def _state(self, found: SurveyedState) -> None:
        document, wanted = found.state.document, found.state.row()
        row = self._find(wanted)
        if row == wanted:
            return
        again = self._objects.current(DocumentPlace.of(self._objects.prefix, document))
        if again is None:
            return  # gone since it was read: the pass over the rows sees to it
        state = again[0]
        wanted, row = state.row(), self._find(wanted)
        if row == wanted:
            return  # somebody was just saving it
        detail = f"{document.cluster or 'intake'}/{document.address}, version {wanted.version}"
        if row is None:
            problem = FsckProblem.ORPHAN_OBJECT
        else:
            problem = FsckProblem.DIGEST_MISMATCH if row.digest != wanted.digest else FsckProblem.STALE_ROW
            detail += f"; the row says version {row.version}, {row.digest[:12]}…"
        done = self._mend(lambda: self._mending.adopt(state))
        self._found(problem, document.account, document.doc, detail, done)

    def _told(self, survey: Survey) -> None:
        """Every version that is there was told, or will be."""
        wanted: dict[str, Event] = {}
        for surveyed in (*survey.states, *survey.versions):
            if self._pruned_before is None or surveyed.state.header.saved_at >= self._pruned_before:
                wanted |= {event.event_id: event for event in events_of(surveyed.state, self._repository.subscriptions)}
        known = self._catalog.known_events(wanted)
        missing = [event for event in wanted.values() if event.event_id not in known]
        missing = [event for event in missing if not self._catalog.is_learned(event.state_key)]
        if missing and not self._options.repair:
            rows = {row.state_key for surveyed in survey.states if (row := self._find(surveyed.state.row()))}
            missing = [event for event in missing if event.state_key in rows]
        if not missing:
            return
        done = self._mend(lambda: self._mending.tell(missing))
        for event in missing:
            to = event.reference
            detail = f"{to.cluster or 'intake'}/{to.address}, version {event.version}: {event.operation}"
            detail += f" for {event.destination}" if event.destination else ""
            self._found(FsckProblem.DOCUMENT_WITHOUT_EVENT, to.account, to.doc, detail, done)

    def _blobs(self, survey: Survey) -> None:
        for surveyed in (*survey.states, *survey.versions):
            document = surveyed.state.document
            for name, blob in document.blobs.items():
                missing = () if blob.data is not None else blob.objects
                for sha256 in (sha256 for sha256 in missing if not self._there(survey, surveyed, sha256)):
                    detail = f"blob {name} ({sha256[:12]}…) of {surveyed.key}"
                    self._found(FsckProblem.MISSING_BLOB, document.account, document.doc, detail)
        for sha256 in self._orphans(survey):
            key = survey.blobs[sha256].key
            done = self._mend(partial(self._mending.remove_blob, survey.folder, sha256))
            self._found(FsckProblem.ORPHAN_BLOB, *_owner(survey, key), key, done)

    def _orphans(self, survey: Survey) -> list[str]:
        """Blobs that nothing refers to, old enough that nobody is about to."""
        if survey.corrupt or survey.damaged:
            return []  # what cannot be read may refer to any of them
        candidates = set(survey.blobs) - survey.referenced
        if not candidates:
            return []
        limit = self._store.now() - self._options.grace
        again = survey_one(self._store, survey.folder, self._objects.prefix)
        candidates -= again.referenced
        return sorted(sha256 for sha256 in candidates & again.blobs.keys() if again.blobs[sha256].modified <= limit)

    def _there(self, survey: Survey, found: SurveyedState, sha256: str) -> bool:
        key = DocumentPlace.of(self._objects.prefix, found.state.document).blob(sha256)
        if not self._options.deep and sha256 in survey.blobs:
            return True
        try:
            stored = self._store.get(key)
        except NotFound:
            return False
        if hashlib.sha256(stored.data).hexdigest() == sha256:
            return True
        kind = kind_of(found.key)
        done = self._mend(lambda: self._mending.set_aside(stored, kind))
        self._found(FsckProblem.CORRUPT_BLOB, *_owner(survey, key), key, done)
        return done is None

    def _purge(self, survey: Survey) -> None:
        intake = survey.intake
        if intake is None or intake.state.purge is None:
            return
        self._purged.add(survey.folder)
        if intake.state.is_expired:
            self._expiry(intake.state, survey)
            return
        others = len(survey.states) + len(survey.versions) + len(survey.blobs) - 1
        if intake.state.purge.purged_at is not None and not others:
            return
        document = intake.state.document
        problem = FsckProblem.UNFINISHED_PURGE if intake.state.purge.purged_at is None else FsckProblem.RESURRECTED
        done = self._mend(lambda: self._mending.finish_purge(intake.state))
        self._found(problem, document.account, document.doc, f"{others} objects are left", done)
        if done is not None:
            survey.states, survey.versions, survey.blobs = [], [], {}

    def _expiry(self, stub: DocumentState, survey: Survey) -> None:
        if stub.purge is None or stub.purge.purged_at is not None:
            return
        document = stub.document
        done = self._mend(lambda: self._mending.finish_expiry(stub))
        self._found(FsckProblem.UNFINISHED_PURGE, document.account, document.doc, "its content is old", done)
        if done is not None:
            again = survey_one(self._store, survey.folder, self._objects.prefix)
            survey.states, survey.versions, survey.blobs = again.states, again.versions, again.blobs

    def _raised(self, survey: Survey) -> None:
        """A live state whose document was deleted."""
        intake = survey.intake
        if intake is None or intake.state.header.deleted_at is None or intake.state.is_expired:
            return
        for surveyed in survey.states:
            if surveyed.state.header.deleted_at is None:
                document = surveyed.state.document
                done = self._mend(partial(self._mending.bury, surveyed.state))
                detail = f"{document.cluster or 'intake'}/{document.address}"
                self._found(FsckProblem.RESURRECTED, document.account, document.doc, detail, done)

    # --- rows and events

    def _rows(self) -> Iterator[PipeDoc]:
        after: PipeDoc | None = None
        while rows := self._catalog.scan(after, _PAGE):
            after = rows[-1]
            yield from (row for row in rows if self._options.account in (None, row.account))

    def _row(self, row: PipeDoc) -> None:
        self._report.rows += 1
        place = DocumentPlace.of(self._objects.prefix, row)
        if _short(place.current) in self._seen or place.current in self._unreadable:
            return
        try:
            self._store.get(place.current)
            return  # saved since the listing passed by
        except NotFound:
            pass  # there is none indeed
        if self._find(row) is None:
            return  # and the row has gone as well
        done = self._mend(lambda: self._mending.without_object(row))
        detail = f"{row.cluster or 'intake'}/{row.address}, version {row.version}"
        self._found(FsckProblem.DANGLING_ROW, row.account, row.doc, detail, done)

    def _events(self) -> None:
        after = 0
        while entries := self._catalog.scan_events(after, _PAGE):
            after = entries[-1].number
            for entry in entries:
                if self._options.account in (None, entry.event.reference.account):
                    self._report.events += 1
                    self._event(entry.event)

    def _event(self, event: Event) -> None:
        to = event.reference
        place = DocumentPlace.pointed_at(self._objects.prefix, to)
        if to.digest == EMPTY_DIGEST or place.folder in self._purged:
            return
        if _short(f"{place.current} {to.digest}") in self._seen or self._has(place, to.digest):
            return
        detail = f"{event.operation} {to.cluster or 'intake'}/{to.address}, version {event.version}"
        done = self._mend(lambda: self._mending.untell(event))
        self._found(FsckProblem.EVENT_WITHOUT_DOCUMENT, to.account, to.doc, detail, done)

    def _has(self, place: DocumentPlace, digest: str) -> bool:
        """The second look: it may have been saved since the listing passed by."""
        keys = (place.current, place.version(digest))
        if self._unreadable.intersection(keys):
            return True  # what it pointed at is damaged, which is reported as such
        there = [stored for stored in self._store.get_many(keys) if isinstance(stored, StoredObject)]
        return any(self._objects.read(place, stored).header.digest == digest for stored in there)

    def _untold(self, told: TellingCheck) -> None:
        if not told.missing:
            return
        done = self._mend(told.tell_again)
        for row in told.missing:
            detail = f"{row.cluster or 'intake'}/{row.address}, version {row.version}"
            self._found(FsckProblem.UNTOLD_ROW, row.account, row.doc, detail, done)

    def _census(self) -> None:
        """Everything was just looked at: what the catalogue does not know is what was found and not mended."""
        if self._options.account is None:
            unseen = sum(finding.problem is FsckProblem.ORPHAN_OBJECT for finding in self._report.open)
            self._repository.census.note(unseen, self._store.now())

    # --- plumbing

    def _find(self, row: PipeDoc) -> PipeDoc | None:
        return self._catalog.find(row.account, row.state_key, row.uuid).row

    def _see(self, key: str, current: str, digest: str) -> None:
        self._seen.update((_short(key), _short(f"{current} {digest}")))

    def _mend(self, action: Callable[[], str | None]) -> str | None:
        if self._options.repair:
            return action()
        return None

    def _found(self, problem: FsckProblem, account: str, doc: str, detail: str, repaired: str | None = None) -> None:
        self._report.findings.append(FsckFinding(problem, account, doc, detail, repaired))
        told = {"problem": str(problem), "account": account, "doc": doc}
        if repaired is None:
            _LOG.warning("found: %s", detail, extra=told)
        else:
            _LOG.info("repaired: %s", repaired, extra=told | {"found": detail})


def _owner(survey: Survey, key: str) -> tuple[str, str]:
    for surveyed in (*survey.states, *survey.versions):
        return surveyed.state.document.account, surveyed.state.document.doc
    return "?", key


def _short(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=12).digest()
