"""Pairs with their labels, made from names and situations, and from the demo town."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.contacts.generator.words import Country, Half, countries, national
from cocli.keys.identities import place_id_from_feature_id
from cocli.models.place import Place

HERE = Path(__file__).parent
SEEDS: dict[Half, int] = {"open": 20261118, "apart": 4_110_907}
_AT = datetime(2026, 11, 17, tzinfo=UTC)
_METRE = 1 / 111_195
"""Of latitude, in degrees."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two observations, and whether they are of one business."""

    name: str
    family: str
    language: str
    first: Place
    second: Place
    same: bool


@dataclass(frozen=True, slots=True)
class Situation:
    """What two observations have in common beside their names."""

    metres: float = 10
    domain: str = "both"
    """`both` have it, `first` only, `none`, or `other`: each has its own."""
    phone: str = "none"
    """`both`, `none`, `other`, or `national`: the second one writes it without its country."""
    street: str = "both"
    """`both`, `spelled` in another way, `first` only, `none`, or `other`."""
    has_second_point: bool = True


ONE = {
    "one website": Situation(40, street="first"),
    "one phone": Situation(30, domain="none", phone="both", street="none"),
    "one website and address, no position": Situation(0, street="spelled", has_second_point=False),
    "one website and phone": Situation(120, phone="both", street="first"),
    "nothing but name and place": Situation(20, domain="none", street="spelled"),
    "phone without its country": Situation(60, domain="first", phone="national", street="both"),
    "website of before": Situation(10, domain="other", street="spelled"),
}
TWO = {
    "all shared": Situation(5, phone="both"),
    "website and address shared": Situation(10),
    "website shared, other phone": Situation(30, phone="other"),
    "phone and address shared": Situation(5, domain="none", phone="both"),
}
BRANCHES = {
    "branch, four hundred metres": Situation(400, street="other", phone="other"),
    "branch, next street": Situation(120, street="other", phone="other"),
    "branches with one hotline": Situation(2500, street="other", phone="both"),
    "namesakes in two towns": Situation(40_000, domain="none", phone="other", street="other"),
}


def pairs(half: Half) -> list[LabelledPair]:
    rows: dict[str, dict[str, str]] = tomllib.loads((HERE / f"{half}.toml").read_text("utf-8"))
    return [pair for language, row in rows.items() for pair in _of_language(half, language, row)]


def _of_language(half: Half, language: str, row: dict[str, str]) -> Iterator[LabelledPair]:
    maker = _Maker(Random(f"{SEEDS[half]} {language}"), countries()[row["country"]], row, f"{half}-{language}")
    ones = [tuple(part.strip() for part in names.split(" = ")) for names in row["one"].split(" | ")]
    twos = [tuple(part.strip() for part in names.split(" / ")) for names in row["two"].split(" | ")]
    for number, (first, second) in enumerate(ones):
        for turn in range(4):
            family = list(ONE)[(number + turn * 2) % len(ONE)]
            if _is_too_little(first, second, family):
                continue
            yield maker.pair(language, family, (first, second), ONE[family], same=True)
    for first, second in twos:
        for family, situation in TWO.items():
            yield maker.pair(language, family, (first, second), situation, same=False)
    for family, situation in BRANCHES.items():
        yield maker.pair(language, family, (ones[0][0], ones[0][0]), situation, same=False)
    yield from maker.by_ids(language, ones[1])


def _is_too_little(first: str, second: str, family: str) -> bool:
    """A name in two scripts that cannot be compared, and nothing else: nobody could tell."""
    scripts = {any(letter > "\u0590" and letter.isalpha() for letter in name) for name in (first, second)}
    return len(scripts) == 2 and family in ("nothing but name and place", "website of before")


class _Maker:
    """Makes the pairs of one language."""

    def __init__(self, random: Random, country: Country, row: dict[str, str], name: str) -> None:
        self._random = random
        self._country = country
        self._row = row
        self._name = name
        self._count = 0

    def pair(
        self, language: str, family: str, names: tuple[str, ...], situation: Situation, *, same: bool
    ) -> LabelledPair:
        first, second = self._facts(names, situation)
        self._count += 1
        label = f"{self._name}-{self._count:03d}"
        return LabelledPair(label, family, language, _place(label, "a", first), _place(label, "b", second), same)

    def by_ids(self, language: str, names: tuple[str, ...]) -> Iterator[LabelledPair]:
        """What ids say counts more than all else."""
        shared = Situation(5, phone="both")
        feature = f"0x{self._random.randrange(2**60, 2**61):x}:0x{self._random.randrange(2**60, 2**61):x}"
        other = f"0x{self._random.randrange(2**60, 2**61):x}:0x{self._random.randrange(2**60, 2**61):x}"
        families: list[tuple[str, bool, list[dict[str, str]]]] = [
            ("two place ids", False, [{"place_id": place_id_from_feature_id(name)} for name in (feature, other)]),
            (
                "two feature ids",
                False,
                [{"source_id": f"cid:{number}"} for number in (71 + self._count, 72 + self._count)],
            ),
            ("one id, moved", True, [{"source_id": f"cid:{self._count}"}] * 2),
        ]
        for family, same, ids in families:
            situation = Situation(900, domain="none", street="other") if same else shared
            facts = self._facts((names[0], names[0]), situation)
            self._count += 1
            label = f"{self._name}-{self._count:03d}"
            first, second = (
                _place(label, side, {**fact, "source": "google-maps", **id_})
                for side, fact, id_ in zip("ab", facts, ids, strict=True)
            )
            yield LabelledPair(label, family, language, first, second, same)

    def _facts(self, names: tuple[str, ...], situation: Situation) -> tuple[dict[str, Any], dict[str, Any]]:
        postcode, _, city = self._row["town"].partition("/")
        spellings, _, elsewhere = self._row["streets"].partition(" / ")
        street, _, spelled = spellings.partition(" = ")
        lat, lon = 20 + self._random.random() * 40, 5 + self._random.random() * 100
        number, other = self._country.number(self._random), self._country.number(self._random)
        domain = f"firm-{self._random.randrange(10**6)}.example"
        shared: dict[str, Any] = {"city": city, "country": self._country.code}
        first: dict[str, Any] = {**shared, "name": names[0], "lat": lat, "lon": lon}
        second: dict[str, Any] = {**shared, "name": names[1]}
        if situation.has_second_point:
            second |= {"lat": lat + situation.metres * _METRE, "lon": lon}
        streets = {"both": street, "spelled": spelled or street, "other": elsewhere}
        if situation.street != "none":
            first |= {"street": street, "postcode": postcode}
        if situation.street in streets:
            second |= {"street": streets[situation.street], "postcode": postcode}
        websites = {"both": (domain, domain), "first": (domain, None), "other": (domain, f"former-{domain}")}
        for facts, website in zip((first, second), websites.get(situation.domain, (None, None)), strict=True):
            if website:
                facts["website"] = f"https://www.{website}/"
        if situation.phone != "none":
            first |= {"phone": number, "phone_e164": number}
        phones = {
            "both": {"phone": number, "phone_e164": number},
            "other": {"phone": other, "phone_e164": other},
            "national": {"phone": national(number)},
        }
        return first, second | phones.get(situation.phone, {})


def _place(label: str, side: str, facts: dict[str, Any]) -> Place:
    source = "overture" if side == "a" else "openstreetmap"
    return Place.checked({"source": source, "source_id": f"{label}-{side}", "observed_at": _AT, **facts})
