"""Which prospect an observation is about. Pure and in memory; what becomes of the records is `transformations.py`.

The rules, in this order: the same place id; the same id of the same source; the same own domain and near, where names
or phones agree; the same name, no other address, and near; the same phone and near, where one name is part of the
other; without a place of its own, the same domain and name, or the same domain where nothing else is known. Whoever
meets none of them is a business of its own, and so is whoever a person has set apart. docs/merging.md says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from sys import intern
from typing import TYPE_CHECKING, NamedTuple

from cocli.keys.identities import company_hash, company_identity, normalised
from cocli.pipeline.comparison import (
    comparable_name,
    comparable_phone,
    comparable_postcode,
    is_same_phone,
)
from cocli.pipeline.merge.kinds import families_of_categories
from cocli.pipeline.merge.names import NameRelation, name_parts, relation, without_towns
from cocli.pipeline.merge.rules import DOMAIN_ITSELF, WEBSITE
from cocli.pipeline.merge.transformations import DISTINCT_IDS, is_named_by_site, place_identity, source_id_of
from cocli.pipeline.plan.geography import cell_of, cells_around, distance_m
from cocli.pipeline.sources.imports import IMPORT
from cocli.pipeline.streets import comparable_street, has_number, is_one_street
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

_PHONE_KEY_DIGITS = 7

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

    @property
    def is_concluded(self) -> bool:
        """No id says so, and no equal name and address: it was concluded from what the two have in common."""
        return not self.is_new and self.reason != SAME_IDENTITY and not self.reason.startswith(_BY_ID)


NEW, SAME_IDENTITY = "new", "same identity"
_BY_ID = ("same id ", "same place id")


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
    phone: str = ""
    kinds: frozenset[str] = frozenset()
    """What its categories say that it is."""


class TownIndex:
    """Businesses by their town, for rows that know a street and neither position nor postcode.

    Few rows are so. A town is put in order when the first of them asks; until then a list costs next to nothing.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[Known]] = {}
        self._ordered: dict[str, dict[int, list[Known]]] = {}

    def add(self, known: Known) -> None:
        if not known.city or not known.street:
            return
        if (ordered := self._ordered.get(known.city)) is not None:
            _put(ordered, known)
        else:
            self._waiting.setdefault(known.city, []).append(known)

    def find(self, known: Known) -> Iterator[Known]:
        """Who has its name, phone or domain in its town."""
        ordered = self._ordered.get(known.city)
        if ordered is None:
            ordered = self._ordered[known.city] = {}
            for waiting in self._waiting.pop(known.city, ()):
                _put(ordered, waiting)
        for key in _keys_at(known, [known.city]):
            yield from ordered.get(key, ())


