"""Pairs that were labelled whole before matching saw any of them: other names and situations than the halves have."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any, Literal

from benchmarks.contacts.generator.words import Country, national
from benchmarks.contacts.pairs.pairs import HERE, LabelledPair
from cocli.keys.identities import place_id_from_feature_id
from cocli.models.place import Place

FreshSet = Literal["fresh", "held"]
SEEDS: dict[FreshSet, int] = {"fresh": 90_117_263, "held": 55_310_984}
"""`fresh` was used to mend matching; `held` was written afterwards, and one slip that it showed was mended."""
_AT = datetime(2026, 11, 17, 14, tzinfo=UTC)
_METRE = 1 / 111_195


@dataclass(frozen=True, slots=True)
class Meeting:
    """What the second observation has of the first one. `same`, `other` or `none`, unless it is said."""

    metres: float | None
    """None: a row of a person's list, which has no position."""
    street: str = "none"
    """Also `spelled` in another way, and `unit`: with a floor."""
    postcode: str = "same"
    website: str = "none"
    """Also `path`: another page of it; `profile`: the second has one in a social network."""
    phone: str = "none"
    """Also `national`: without the sign of its country."""
    town: str = "same"


ONE = {
    "website with a path": Meeting(90, website="path"),
    "floor of a house": Meeting(25, street="unit", phone="same"),
    "mobile and landline": Meeting(15, street="same", website="same", phone="other"),
    "profile for a website": Meeting(40, street="same", website="profile", phone="same"),
    "row of a list: street, no postcode": Meeting(None, street="spelled", postcode="none", phone="national"),
    "row of a list: website": Meeting(None, postcode="none", website="path"),
    "no postcode": Meeting(35, street="spelled", postcode="none"),
    "a new number": Meeting(10, street="spelled", phone="other"),
}
TWO = {
    "one door": Meeting(5, street="same"),
    "one switchboard": Meeting(3, street="same", phone="same"),
    "one website": Meeting(8, street="spelled", website="same"),
    "one website, own numbers": Meeting(12, street="same", website="path", phone="other"),
    "who came after": Meeting(5, street="same", website="other", phone="other"),
    "row of a list: one address": Meeting(None, street="same", website="same"),
}
BRANCHES = {
    "across the square": Meeting(180, street="other", website="path", phone="other"),
    "one hotline": Meeting(1200, street="other", website="same", phone="same"),
    "street of the same name in the next town": Meeting(25_000, street="same", website="same", town="other"),
    "namesake of the town": Meeting(2000, street="other", phone="other"),
}
_NAME_ALONE = ("no postcode", "a new number")
"""Where nothing but name and address could tell: in two scripts nobody can."""


def fresh_pairs(name: FreshSet = "fresh") -> list[LabelledPair]:
    rows: dict[str, dict[str, str]] = tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))
    return [pair for language, row in rows.items() for pair in _of_language(name, language, row)]


def _of_language(name: FreshSet, language: str, row: dict[str, str]) -> Iterator[LabelledPair]:
    maker = _Maker(name, language, row)
    ones = [tuple(part.strip() for part in names.split(" = ")) for names in row["one"].split(" | ")]
    twos = [tuple(part.strip() for part in names.split(" / ")) for names in row["two"].split(" | ")]
    for number, names in enumerate(ones):
        for turn in range(4):
            family = list(ONE)[(number + turn * 2) % len(ONE)]
            if not (family in _NAME_ALONE and _in_two_scripts(names)):
                yield maker.pair(family, names, ONE[family], same=True)
    for names in twos:
        for family, meeting in TWO.items():
            yield maker.pair(family, names, meeting, same=False)
    for family, meeting in BRANCHES.items():
        yield maker.pair(family, (ones[1][0], ones[1][0]), meeting, same=False)
    yield maker.by_ids("kiosks of one mall", (ones[2][0], ones[2][0]))


def _in_two_scripts(names: tuple[str, ...]) -> bool:
    return len({any(letter > "\u0370" and letter.isalpha() for letter in name) for name in names}) == 2


