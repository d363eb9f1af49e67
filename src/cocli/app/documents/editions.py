"""The records of a campaign by edition: made from states, put away, and what is known of the campaign beside them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.app.companies.companies import exclusions_of
from cocli.app.indexes.indexes import needed_campaign
from cocli.errors import FormatError, NotFound
from cocli.formats import json_records, usv
from cocli.index.reader import open_reader
from cocli.keys.parts import encode_part
from cocli.keys.paths import ExportKey, IndexRef
from cocli.pipeline.editions.carried import carried_prospect, is_only_checked
from cocli.pipeline.editions.promotion import KeptEdition
from cocli.pipeline.editions.records import CampaignRecords, CampaignView, captures_of
from cocli.pipeline.editions.states import EditionStates

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.app.documents.documents import Documents
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Campaign
    from cocli.index.index import Index
    from cocli.pipeline.exclusions import Exclusions

FOLDER = "editions/"
KINDS = ("prospects", "emails", "domains")


@dataclass(frozen=True, slots=True)
class CampaignEditions:
    """A campaign, its documents and its indexes."""

    documents: Documents
    indexes: Indexes

    @property
    def campaign(self) -> Campaign:
        return needed_campaign(self.indexes)

    @property
    def exclusions(self) -> Exclusions:
        return exclusions_of(self.campaign)

    def index(self, kind: str) -> Index[Any]:
        name = self.campaign.name
        return self.indexes.open(IndexRef(kind) if kind == "domains" else IndexRef(kind, name))

    def states(self, edition: str) -> EditionStates:
        return EditionStates(self.documents.repository, self.documents.account, edition)

    def known(self) -> CampaignRecords:
        """The records as they are now. Of the domains, which campaigns share, those of this campaign's prospects."""
        records = CampaignRecords(*(contents_of(self.index(kind)) for kind in KINDS))
        ours = {prospect.domain for prospect in records.prospects.values()}
        records.domains = {key: domain for key, domain in records.domains.items() if domain.domain in ours}
        return records

    def view(self, known: CampaignRecords, at: datetime) -> CampaignView:
        name = self.campaign.name
        witnesses = open_reader(self.indexes.open(IndexRef("scraped-tiles")), fresh=True).scan()
        return CampaignView(name, self.exclusions, known, captures_of(name, known, witnesses), at)

    # --- what was put away

    def key(self, name: str) -> str:
        return str(ExportKey(self.campaign.name, f"{FOLDER}{name}"))

    def put_away(self, edition: str, records: CampaignRecords, kept: KeptEdition) -> None:
        """Keep the records of an edition that is left; the file that says so comes last."""
        store, folder = self.documents.store, encode_part(edition)
        for kind in KINDS:
            index, rows = self.index(kind), getattr(records, kind)
            data = usv.render(index.spec.model, [rows[key] for key in sorted(rows)])
            store.put(self.key(f"{folder}/{kind}.usv"), data)
        store.put(self.key(f"{folder}.json"), json_records.render(kept))

    def kept(self, edition: str) -> KeptEdition | None:
        try:
            data = self.documents.store.get(self.key(f"{encode_part(edition)}.json")).data
        except NotFound:
            return None
        return json_records.read(KeptEdition, data, file=f"the edition {edition}")

    def kept_records(self, edition: str) -> CampaignRecords:
        return CampaignRecords(*(self._kept_rows(edition, kind) for kind in KINDS))

    def _kept_rows(self, edition: str, kind: str) -> dict[str, Any]:
        spec, key = self.index(kind).spec, self.key(f"{encode_part(edition)}/{kind}.usv")
        reader = usv.read(spec.model, self.documents.store.get(key).data, file=key)
        rows = {spec.key_of(record): record for record in reader}
        for rejected in reader.rejected:
            raise FormatError(file=key, line=rejected.line, reason=rejected.reason)
        return rows

    def fingerprint(self, states: EditionStates) -> str:
        """Changes with the states of an edition, and with what is excluded."""
        excluded = self.campaign.settings.model().exclude.model_dump_json()
        return hashlib.sha256(f"{states.fingerprint()} {excluded}".encode()).hexdigest()


def contents_of(index: Index[Any]) -> dict[str, Any]:
    return {index.spec.key_of(record): record for record in open_reader(index, fresh=True).scan()}


def spoken_for(records: CampaignRecords) -> dict[str, object]:
    """What no node read, of all records: if that changed since, records that were put away do not have it."""
    parts = {key: carried_prospect(prospect) for key, prospect in records.prospects.items()}
    emails = {key: entry.email for key, entry in records.emails.items() if not is_only_checked(entry)}
    splits = {f"split {key}": prospect.split_from for key, prospect in records.prospects.items() if prospect.split_from}
    return {**{key: part for key, part in parts.items() if part is not None}, **emails, **splits}