def _put(ordered: dict[int, list[Known]], known: Known) -> None:
    for key in _keys_at(known, [known.city]):
        ordered.setdefault(key, []).append(known)


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
        self._several: set[int] = set()
        self._towns = TownIndex()
        self._distinct: dict[str, set[str]] = {}
        self._apart: dict[str, set[str]] = {}
        for prospect in prospects:
            self.add(prospect)

    def add(self, prospect: Prospect) -> None:
        """Tell it of a prospect. One that points elsewhere is known by what it points at."""
        self._note_company(prospect.company_hash, has_place_id=prospect.place_id is not None)
        for source_id in prospect.source_ids:
            self._note_source_id(source_id, prospect.company_hash)
        self.note_apart(prospect.company_hash, prospect.split_from)
        if prospect.merged_into is not None:
            self._moved[prospect.company_hash] = prospect.merged_into
            return
        self._index(known_prospect(prospect))

    def same_as(self, known: Known, source_ids: Iterable[str] = ()) -> Match | None:
        """The prospect that is the same business as this one, which has no place id. Changes nothing."""
        source_ids = tuple(source_ids)
        for source_id in source_ids:
            company = self._current(self._by_source_id.get(source_id, known.company))
            if company != known.company and not self.are_apart(known.company, company):
                return Match(company, f"same id {source_id}")
        others = (candidate for candidate in self._candidates(known) if candidate.company != known.company)
        return self._nearest(known, others, _distinct_ids(source_ids)) or self._by_domain(known)

    def note_apart(self, company: str, others: Iterable[str]) -> None:
        """Remember that a person says that these are not this company."""
        for other in others:
            self._apart.setdefault(company, set()).add(other)
            self._apart.setdefault(other, set()).add(company)

    def are_apart(self, company: str, other: str) -> bool:
        """Whether a person set the two apart: under these hashes, or under those by which they are known now."""
        if not self._apart:
            return False
        here, there = self._current(company), self._current(other)
        mine = {self._current(name) for known_as in (company, here) for name in self._apart.get(known_as, ())}
        theirs = {self._current(name) for known_as in (other, there) for name in self._apart.get(known_as, ())}
        return there in mine or other in mine or here in theirs or company in theirs

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
        distinct = _distinct_ids([source_id] if source_id else [])
        if found := self._nearest(known, self._candidates(known), distinct) or self._by_domain(known):
            return found
        company = self._identity(place, known)
        # What a name and an address are hashed from can be equal where the rules had too little to go by.
        return Match(self._current(company), SAME_IDENTITY if company in self._companies else NEW)

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
        found = self._nearest(known._replace(company=company), without)
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
        if source_id.startswith(DISTINCT_IDS):
            self._distinct.setdefault(company, set()).add(source_id)

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

        self._towns.add(known)
        for key in _keys_of_domain(known):
            first = self._firsts.get(key)
            if first is not None and first.company != known.company:
                self._several.add(key)
            if first is None or known.company < first.company:
                self._firsts[key] = known

    def _by_domain(self, known: Known) -> Match | None:
        """For who has no place of its own: whoever has its domain, and its name if it has one; the first of several."""
        if not known.is_placeless or not known.domain:
            return None
        first = self._first_of_domain(known)
        if first is None:
            return None
        company = self._current(first.company)
        if known.company and self.are_apart(known.company, company):
            return None
        if company == known.company or (known.city and first.city and known.city != first.city):
            return None
        return Match(company, f"same domain {known.domain}, no place of its own")

    def _first_of_domain(self, known: Known) -> Known | None:
        """Who has its domain and its name; without that, the only one who has its domain, if the names allow it."""
        if not known.is_bare:
            named = self._firsts.get(_key_of_domain(known, with_name=True))
            if named is not None and named.domain == known.domain and named.name == known.name:
                return named
        key = _key_of_domain(known, with_name=False)
        first = self._firsts.get(key)
        if first is None or first.domain != known.domain:
            return None
        if known.is_bare or (key not in self._several and _is_one_of_domain(known, first)):
            return first
        return None

    def _candidates(self, known: Known) -> Iterator[Known]:
        for key in _keys_to_look_at(known):
            there = self._entries.get(key)
            if isinstance(there, list):
                yield from there
            elif there is not None:
                yield there
        if known.lat is None and known.street and known.city:
            yield from self._towns.find(known)

    def _nearest(self, known: Known, candidates: Iterable[Known], distinct: set[str] | None = None) -> Match | None:
        best: tuple[int, bool, float, str, str] | None = None
        for candidate in candidates:
            verdict = _compare(known, candidate)
            if verdict is None:
                continue
            rule, distance, reason = verdict
            company = self._current(candidate.company)
            if self._must_not_be(known.company, company, distinct):
                continue
            rank = (rule, candidate.name != known.name, -1.0 if distance is None else distance, company, reason)
            if best is None or rank < best:
                best = rank
        if best is None:
            return None
        return Match(best[3], best[4], None if best[2] < 0 else best[2])

    def _must_not_be(self, company: str, other: str, distinct: set[str] | None) -> bool:
        """Each has an id that its source gives to one business only, or a person set them apart."""
        known_as = self._distinct.get(other)
        if distinct and known_as and not distinct & known_as:
            return True
        return bool(company) and self.are_apart(company, other)

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
        phone=comparable_phone(place.phone_e164, place.phone),
        kinds=families_of_categories(place.category_ids or place.category_labels),
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
        phone=comparable_phone(prospect.phone_e164, prospect.phone),
        kinds=families_of_categories(prospect.categories),
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
    """Where a prospect is kept: under domain, name and phone, each with its cell and with its postcode."""
    places: list[object] = []
    if known.lat is not None and known.lon is not None:
        places.append(cell_of(known.lat, known.lon))
    if known.street and known.postcode:
        places.append(known.postcode)
    yield from _keys_at(known, places)


def _keys_to_look_at(known: Known) -> Iterator[int]:
    places: list[object] = []
    if known.lat is not None and known.lon is not None:
        places.extend(cells_around(known.lat, known.lon))
    if known.street and known.postcode:
        places.append(known.postcode)
    yield from _keys_at(known, places)


def _keys_at(known: Known, places: list[object]) -> Iterator[int]:
    # One name is written in several orders and scripts: it is kept under the words that tell, sorted.
    every = list(name_parts(known.name).words)
    words = without_towns(every, known.city) or every
    names = {"".join(words), "".join(sorted(words))} if words else {known.name}
    for place in places:
        if known.domain:
            yield hash((0, known.domain, place))
        if known.name:
            yield from (hash((1, name, place)) for name in names)
        if len(known.phone) >= _PHONE_KEY_DIGITS:
            yield hash((2, known.phone[-_PHONE_KEY_DIGITS:], place))


