"""From a value to the document that it was read from; and which values lead to none."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from cocli.app.documents.documents import opened_documents
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.workspace import location, no_progress
from cocli.documents import codec
from cocli.documents.places import DocumentPlace
from cocli.index.reader import open_reader
from cocli.keys.paths import account_prefix
from cocli.models.origin import origin_of
from cocli.models.prospect import Prospect
from cocli.pipeline.merge.transformations import origin_fields
from cocli.pipeline.websites.site.place import SITE
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from cocli.app.documents.documents import Documents
    from cocli.app.workspace import Progress, Workspace
    from cocli.models.document import PipeDoc
    from cocli.models.email import EmailEntry
    from cocli.models.origin import Origin

ADDRESS = ("street", "city", "region", "postcode", "country")
TRACED = ("name", "phone", "phone_e164", "website", *ADDRESS, "lat", "lon", "primary_email")
"""The values that somebody acts on; the addresses of `all_emails` are traced one by one."""
_LOT = 1000
_EXAMPLES = 100
NO_ORIGIN, NO_DOCUMENT, MISSING, DELETED = "no origin", "no document", "document missing", "document deleted"


# --- one document


@dataclass(frozen=True, slots=True)
class DocumentView:
    """Where a document is, and how to look at it."""

    uuid: str
    doc: str
    connector: str
    node: str | None
    """None for a page as it came in."""
    uri: str | None
    fetched_at: datetime | None
    saved_at: datetime
    digest: str
    version: int
    kept_at: str
    command: str
    catalogued: bool = True
    """Whether this machine's catalogue knows it, which the command needs."""
    deleted_at: datetime | None = None
    made_of: tuple[str, ...] = ()
    """The pages that the state of a whole site was made of."""


class Tracer:
    """Finds documents by their uuids: in this machine's catalogue, or in the store, where other machines saved them."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._repository = documents.repository

    def rows(self, uuids: Collection[str]) -> dict[str, PipeDoc]:
        """The rows of those that there are; those of deleted ones say so."""
        found = self.catalogued(uuids)
        missing = set(uuids) - set(found)
        if missing:
            return found | self.stored(missing)
        return found

    def catalogued(self, uuids: Collection[str]) -> dict[str, PipeDoc]:
        """Those that this machine's catalogue knows."""
        found: dict[str, PipeDoc] = {}
        for edition in (None, self._documents.edition):
            for lot in _lots([uuid for uuid in uuids if uuid not in found]):
                rows = self._repository.catalog.named(self._documents.account, lot, edition)
                found |= {row.uuid: row for row in rows}
        return found

    def stored(self, uuids: Collection[str]) -> dict[str, PipeDoc]:
        """Those that are in the store, and no machine has told of. A key ends with the document's uuid, so one listing
        finds all of them; the catalogue knows them from then on."""
        store, folder = self._documents.store, account_prefix(self._repository.objects.prefix, self._documents.account)
        names = {f"{uuid}.pb" for uuid in uuids}
        keys = [info.key for info in store.list(folder) if info.key.rpartition("/")[2] in names]
        found: dict[str, PipeDoc] = {}
        for lot in _lots(keys):
            for stored in store.get_many(lot):
                if isinstance(stored, StoredObject):  # one that is gone since the listing is not there
                    row = codec.decode(stored.data, doc=stored.key, etag=stored.etag).row()
                    found[row.uuid] = row
        self._repository.catalog.commit(list(found.values()), [])
        return found

    def view(self, row: PipeDoc) -> DocumentView:
        """The document of a row, as it is now. Reads it for the time at which it was fetched."""
        place = DocumentPlace.of(self._repository.objects.prefix, row)
        read = self._repository.objects.current(place)
        source = read[0].document.source if read else None
        pages = read[0].document.data.get(SITE, {}).get("pages", ()) if read else ()
        blobs = list(read[0].document.blobs) if read else []
        options = f" --blob {quote(blobs[0])}" if len(blobs) == 1 else ""
        options += f" --node {quote(row.address)}" if row.cluster is not None else ""
        return DocumentView(
            uuid=row.uuid,
            doc=row.doc,
            connector=row.connector,
            node=row.address if row.cluster is not None else None,
            uri=row.source_uri,
            fetched_at=source.fetched_at if source else None,
            saved_at=row.saved_at,
            digest=row.digest,
            version=row.version,
            kept_at=location(self._documents.store, place.current),
            command=f"cocli documents get {quote(row.doc)}{options}{self._documents.options}",
            catalogued=row.uuid in self.catalogued([row.uuid]),
            deleted_at=row.deleted_at,
            made_of=tuple(map(str, pages)),
        )


