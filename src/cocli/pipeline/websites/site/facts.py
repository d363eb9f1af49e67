"""What the pages of a site say together: each value once, from the best page that has it; the primary address."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from cocli.pipeline.websites.facts.delivery import deliveries
from cocli.pipeline.websites.facts.identity import SiteIdentity, joined
from cocli.pipeline.websites.facts.offer import OFFERS
from cocli.pipeline.websites.facts.primary import PAGES, primary_of
from cocli.pipeline.websites.facts.socials import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from cocli.models.website import ContactLabel
    from cocli.pipeline.websites.facts.addresses import AddressFinding
    from cocli.pipeline.websites.facts.facts import EmailFinding, PageFacts
    from cocli.pipeline.websites.facts.finding import Finding
    from cocli.pipeline.websites.facts.hours import HoursFinding
    from cocli.pipeline.websites.facts.offer import Offer
    from cocli.pipeline.websites.facts.people import PersonFinding
    from cocli.pipeline.websites.facts.phones.phones import PhoneFinding
    from cocli.pipeline.websites.facts.relation import Doubt, Relation
    from cocli.pipeline.websites.page.kind import PageKind

_RELATIONS: tuple[Relation, ...] = ("own", "authority", "platform", "freemail", "agency", "other")
"""Where pages disagree, the earlier wins: one page that shows an address as the site's own is enough."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class SiteEmail:
    """An address of a site, as it stands on the page where it stands best."""

    value: str
    page: str
    method: str
    context: str
    position: int
    relation: Relation
    label: ContactLabel | None
    name: str | None
    kinds: frozenset[PageKind]
    """The kinds of pages it was seen on."""
    pages_seen: int
    linked: bool
    """Whether a page offers it as a link or as marked up data, rather than in passing."""
    offer: Offer | None = None
    """The best contact context that it stands in."""
    doubt: Doubt | None = None
    """What speaks against it wherever it stands."""
    delivered: bool = False
    """Whether it is one by which the company is reached."""
    reason: str = ""
    """Why it is delivered, or why not."""


@dataclass(frozen=True, slots=True)
class Located(Generic[_T]):
    """A finding and the page it was taken from."""

    finding: _T
    page: str


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """The facts of a whole site."""

    title: str | None
    name: str | None
    description: str | None
    country: str | None
    identity: SiteIdentity
    primary_email: SiteEmail | None
    emails: tuple[SiteEmail, ...]
    phones: tuple[Located[PhoneFinding], ...]
    faxes: tuple[Located[PhoneFinding], ...]
    socials: dict[str, Located[Finding]]
    """By platform: the profile that most pages link to."""
    addresses: tuple[Located[AddressFinding], ...]
    hours: tuple[Located[HoursFinding], ...]
    people: tuple[Located[PersonFinding], ...]
    technologies: tuple[str, ...]
    contact_ways: tuple[Located[Finding], ...]
    other_phones: tuple[Located[PhoneFinding], ...] = ()
    """Numbers of others, and national ones of a country that is not known."""


def combine(pages: Sequence[PageFacts]) -> SiteFacts:
    """The facts of a site from those of its pages, in the order in which they were read."""
    identity = joined(page.identity for page in pages)
    emails = _emails(pages, identity)
    phones = _unique(pages, lambda page: page.phones, lambda phone: phone.value)
    spoken_to = {phone.value for page in pages for phone in page.phones if phone.kind != "fax"}
    return SiteFacts(
        title=_first(page.description.title for page in _ranked(pages, "home")),
        name=_first(_value(page.description.name) for page in _ranked(pages, "home")),
        description=_first(_value(page.description.description) for page in _ranked(pages, "home")),
        country=_most_common(page.country for page in pages),
        identity=identity,
        primary_email=primary_of(emails),
        emails=emails,
        phones=tuple(phone for phone in phones if phone.finding.value in spoken_to),
        faxes=tuple(phone for phone in phones if phone.finding.value not in spoken_to),
        socials=_socials(pages),
        addresses=_unique(pages, lambda page: page.addresses, lambda address: address.full.lower()),
        hours=_hours(pages),
        people=_unique(pages, lambda page: page.people, lambda person: person.name.lower()),
        technologies=tuple(dict.fromkeys(found.value for page in pages for found in page.technologies)),
        contact_ways=_unique(pages, lambda page: page.contact_ways, lambda way: (way.method, way.value)),
        other_phones=_other_phones(pages),
    )