def _is_one_of_domain(known: Known, other: Known) -> bool:
    """Whether names let a row without a place be the one business of its domain."""
    city = known.city if known.city == other.city else f"{known.city} {other.city}"
    names = relation(known.name, other.name, city, (known.kinds, other.kinds))
    if names is NameRelation.PART:
        return _is_longer_form(known.name, other.name, same_phone=False)
    return names in (NameRelation.EQUAL, NameRelation.FOREIGN)


def _distinct_ids(source_ids: Iterable[str]) -> set[str]:
    return {source_id for source_id in source_ids if source_id.startswith(DISTINCT_IDS)}


def _compare(known: Known, other: Known) -> tuple[int, float | None, str] | None:
    """The number of the rule by which two are the same business, how far apart they are, and the reason in words."""
    distance = _distance(known, other)
    same_address = _is_one_address(known, other)
    if not _is_near(distance, same_address):
        return None
    city = known.city if known.city == other.city else f"{known.city} {other.city}"
    names = relation(known.name, other.name, city, (known.kinds, other.kinds))
    has_phones = bool(known.phone and other.phone)
    same_phone = has_phones and is_same_phone(known.phone, other.phone)
    at_one_door = same_address or (distance is not None and distance <= CLOSE_M)
    if known.domain and known.domain == other.domain:
        other_phone = has_phones and not same_phone
        if _is_one_firm(known, other, names, same_phone, other_phone, at_one_door):
            return 0, distance, f"same domain {known.domain}, {_apart(distance)}"
    if names is NameRelation.EQUAL:
        return _of_one_name(known, other, distance, same_address, same_phone)
    has_other_domain = known.domain and other.domain and known.domain != other.domain
    if same_phone and not has_other_domain and _is_named_alike(known, other, names):
        return 3, distance, f"same phone, {_apart(distance)}"
    return None


def _is_one_address(known: Known, other: Known) -> bool:
    """The same street, and the same postcode; where one does not know it, the same house in the same town."""
    if not known.street or not other.street:
        return False
    if known.postcode and other.postcode:
        return known.postcode == other.postcode and is_one_street(known.street, other.street)
    return (
        bool(known.city)
        and known.city == other.city
        and has_number(known.street)
        and is_one_street(known.street, other.street)
    )


def _is_named_alike(known: Known, other: Known, names: NameRelation) -> bool:
    """Whether names let two that share a phone be one."""
    if names is NameRelation.PART:
        return _is_longer_form(known.name, other.name, same_phone=True)
    return names is NameRelation.FOREIGN


def _is_one_firm(
    known: Known, other: Known, names: NameRelation, same_phone: bool, other_phone: bool, at_one_door: bool
) -> bool:
    """Whether two that share a website and a place are one: a hotel and its restaurant share both, too."""
    if _is_unnamed(known) or _is_unnamed(other):
        return not other_phone
    if names is NameRelation.EQUAL:
        # Branches in one street have the name and the website in common, and nothing else.
        return not other_phone or _may_be_one_address(known, other)
    if names is NameRelation.PART:
        return not other_phone and _is_longer_form(known.name, other.name, same_phone=same_phone)
    if names is NameRelation.FOREIGN:
        return same_phone or (not other_phone and at_one_door)
    if names is NameRelation.SHARED:
        # The same people may run two trades at one door, with one phone.
        one_trade = name_parts(known.name).families == name_parts(other.name).families
        return same_phone and at_one_door and one_trade
    return names is NameRelation.UNRELATED and same_phone and at_one_door


def _is_unnamed(known: Known) -> bool:
    """It is called by its website, or not at all."""
    return not known.name or known.name == normalised(known.domain or "")


def _is_longer_form(name: str, other: str, *, same_phone: bool) -> bool:
    """Whether the longer of two names begins with the shorter, or has words before it and names no other trade.

    "Nord Center" and "Shoes at Nord Center" are a mall and a shop in it.
    """
    short, long = sorted((name_parts(name), name_parts(other)), key=lambda parts: len(parts.words))
    if long.words[: len(short.words)] == short.words:
        return True
    return (same_phone or len(long.words) == len(short.words) + 1) and long.families <= short.families


def _of_one_name(
    known: Known, other: Known, distance: float | None, same_address: bool, same_phone: bool
) -> tuple[int, float | None, str] | None:
    if not known.name or not other.name:
        return None
    if same_address:
        return 1, distance, f"same name and address, {_apart(distance)}"
    if distance is None:
        return None
    if same_phone:
        return 1, distance, f"same name and phone, {_apart(distance)}"
    if not _may_be_one_address(known, other):
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
    return words <= others or others <= words or is_one_street(street, other)


def _apart(distance: float | None) -> str:
    if distance is None:
        return "same address"
    return f"{distance:.0f} m apart"