# --- every value of a campaign


class TracedValue(NamedTuple):
    """A value of a prospect, and the document that its origin names."""

    company_hash: str
    field: str
    document: str | None
    why: str | None
    """What is missing already here: an origin, or its document."""


@dataclass(frozen=True, slots=True)
class UntracedValue:
    company_hash: str
    field: str
    reason: str
    document: str | None = None


@dataclass(slots=True)
class Untraced:
    """Values that lead to no document."""

    prospects: int = 0
    values: int = 0
    """How many were looked at."""
    count: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    examples: list[UntracedValue] = field(default_factory=list)
    """The first hundred."""

    def add(self, value: TracedValue, reason: str) -> None:
        self.count += 1
        self.reasons[reason] += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(UntracedValue(value.company_hash, value.field, reason, value.document))


def untraced(workspace: Workspace, campaign: str, progress: Progress = no_progress) -> Untraced:
    """Go through every prospect: which of its values have no origin, no document, or one that is not there any more.

    What waits to be packed is looked at too. Prospects that were merged into others are evidence, and left out.
    """
    indexes = campaign_indexes(workspace, campaign)
    prospects = open_reader(indexes.open(indexes.ref("prospects")), fresh=True)
    emails = open_reader(indexes.open(indexes.ref("emails")), fresh=True)
    spec = indexes.open(indexes.ref("emails")).spec
    found, elsewhere = Untraced(), list[TracedValue]()
    with opened_documents(workspace, campaign) as documents:
        tracer = Tracer(documents)
        alive = (prospect for prospect in prospects.scan() if prospect.merged_into is None)
        while lot := list(islice(alive, _LOT)):
            found.prospects += len(lot)
            entries = emails.get_many({spec.key_text(email) for prospect in lot for email in prospect.all_emails})
            by_address = {entry.email: entry for entry in entries.values()}
            values = [value for prospect in lot for value in values_of(prospect, by_address)]
            rows = tracer.catalogued({value.document for value in values if value.document})
            _judge([value for value in values if value.why or value.document in rows], rows, found)
            elsewhere += [value for value in values if not value.why and value.document not in rows]
            progress(found.prospects)
        # Another machine may have saved these: the store is listed once, for all of them.
        missing = {value.document for value in elsewhere if value.document}
        _judge(elsewhere, tracer.stored(missing) if missing else {}, found)
    return found


def values_of(prospect: Prospect, entries: dict[str, EmailEntry]) -> Iterator[TracedValue]:
    """Every value that matters, and what it was read from."""
    present = set(origin_fields(Prospect, prospect.__dict__))
    for name in TRACED:
        if name in present:
            yield _value(prospect, name, prospect.origin_of(name))
    for email in prospect.all_emails:
        yield _value(prospect, f"all_emails:{email}", email_origin(prospect, email, entries.get(email)))


def email_origin(prospect: Prospect, email: str, entry: EmailEntry | None) -> Origin | None:
    """Where an address was seen. A prospect keeps no origin of its list, so the record of the address is asked."""
    seen = None
    if entry:
        seen = origin_of(entry.origins, "source_page") or origin_of(entry.origins, "domain")
    return seen or (prospect.origin_of("primary_email") if email == prospect.primary_email else None)


def _value(prospect: Prospect, name: str, origin: Origin | None) -> TracedValue:
    if origin is None:
        return TracedValue(prospect.company_hash, name, None, NO_ORIGIN)
    why = NO_DOCUMENT if origin.document is None else None
    return TracedValue(prospect.company_hash, name, origin.document, why)


def _judge(values: Iterable[TracedValue], rows: Mapping[str, PipeDoc], found: Untraced) -> None:
    for value in values:
        found.values += 1
        row = rows.get(value.document or "")
        if value.why is not None:
            found.add(value, value.why)
        elif row is None:
            found.add(value, MISSING)
        elif row.deleted_at is not None:
            found.add(value, DELETED)


def _lots(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(texts), _LOT):
        yield texts[start : start + _LOT]