class _Maker:
    def __init__(self, name: FreshSet, language: str, row: dict[str, str]) -> None:
        self._random = Random(f"{SEEDS[name]} {language}")
        self._name = name
        self._language, self._row, self._count = language, row, 0
        start = row.get("mobile", row["phone"])
        self._country = Country(row["country"], start, start, "", (), "")

    def pair(self, family: str, names: tuple[str, ...], meeting: Meeting, *, same: bool) -> LabelledPair:
        first = self._first(names[0], meeting)
        second = self._second(names[1], first, meeting)
        return self._labelled(family, first, second, same=same)

    def by_ids(self, family: str, names: tuple[str, ...]) -> LabelledPair:
        meeting = Meeting(60, street="same", website="same")
        first = self._first(names[0], meeting)
        second = self._second(names[1], first, meeting)
        for facts in (first, second):
            feature = f"0x{self._random.randrange(2**60, 2**61):x}:0x{self._random.randrange(2**60, 2**61):x}"
            facts |= {"source": "google-maps", "place_id": place_id_from_feature_id(feature)}
        return self._labelled(family, first, second, same=False)

    def _labelled(self, family: str, first: dict[str, Any], second: dict[str, Any], *, same: bool) -> LabelledPair:
        self._count += 1
        label = f"{self._name}-{self._language}-{self._count:03d}"
        places = [
            Place.checked({"source_id": f"{label}-{side}", "observed_at": _AT, **facts})
            for side, facts in zip("ab", (first, second), strict=True)
        ]
        return LabelledPair(label, family, self._language, places[0], places[1], same)

    def _first(self, name: str, meeting: Meeting) -> dict[str, Any]:
        here = self._row["towns"].partition(" / ")[0]
        postcode, _, city = here.partition("/")
        facts: dict[str, Any] = {
            "source": "overture",
            "name": name,
            "street": self._row["streets"].partition(" / ")[0].partition(" = ")[0],
            "postcode": postcode,
            "city": city,
            "country": self._row["country"],
            "lat": 20 + self._random.random() * 40,
            "lon": 5 + self._random.random() * 100,
        }
        if meeting.phone != "none":
            facts["phone"] = facts["phone_e164"] = self._country.number(self._random)
        if meeting.website != "none":
            facts["website"] = f"https://www.house-{self._random.randrange(10**6)}.example/"
        return facts

    def _second(self, name: str, first: dict[str, Any], meeting: Meeting) -> dict[str, Any]:
        towns, streets = self._row["towns"].split(" / "), self._row["streets"].split(" / ")
        postcode, _, city = towns[meeting.town == "other"].partition("/")
        street, _, spelled = streets[0].partition(" = ")
        facts: dict[str, Any] = {"name": name, "city": city, "country": first["country"], "source": "openstreetmap"}
        if meeting.metres is None:
            facts["source"] = "import"
        else:
            facts |= {"lat": first["lat"] + meeting.metres * _METRE, "lon": first["lon"]}
        written = {"same": street, "spelled": spelled, "unit": f"{street}, {self._row['unit']}", "other": streets[1]}
        facts |= {"street": written.get(meeting.street)}
        if meeting.postcode == "same" and meeting.street != "none":
            facts["postcode"] = postcode
        return facts | self._reached(first, meeting)

    def _reached(self, first: dict[str, Any], meeting: Meeting) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        if meeting.phone == "national":
            facts["phone"] = national(first["phone_e164"])
        elif meeting.phone != "none":
            number = first["phone_e164"] if meeting.phone == "same" else self._country.number(self._random)
            facts |= {"phone": number, "phone_e164": number}
        website = str(first.get("website", ""))
        websites = {
            "same": website,
            "path": website.replace("https://www.", "http://") + "contact",
            "profile": f"https://www.facebook.com/house{self._random.randrange(10**6)}",
            "other": f"https://later-{self._random.randrange(10**6)}.example/",
        }
        return facts | {"website": websites.get(meeting.website)}
