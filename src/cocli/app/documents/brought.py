"""Documents that a sync brought over: the catalogues of both sides learn of them at its end.

Which ones is noted in the state of the sync, in the transaction that remembers the file: a run that is cut off leaves
the rest to the next one.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from cocli.app.documents.documents import catalog_address, documents_section
from cocli.documents import codec
from cocli.documents.catalog.opening import open_catalog
from cocli.documents.places import DocumentPlace
from cocli.documents.repository import DocumentRepository
from cocli.errors import DocumentDamaged, NotFound
from cocli.store.etag import content_etag

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.config.resolve import Settings
    from cocli.models.document import PipeDoc
    from cocli.store.base import Store
    from cocli.sync.pair import SyncPair

_LOT = 500


class BroughtRow(NamedTuple):
    """One state, as the catalogue of either side has to say it: they differ in the etag."""

    here: PipeDoc
    there: PipeDoc


def note_brought_documents(pair: SyncPair, settings: Settings) -> int:
    """Tell the catalogues of the folder and of the bucket what was brought over; how many states."""
    waiting = pair.state.documents()
    if not waiting:
        return 0
    with _repository(settings, pair.folder.store) as here, _repository(settings, pair.bucket) as there:
        here.learner.learn()
        there.learner.learn()
        for lot in _lots(waiting.items()):
            rows = list(_rows(pair.folder.store, lot, here.objects.prefix))
            _commit(here, [row.here for row in rows])
            _commit(there, [row.there for row in rows])
            here.teller.tell()
            there.teller.tell()
            pair.state.forget_documents([key for key, _ in lot])
    return len(waiting)


def _commit(repository: DocumentRepository, rows: Sequence[PipeDoc]) -> None:
    """Those that the catalogue does not have yet."""
    found = repository.catalog.find_many([(row.account, row.state_key, row.uuid) for row in rows])
    new = [row for row, state in zip(rows, found, strict=True) if state.row != row]
    if new:
        repository.catalog.commit(new, [])


def _rows(folder: Store, lot: Iterable[tuple[str, str]], prefix: str) -> Iterator[BroughtRow]:
    for key, etag in lot:
        try:
            data = folder.get(key).data
            state = codec.decode(data, doc=key, etag=content_etag(data))
        except (NotFound, DocumentDamaged):
            continue  # removed since, or no document: `fsck` says what it is
        if DocumentPlace.of(prefix, state.document).current == key:
            row = state.row()
            yield BroughtRow(row, row.with_changes(etag=etag))


@contextmanager
def _repository(settings: Settings, store: Store) -> Iterator[DocumentRepository]:
    catalog = open_catalog(catalog_address(settings, store))
    try:
        yield DocumentRepository(store, catalog, clock=store.now, prefix=documents_section(settings).prefix)
    finally:
        catalog.close()


def _lots(items: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    left = iter(items)
    while lot := list(islice(left, _LOT)):
        yield lot
