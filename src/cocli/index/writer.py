"""Writing: one record as a loose object, or many as one batch. Writers never touch what others share."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from cocli import logs
from cocli.errors import Conflict, FormatError, NotFound, StoreError, UsageError
from cocli.formats import usv
from cocli.index.shards import content_name
from cocli.keys.paths import WalKey
from cocli.models.record import Record
from cocli.store import settled
from cocli.store.base import Put

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.index.index import Index

R = TypeVar("R", bound=Record)

_LOG = logs.get_logger(__name__)

BATCH_RECORDS = 20_000
"""Records in one object of the WAL; more become several objects."""
_BATCH_FROM = 4
"""So many records of one moment are one object, and not one each."""
_TRIES = 50


class IndexWriter(Generic[R]):
    """A record is safe when the call returns: packed or not, every fresh reader sees it."""

    def __init__(self, index: Index[R]) -> None:
        self._index = index

    def put(self, record: R) -> None:
        """Write one record under its identity; merged with the one that is there. Writing twice is writing once."""
        index = self._index
        if index.spec.keeps_loose:
            raise UsageError(reason=f"the loose records of {index.ref.name} are not the index's own to write")
        allowed = next(self._allowed([record]), None)
        if allowed is None:
            return
        record = allowed
        index.spec.check(index.ref, record)
        key = index.spec.loose_key(index.ref, record)
        for _ in range(_TRIES):
            if settled.create(index.store, key, index.spec.render_loose(record)) is not None:
                return
            try:
                there = index.store.get(key)
                existing = index.spec.read_loose(there.data, file=key)
            except NotFound:
                continue  # packed and removed since: create it again
            except FormatError as error:
                _LOG.warning("%s cannot be read: %s", key, error.message, extra=index.log_fields)
                self.append([record])  # the file is kept as it is for people to look at; the record goes beside it
                return
            merged = index.spec.merge(existing, record)
            if merged == existing:
                return
            if settled.swap(index.store, key, index.spec.render_loose(merged), there.etag) is not None:
                return
            _LOG.debug("%s is merged again: somebody else wrote it meanwhile", key, extra=index.log_fields)
        raise Conflict(key=key)

    def put_many(self, records: Sequence[R]) -> None:
        """Write records of the same moment: a few each under its identity, more of them as one batch."""
        if len(records) < _BATCH_FROM:
            for record in records:
                self.put(record)
        else:
            self.append(records)

    def append(self, records: Iterable[R]) -> list[str]:
        """Write a batch, in one request for up to 20,000 records; returns the keys of its objects.

        A batch is named by its content, so the same batch appended again is the same object. None of it is written if
        one record does not belong here.
        """
        index = self._index
        remaining = iter(self._allowed(records))
        puts: list[Put] = []
        day = index.store.now().strftime("%Y%m%d")
        while batch := list(islice(remaining, BATCH_RECORDS)):
            for record in batch:
                index.spec.check(index.ref, record)
            data = usv.render(index.spec.model, batch)
            puts.append(Put(str(WalKey(index.ref, day, content_name(data))), data))
        for put, answer in zip(puts, self._write(puts), strict=True):
            if isinstance(answer, StoreError):
                if not answer.retryable:
                    raise answer
                index.store.put(put.key, put.data)  # once more: it is the same object however often it is written
        return [put.key for put in puts]

    def _allowed(self, records: Iterable[R]) -> Iterator[R]:
        """The records as they may be kept."""
        veil = self._index.veil()
        for record in records:
            allowed = record if veil is None else veil.record(record)
            if allowed is not None:
                yield allowed

    def _write(self, puts: list[Put]) -> list[str | StoreError]:
        # Unconditional: the name is the content, so whatever is there already is the same.
        return list(self._index.store.put_many(puts))
