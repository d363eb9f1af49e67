"""Expiry: the content of a state goes because it is old, not because somebody wants it gone. It may come again.

What stays is a stub without content that says what was removed (digests, sizes), when, by whom and by which rule. It
is hidden like a tombstone, and gives way to whoever saves the state again. States and earlier versions go first, then
the intake becomes a stub that names what is left, then that goes, and the stub says when. Killed in between, the
intake is as old as before, or its stub is unfinished: the next run or `fsck --repair` goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cocli.documents.care.purge import removed_object
from cocli.documents.care.survey import kind_of, survey_one
from cocli.documents.care.tombstones import without_content
from cocli.documents.header import DocumentState, Header, Operation, PurgeProof, RemovedObject
from cocli.documents.outbox import events_of
from cocli.documents.places import DocumentPlace
from cocli.models.document import StateKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from cocli.documents.care.survey import SurveyedState
    from cocli.documents.catalog.base import Catalog
    from cocli.documents.objects import DocumentObjects
    from cocli.documents.subscriptions import Subscriptions
    from cocli.models.document import PipeDoc
    from cocli.store.base import ObjectInfo


@dataclass(frozen=True, slots=True)
class ExpiryNote:
    """Who removes it, and by which rule."""

    by: str
    reason: str


@dataclass(slots=True)
class Expired:
    """What an expiry removed. `missed`: somebody saved it anew meanwhile, and it stays."""

    removed: list[RemovedObject] = field(default_factory=list)
    missed: bool = False


class Expiry:
    def __init__(
        self,
        objects: DocumentObjects,
        catalog: Catalog,
        *,
        clock: Callable[[], datetime],
        subscriptions: Subscriptions,
    ) -> None:
        self._objects = objects
        self._catalog = catalog
        self._clock = clock
        self._subscriptions = subscriptions

    def expire_document(self, intake: PipeDoc, note: ExpiryNote) -> Expired:
        """Everything of a document of one datasource: its intake, states, versions and blobs."""
        home = DocumentPlace.of(self._objects.prefix, intake)
        read = self._objects.current(home)
        if read is not None and read[0].is_expired:
            self._tell(read[0])  # whoever did it was killed before it could
            return self.finish(home)
        if read is None or read[0].header.digest != intake.digest or read[0].header.version != intake.version:
            return Expired(missed=True)
        infos = [info for info in self._objects.store.list(home.folder) if info.key != home.current]
        done = Expired()
        for place in self._places(infos):
            done.removed += self._expire(place, [], note)
        versions = [info for info in infos if _kind(info.key) == "version"]
        removed = [removed_object(info) for info in versions]
        self._delete(home, removed, versions)
        done.removed += removed
        left = [removed_object(info) for info in infos if _kind(info.key) not in ("state", "version")]
        stub = self._expire(home, [*removed, *left], note, expected=read[1].etag)
        if not stub:
            return Expired(done.removed, missed=True)
        done.removed += stub
        done.removed += self.finish(home).removed
        return done

    def finish(self, home: DocumentPlace) -> Expired:
        """Remove what an unfinished stub at an intake stands before, and write into it that it is done."""
        read = self._objects.current(home)
        if read is None or not read[0].is_expired:
            return Expired(missed=True)  # somebody saved it anew: what nothing refers to is for `fsck`
        stub, stored = read
        if stub.purge is None or stub.purge.purged_at is not None:
            return Expired()
        rest = [info for info in self._objects.store.list(home.folder) if _kind(info.key) != "state"]
        removed = [removed_object(info) for info in rest]
        self._delete(home, removed, rest)
        finished, data = self._objects.encode(replace(stub, purge=replace(stub.purge, purged_at=self._clock())))
        etag = self._objects.overwrite(home, stored, data)
        if etag is not None:
            self._catalog.replace([replace(finished, etag=etag).row()], [])
        return Expired(removed)

    def expire_state(self, row: PipeDoc, note: ExpiryNote) -> Expired:
        """One state of an edition, with its earlier versions."""
        place = DocumentPlace.of(self._objects.prefix, row)
        versions = list(self._objects.store.list(f"{place.current.removesuffix('.pb')}/"))
        removed = [removed_object(info) for info in versions]
        self._delete(place, removed, versions)
        stub = self._expire(place, removed, note)
        return Expired([*removed, *stub], missed=not stub)

    def drop_versions(
        self, folder: str, *, keep: int, before: datetime | None, announce: Callable[[Sequence[RemovedObject]], None]
    ) -> list[RemovedObject]:
        """Earlier versions that are neither among the newest `keep` of their state nor younger than `before`, and
        blobs that only they referred to. The current states stay. `announce` is told before they go."""
        survey = survey_one(self._objects.store, folder, self._objects.prefix)
        old = superseded(survey.versions, keep=keep, before=before)
        if not old or survey.corrupt or survey.damaged:
            return []  # what cannot be read may refer to any blob: `fsck` comes first
        gone = {surveyed.key for surveyed in old}
        kept = [surveyed for surveyed in (*survey.states, *survey.versions) if surveyed.key not in gone]
        needed = {blob.sha256 for surveyed in kept for blob in surveyed.state.document.blobs.values()}
        told = {blob.sha256 for surveyed in old for blob in surveyed.state.document.blobs.values()}
        blobs = [survey.blobs[sha256] for sha256 in sorted((told - needed) & survey.blobs.keys())]
        infos = {info.key: info for info in self._objects.store.list(folder)}
        going = [*(infos[key] for key in sorted(gone & infos.keys())), *blobs]
        removed = [removed_object(info) for info in going]
        announce(removed)
        self._delete(DocumentPlace.of(self._objects.prefix, old[0].state.document), removed, going)
        return removed

    # --- steps

    def _expire(
        self, place: DocumentPlace, removed: Sequence[RemovedObject], note: ExpiryNote, *, expected: str | None = None
    ) -> list[RemovedObject]:
        """Put a stub in the place of a state; what that removed. Nothing where somebody was faster."""
        read = self._objects.current(place)
        if read is None:
            return []
        there, stored = read
        if there.is_expired:
            self._tell(there)
        if there.header.deleted_at is not None or expected not in (None, stored.etag):
            return []
        now = self._clock()
        state = replace(removed_object_of(place, there), size=len(stored.data))
        finished_at = None if place.cluster is None else now
        proof = PurgeProof(now, note.by, note.reason, (*removed, state), finished_at)
        header = Header(there.header.version + 1, there.header.digest, now, Operation.DELETED, (), now, note.by)
        stub, data = self._objects.encode(DocumentState(header, without_content(there.document), proof))
        etag = self._objects.overwrite(place, stored, data)
        if etag is None:
            return []
        self._tell(replace(stub, etag=etag))
        return [state]

    def _tell(self, stub: DocumentState) -> None:
        self._catalog.commit([stub.row()], events_of(stub, self._subscriptions))
        if stub.purge is not None:
            self._forget(DocumentPlace.of(self._objects.prefix, stub.document), stub.purge.removed)

    def _forget(self, place: DocumentPlace, removed: Iterable[RemovedObject]) -> None:
        """Events of what is gone point at nothing."""
        owner = (place.connector, place.datasource)
        gone = [(StateKey(found.uuid, found.cluster, *owner), found.digest) for found in removed if found.uuid]
        if gone:
            self._catalog.forget_versions(gone)

    def _places(self, infos: Iterable[ObjectInfo]) -> list[DocumentPlace]:
        """The places of current states, as they say themselves: keys of long names are shortened."""
        keys = [info.key for info in infos if _kind(info.key) == "state"]
        found = self._objects.read_many(keys)
        return [DocumentPlace.of(self._objects.prefix, state.document) for state in found]

    def _delete(self, place: DocumentPlace, removed: Sequence[RemovedObject], infos: Sequence[ObjectInfo]) -> None:
        """The objects of a document, after the events that point at them."""
        self._forget(place, removed)
        for failure in self._objects.store.delete_many([info.key for info in infos]):
            if failure is not None:
                raise failure


def superseded(versions: Sequence[SurveyedState], *, keep: int, before: datetime | None) -> list[SurveyedState]:
    """Those that a rule lets go: each state keeps its newest `keep` earlier ones, and those saved since `before`."""
    by_state: dict[object, list[SurveyedState]] = {}
    for surveyed in versions:
        by_state.setdefault(surveyed.state.document.state_key, []).append(surveyed)
    gone: list[SurveyedState] = []
    for group in by_state.values():
        newest_first = sorted(group, key=lambda surveyed: surveyed.state.header.version, reverse=True)
        gone += [
            surveyed for surveyed in newest_first[keep:] if before is None or surveyed.state.header.saved_at < before
        ]
    return gone


def removed_object_of(place: DocumentPlace, state: DocumentState) -> RemovedObject:
    return RemovedObject("state", place.cluster, place.uuid, state.header.digest, state.size)


def _kind(key: str) -> str:
    found = kind_of(key)
    return found.kind if found else "unknown"
