"""Which prospect an observation is about. Pure and in memory; what becomes of the records is `transformations.py`.

The rules, in this order: the same place id; the same id of the same source; the same own domain and near; the same
name, no other address, and near; without a place of its own, the same domain and name, or the same domain where nothing
else is known. Whoever meets none of them is a business of its own. docs/merging.md says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from sys import intern
from typing import TYPE_CHECKING, NamedTuple

from cocli.keys.identities import company_hash, company_identity, normalised
from cocli.pipeline.comparison import comparable_name, comparable_postcode, comparable_street
from cocli.pipeline.merge.rules import DOMAIN_ITSELF, WEBSITE
from cocli.pipeline.merge.transformations import is_named_by_site, place_identity, source_id_of
from cocli.pipeline.plan.geography import cell_of, cells_around, distance_m
from cocli.pipeline.sources.imports import IMPORT
from cocli.pipeline.websites.hosts.shared import is_shared, own_domain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.models.place import Place
    from cocli.models.prospect import Prospect

NEAR_M = 150.0
"""Sources put the pin on the door, the parcel or the middle of the block; the next branch is a street away."""
CLOSE_M = 50.0
"""Where neither side knows an address, the name has to stand at nearly the same spot."""
VENUE_M = 1000.0
"""A fairground or an airport has one address and many doors: the same street and postcode reach this far."""

_ROWS_AND_SITES = {IMPORT, WEBSITE}


@dataclass(frozen=True, slots=True)
class Match:
    """The prospect that an observation belongs to."""

    company_hash: str
    reason: str
    """In words, for `origins`: `same domain, 40 m apart`. `new` for a business that was not known."""
    distance: float | None = None
    """In metres, where both have a position."""
    replaces: str | None = None
    """The hash under which the business was known before its place id was: that record gets `merged_into`."""

    @property
    def is_new(self) -> bool:
        return self.reason == NEW


NEW = "new"


class Known(NamedTuple):
    """What is kept of a prospect: small, because there are millions."""

    company: str
    lat: float | None
    lon: float | None
    name: str
    domain: str | None
    street: str
    postcode: str
    city: str
    is_placeless: bool
    """It is of a person's list, and nobody but its own website says where it is, the city aside."""
    is_bare: bool
    """… nor what it is called: a row of a list of domains."""


