"""What the rows of a file make of the prospects: matched observations merged into what is known. Nothing is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.errors import IdentityError
from cocli.keys.identities import registrable_domain
from cocli.models.email import EmailEntry
from cocli.models.origin import Origin
from cocli.pipeline.merge import merge_emails, merge_prospects, move_prospect, place_to_prospect
from cocli.pipeline.sources.imports import IMPORT

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.models.prospect import Prospect
    from cocli.pipeline.merge.assignment import Assignment
    from cocli.pipeline.sources.imports.observation import ImportedPlace


@dataclass
class Counts:
    """What became of the rows."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    moved: int = 0


@dataclass
class Contributions:
    """The prospects of one import, as they become while row after row is added. `look_up` finds what is known."""

    campaign: str
    look_up: Callable[[str], Prospect | None]
    document: str | None
    counts: Counts = field(default_factory=Counts)
    before: dict[str, Prospect | None] = field(default_factory=dict)
    now: dict[str, Prospect] = field(default_factory=dict)
    emails: dict[str, EmailEntry] = field(default_factory=dict)

    def changed(self) -> list[Prospect]:
        return [prospect for company, prospect in sorted(self.now.items()) if prospect != self.before[company]]

    def businesses(self, is_wanted: Callable[[Prospect], bool]) -> list[Prospect]:
        """All that the rows are about, those of them that nothing was new of included; in the order of their hashes."""
        there = [prospect for _, prospect in sorted(self.now.items()) if prospect.merged_into is None]
        return [prospect for prospect in there if is_wanted(prospect)]

    def add(self, assignment: Assignment, observation: ImportedPlace) -> None:
        match = assignment.match
        if match.replaces is not None and (old := self._known(match.replaces)) is not None:
            at = observation.place.observed_at
            pointing, moved = move_prospect(old, match.company_hash, reason=match.reason, at=at)
            self.now[match.replaces] = pointing
            self._merge(moved)
            self.counts.moved += 1
        known = self._known(match.company_hash)
        if known is None:
            self.now[match.company_hash] = contribution_of(observation, self.campaign, match.company_hash, None)
            self.counts.new += 1
        else:
            self._add_to(known, observation, match.reason)
        self._add_emails(observation, match.company_hash)

    def _add_to(self, known: Prospect, observation: ImportedPlace, reason: str) -> None:
        """Of the reasons that the same file may have been matched by before, one that changes nothing is taken."""
        mine = [
            origin.reason for origin in known.origins if origin.document == self.document and origin.source == IMPORT
        ]
        for candidate in (*mine, reason):
            contribution = contribution_of(observation, self.campaign, known.company_hash, candidate)
            if merge_prospects(known, contribution) == known:
                self.counts.unchanged += 1
                return
        self._merge(contribution_of(observation, self.campaign, known.company_hash, reason))
        self.counts.changed += 1

    def _merge(self, contribution: Prospect) -> None:
        company = contribution.company_hash
        known = self._known(company)
        self.now[company] = merge_prospects(known, contribution) if known is not None else contribution

    def _known(self, company: str) -> Prospect | None:
        if company not in self.before:
            self.before[company] = self.look_up(company)
        found = self.now.get(company) or self.before[company]
        if found is not None and company not in self.now:
            self.now[company] = found
        return found

    def _add_emails(self, observation: ImportedPlace, company: str) -> None:
        for email in observation.emails:
            entry = _email_entry(email, observation, company)
            if entry is not None:
                there = self.emails.get(entry.email)
                self.emails[entry.email] = merge_emails(there, entry) if there else entry


def contribution_of(observation: ImportedPlace, campaign: str, company: str, reason: str | None) -> Prospect:
    """What the row says of the business, its addresses of mail and profiles included, each with its origin."""
    base = place_to_prospect(observation.place, campaign, company=company, reason=reason)
    socials = {**base.socials, **observation.socials}
    added = [f"socials.{name}" for name in observation.socials if name not in base.socials]
    if observation.emails:
        added.append("primary_email")
    origins = tuple(origin.model_copy(update={"fields": (*origin.fields, *added)}) for origin in base.origins)
    return base.with_changes(
        primary_email=observation.emails[0] if observation.emails else None,
        all_emails=observation.emails,
        tags=observation.tags,
        socials=socials,
        origins=origins,
    )


def _email_entry(email: str, observation: ImportedPlace, company: str) -> EmailEntry | None:
    place = observation.place
    try:
        domain = registrable_domain(email.rpartition("@")[2])
    except IdentityError:
        return None  # an address at a bare host has no place in the index; the prospect keeps it
    values: dict[str, Any] = {"domain": domain, "company_hash": company, "method": IMPORT, "name": observation.contact}
    fields = tuple(name for name, value in values.items() if value)
    origin = Origin(fields=fields, source=IMPORT, observed_at=place.observed_at, document=place.document)
    return EmailEntry(
        email=email, first_seen=place.observed_at, last_seen=place.observed_at, origins=(origin,), **values
    )
