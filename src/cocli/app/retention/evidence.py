"""Which documents the values of the records still name: nobody takes a page away from under a value unasked."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from cocli.app.indexes.indexes import campaign_indexes
from cocli.documents.places import DocumentPlace
from cocli.index.reader import open_reader
from cocli.pipeline.websites.site.place import SITE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.app.documents.documents import Documents
    from cocli.app.workspace import Workspace
    from cocli.models.document import PipeDoc

_LOT = 500


def named_documents(workspace: Workspace, campaigns: Iterable[str]) -> Counter[str]:
    """The uuids that values of some campaigns name, and how many values each. What waits to be packed counts."""
    named: Counter[str] = Counter()
    for campaign in campaigns:
        indexes = campaign_indexes(workspace, campaign)
        for name in ("prospects", "emails", "domains"):
            for record in open_reader(indexes.open(indexes.ref(name)), fresh=True).scan():
                for origin in getattr(record, "origins", ()):
                    if origin.document is not None:
                        named[origin.document] += len(origin.fields)
    return named


def pages_of_sites(documents: Documents, named: Counter[str]) -> Counter[str]:
    """Ids of pages whose site is named: what was concluded from all pages of a site is a value of each of them."""
    pages: Counter[str] = Counter()
    repository = documents.repository
    uuids = iter(named)
    while lot := list(islice(uuids, _LOT)):
        rows = repository.catalog.named(documents.account, lot, documents.edition)
        places = [row for row in rows if row.address == SITE and row.deleted_at is None]
        for uuid, docs in _made_of(documents, places):
            for doc in docs:
                pages[doc] += named[uuid]
    return pages


def _made_of(documents: Documents, rows: Sequence[PipeDoc]) -> Iterator[tuple[str, list[str]]]:
    objects = documents.repository.objects
    keys = [DocumentPlace.of(objects.prefix, row).current for row in rows]
    for state in objects.read_many(keys):
        yield state.document.uuid, [str(doc) for doc in state.document.data.get(SITE, {}).get("pages", ())]