class Matcher:
    """Finds the prospect of an observation among those it was told of."""

    def __init__(self, prospects: Iterable[Prospect] = ()) -> None:
        self._companies: set[str] = set()
        self._with_place_id: set[str] = set()
        self._moved: dict[str, str] = {}
        self._by_source_id: dict[str, str] = {}
        # Keyed by the hash of what is looked for: the entries themselves tell whether it is that.
        self._entries: dict[int, Known | list[Known]] = {}
        # By the hash of a domain, and of a domain with a name: of all that have it the first by its company.
        self._firsts: dict[int, Known] = {}
        for prospect in prospects:
            self.add(prospect)

    def add(self, prospect: Prospect) -> None:
        """Tell it of a prospect. One that points elsewhere is known by what it points at."""
        self._note_company(prospect.company_hash, has_place_id=prospect.place_id is not None)
        for source_id in prospect.source_ids:
            self._note_source_id(source_id, prospect.company_hash)
        if prospect.merged_into is not None:
            self._moved[prospect.company_hash] = prospect.merged_into
            return
        self._index(known_prospect(prospect))

    def same_as(self, known: Known, source_ids: Iterable[str] = ()) -> Match | None:
        """The prospect that is the same business as this one, which has no place id. Changes nothing."""
        for source_id in source_ids:
            company = self._current(self._by_source_id.get(source_id, known.company))
            if company != known.company:
                return Match(company, f"same id {source_id}")
        others = (candidate for candidate in self._candidates(known) if candidate.company != known.company)
        return self._nearest(known, others) or self._by_domain(known)

    def note_new(self, known: Known, source_ids: Iterable[str]) -> None:
        """Remember a prospect without a place id as a business of its own."""
        self._note_company(known.company, has_place_id=False)
        for source_id in source_ids:
            self._note_source_id(source_id, known.company)
        self._index(known)

    def note_same(self, known: Known, source_ids: Iterable[str], match: Match) -> None:
        """Remember that this prospect is known as another one from now on, and is found by what it was known by."""
        self._moved[known.company] = match.company_hash
        for source_id in source_ids:
            self._note_source_id(source_id, match.company_hash)
        self._index(known._replace(company=match.company_hash))

    def add_place(self, place: Place, company: str) -> None:
        """Tell it that this place belongs to this company."""
        self._note_company(company, has_place_id=place.place_id is not None)
        if source_id := source_id_of(place):
            self._note_source_id(source_id, company)
        self._index(_known(place, company))

    def match(self, place: Place) -> Match:
        """The prospect that this place belongs to. Changes nothing."""
        known = _known(place, "")
        if place.place_id:
            return self._match_with_place_id(place, known)
        source_id = source_id_of(place)
        if source_id and (company := self._by_source_id.get(source_id)):
            return Match(self._current(company), f"same id {source_id}")
        if found := self._nearest(known, self._candidates(known)) or self._by_domain(known):
            return found
        company = self._identity(place, known)
        # What a name and an address are hashed from can be equal where the rules had too little to go by.
        return Match(self._current(company), "same identity" if company in self._companies else NEW)

    def _match_with_place_id(self, place: Place, known: Known) -> Match:
        company = company_hash(company_identity(place=place.place_id))
        if company in self._companies:
            return Match(self._current(company), "same place id")
        source_id = source_id_of(place)
        earlier = None
        if source_id in self._by_source_id:
            earlier = self._current(self._by_source_id[source_id])
        if earlier is not None and earlier not in self._with_place_id:
            return Match(company, f"same id {source_id}", replaces=earlier)
        # Two place ids are two businesses; but one that was known without may turn out to be this one.
        without = [
            candidate
            for candidate in self._candidates(known)
            if self._current(candidate.company) not in self._with_place_id
        ]
        found = self._nearest(known, without)
        if found is None:
            return Match(company, NEW)
        return Match(company, found.reason, found.distance, replaces=found.company_hash)

    def note(self, place: Place, match: Match) -> None:
        """Remember a match, so that later places find this one."""
        if match.replaces is not None:
            self._moved[match.replaces] = match.company_hash
        self.add_place(place, match.company_hash)

    def _note_company(self, company: str, *, has_place_id: bool) -> None:
        self._companies.add(company)
        if has_place_id:
            self._with_place_id.add(company)

    def _note_source_id(self, source_id: str, company: str) -> None:
        # Of two that claim one id, the same one has to win whoever is told first.
        self._by_source_id[source_id] = min(company, self._by_source_id.get(source_id, company))

    def _current(self, company: str) -> str:
        seen = {company}
        while (target := self._moved.get(company)) is not None and target not in seen:
            seen.add(target)
            company = target
        return company

    def _index(self, known: Known) -> None:
        for key in _keys(known):
            there = self._entries.get(key)
            if there is None:
                self._entries[key] = known
            elif isinstance(there, list):
                there.append(known)
            elif there != known:
                self._entries[key] = [there, known]

        for key in _keys_of_domain(known):
            first = self._firsts.get(key)
            if first is None or known.company < first.company:
                self._firsts[key] = known

    def _by_domain(self, known: Known) -> Match | None:
        """For who has no place of its own: whoever has its domain, and its name if it has one; the first of several."""
        if not known.is_placeless or not known.domain:
            return None
        first = self._firsts.get(_key_of_domain(known, with_name=not known.is_bare))
        if first is None or first.domain != known.domain or not (known.is_bare or first.name == known.name):
            return None
        company = self._current(first.company)
        if company == known.company or (known.city and first.city and known.city != first.city):
            return None
        return Match(company, f"same domain {known.domain}, no place of its own")

    def _candidates(self, known: Known) -> Iterator[Known]:
        for key in _keys_to_look_at(known):
            there = self._entries.get(key)
            if isinstance(there, list):
                yield from there
            elif there is not None:
                yield there

    def _nearest(self, known: Known, candidates: Iterable[Known]) -> Match | None:
        best: tuple[int, bool, float, str, str] | None = None
        for candidate in candidates:
            verdict = _compare(known, candidate)
            if verdict is None:
                continue
            rule, distance, reason = verdict
            company = self._current(candidate.company)
            rank = (rule, candidate.name != known.name, -1.0 if distance is None else distance, company, reason)
            if best is None or rank < best:
                best = rank
        if best is None:
            return None
        return Match(best[3], best[4], None if best[2] < 0 else best[2])

    def _identity(self, place: Place, known: Known) -> str:
        company = company_hash(place_identity(place))
        if known.domain and company in self._companies:
            # Another branch has the domain, and is not near: this one is known by name and address.
            return company_hash(place_identity(place, domain_is_free=False))
        return company


@dataclass(frozen=True, slots=True)
class Assignment:
    """A place and the prospect it belongs to."""

    place: Place
    match: Match


def assign(places: Iterable[Place], prospects: Iterable[Prospect]) -> list[Assignment]:
    """Match many places at once: against the prospects and against each other.

    The answer does not depend on the order in which either is given. Places with a place id come first, so that the
    others find them. Assigning again, with the prospects that came out of it, changes nothing.
    """
    matcher = Matcher(prospects)  # whose answers do not depend on their order, so they may be a stream
    assignments = []
    for place in sorted(places, key=_order):
        match = matcher.match(place)
        matcher.note(place, match)
        assignments.append(Assignment(place, match))
    return assignments


def _order(place: Place) -> tuple[object, ...]:
    return (
        place.place_id is None,
        place.place_id or "",
        # Who has more to be found by comes before who has less.
        own_domain(place.website) is None,
        place.lat is None,
        not place.street,
        place.source,
        place.source_id,
        place.observed_at,
        place.model_dump_json(),
    )


