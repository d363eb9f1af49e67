"""A wrong merge undone: the parts that a prospect was put together from, and one of them as a business of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, reduce
from typing import TYPE_CHECKING, Any

from cocli.app.campaigns.settle import settle_campaign
from cocli.app.documents.documents import opened_documents
from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.sources.imports import ImportOptions, imported_list
from cocli.app.sources.phone_country import country_of_places
from cocli.app.why.observations import told_of
from cocli.app.why.prospect import find_prospect
from cocli.app.why.trace import Tracer
from cocli.errors import CocliError, Conflict, UsageError
from cocli.index.compaction import Compactor
from cocli.index.reader import open_reader
from cocli.index.replacement import replace_records
from cocli.keys.identities import company_hash
from cocli.keys.paths import LatestKey
from cocli.pipeline.merge.contributions import contribution_of
from cocli.pipeline.merge.records import merge_prospects
from cocli.pipeline.merge.splitting import split_off, without_part
from cocli.pipeline.merge.transformations import place_identity, source_id_of
from cocli.pipeline.sources.imports import IMPORT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.documents.documents import Documents
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.why.prospect import Meant
    from cocli.app.workspace import Workspace
    from cocli.models.document import PipeDoc
    from cocli.models.origin import Origin
    from cocli.models.place import Place
    from cocli.models.prospect import Prospect

_TRIES = 5
_NODE = "import"


@dataclass(frozen=True, slots=True)
class ProspectPart:
    """What one prospect would be without the others that it was merged with."""

    record: Prospect
    reason: str | None
    """Why it was taken for the whole, where that was noted."""

    def told(self) -> dict[str, Any]:
        """For programs and pages."""
        record = self.record
        return {
            "company_hash": record.company_hash,
            "name": record.name,
            "address": record.address,
            "website": record.website,
            "phone": record.phone,
            "reason": self.reason,
            "source_ids": list(record.source_ids),
        }


@dataclass(slots=True)
class ProspectParts:
    """A prospect and what it was put together from."""

    whole: Prospect
    parts: list[ProspectPart] = field(default_factory=list)
    own: list[Prospect] = field(default_factory=list)
    """What was said of the whole itself, each time as a record."""
    problems: list[str] = field(default_factory=list)
    """Documents that cannot be read."""


def parts_of(workspace: Workspace, campaign: str, text: str) -> ProspectParts:
    """The parts of a prospect, from the records that point to it and from the documents that are kept."""
    indexes = campaign_indexes(workspace, campaign)
    meant = find_prospect(indexes, text)
    found = ProspectParts(meant.prospect)
    for record in meant.merged:
        pointer = record.origin_of("merged_into")
        found.parts.append(ProspectPart(record, pointer.reason if pointer else None))
    with opened_documents(workspace, campaign) as documents:
        evidence = _Evidence(indexes, documents, meant)
        _add_said(found, evidence.said())
        found.problems = evidence.problems
    return found


def _add_said(found: ProspectParts, said: list[Prospect]) -> None:
    """Sort what was said: under the part that it is of, else under the hash that it would have by itself."""
    whole = found.whole.company_hash
    of_parts = {name for part in found.parts for name in part.record.source_ids}
    others: dict[str, list[Prospect]] = {}
    for record in said:
        if not {*record.source_ids} & of_parts:
            others.setdefault(record.company_hash, []).append(record)
    # Whoever the whole is named after is the whole; one alone is, too. Of several any may be split off.
    mine = next(iter(others)) if len(others) == 1 else whole
    found.own = [record.with_changes(company_hash=whole) for record in others.pop(mine, [])]
    for records in others.values():
        found.parts.append(ProspectPart(reduce(merge_prospects, records), None))
    found.parts.sort(key=lambda part: (part.record.name, part.record.company_hash))


class _Evidence:
    """What the stored documents say of a prospect: every place that was seen, every row that was imported."""

    def __init__(self, indexes: Indexes, documents: Documents, meant: Meant) -> None:
        self._indexes = indexes
        self._documents = documents
        self._meant = meant
        self._tracer = Tracer(documents)
        self.problems: list[str] = []

    def said(self) -> list[Prospect]:
        """Each observation as a record under the hash that it would have by itself."""
        told = told_of(self._indexes, self._documents, self._tracer, self._meant)
        self.problems += told.problems
        return [_by_itself(place, record) for place, record in (*told.places, *self._rows())]

    def _rows(self) -> Iterator[tuple[Place, Prospect]]:
        records = (self._meant.prospect, *self._meant.merged)
        wanted = {name for record in records for name in record.source_ids}
        named = {origin.document for record in records for origin in record.origins if origin.source == IMPORT}
        for row in self._tracer.rows(sorted(uuid for uuid in named if uuid)).values():
            try:
                yield from self._rows_of(row, wanted)
            except CocliError as error:  # one file that is gone or damaged does not hide what the others say
                self.problems.append(f"{row.doc}: {error.message}")

    def _rows_of(self, row: PipeDoc, wanted: set[str]) -> Iterator[tuple[Place, Prospect]]:
        """The rows of a file, read as it was read then."""
        repository, account = self._documents.repository, self._documents.account
        document = repository.get(account, row.reference, blobs=True)
        blob = next(iter(document.blobs.values()))
        outcome = repository.current(account, row.doc, _NODE, self._documents.edition, datasource=row.datasource).data[
            _NODE
        ]
        mapping = outcome["mapping"]
        said = tuple(f"{column}={name}" for name, column in mapping.items()) if isinstance(mapping, dict) else ()
        brought = imported_list(blob.content, ImportOptions(blob.filename or row.doc, mapping=said), at=row.saved_at)
        observer = brought.observer
        observer.phone_country = cache(lambda: country_of_places(needed_campaign(self._indexes)))
        observer.observed_at, observer.document = row.saved_at, row.uuid
        for listed in brought.table.rows:
            observed = observer.observe(listed)
            if not isinstance(observed, str) and source_id_of(observed.place) in wanted:
                campaign = self._meant.prospect.campaign
                company = self._meant.prospect.company_hash
                yield observed.place, contribution_of(observed, campaign, company, None)


def _by_itself(place: Place, record: Prospect) -> Prospect:
    return record.with_changes(company_hash=company_hash(place_identity(place, domain_is_free=False)))


# --- the split


@dataclass(frozen=True, slots=True)
class SplitDone:
    """The two that were one."""

    whole: Prospect
    part: Prospect


def split_prospect(workspace: Workspace, campaign: str, text: str, part: str | None) -> SplitDone:
    """Make a part of a prospect a business of its own again, for good."""
    found = parts_of(workspace, campaign, text)
    chosen = _chosen(found, text, part).record
    whole = found.whole
    if chosen.company_hash == whole.company_hash:
        raise UsageError(reason="it is the company itself", hint="Name the part that is another business.")
    own = [record for record in found.own if not {*record.source_ids} & {*chosen.source_ids}]
    others = [
        other.record.with_changes(company_hash=whole.company_hash, merged_into=None, origins=_plain(other.record))
        for other in found.parts
        if other.record is not chosen
    ]
    apart = split_off(chosen, whole.company_hash)
    left = without_part(whole, chosen, [*own, *others])
    _replace(campaign_indexes(workspace, campaign), apart, left)
    settle_campaign(workspace, campaign)
    return SplitDone(left, apart)


def _plain(record: Prospect) -> tuple[Origin, ...]:
    kept = ((origin, tuple(name for name in origin.fields if name != "merged_into")) for origin in record.origins)
    return tuple(origin.model_copy(update={"fields": names}) for origin, names in kept if names)


def _chosen(found: ProspectParts, text: str, part: str | None) -> ProspectPart:
    if not found.parts:
        raise UsageError(
            reason=f'nothing was merged into "{found.whole.name}" that is still known by itself',
            hint="See what is known of it: cocli why " + text,
        )
    if part is None:
        if len(found.parts) == 1:
            return found.parts[0]
        raise UsageError(reason=f"{len(found.parts)} businesses were merged: {_shown(found)}", hint="Name one of them.")
    wanted = part.strip().casefold()
    matching = [entry for entry in found.parts if wanted in _names(entry.record)]
    if len(matching) != 1:
        raise UsageError(
            reason=f'"{part}" names {len(matching)} of the parts: {_shown(found)}', hint="Name one by its hash."
        )
    return matching[0]


def _names(record: Prospect) -> set[str]:
    names = {record.company_hash, record.name, record.slug, record.place_id or "", *record.source_ids}
    return {name.casefold() for name in names if name}


def _shown(found: ProspectParts) -> str:
    return "; ".join(f"{part.record.name} [{part.record.company_hash}]" for part in found.parts[:5])


def _replace(indexes: Indexes, *records: Prospect) -> None:
    index = indexes.open(indexes.ref("prospects"))
    said = {index.spec.key_of(record): record for record in records}
    for _ in range(_TRIES):
        Compactor(index).compact()  # what waits to be packed would be merged on top
        if replace_records(index, open_reader(index).version, said, ()):
            return
    raise Conflict(key=str(LatestKey(index.ref)))
