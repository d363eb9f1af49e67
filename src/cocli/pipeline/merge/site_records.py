"""From a website to the records of a campaign: its domain, its addresses, what changed of its prospects.

Every value names the document of the page that it stood on. A visit that finds nothing new changes nothing but the
time of the domain's last visit.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.index.pending import PendingMemory
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.models.origin import Origin, origin_of
from cocli.pipeline.merge import website_to_domain, website_to_emails, website_to_prospect
from cocli.pipeline.merge.email_checks import check_email, checked_confidence
from cocli.pipeline.merge.site_address import PARTS as ADDRESS
from cocli.pipeline.merge.site_address import address_for
from cocli.pipeline.websites.hosts.providers import is_freemail

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from cocli.index.index import Index
    from cocli.index.reader import IndexReader
    from cocli.models.domain import Domain
    from cocli.models.email import EmailEntry
    from cocli.models.prospect import Prospect
    from cocli.models.website import FoundEmail, Website
    from cocli.pipeline.websites.site.mx import MxAnswer

FRESH_SECONDS = 30.0
"""A look at an index is used so long before another one is taken: it lists what is not packed yet."""
MAX_MOVES = 10
THEIRS = ("own", "freemail")
"""Relations by which an address reaches the company."""
DNS = "dns"
"""The source of what name servers say."""
NO_MAIL = "."
"""The mail host of a domain that says that it takes no mail."""


@dataclass(frozen=True, slots=True)
class RecordCounts:
    """How many records say something new now."""

    prospects: int = 0
    emails: int = 0
    domains: int = 0


@dataclass(frozen=True, slots=True)
class SiteWriting:
    """What is to be written of one site."""

    website: Website
    prospects: Sequence[Prospect]
    at: datetime
    mx: Mapping[str, MxAnswer]
    is_known: bool = False
    """Nothing of it changed since it was written for somebody, who may be another campaign."""

    @property
    def is_said(self) -> bool:
        """Whether all of it was said of these very prospects before: then only the time of the visit is new.

        Addresses are written before prospects, so whoever finds it at its prospects finds it there.
        """
        if not self.is_known or self.mx or not self.prospects:
            return False
        return all(_has_said(self.website, prospect) for prospect in self.prospects)


class SiteRecords:
    """The indexes that a website is written to. Without prospects and emails, only the domain is."""

    def __init__(
        self,
        *,
        domains: Index[Domain],
        prospects: Index[Prospect] | None = None,
        emails: Index[EmailEntry] | None = None,
        clock: Callable[[], float],
    ) -> None:
        self._domains = _Known(domains, clock)
        self._prospects = _Known(prospects, clock) if prospects is not None else None
        self._emails = _Known(emails, clock) if emails is not None else None

    def prepare(self, *, domains: Iterable[str], prospects: Iterable[str]) -> None:
        """Look up together what will be asked for one by one: as a table they cost less."""
        self._domains.prepare(domains)
        if self._prospects is not None:
            self._prospects.prepare(prospects)

    def prospects(self, hashes: Iterable[str]) -> list[Prospect]:
        """The prospects of these hashes, as they are known now; one that moved is known by where it moved to.

        A task names prospects that were written before it was put: one that an older look did not see is looked for
        again, so that what a site comes to does not depend on when it was read.
        """
        found: dict[str, Prospect] = {}
        for name in hashes:
            prospect = self._prospect(name)
            if prospect is not None:
                found[prospect.company_hash] = prospect
        return list(found.values())

    def prospects_of(self, domain: str) -> list[Prospect]:
        """All prospects whose website is this domain; reads the whole index."""
        if self._prospects is None:
            return []
        every = self._prospects.reader().scan()
        return [prospect for prospect in every if prospect.domain == domain and prospect.merged_into is None]

    def domain(self, domain: str) -> Domain | None:
        return self._domains.get_by(domain)

    def write(
        self,
        website: Website,
        prospects: Sequence[Prospect] = (),
        *,
        at: datetime,
        mx: Mapping[str, MxAnswer] | None = None,
    ) -> RecordCounts:
        """Write what a site says. Killed in between, the next visit writes the rest: all of it can be done twice."""
        return self.write_many([SiteWriting(website, prospects, at, mx or {})])[0]

    def write_many(self, sites: Sequence[SiteWriting]) -> list[RecordCounts]:
        """What several sites say. Their domains come last: whoever finds one there finds all that the site said."""
        # Whose the address and the domain are is settled later: one worker does not see all branches of a chain.
        emails = _counted(self._emails, [() if site.is_said else _emails_of(site) for site in sites])
        parts = [() if site.is_said else _parts_of(site) for site in sites]
        changed = _counted(self._prospects, parts)
        self._domains.put_many([_domain_of(site) for site in sites])
        return [RecordCounts(*counts, 1) for counts in zip(changed, emails, strict=True)]

    def _prospect(self, name: str) -> Prospect | None:
        if self._prospects is None:
            return None
        prospect = self._prospects.sought(name)
        for _ in range(MAX_MOVES):
            if prospect is None or prospect.merged_into is None:
                return prospect
            prospect = self._prospects.get(prospect.merged_into)
        return None  # pointers that lead in a circle lead to nobody


def _has_said(website: Website, prospect: Prospect) -> bool:
    """What a site says as a whole names its document, and when its newest content was fetched."""
    return any(
        origin.document == website.document and origin.observed_at == website.crawled_at for origin in prospect.origins
    )


def _parts_of(site: SiteWriting) -> list[Prospect]:
    return [prospect_part(site.website, prospect) for prospect in site.prospects]


def _emails_of(site: SiteWriting) -> list[EmailEntry]:
    entries = email_entries(site.website)
    return [_verified(entry, site.mx.get(entry.domain), entry.last_seen) for entry in entries]


def _domain_of(site: SiteWriting) -> Domain:
    domain = website_to_domain(site.website, at=site.at)
    return _with_mail(domain, site.mx.get(site.website.domain), site.at)


def _counted(index: _Known | None, each: Sequence[Sequence[Any]]) -> list[int]:
    """Write the records of each site; how many of them said something new."""
    if index is None:
        return [0] * len(each)
    are_new = iter(index.put_many([record for records in each for record in records]))
    return [sum(next(are_new) for _ in records) for records in each]


def email_entries(website: Website) -> list[EmailEntry]:
    """The addresses that reach the company, each with the document of its own page."""
    said = [website.with_changes(emails=(found,), document=found.document) for found in theirs(website)]
    return [entry for single in said for entry in website_to_emails(single)]


def domain_entry(website: Website, at: datetime) -> Domain:
    """What a visit at a time says of the domain."""
    return _with_mail(website_to_domain(website, at=at), None, at)


def theirs(website: Website) -> tuple[FoundEmail, ...]:
    """The addresses that reach the company, the primary one first: not those of its agency or of an authority."""
    return tuple(email for email in website.emails if _reaches(email) or email.email == website.primary_email)


def _reaches(email: FoundEmail) -> bool:
    """What the site was read for says so; a site that an older version read is judged by the relation."""
    if email.delivered is None:
        return email.relation in THEIRS
    return email.delivered


def prospect_part(website: Website, prospect: Prospect) -> Prospect:
    """What the website says of a prospect: only its own addresses, and no fax for a phone."""
    said = website.with_changes(
        emails=theirs(website),
        phones=tuple(phone for phone in website.phones if phone.kind != "fax"),
        title=website.title if website.status == "alive" else None,
    )
    part = website_to_prospect(said, prospect)
    return part.with_changes(origins=_precise(part.origins, website, prospect))


def _pages(website: Website, prospect: Prospect) -> dict[str, str | None]:
    """Field → the document of the page that its value stood on."""
    pages: dict[str, str | None] = {}
    if website.primary_email:
        pages["primary_email"] = next((e.document for e in website.emails if e.email == website.primary_email), None)
    phone = next((phone for phone in website.phones if phone.e164 and phone.kind != "fax"), None)
    if phone is not None:
        pages |= {"phone": phone.document, "phone_e164": phone.document}
    address = address_for(website, prospect)
    if address is not None:
        pages |= dict.fromkeys(ADDRESS, address.document)
    if website.hours:
        pages["hours"] = website.hours[0].document
    if len({person.document for person in website.people}) == 1:
        pages["people"] = website.people[0].document
    return pages


def _precise(origins: Iterable[Origin], website: Website, prospect: Prospect) -> tuple[Origin, ...]:
    """What stands on one page names that page; everything else the site as a whole."""
    pages = _pages(website, prospect)
    precise: list[Origin] = []
    for origin in origins:
        own = [name for name in origin.fields if pages.get(name) and origin.document == website.document]
        rest = tuple(name for name in origin.fields if name not in own)
        if rest:
            precise.append(origin.model_copy(update={"fields": rest}))
        for document in sorted({pages[name] or "" for name in own}):
            fields = tuple(name for name in own if pages[name] == document)
            precise.append(origin.model_copy(update={"fields": fields, "document": document}))
    return tuple(precise)


def _verified(entry: EmailEntry, answer: MxAnswer | None, at: datetime) -> EmailEntry:
    check = check_email(entry.email, answer)
    source = origin_of(entry.origins, "source_page")
    if check.by_name_servers or source is None:
        said = Origin(fields=("verification",), source=DNS, observed_at=at)
    else:
        said = source.model_copy(update={"fields": ("verification",)})
    return entry.with_changes(
        verification=check.verification,
        confidence=checked_confidence(entry.confidence, check.verification),
        origins=(*entry.origins, said),
    )


def _with_mail(domain: Domain, answer: MxAnswer | None, at: datetime) -> Domain:
    if is_freemail(domain.domain):
        domain = domain.with_changes(is_email_provider=True)
    if answer is None or answer.state not in ("mx", "null-mx"):
        return domain
    said = Origin(fields=("mx",), source=DNS, observed_at=at)
    return domain.with_changes(mx=answer.hosts or (NO_MAIL,), origins=(*domain.origins, said))


class _Known:
    """One index: what is known, looked at anew now and then, and what was written since. For several threads."""

    def __init__(self, index: Index[Any], clock: Callable[[], float]) -> None:
        self._index = index
        self._writer: IndexWriter[Any] = IndexWriter(index)
        self._clock = clock
        self._lock = threading.Lock()
        self._reader: IndexReader[Any] | None = None
        self._looked = 0.0
        self._found: dict[str, Any | None] = {}
        """What was read and written since the last look."""
        self._memory: PendingMemory[Any] = PendingMemory()

    def reader(self) -> IndexReader[Any]:
        with self._lock:
            if self._reader is None or self._clock() - self._looked > FRESH_SECONDS:
                self._looked = self._clock()
                self._found.clear()
                self._reader = open_reader(self._index, fresh=True, memory=self._memory)
            return self._reader

    def get(self, key: str) -> Any | None:
        reader = self.reader()
        with self._lock:
            if key not in self._found:
                self._found[key] = reader.get(key)
            return self._found[key]

    def prepare(self, names: Iterable[str]) -> None:
        """`names` are keys of one field."""
        reader = self.reader()
        with self._lock:
            missing = {self._index.spec.key_text(name) for name in names} - self._found.keys()
            self._found |= dict.fromkeys(missing) | reader.get_many(missing)

    def sought(self, key: str) -> Any | None:
        """The same, with another look if an older one does not show it. Threads that miss together look once."""
        began = self._clock()
        found = self.get(key)
        if found is None:
            with self._lock:
                if self._looked <= began:
                    self._reader = None
            found = self.get(key)
        return found

    def get_by(self, *fields: str) -> Any | None:
        return self.get(self._index.spec.key_text(*fields))

    def put_many(self, records: Sequence[Any]) -> list[bool]:
        """Write each, unless all that it says is known: which of them said something new."""
        spec, merged, new = self._index.spec, dict[str, Any](), list[Any]()
        are_new: list[bool] = []
        for record in records:
            key = spec.key_of(record)
            known = merged[key] if key in merged else self.get(key)
            said = record if known is None else spec.merge(known, record)
            are_new.append(said != known)
            if said != known:
                merged[key] = said
                new.append(record)
        self._writer.put_many(new)
        with self._lock:
            self._found |= merged
        return are_new
