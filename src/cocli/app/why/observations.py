"""What each source said of one prospect, read again from the stored documents: the listings and its website.

A prospect keeps the best value and its origin. What lost to it is in the documents that are kept, and the parsers are
pure, so it can be told again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.documents.ids import node_uuid
from cocli.errors import CocliError
from cocli.index.reader import open_reader
from cocli.keys.identities import datasource_id
from cocli.pipeline.merge import place_to_prospect
from cocli.pipeline.merge.site_records import prospect_part
from cocli.pipeline.merge.transformations import source_id_of
from cocli.pipeline.sources.registry import asked_sources, parse, parses, sources
from cocli.pipeline.websites.site.place import stored_website

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cocli.app.documents.documents import Documents
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.why.prospect import Meant
    from cocli.app.why.trace import Tracer
    from cocli.models.document import PipeDoc
    from cocli.models.place import Place
    from cocli.models.prospect import Prospect
    from cocli.models.website import Website


@dataclass(slots=True)
class Told:
    """What was said of a prospect, each time as a record of its own."""

    records: list[tuple[str, Prospect]] = field(default_factory=list)
    """Where it was said (`listing`, `website`), and what."""
    places: list[tuple[Place, Prospect]] = field(default_factory=list)
    """The listings among them, each with the place that was seen."""
    website: Website | None = None
    problems: list[str] = field(default_factory=list)
    """Documents that cannot be read."""


def told_of(indexes: Indexes, documents: Documents, tracer: Tracer, meant: Meant) -> Told:
    """Everything that the stored documents say of a prospect."""
    told = Told()
    prospect = meant.prospect
    for row in _listings(indexes, documents, tracer, meant):
        try:
            document = documents.repository.get(documents.account, row.reference, blobs=True)
            places = parse(document)
        except CocliError as error:  # one capture that is gone or damaged does not hide what the others say
            told.problems.append(f"{row.doc}: {error.message}")
            continue
        for place in _of(places, meant):
            seen = place.with_changes(document=row.uuid)
            record = place_to_prospect(seen, prospect.campaign, company=prospect.company_hash)
            told.records.append(("listing", record))
            told.places.append((seen, record))
    _add_website(indexes, documents, prospect, told)
    return told


def _of(places: Sequence[Place], meant: Meant) -> Iterator[Place]:
    """The places that are this business: by place id, else by what their source calls them."""
    records = (meant.prospect, *meant.merged)
    place_ids = {record.place_id for record in records if record.place_id}
    source_ids = {name for record in records for name in record.source_ids}
    for place in places:
        if place.place_id in place_ids or source_id_of(place) in source_ids:
            yield place


def _listings(indexes: Indexes, documents: Documents, tracer: Tracer, meant: Meant) -> list[PipeDoc]:
    """The captures that it may be in: those that origins name, and those of the tiles in which it was seen."""
    records = (meant.prospect, *meant.merged)
    named = {origin.document for record in records for origin in record.origins if origin.document}
    named |= set(_witnessed(indexes, meant.prospect))
    rows = tracer.rows(sorted(named))
    if meant.prospect.place_id:  # its page may have been read, and have said nothing that was not known
        rows |= tracer.catalogued(_pages(documents.account, meant.prospect.place_id))
    kept = [row for row in rows.values() if parses(row.connector) and row.cluster is None and row.deleted_at is None]
    return sorted(kept, key=lambda row: (row.saved_at, row.uuid))


def _pages(account: str, place_id: str) -> list[str]:
    """The documents of the pages that a place may have."""
    return [
        node_uuid(source.page_of_place(place_id), datasource_id(account, source.connector), account)
        for source in sources()
        if source.page_of_place is not None
    ]


def _witnessed(indexes: Indexes, prospect: Prospect) -> Iterator[str]:
    index = indexes.open(indexes.ref("scraped-tiles"))
    # A row of a list counts as another source than the page of the place; both are read by one parser.
    asked = [source for source in asked_sources() if {source.name, source.row_name} & set(prospect.sources)]
    keys = [
        index.spec.key_text(tile, phrase, source)
        for tile in prospect.tiles
        for phrase in prospect.phrases
        for source in sorted(source.name for source in asked)
    ]
    for witness in open_reader(index, fresh=True).get_many(keys).values():
        if witness.document is not None:
            yield witness.document


def _add_website(indexes: Indexes, documents: Documents, prospect: Prospect, told: Told) -> None:
    if prospect.domain is None:
        return
    index = indexes.open(indexes.ref("domains"))
    known = open_reader(index, fresh=True).get(index.spec.key_text(prospect.domain))
    if known is None or known.last_crawled is None:
        return
    told.website = stored_website(
        documents.repository, documents.account, documents.edition, prospect.domain, known.last_crawled
    )
    if told.website is not None:
        told.records.append(("website", prospect_part(told.website, prospect)))
