"""What lies in the folder of one document: every object read and judged by itself, without the catalogue."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from cocli.documents import codec
from cocli.documents.places import DocumentPlace
from cocli.errors import DocumentDamaged, InvalidKey, NotFound
from cocli.keys.paths import (
    BlobKey,
    ClusterStateKey,
    ClusterVersionKey,
    DamagedKey,
    IntakeKey,
    IntakeVersionKey,
    document_folder,
)
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.documents.header import DocumentState
    from cocli.store.base import ObjectInfo, Store

_BATCH = 200


class ObjectKind(NamedTuple):
    """What a key says of its object: `state`, `version`, `blob` or `damaged`."""

    kind: str
    folder: str
    cluster: str | None
    uuid: str
    digest: str
    place: DocumentPlace | None
    """Where it lies, as its key spells it: parts that were too long are shortened."""


def kind_of(key: str) -> ObjectKind | None:
    """None for a key that is no document's."""
    for kind in (IntakeKey, ClusterStateKey, IntakeVersionKey, ClusterVersionKey, BlobKey, DamagedKey):
        if kind.fits(key):
            try:
                return _described(kind.parse(key))
            except InvalidKey:  # another kind may fit
                continue
    return None


_Parsed = IntakeKey | ClusterStateKey | IntakeVersionKey | ClusterVersionKey | BlobKey | DamagedKey


def _described(key: _Parsed) -> ObjectKind:
    owner = (key.account, key.connector, key.datasource, key.doc_id)
    folder = document_folder(key.prefix, *owner)
    if isinstance(key, BlobKey):
        return ObjectKind("blob", folder, None, "", key.sha256, None)
    if isinstance(key, DamagedKey):
        cluster = None if key.folder == "intake" else key.folder
        return ObjectKind("damaged", folder, cluster, key.uuid, key.sha256, None)
    cluster = None
    if isinstance(key, (ClusterStateKey, ClusterVersionKey)):
        cluster = key.cluster
    place = DocumentPlace(key.prefix, *owner, cluster, key.uuid)
    if isinstance(key, (IntakeKey, ClusterStateKey)):
        return ObjectKind("state", folder, cluster, key.uuid, "", place)
    return ObjectKind("version", folder, cluster, key.uuid, key.digest, place)


@dataclass(frozen=True, slots=True)
class SurveyedState:
    """A state or an earlier version that can be read and lies where it should."""

    key: str
    state: DocumentState
    stored: StoredObject


@dataclass(frozen=True, slots=True)
class Misplaced:
    """One that can be read, but says that it belongs elsewhere."""

    key: str
    right: str
    state: DocumentState
    stored: StoredObject


@dataclass(frozen=True, slots=True)
class Corrupt:
    """One that cannot be read."""

    key: str
    kind: ObjectKind
    stored: StoredObject
    reason: str


@dataclass(slots=True)
class Survey:
    """All that lies in one document's folder."""

    folder: str
    states: list[SurveyedState] = field(default_factory=list)
    versions: list[SurveyedState] = field(default_factory=list)
    misplaced: list[Misplaced] = field(default_factory=list)
    corrupt: list[Corrupt] = field(default_factory=list)
    blobs: dict[str, ObjectInfo] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)

    @property
    def intake(self) -> SurveyedState | None:
        return next((surveyed for surveyed in self.states if surveyed.state.document.is_intake), None)

    @property
    def referenced(self) -> set[str]:
        """Blobs that some state or version refers to."""
        return {
            sha256
            for state in (
                *(surveyed.state for surveyed in self.states + self.versions),
                *(surveyed.state for surveyed in self.misplaced),
            )
            for blob in state.document.blobs.values()
            if blob.data is None
            for sha256 in blob.objects
        }


def surveys(store: Store, infos: Iterable[ObjectInfo], prefix: str, strangers: list[str]) -> Iterator[Survey]:
    """One survey per document, from a listing. Keys that are no document's are added to `strangers`."""
    batch: list[tuple[Survey, list[tuple[str, ObjectKind]]]] = []
    for folder, group in itertools.groupby(_described_all(infos, strangers), key=lambda described: described[1].folder):
        survey, to_read = Survey(folder), list[tuple[str, ObjectKind]]()
        for info, kind in group:
            if kind.kind == "blob":
                survey.blobs[kind.digest] = info
            elif kind.kind == "damaged":
                survey.damaged.append(info.key)
            else:
                to_read.append((info.key, kind))
        batch.append((survey, to_read))
        if sum(len(keys) for _, keys in batch) >= _BATCH:
            yield from _read(store, batch, prefix)
            batch = []
    yield from _read(store, batch, prefix)


def _described_all(infos: Iterable[ObjectInfo], strangers: list[str]) -> Iterator[tuple[ObjectInfo, ObjectKind]]:
    for info in infos:
        kind = kind_of(info.key)
        if kind is None:
            strangers.append(info.key)
        else:
            yield info, kind


def survey_one(store: Store, folder: str, prefix: str) -> Survey:
    return next(surveys(store, store.list(folder), prefix, []), Survey(folder))


def _read(store: Store, batch: Sequence[tuple[Survey, list[tuple[str, ObjectKind]]]], prefix: str) -> Iterator[Survey]:
    answers = iter(store.get_many([key for _, keys in batch for key, _ in keys]))
    for survey, keys in batch:
        for key, kind in keys:
            stored = next(answers)
            if isinstance(stored, StoredObject):
                _judge(survey, key, kind, stored, prefix)
            elif not isinstance(stored, NotFound):  # removed since it was listed: then it is not there
                raise stored
        yield survey


def _judge(survey: Survey, key: str, kind: ObjectKind, stored: StoredObject, prefix: str) -> None:
    doc = kind.place.doc if kind.place else "?"
    try:
        state = codec.decode(stored.data, doc=doc, etag=stored.etag)
    except DocumentDamaged as error:
        survey.corrupt.append(Corrupt(key, kind, stored, str(error.details["reason"])))
        return
    place = DocumentPlace.of(prefix, state.document)
    right = place.current if kind.kind == "state" else place.version(state.header.digest)
    if right != key:
        survey.misplaced.append(Misplaced(key, right, state, stored))
    elif kind.kind == "state":
        survey.states.append(SurveyedState(key, state, stored))
    else:
        survey.versions.append(SurveyedState(key, state, stored))
