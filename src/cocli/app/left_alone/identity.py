"""Who is meant: from the value that a person names to everything that stands for them alone.

An address or a number is forgotten by itself, with the person whom records tie to it. Of a business all of its
addresses, numbers, ids and names are; but what others have, too (the phone of a chain, the website of its branches), is
theirs as well and stays, and the plan says so.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.app.campaigns.name import campaign_names
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.left_alone.matcher import SubjectMatcher
from cocli.app.left_alone.suppress import entry_of, list_stores, subjects_of, with_other_forms
from cocli.index.reader import open_reader
from cocli.pipeline.comparison import comparable_name
from cocli.pipeline.suppression.listing import SuppressionList
from cocli.pipeline.suppression.subject import Subject, normal_domain, normal_email, normal_phone
from cocli.pipeline.websites.hosts.providers import is_freemail
from cocli.pipeline.websites.hosts.shared import own_domain
from cocli.results.companies.pages import load_files
from cocli.results.companies.people import people

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.app.left_alone.suppress import SubjectOptions
    from cocli.app.workspace import Workspace
    from cocli.models.email import EmailEntry
    from cocli.models.freshness.change import BusinessChange
    from cocli.models.freshness.standing import BusinessStanding
    from cocli.models.prospect import Prospect

_BUSINESS = frozenset(("domain", "company", "place"))
_FEWEST_LETTERS = 5


@dataclass
class Identity:
    """Somebody, by all that they alone are known by."""

    named: tuple[Subject, ...]
    """What the person named."""
    subjects: list[Subject] = field(default_factory=list)
    literals: list[str] = field(default_factory=list)
    related: list[str] = field(default_factory=list)
    """Domains of sites on which they were found, which are not theirs alone."""
    shared: list[str] = field(default_factory=list)
    """What others have, too: it stays."""
    is_business: bool = False
    text: str = ""
    """What the person wrote."""

    def matcher(self, now: Any) -> SubjectMatcher:
        listed = SuppressionList([entry_of(subject, now) for subject in self.subjects])
        related = SuppressionList([entry_of(Subject("domain", domain), now) for domain in self.related])
        return SubjectMatcher(listed, tuple(self.literals), related, is_business=self.is_business)

    def as_dict(self) -> dict[str, Any]:
        """For the file that an interrupted run goes on from."""
        return {
            "named": [_plain(subject) for subject in self.named],
            "subjects": [_plain(subject) for subject in self.subjects],
            "literals": self.literals,
            "related": self.related,
            "shared": self.shared,
            "is_business": self.is_business,
        }

    @classmethod
    def from_dict(cls, said: dict[str, Any]) -> Identity:
        return cls(
            tuple(Subject(*parts) for parts in said["named"]),
            [Subject(*parts) for parts in said["subjects"]],
            list(said["literals"]),
            list(said["related"]),
            list(said["shared"]),
            bool(said["is_business"]),
        )


def _plain(subject: Subject) -> list[str | None]:
    return [subject.kind, subject.value, subject.calling_code]


def find_identity(workspace: Workspace, text: str, options: SubjectOptions) -> Identity:
    """What a value leads to, in every campaign."""
    named = tuple(subjects_of(workspace, text, options))
    is_business = any(subject.kind in _BUSINESS for subject in named)
    identity = Identity(named, list(named), is_business=is_business)
    listed = SuppressionList([entry_of(subject, _SOME_TIME) for subject in named])
    if any(subject.kind == "name" for subject in named):
        identity.literals.append(text.strip())
    return _expanded(identity, listed, workspace)


def found_identity(workspace: Workspace, listed: SuppressionList) -> Identity:
    """The same from hashes alone, as a proof has them: of whom a restore has brought back."""
    is_business = any(entry.kind in _BUSINESS for entry in listed.entries)
    return _expanded(Identity((), is_business=is_business), listed, workspace)


def _expanded(identity: Identity, listed: SuppressionList, workspace: Workspace) -> Identity:
    known = _Known(workspace)
    if identity.is_business:
        _expand_business(identity, known, listed)
    else:
        _expand_person(identity, known, listed)
    identity.subjects = with_other_forms(identity.subjects)
    identity.literals = sorted({literal for literal in identity.literals if len(literal) >= _FEWEST_LETTERS})
    return identity


class _Known:
    """The records of all campaigns, as they are: the list hides nothing here."""

    def __init__(self, workspace: Workspace) -> None:
        self.prospects: list[Prospect] = []
        self.emails: list[EmailEntry] = []
        self.changes: list[BusinessChange] = []
        self.standings: list[BusinessStanding] = []
        self.pages = [page for store in list_stores(workspace) for page in load_files(store)]
        self.people = [page for store in list_stores(workspace) for page in people(store)]
        for name in sorted(campaign_names(workspace.store)):
            indexes = campaign_indexes(workspace, name)
            for index, kept in self._kept():
                reader = open_reader(indexes.open_whole(indexes.ref(index)), fresh=True)
                kept.extend(reader.scan())

    def _kept(self) -> list[tuple[str, list[Any]]]:
        return [
            ("prospects", self.prospects), ("emails", self.emails), ("changes", self.changes),
            ("standings", self.standings),
        ]  # fmt: skip


def _expand_business(identity: Identity, known: _Known, listed: SuppressionList) -> None:
    hashes = {prospect.company_hash for prospect in known.prospects if _is_named(prospect, listed)}
    hashes |= {subject.value for subject in identity.named if subject.kind == "company"}
    while more := {  # what was merged into them, and what they were merged into
        other
        for prospect in known.prospects
        if prospect.merged_into
        for mine, other in (
            (prospect.company_hash, prospect.merged_into),
            (prospect.merged_into, prospect.company_hash),
        )
        if mine in hashes and other not in hashes
    }:
        hashes |= more
    theirs = [prospect for prospect in known.prospects if prospect.company_hash in hashes]
    others = [prospect for prospect in known.prospects if prospect.company_hash not in hashes]
    taken = _values_of(others, [entry for entry in known.emails if entry.company_hash not in hashes])
    own = _values_of(theirs, [entry for entry in known.emails if entry.company_hash in hashes])
    for kind, value, subject in _former(known, hashes, next((prospect.country for prospect in theirs), None)):
        own[kind].setdefault(value, subject)
    identity.subjects += [Subject("company", company) for company in sorted(hashes)]
    for kind, values in own.items():
        for value, subject in values.items():
            if value in taken[kind] and subject not in identity.named:
                identity.shared.append(value)
            elif subject is not None:
                identity.subjects.append(subject)
            else:
                identity.literals.append(value)
    for page in known.pages:
        if set(page.hashes) & hashes:
            identity.literals.append(page.slug)
    identity.subjects = list(dict.fromkeys(identity.subjects))


def _expand_person(identity: Identity, known: _Known, listed: SuppressionList) -> None:
    """The person whom records tie to an address or a number, and the sites on which it was found."""

    def is_theirs(email: str | None, phone: str | None, name: str | None) -> bool:
        return listed.email(email) or listed.phone(phone) or listed.name(name)

    for prospect in known.prospects:
        if any(map(listed.email, prospect.all_emails)) or listed.phone(prospect.phone_e164 or prospect.phone):
            identity.related += filter(None, [prospect.domain])
        for member in prospect.people:
            if is_theirs(member.email, member.phone, member.name):
                _add_person(identity, member.name, member.email, member.phone, prospect)
                identity.related += filter(None, [prospect.domain])
    for entry in known.emails:
        if listed.email(entry.email):
            identity.related += filter(None, [_site(entry.source_page), entry.domain])
    for page in known.people:
        person = page.person
        if person and is_theirs(person.email, person.phone, person.name):
            _add_person(identity, person.name or "", person.email, person.phone, None)
            identity.literals.append(page.slug)
    free = [domain for domain in identity.related if not is_freemail(domain)]
    identity.related = sorted({normal_domain(domain) for domain in free} - {""})
    identity.subjects = list(dict.fromkeys(identity.subjects))


def _add_person(identity: Identity, name: str, email: str | None, phone: str | None, of: Prospect | None) -> None:
    """Their name, unless it is that of the business; their other address and number, unless the business has them."""
    if " " in name.strip() and (of is None or comparable_name(name) != comparable_name(of.name)):
        identity.literals.append(name.strip())
    if email and (of is None or email != of.primary_email) and (normal := normal_email(email)):
        identity.subjects.append(Subject("email", normal))
    number = normal_phone(phone, of.country if of else None) if phone else None
    if number and (of is None or number[0] != of.phone_e164):
        identity.subjects.append(Subject("phone", *number))


def _is_named(prospect: Prospect, listed: SuppressionList) -> bool:
    return (
        listed.company(prospect.company_hash)
        or listed.place(prospect.place_id)
        or listed.host(prospect.domain)
        or listed.host(prospect.website)
    )


def _values_of(
    prospects: Iterable[Prospect], emails: Iterable[EmailEntry]
) -> defaultdict[str, dict[str, Subject | None]]:
    """What businesses are known by: kind → value → how it is told; None for names and streets, which are only texts."""
    found: defaultdict[str, dict[str, Subject | None]] = defaultdict(dict)
    for prospect in prospects:
        for kind, value, subject in _of_prospect(prospect):
            found[kind][value] = subject
    for entry in emails:
        if normal := normal_email(entry.email):
            found["email"][normal] = Subject("email", normal)
    return found


def _of_prospect(prospect: Prospect) -> Iterator[tuple[str, str, Subject | None]]:
    for address in (prospect.primary_email, *prospect.all_emails, *(member.email for member in prospect.people)):
        if address and (normal := normal_email(address)):
            yield "email", normal, Subject("email", normal)
    for phone in (prospect.phone_e164, prospect.phone, *(member.phone for member in prospect.people)):
        number = normal_phone(phone, prospect.country) if phone else None
        if number:
            yield "phone", number[0], Subject("phone", *number)
    if prospect.place_id:
        yield "place", prospect.place_id, Subject("place", prospect.place_id)
    domain = own_domain(prospect.website) or (prospect.domain if prospect.domain else None)
    if domain and own_domain(f"http://{domain}/"):
        yield "domain", domain, Subject("domain", domain)
    streets = [f"{prospect.street}"] if prospect.street else []
    people = [member.name for member in prospect.people]
    for text in (prospect.name, prospect.slug, *streets, *people, *prospect.socials.values(), *prospect.source_ids):
        yield "text", text, None
        if ":" in text and text in prospect.source_ids:
            yield "text", text.partition(":")[2], None


def _former(known: _Known, hashes: set[str], country: str | None) -> Iterator[tuple[str, str, Subject | None]]:
    """What businesses were known by before: pages that were captured then still say so."""
    values: list[tuple[str, str | None]] = []
    for standing in known.standings:
        if standing.company_hash in hashes:
            values += [("renamed", standing.name), ("moved", standing.street), ("phone", standing.phone)]
            values += [("email", standing.email), ("website", standing.website)]
    for change in known.changes:
        if change.company_hash in hashes:
            values += [(change.kind, change.before), (change.kind, change.after)]
    for kind, value in values:
        if not value:
            continue
        if kind == "phone" and (number := normal_phone(value, country)):
            yield "phone", number[0], Subject("phone", *number)
        elif kind == "email" and (address := normal_email(value)):
            yield "email", address, Subject("email", address)
        elif kind == "website" and (domain := own_domain(value)):
            yield "domain", domain, Subject("domain", domain)
        elif kind == "renamed":
            yield "text", value, None
        elif kind == "moved" and any(map(str.isalpha, street := value.partition(",")[0])):  # no street: a position
            yield "text", street, None


def _site(page: str | None) -> str | None:
    return own_domain(page) if page else None


def _some_time() -> Any:
    from datetime import UTC, datetime

    return datetime(2000, 1, 1, tzinfo=UTC)


_SOME_TIME = _some_time()
"""Entries that only ask a question are of no time."""