def _known(place: Place, company: str) -> Known:
    has_point = place.lat is not None and place.lon is not None
    return Known(
        company=company,
        lat=place.lat if has_point else None,
        lon=place.lon if has_point else None,
        name=comparable_name(place.name),
        domain=own_domain(place.website),
        street=comparable_street(place.street or place.address),
        postcode=comparable_postcode(place.postcode),
        city=intern(normalised(place.city or "")),
        is_placeless=(is_placeless := _is_row_without_place(place)),
        is_bare=is_placeless and is_named_by_site(place),
    )


def known_prospect(prospect: Prospect) -> Known:
    """What a prospect is found by."""
    has_point = prospect.lat is not None and prospect.lon is not None
    return Known(
        company=prospect.company_hash,
        lat=prospect.lat if has_point else None,
        lon=prospect.lon if has_point else None,
        name=comparable_name(prospect.name),
        domain=None if prospect.domain and is_shared(prospect.domain) else prospect.domain,
        street=comparable_street(prospect.street),
        postcode=comparable_postcode(prospect.postcode),
        city=intern(normalised(prospect.city or "")),
        is_placeless=(is_placeless := not has_point and _is_of_rows_without_place(prospect)),
        is_bare=is_placeless and _is_said_by_site(prospect, "name"),
    )


def _is_row_without_place(place: Place) -> bool:
    """Sources of businesses know where they are, and their branches apart; a person's list often does not."""
    has_point = place.lat is not None and place.lon is not None
    return place.source == IMPORT and not (has_point or place.street or place.address or place.postcode)


def _is_of_rows_without_place(prospect: Prospect) -> bool:
    return IMPORT in prospect.sources and (
        {*prospect.sources} <= _ROWS_AND_SITES and _is_said_by_site(prospect, "street", "postcode")
    )


def _is_said_by_site(prospect: Prospect, *fields: str) -> bool:
    """Whether these fields hold nothing, or what its own website says."""
    there = [field for field in fields if getattr(prospect, field)]
    origins = [prospect.origin_of(field) for field in there]
    return all(origin is not None and origin.source in (WEBSITE, DOMAIN_ITSELF) for origin in origins)


def _keys_of_domain(known: Known) -> tuple[int, ...]:
    if not known.domain:
        return ()
    return _key_of_domain(known, with_name=False), _key_of_domain(known, with_name=True)


def _key_of_domain(known: Known, *, with_name: bool) -> int:
    return hash((known.domain, known.name) if with_name else (known.domain,))


def _keys(known: Known) -> Iterator[int]:
    """Where a prospect is kept: under its domain and its name, each with its cell and with its postcode."""
    places: list[object] = []
    if known.lat is not None and known.lon is not None:
        places.append(cell_of(known.lat, known.lon))
    if known.street and known.postcode:
        places.append(known.postcode)
    for place in places:
        if known.domain:
            yield hash((0, known.domain, place))
        if known.name:
            yield hash((1, known.name, place))


def _keys_to_look_at(known: Known) -> Iterator[int]:
    places: list[object] = []
    if known.lat is not None and known.lon is not None:
        places.extend(cells_around(known.lat, known.lon))
    if known.street and known.postcode:
        places.append(known.postcode)
    for place in places:
        if known.domain:
            yield hash((0, known.domain, place))
        if known.name:
            yield hash((1, known.name, place))


def _compare(known: Known, other: Known) -> tuple[int, float | None, str] | None:
    """The number of the rule by which two are the same business, how far apart they are, and the reason in words."""
    distance = _distance(known, other)
    same_address = (
        bool(known.postcode)
        and known.postcode == other.postcode
        and bool(known.street)
        and known.street == other.street
    )
    if known.domain and known.domain == other.domain and _is_near(distance, same_address):
        return 0, distance, f"same domain {known.domain}, {_apart(distance)}"
    if not known.name or known.name != other.name:
        return None
    if same_address and _is_near(distance, same_address):
        return 1, distance, f"same name and address, {_apart(distance)}"
    if distance is None or not _may_be_one_address(known, other):
        return None
    if distance <= (NEAR_M if _shares_address(known, other) else CLOSE_M):
        return 2, distance, f"same name, {_apart(distance)}, no other address"
    return None


def _distance(known: Known, other: Known) -> float | None:
    if known.lat is None or known.lon is None or other.lat is None or other.lon is None:
        return None
    return distance_m(known.lat, known.lon, other.lat, other.lon)


def _is_near(distance: float | None, same_address: bool) -> bool:
    """Without a position on both sides only the same address is near."""
    if distance is None:
        return same_address
    return distance <= (VENUE_M if same_address else NEAR_M)


def _may_be_one_address(known: Known, other: Known) -> bool:
    """Nothing that both know speaks against it. A longer spelling of a street may contain the shorter."""
    if known.postcode and other.postcode and known.postcode != other.postcode:
        return False
    return not (known.street and other.street) or _contains(known.street, other.street)


def _shares_address(known: Known, other: Known) -> bool:
    """Something that both know speaks for it."""
    return bool(known.street and other.street and _contains(known.street, other.street))


def _contains(street: str, other: str) -> bool:
    words, others = set(street.split()), set(other.split())
    return words <= others or others <= words


def _apart(distance: float | None) -> str:
    if distance is None:
        return "same address"
    return f"{distance:.0f} m apart"
