"""Which prospect an observation is about. Pure and in memory; what becomes of the records is `transformations.py`.

The rules, in this order: the same place id; the same id of the same source; the same own domain and near, where names
or phones agree; the same name, no other address, and near; the same phone and near, where one name is part of the
other; without a place of its own, the same domain and name, or the same domain where nothing else is known. Whoever
meets none of them is a business of its own, and so is whoever a person has set apart. docs/merging.md says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.keys.identities import company_hash, company_identity
from cocli.pipeline.merge.candidates import TownIndex, key_of_domain, keys_of, keys_of_domain, keys_to_look_at
from cocli.pipeline.merge.known import Known, known_place, known_prospect
from cocli.pipeline.merge.likeness import compare, is_one_of_domain
from cocli.pipeline.merge.transformations import DISTINCT_IDS, place_identity, source_id_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.models.place import Place
    from cocli.models.prospect import Prospect

NEW, SAME_IDENTITY = "new", "same identity"
_BY_ID = ("same id ", "same place id")


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
        self._index(known_place(place, company))

    def match(self, place: Place) -> Match:
        """The prospect that this place belongs to. Changes nothing."""
        known = known_place(place, "")
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
        for key in keys_of(known):
            there = self._entries.get(key)
            if there is None:
                self._entries[key] = known
            elif isinstance(there, list):
                there.append(known)
            elif there != known:
                self._entries[key] = [there, known]

        self._towns.add(known)
        for key in keys_of_domain(known):
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
            named = self._firsts.get(key_of_domain(known, with_name=True))
            if named is not None and named.domain == known.domain and named.name == known.name:
                return named
        key = key_of_domain(known, with_name=False)
        first = self._firsts.get(key)
        if first is None or first.domain != known.domain:
            return None
        if known.is_bare or (key not in self._several and is_one_of_domain(known, first)):
            return first
        return None

    def _candidates(self, known: Known) -> Iterator[Known]:
        for key in keys_to_look_at(known):
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
            verdict = compare(known, candidate)
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


def _distinct_ids(source_ids: Iterable[str]) -> set[str]:
    return {source_id for source_id in source_ids if source_id.startswith(DISTINCT_IDS)}
