"""The websites of a campaign: its prospects, what is known of their domains, and what was read there.

What second passes have in common. Nothing is fetched and nothing written here.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.documents.documents import opened_documents
from cocli.app.indexes.indexes import campaign_indexes
from cocli.index.reader import open_reader
from cocli.keys.paths import IndexRef
from cocli.models.record import RecordPart
from cocli.pipeline.exclusions import Exclusions
from cocli.pipeline.merge.site_records import theirs
from cocli.pipeline.websites.hosts.shared import own_domain
from cocli.pipeline.websites.site.place import stored_website

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.app.documents.documents import Documents
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Campaign, Workspace
    from cocli.models.domain import Domain
    from cocli.models.prospect import Prospect
    from cocli.models.website import Website


class SiteSummary(RecordPart):
    """What a site came to, as far as two readings of it are compared."""

    status: str | None = None
    """None where it was not read, or nothing of it is kept."""
    primary_email: str | None = None
    emails: tuple[str, ...] = ()
    """Those that reach the company, sorted."""
    phones: tuple[str, ...] = ()


def summary_of(website: Website | None) -> SiteSummary:
    if website is None:
        return SiteSummary()
    return SiteSummary(
        status=website.status,
        primary_email=website.primary_email,
        emails=tuple(sorted({email.email for email in theirs(website)})),
        phones=tuple(sorted({phone.e164 for phone in website.phones if phone.e164})),
    )


@dataclass(frozen=True, slots=True)
class CampaignSites:
    campaign: Campaign
    documents: Documents
    indexes: Indexes

    def prospects(self) -> Iterator[Prospect]:
        """The businesses of the campaign as they are known now; those that moved are left out."""
        reader = open_reader(self.indexes.open(IndexRef("prospects", self.campaign.name)), fresh=True)
        return (prospect for prospect in reader.scan() if prospect.merged_into is None)

    def by_domain(self) -> dict[str, list[Prospect]]:
        found: dict[str, list[Prospect]] = {}
        for prospect in self.prospects():
            domain = domain_of(prospect)
            if domain is not None:
                found.setdefault(domain, []).append(prospect)
        return found

    def domains(self, names: Iterable[str]) -> dict[str, Domain]:
        """What is known of these domains, whichever campaign asked."""
        index = self.indexes.open(IndexRef("domains"))
        keys = {index.spec.key_text(name): name for name in names}
        found = open_reader(index, fresh=True).get_many(sorted(keys))
        return {keys[key]: record for key, record in found.items()}

    def website(self, domain: str) -> Website | None:
        """The site as it was read last, for this account; None where nothing of it is kept."""
        documents = self.documents
        return stored_website(
            documents.repository, documents.account, documents.edition, domain, self.campaign.store.now()
        )

    @property
    def exclusions(self) -> Exclusions:
        return Exclusions.of(self.campaign.settings.model().exclude, self.campaign.left_alone.listed)


@contextmanager
def opened_sites(workspace: Workspace, name: str) -> Iterator[CampaignSites]:
    with opened_documents(workspace, name) as documents:
        if documents.campaign is None:
            raise RuntimeError("a campaign was named, and its documents have none")
        yield CampaignSites(documents.campaign, documents, campaign_indexes(workspace, name))


def domain_of(prospect: Prospect) -> str | None:
    """The domain that a worker reads for a prospect; None where it has no website to itself."""
    return prospect.domain or own_domain(prospect.website)
