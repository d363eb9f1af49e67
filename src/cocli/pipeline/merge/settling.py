"""Settling: what workers wrote side by side becomes one record per business.

Workers do not wait for each other. Two sources see one shop under two identities; a branch is found after the website
of its chain was read. So every worker writes only what it saw, and this step looks at everything: which prospects are
one business, which of them lack what their website said, and whose a domain or an address is. Its answer depends on
what was written and not on when, and settling twice changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.errors import Conflict
from cocli.index.compaction import Compactor
from cocli.index.reader import open_reader
from cocli.index.replacement import replace_records
from cocli.index.writer import IndexWriter
from cocli.keys.paths import LatestKey
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.origin import Origin
from cocli.pipeline.merge import move_prospect, reconcile
from cocli.pipeline.merge.rules import MATCHING, WEBSITE
from cocli.pipeline.merge.site_records import prospect_part
from cocli.pipeline.merge.splitting import mended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from cocli.index.index import Index
    from cocli.models.prospect import Prospect
    from cocli.models.website import Website

_TRIES = 5


@dataclass(frozen=True, slots=True)
class Settled:
    """What a round of settling found and did."""

    prospects: int
    """Businesses there are now, those left out that are known under another hash."""
    moved: int
    """Prospects that turned out to be another one."""
    joined: int
    """Prospects that got what their website had said before they were known."""


class ProspectSettler:
    """`website_of` finds what was read on a domain at that time, or None; whoever gives it knows where that is."""

    def __init__(
        self,
        prospects: Index[Prospect],
        domains: Index[Domain],
        emails: Index[EmailEntry] | None = None,
        *,
        website_of: Callable[[str, datetime], Website | None],
        clock: Callable[[], datetime],
    ) -> None:
        self._prospects = prospects
        self._domains = domains
        self._emails = emails
        self._website_of = website_of
        self._clock = clock
        self._writer = IndexWriter(prospects)

    def settle(self) -> Settled:
        self._pack()
        moved = self._move()
        if moved:
            self._pack()
        joined = self._join()
        if joined:
            self._pack()
        return Settled(self._assign(), moved, joined)

    def _pack(self) -> None:
        Compactor(self._prospects).compact()
        Compactor(self._domains).compact()

    def _move(self) -> int:
        reader = open_reader(self._prospects)
        splits: list[str] = []
        matches = reconcile(_noting(reader.scan(), splits))
        if splits and self._keep_apart():
            reader = open_reader(self._prospects)
            matches = reconcile(reader.scan())
        contributions: list[Prospect] = []
        for old in reader.get_many(sorted(matches)).values():
            match = matches[old.company_hash]
            contributions += move_prospect(old, match.company_hash, reason=match.reason, at=self._clock())
        if contributions:
            self._writer.append(contributions)
        return len(matches)

    def _keep_apart(self) -> bool:
        """Undo what brought together again what a person has split; whether there was anything."""
        for _ in range(_TRIES):
            reader = open_reader(self._prospects)
            changed = mended({prospect.company_hash: prospect for prospect in reader.scan()})
            if not changed:
                return False
            records = {self._prospects.spec.key_of(record): record for record in changed}
            if replace_records(self._prospects, reader.version, records, ()):
                return True
        raise Conflict(key=str(LatestKey(self._prospects.ref)))

    def _join(self) -> int:
        read = {domain.domain: domain.last_crawled for domain in open_reader(self._domains).scan()}
        websites: dict[str, Website | None] = {}
        joined = []
        for prospect in self._businesses():
            domain = prospect.domain
            at = read.get(domain) if domain else None
            if domain is None or at is None or WEBSITE in prospect.sources:
                continue
            if domain not in websites:
                websites[domain] = self._website_of(domain, at)
            website = websites[domain]
            if website is not None:
                joined.append(prospect_part(website, prospect))
        if joined:
            self._writer.append(joined)
        return len(joined)

    def _assign(self) -> int:
        """Say whose every domain and address is; how many businesses there are.

        Where branches share one, it is that of the first of them by its hash: whoever was read first does not matter.
        Domains are shared between campaigns, and that holds between their businesses as well: else each campaign would
        undo what another one settled.
        """
        count, of_domain, of_email, ours = 0, dict[str, str](), dict[str, str](), set[str]()
        for prospect in open_reader(self._prospects).scan():
            ours.add(prospect.company_hash)
            if prospect.merged_into is not None:
                continue
            count += 1
            if prospect.domain:
                _first(of_domain, prospect.domain, prospect.company_hash)
            for email in prospect.all_emails:
                _first(of_email, email, prospect.company_hash)
        at = self._clock()
        IndexWriter(self._domains).append(
            Domain(domain=known.domain, company_hash=company, origins=_settled(at))
            for known in open_reader(self._domains).scan()
            if (company := of_domain.get(known.domain)) is not None and _gives_way(known.company_hash, company, ours)
        )
        if self._emails is not None:
            Compactor(self._emails).compact()
            IndexWriter(self._emails).append(
                _owned(known, company, at)
                for known in open_reader(self._emails).scan()
                if (company := of_email.get(known.email)) is not None and company != known.company_hash
            )
            Compactor(self._emails).compact()
        Compactor(self._domains).compact()
        return count

    def _businesses(self) -> Iterator[Prospect]:
        return (prospect for prospect in open_reader(self._prospects).scan() if prospect.merged_into is None)


def _noting(prospects: Iterable[Prospect], splits: list[str]) -> Iterator[Prospect]:
    """The same prospects; those that a person has split off are noted in passing."""
    for prospect in prospects:
        if prospect.split_from:
            splits.append(prospect.company_hash)
        yield prospect


def _first(owners: dict[str, str], thing: str, company: str) -> None:
    owners[thing] = min(owners.get(thing, company), company)


def _gives_way(owner: str | None, company: str, ours: set[str]) -> bool:
    """Whether a domain passes to `company`. The owner that another campaign named keeps it, if it is the first."""
    if owner is None or owner in ours:
        return owner != company
    return company < owner


def _owned(known: EmailEntry, company: str, at: datetime) -> EmailEntry:
    return EmailEntry(
        email=known.email,
        domain=known.domain,
        company_hash=company,
        first_seen=known.first_seen,
        last_seen=known.last_seen,
        origins=_settled(at),
    )


def _settled(at: datetime) -> tuple[Origin, ...]:
    return (Origin(fields=("company_hash",), source=MATCHING, observed_at=at),)
