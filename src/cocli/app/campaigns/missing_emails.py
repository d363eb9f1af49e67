"""Which prospects have no address, and why: what a second pass begins with. Nothing is written to the store."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Literal

from cocli.app.campaigns.sites import domain_of, opened_sites
from cocli.app.queues.queues import ended_on_store
from cocli.app.workspace import no_progress
from cocli.keys.paths import task_folder
from cocli.pipeline.exclusions import is_excluded
from cocli.pipeline.merge.site_records import theirs
from cocli.pipeline.stages.enrichment_loop import QUEUE
from cocli.pipeline.websites.triage.triage import triage_address
from cocli.queue.providers import provider_of
from cocli.results.exports.cells import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.app.campaigns.sites import CampaignSites
    from cocli.app.workspace import Progress, Workspace
    from cocli.models.domain import Domain
    from cocli.models.prospect import Prospect
    from cocli.models.website import Website
    from cocli.pipeline.exclusions import Exclusions

Reason = Literal[
    "excluded",
    "closed",
    "no-website",
    "shared-host",
    "unusable-address",
    "not-yet-read",
    "social-only",
    "directory",
    "dead",
    "parked",
    "for-sale",
    "redirected",
    "blocked",
    "robots",
    "script-shell",
    "refused",
    "form-only",
    "no-contact-page",
    "no-address",
    "not-settled",
    "not-kept",
]
"""docs/second-passes.md says what each means, and what helps."""
WORTH_ANOTHER_PASS: frozenset[str] = frozenset(
    {"dead", "blocked", "script-shell", "form-only", "no-contact-page", "no-address", "not-kept"}
)
"""Reasons that may be gone another day, or with a better reader."""
_ROBOTS = "(robots)"
_ADDRESS_STATUSES: dict[str, Reason] = {"social-only": "social-only", "directory": "directory", "refused": "refused"}


@dataclass(frozen=True, slots=True)
class Missing:
    """A prospect without an address."""

    company_hash: str
    name: str
    domain: str | None
    website: str | None
    country: str | None
    reason: Reason
    evidence: str


@dataclass(frozen=True, slots=True)
class MissingEmails:
    prospects: int
    """Of all, those without an address are in `rows`."""
    rows: list[Missing]

    @property
    def counts(self) -> dict[str, int]:
        """By reason, the most frequent first."""
        return dict(Counter(row.reason for row in self.rows).most_common())


def missing_emails(workspace: Workspace, name: str, *, on_progress: Progress = no_progress) -> MissingEmails:
    """The prospects of a campaign that nobody can be written to at, in the order of their hashes."""
    with opened_sites(workspace, name) as sites:
        every, without = 0, []
        for prospect in sites.prospects():
            every += 1
            if prospect.primary_email is None and not prospect.all_emails:
                without.append(prospect)
        judge = _Judge.of(sites, without)
        rows = []
        for number, prospect in enumerate(without, start=1):
            rows.append(judge.row(prospect))
            on_progress(number)
    return MissingEmails(every, rows)


def write_missing(rows: Iterable[Missing]) -> bytes:
    """As CSV that a spreadsheet opens without harm, and that a second pass reads."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([field.name for field in fields(Missing)])
    for row in rows:
        writer.writerow([harmless(value) if value else "" for value in asdict(row).values()])
    return text.getvalue().encode()


@dataclass(frozen=True, slots=True)
class _Judge:
    """Says why, with what was looked up once for all."""

    sites: CampaignSites
    exclusions: Exclusions
    domains: dict[str, Domain]
    places: dict[str, str]
    """Where the task of a domain is, as far as the store can tell."""
    websites: dict[str, Website | None]

    @classmethod
    def of(cls, sites: CampaignSites, prospects: list[Prospect]) -> _Judge:
        names = {domain for prospect in prospects if (domain := domain_of(prospect)) is not None}
        return cls(sites, sites.exclusions, sites.domains(names), dict(_task_places(sites)), {})

    def row(self, prospect: Prospect) -> Missing:
        reason, evidence = self._why(prospect)
        return Missing(
            prospect.company_hash,
            prospect.name,
            domain_of(prospect),
            prospect.website,
            prospect.country,
            reason,
            evidence,
        )

    def _why(self, prospect: Prospect) -> tuple[Reason, str]:
        if excluded := is_excluded(prospect, self.exclusions):
            return "excluded", excluded
        if prospect.business_status == "permanently_closed":
            return "closed", "the source says that it closed for good"
        domain = domain_of(prospect)
        if domain is None:
            return _of_address(prospect.website)
        known = self.domains.get(domain)
        if known is None or known.last_crawled is None:
            place = ended_on_store(self.sites.campaign, QUEUE).places.spot(domain)
            return "not-yet-read", self.places.get(place, "no task is known for it")
        return self._of_site(domain, known)

    def _of_site(self, domain: str, known: Domain) -> tuple[Reason, str]:
        if domain not in self.websites:
            self.websites[domain] = self.sites.website(domain)
        website = self.websites[domain]
        if website is None or website.status != known.status:
            # Read for another account, or on a bad day that left no state behind.
            return _of_status(known.status or "alive", "")
        evidence = "; ".join(website.evidence)
        if website.status != "alive":
            return _of_status(website.status, evidence)
        if theirs(website):
            return "not-settled", f"the website has {theirs(website)[0].email}"
        pages = f"{len(website.pages_read)} pages read"
        if website.contact_forms:
            return "form-only", f"{pages}, a form at {website.contact_forms[0]}"
        if not website.contact_pages:
            return "no-contact-page", f"{pages}, none of them contact or imprint"
        return "no-address", f"{pages}, {website.contact_pages[0]} among them"


def _of_address(website: str | None) -> tuple[Reason, str]:
    if not website:
        return "no-website", "no source names one"
    triage = triage_address(website)
    if triage is not None:
        return _ADDRESS_STATUSES[triage.status], "; ".join(triage.evidence)
    from cocli.pipeline.websites.page.suffixes import registrable

    host = website.split("://", 1)[-1].split("/", 1)[0].partition(":")[0]
    domain = registrable(host)
    if domain is None:
        return "unusable-address", f"{host[:100]} is no name that somebody can register"
    return "shared-host", f"{domain} is shared by many companies"


def _of_status(status: str, evidence: str) -> tuple[Reason, str]:
    if status in ("blocked", "refused") and _ROBOTS in evidence:
        return "robots", evidence
    if status == "alive":
        return "not-kept", "it was read, but its pages are not kept for this account"
    return status, evidence  # type: ignore[return-value]  # the other statuses of a website are reasons


def _task_places(sites: CampaignSites) -> Iterator[tuple[str, str]]:
    """Where the tasks of the queue are, by their spots: three listings instead of a look for each."""
    on_store = ended_on_store(sites.campaign, QUEUE)
    store, places = on_store.store, on_store.places
    for info in store.list(places.completed):
        if spot := places.spot_of_completion(info.key):
            yield spot, "its task ended without reading it"
    for info in store.list(places.sideline):
        if found := places.spot_of_sidelined(info.key):
            yield found[1], f"its task was set aside: {found[0]}"
    if not provider_of(sites.campaign.settings.model()).lists_pending:
        return
    for info in store.list(places.pending):
        if folder := task_folder(info.key):
            yield places.spot_of_folder(folder[0]), "its task waits in the queue"
