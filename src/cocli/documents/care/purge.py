"""Purging: every version and blob of a document is removed for good, and a stub with the proof stays.

First a tombstone at the intake, then the list of what will go is written into it, then the objects go, then it says
when that was done. Killed in between, purging again (or `fsck --repair`) goes on from the list. What is left of the
document is this stub: it keeps late events from bringing anything back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cocli import logs
from cocli.documents.care.survey import kind_of
from cocli.documents.catalog.base import EVERY
from cocli.documents.header import DocumentState, Operation, PurgeProof, RemovedObject
from cocli.documents.outbox import events_of
from cocli.errors import DocumentContested, DocumentNotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from cocli.documents.care.tombstones import Tombstones
    from cocli.documents.catalog.base import Catalog
    from cocli.documents.objects import DocumentObjects
    from cocli.documents.places import DocumentPlace
    from cocli.documents.subscriptions import Subscriptions
    from cocli.store.base import ObjectInfo

_LOG = logs.get_logger(__name__)

_TRIES = 20


class Purger:
    def __init__(
        self,
        objects: DocumentObjects,
        catalog: Catalog,
        tombstones: Tombstones,
        *,
        clock: Callable[[], datetime],
        subscriptions: Subscriptions,
    ) -> None:
        self._objects = objects
        self._catalog = catalog
        self._tombstones = tombstones
        self._clock = clock
        self._subscriptions = subscriptions

    def purge(self, account: str, doc: str, by: str, reason: str) -> list[PurgeProof]:
        rows = self._catalog.states(account, doc, EVERY, deleted=True)
        if not rows:
            raise DocumentNotFound(doc=doc, place="this account")
        for place in self._tombstones.intakes(rows):
            self._tombstones.bury(place, by=by, even_if_absent=True)
        return [self.purge_at(place, by, reason) for place in self._tombstones.intakes(rows)]

    def purge_at(self, place: DocumentPlace, by: str, reason: str) -> PurgeProof:
        """Purge the document whose intake's tombstone lies here."""
        for _ in range(_TRIES):
            others = self._others(place)
            self._announce(place, others, by, reason)
            for failure in self._objects.store.delete_many([info.key for info in others]):
                if failure is not None:
                    raise failure
            if not self._others(place) and (done := self._finish(place)) is not None:
                told = {"account": place.account, "doc": place.doc, "by": by, "objects": len(done.removed)}
                _LOG.info("document purged", extra=told)
                return done
        raise DocumentContested(doc=place.doc, tries=_TRIES)

    def _others(self, place: DocumentPlace) -> list[ObjectInfo]:
        return [info for info in self._objects.store.list(place.folder) if info.key != place.current]

    def _announce(self, place: DocumentPlace, others: Sequence[ObjectInfo], by: str, reason: str) -> None:
        """Write down what will be removed, before it is."""
        for _ in range(_TRIES):
            read = self._objects.current(place)
            if read is None:
                raise DocumentNotFound(doc=place.doc, place="intake")
            there, stored = read
            if there.header.deleted_at is None:
                self._tombstones.bury(place, by=by)  # somebody has just brought it back
                continue
            known = there.purge or PurgeProof(self._clock(), by, reason)
            new = [removed for removed in map(removed_object, others) if removed not in known.removed]
            if there.purge is not None and not new:
                return
            header = there.header
            if there.purge is None:
                header = replace(header, version=header.version + 1, operation=Operation.PURGED, destinations=())
            stub = replace(there, header=header, purge=replace(known, removed=(*known.removed, *new), purged_at=None))
            stub, data = self._objects.encode(stub)
            if self._objects.supersede(place, there, stored, data) is not None:
                return
        raise DocumentContested(doc=place.doc, tries=_TRIES)

    def _finish(self, place: DocumentPlace) -> PurgeProof | None:
        read = self._objects.current(place)
        if read is None or (proof := read[0].purge) is None:
            return None
        there, stored = read
        etag: str | None = stored.etag
        if proof.purged_at is None:
            proof = replace(proof, purged_at=self._clock())
            there, data = self._objects.encode(replace(there, purge=proof))
            etag = self._objects.supersede(place, there, stored, data)
        if etag is None:
            return None
        self._write_down(place, replace(there, etag=etag))
        return proof

    def _write_down(self, place: DocumentPlace, stub: DocumentState) -> None:
        self._catalog.forget(place.account, place.doc)
        gone = [
            row
            for row in self._catalog.states(place.account, place.doc, EVERY, deleted=True)
            if (row.connector, row.datasource) == (place.connector, place.datasource)
        ]
        self._catalog.replace([stub.row()], events_of(stub, self._subscriptions), remove=gone)


def removed_object(info: ObjectInfo) -> RemovedObject:
    """What a proof says of an object, by its key."""
    found = kind_of(info.key)
    if found is None:
        return RemovedObject("unknown", None, "", "", info.size)
    return RemovedObject(found.kind, found.cluster, found.uuid, found.digest, info.size)
