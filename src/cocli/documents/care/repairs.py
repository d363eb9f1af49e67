"""What `fsck --repair` does about each thing that it finds. Every step can be cut off and done again.

Each method answers with what it did, in words; None where there was nothing to do any more.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from cocli.documents.care.survey import kind_of, survey_one
from cocli.documents.outbox import events_of
from cocli.documents.places import DocumentPlace
from cocli.errors import Conflict
from cocli.keys.paths import DamagedKey
from cocli.store.settled import create

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.documents.care.survey import Misplaced, ObjectKind
    from cocli.documents.header import DocumentState
    from cocli.documents.outbox import Event
    from cocli.documents.repository import DocumentRepository
    from cocli.models.document import PipeDoc
    from cocli.store.base import StoredObject


class Mending:
    def __init__(self, repository: DocumentRepository) -> None:
        self._objects = repository.objects
        self._store = repository.objects.store
        self._catalog = repository.catalog
        self._tombstones = repository.tombstones
        self._purger = repository.purger
        self._expiry = repository.expiry
        self._subscriptions = repository.subscriptions

    def set_aside(self, stored: StoredObject, kind: ObjectKind | None) -> str | None:
        """Keep the bytes under a name that nobody reads, then remove them from where they were."""
        if kind is None or kind.place is None:
            return None
        place = kind.place
        owner = (place.account, place.connector, place.datasource, place.doc)
        sha256 = hashlib.sha256(stored.data).hexdigest()
        key = str(DamagedKey(*owner, kind.cluster or "intake", kind.uuid, sha256, place.prefix))
        create(self._store, key, stored.data)
        try:
            self._store.delete(stored.key, if_match=stored.etag)
        except Conflict:
            return f"replaced by somebody meanwhile; the damaged bytes are kept as {key}"
        return f"set aside as {key}"

    def move(self, misplaced: Misplaced) -> str | None:
        """To where it belongs; where that is taken by something else, aside."""
        taken = create(self._store, misplaced.right, misplaced.stored.data) is None
        if taken and self._store.get(misplaced.right).data != misplaced.stored.data:
            return self.set_aside(misplaced.stored, kind_of(misplaced.key))
        self._store.delete(misplaced.key, if_match=misplaced.stored.etag)
        if (
            kind_of(misplaced.right) is not None
            and misplaced.right == DocumentPlace.of(self._objects.prefix, misplaced.state.document).current
        ):
            self.adopt(misplaced.state)
        return f"moved to {misplaced.right}"

    def adopt(self, state: DocumentState) -> str:
        """The row and the events follow the object, also where the row claims to be newer."""
        self._catalog.replace([state.row()], events_of(state, self._subscriptions))
        return "the row was written from the object"

    def tell(self, events: Sequence[Event]) -> str:
        self._catalog.commit([], events)
        return "the event waits to be published"

    def untell(self, event: Event) -> str:
        self._catalog.remove_events([event.event_id])
        return "the event was removed"

    def bury(self, state: DocumentState) -> str:
        self._tombstones.bury(DocumentPlace.of(self._objects.prefix, state.document), by="fsck")
        return "deleted, as its document is"

    def finish_purge(self, stub: DocumentState) -> str:
        proof = self._purger.purge_at(DocumentPlace.of(self._objects.prefix, stub.document), "fsck", "")
        return f"purged; {len(proof.removed)} objects are in the proof"

    def finish_expiry(self, stub: DocumentState) -> str:
        done = self._expiry.finish(DocumentPlace.of(self._objects.prefix, stub.document))
        return f"removed; {len(done.removed)} objects were left"

    def without_object(self, row: PipeDoc) -> str:
        """The newest earlier version takes the place of what is gone; where there is none, the row goes."""
        place = DocumentPlace.of(self._objects.prefix, row)
        survey = survey_one(self._store, place.folder, self._objects.prefix)
        earlier = [surveyed for surveyed in survey.versions if surveyed.state.document.state_key == row.state_key]
        if earlier:
            newest = max(earlier, key=lambda surveyed: surveyed.state.header.version)
            if create(self._store, place.current, newest.stored.data) is not None:
                self.adopt(newest.state)
                return f"version {newest.state.header.version} took its place"
        self._catalog.replace([], [], remove=[row])
        return "the row was removed"

    def remove_blob(self, folder: str, sha256: str) -> str | None:
        """After a second look: somebody may refer to it by now."""
        survey = survey_one(self._store, folder, self._objects.prefix)
        if sha256 in survey.referenced or survey.corrupt or sha256 not in survey.blobs:
            return None
        self._store.delete(survey.blobs[sha256].key)
        return "removed"