def _other_phones(pages: Sequence[PageFacts]) -> tuple[Located[PhoneFinding], ...]:
    """What one page shows as the company's number is the company's."""
    own = {phone.value for page in pages for phone in page.phones}
    others = _unique(pages, lambda page: page.other_phones, lambda phone: phone.key)
    return tuple(other for other in others if other.finding.value not in own)


def _emails(pages: Sequence[PageFacts], identity: SiteIdentity) -> tuple[SiteEmail, ...]:
    seen: dict[str, list[tuple[PageFacts, EmailFinding]]] = defaultdict(list)
    for page in pages:
        for email in page.emails:
            seen[email.value].append((page, email))
    emails = [_email(sightings, identity) for sightings in seen.values()]
    decided = deliveries(emails)
    return tuple(
        replace(email, delivered=decided[email.value].delivered, reason=decided[email.value].reason) for email in emails
    )


def _email(sightings: list[tuple[PageFacts, EmailFinding]], identity: SiteIdentity) -> SiteEmail:
    page, email = min(sightings, key=lambda seen: (_method_rank(seen[1]), PAGES.index(seen[0].kind)))
    domain = email.value.partition("@")[2]
    own = identity.owns(domain) or any(domain.endswith(f".{own_domain}") for own_domain in identity.domains)
    own = own and domain not in identity.foreign
    relation = "own" if own else min((found.relation for _, found in sightings), key=_RELATIONS.index)
    return SiteEmail(
        value=email.value,
        page=page.url,
        method=email.method,
        context=email.context,
        position=email.position,
        relation=relation,
        label=email.label,
        name=email.name,
        kinds=frozenset(seen_on.kind for seen_on, _ in sightings),
        pages_seen=len(sightings),
        linked=any(found.where in ("link", "data") for _, found in sightings),
        offer=min((found.offer for _, found in sightings if found.offer), key=OFFERS.index, default=None),
        doubt=_shared_doubt([found for _, found in sightings]),
    )


def _shared_doubt(sightings: list[EmailFinding]) -> Doubt | None:
    """What is doubted on one page only, another page settles."""
    if all(found.doubt for found in sightings):
        return sightings[0].doubt
    return None


def _method_rank(email: EmailFinding) -> int:
    return ("link", "data", "text", "attribute", "script", "head").index(email.where)


def _unique(
    pages: Sequence[PageFacts], findings: Callable[[PageFacts], Iterable[_T]], key: Callable[[_T], Hashable]
) -> tuple[Located[_T], ...]:
    """Each finding once, from the best page that has it, in the order in which they were first seen."""
    order = dict.fromkeys(key(finding) for page in pages for finding in findings(page))
    best: dict[Hashable, Located[_T]] = {}
    for page in _ranked(pages, "contact"):
        for finding in findings(page):
            best.setdefault(key(finding), Located(finding, page.url))
    return tuple(best[finding_key] for finding_key in order)


def _ranked(pages: Sequence[PageFacts], first: PageKind) -> list[PageFacts]:
    return sorted(pages, key=lambda page: (page.kind != first, PAGES.index(page.kind)))


def _socials(pages: Sequence[PageFacts]) -> dict[str, Located[Finding]]:
    counts = Counter(found.value.lower() for page in pages for found in page.socials)
    chosen: dict[str, Located[Finding]] = {}
    for located in _unique(pages, lambda page: page.socials, lambda found: found.value.lower()):
        site = site_of(located.finding.value)
        if site is None:
            continue
        known = chosen.get(site)
        if known is None or counts[located.finding.value.lower()] > counts[known.finding.value.lower()]:
            chosen[site] = located
    return chosen


def _hours(pages: Sequence[PageFacts]) -> tuple[Located[HoursFinding], ...]:
    """Hours come from one page: two pages that disagree are two seasons or two branches."""
    page = next((page for page in _ranked(pages, "contact") if page.hours), None)
    if page:
        return tuple(Located(hours, page.url) for hours in page.hours)
    return ()


def _value(finding: Finding | None) -> str | None:
    if finding:
        return finding.value
    return None


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)


def _most_common(values: Iterable[str | None]) -> str | None:
    counts = Counter(value for value in values if value)
    if counts:
        return counts.most_common(1)[0][0]
    return None
