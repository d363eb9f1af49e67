"""Names of places → coordinates, without a network: the cities of GeoNames, as `geonames` keeps them.

What it knows: cities with their other names, population, country and first-level code; the states of the US; the
countries. What it does not: borders. So a state or a country can stand for its cities (`cities of Illinois`), and
nothing else; a county, of which it has the name only, cannot even do that. Outside of the US a first-level area goes by
its GeoNames code, because its name is not there; of some countries `regions.csv` has the names and the usual letters.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from math import cos, radians
from typing import TYPE_CHECKING, Any

from cocli.errors import AmbiguousPlace, PlanningError, UnknownPlace
from cocli.pipeline.plan.geonames import GeoNames

if TYPE_CHECKING:
    from collections.abc import Iterable

_LISTED = 10
_COUNTRY_ALIASES = {"uk": "GB", "great britain": "GB", "england": "GB", "usa": "US", "america": "US"}
_POSTCODE = re.compile(r"(?=.*[0-9])[A-Z0-9]{2,5}[ -]?[A-Z0-9]{0,4}", re.IGNORECASE)
_POSTCODE_AND_TOWN = re.compile(r"(?P<code>[0-9]{4,6}) +(?P<town>[^0-9]+)")
"""`10115 Berlin`, as an address has it."""
_CITIES_OF = re.compile(r"cities (?:of|in) (.+)", re.IGNORECASE)
_NO_BORDERS = (
    "Give its border as a GeoJSON or KML file (--set prospecting.area=FILE){or_cities}. The gazetteer has no borders."
)


Entry = dict[str, Any]
"""A city as the table has it."""
ByName = dict[str, list[Entry]]


@dataclass(frozen=True, slots=True)
class City:
    name: str
    lat: float
    lon: float
    country: str
    region: str
    """The state's letters in the US, elsewhere GeoNames' code of the first-level area."""
    population: int

    def __str__(self) -> str:
        region = _letters().get((self.country, self.region), self.region)
        return ", ".join(part for part in (self.name, region, self.country) if part)


class Gazetteer:
    """Loads what it needs when it is first asked."""

    def __init__(self, source: GeoNames | None = None) -> None:
        self._source = source or GeoNames()

    def resolve(self, text: str) -> City:
        """The one city of a name: `Springfield, IL`, `Paris, France`, `Toronto, ON`, `Toronto, Ontario, CA`.

        `AmbiguousPlace` with the candidates where there are several, `UnknownPlace` with similar names where there is
        none, and a `PlanningError` where it is a state, a county or a country.
        """
        name, *qualifiers = [part.strip() for part in text.split(",")]
        found = self.candidates(name, qualifiers)
        is_no_town = _POSTCODE_AND_TOWN.fullmatch(name) or name.isdecimal() or (not qualifiers and self._area(name))
        if not found and not is_no_town:
            found = self._fitting(self._small.get(folded_name(name), []), qualifiers)
        if len(found) == 1:
            return found[0]
        if len(found) > 1:
            shown = "; ".join(f"{city} ({city.population:,})" for city in found[:_LISTED])
            more = ""
            if len(found) > _LISTED:
                more = f"; and {len(found) - _LISTED} more"
            raise AmbiguousPlace(place=text, candidates=shown + more, example=str(found[0]))
        raise self._refusal(text, name, qualifiers)

    def candidates(self, name: str, qualifiers: Iterable[str] = ()) -> list[City]:
        """Every larger city of a name, the largest first; those that have it as another name only if none is called
        so."""
        return self.called(name, qualifiers) or self._fitting(self._other.get(folded_name(name), []), qualifiers)

    def called(self, name: str, qualifiers: Iterable[str] = ()) -> list[City]:
        """Every larger city that has a name as its own, the largest first."""
        return self._fitting(self._own.get(folded_name(name), []), qualifiers)

    def _fitting(self, entries: Iterable[Entry], qualifiers: Iterable[str]) -> list[City]:
        wanted = [self._qualifier(text) for text in qualifiers if text]
        fitting = {city for city in map(_city, entries) if all(_fits(city, word) for word in wanted)}
        return sorted(fitting, key=lambda city: (-city.population, str(city)))

    def cities_of(self, text: str) -> list[City] | None:
        """`cities of Illinois`, `cities in FR`: the cities of a state or a country; None if the text asks for none."""
        match = _CITIES_OF.fullmatch(text.strip())
        if match is None:
            return None
        area = self._area(match[1])
        if area is None:
            raise UnknownPlace(place=match[1], similar="It is no state of the US and no country.")
        country, region = area
        inside = (city for city in self._cities if city["countrycode"] == country)
        return self._fitting((city for city in inside if region in ("", city["admin1code"])), ())

    def within(self, south: float, west: float, north: float, east: float) -> list[City]:
        """The larger cities of a part of the map, the largest first."""
        entries = (
            entry
            for entry in self._cities
            if south <= float(entry["latitude"]) <= north and west <= float(entry["longitude"]) <= east
        )
        return self._fitting(entries, ())

    def country_at(self, lat: float, lon: float) -> str:
        """The country of the nearest larger city: near a border it may be the neighbour's."""
        shrunk = cos(radians(lat))

        def apart(spot: tuple[float, float, str]) -> float:
            east = (spot[1] - lon + 180) % 360 - 180
            return (spot[0] - lat) ** 2 + (east * shrunk) ** 2

        return min(self._spots, key=apart)[2]

    # --- what a name may be

    def _area(self, text: str) -> tuple[str, str] | None:
        """Country and state of the name of an administrative area. A state before the country of its name."""
        folded = folded_name(text)
        for code, state in self._states.items():
            if folded in (folded_name(code), folded_name(state)):
                return "US", str(code)
        for code, country in self._countries.items():
            if folded in (folded_name(code), folded_name(country["iso3"]), folded_name(country["name"])):
                return str(code), ""
        if alias := _COUNTRY_ALIASES.get(folded):
            return (alias, "")
        return None

    def _qualifier(self, text: str) -> frozenset[tuple[str, str]]:
        """What may stand behind a comma: a state, a country, or a code of a first-level area."""
        meant = {("", text.strip())}
        folded = folded_name(text)
        for code, state in self._states.items():
            if folded in (folded_name(code), folded_name(state)):
                meant.add(("US", str(code)))
        for code, country in self._countries.items():
            if folded in (folded_name(code), folded_name(country["iso3"]), folded_name(country["name"])):
                meant.add((str(code), ""))
        if folded in _COUNTRY_ALIASES:
            meant.add((_COUNTRY_ALIASES[folded], ""))
        return frozenset(meant | _regions().get(folded, frozenset()))

    def _refusal(self, text: str, name: str, qualifiers: list[str]) -> PlanningError:
        if _POSTCODE.fullmatch(name):
            hint = f"Name it in a GeoJSON file of postal borders: --set prospecting.area=FILE#{name}"
            return PlanningError(reason=f'"{text}" looks like a postcode, and the gazetteer has none', hint=hint)
        if (found := _POSTCODE_AND_TOWN.fullmatch(name)) is not None:
            town = ", ".join([found["town"], *qualifiers])
            hint = (
                f'Name the town alone: --location "{town}"; or name the postcode in a GeoJSON file of postal borders:'
            )
            hint = f"{hint} --set prospecting.area=FILE#{found['code']}"
            return PlanningError(reason=f'"{text}" has a postcode, and the gazetteer has none', hint=hint)
        if not qualifiers and self._area(name):
            hint = _NO_BORDERS.format(or_cities=f', or take its cities: --location "cities of {name}"')
            return PlanningError(reason=f'"{text}" is an administrative area, not a city', hint=hint)
        if folded_name(name) in map(folded_name, self._source.us_counties()):
            reason = f'"{text}" is a county of the US, of which the gazetteer has the name only'
            return PlanningError(reason=reason, hint=_NO_BORDERS.format(or_cities=""))
        return UnknownPlace(place=text, similar=self._similar(name, qualifiers))

    def _similar(self, name: str, qualifiers: list[str]) -> str:
        """Similar names where it was looked for, the same name elsewhere, similar names anywhere."""
        from difflib import get_close_matches

        near = [self._own[match] for match in get_close_matches(folded_name(name), self._own, n=5, cutoff=0.75)]
        there = [city for entries in near for city in self._fitting(entries, qualifiers)[:1]]
        elsewhere = self.candidates(name)[:5]
        anywhere = [self._fitting(entries, ())[0] for entries in near]
        found = list(dict.fromkeys(map(str, [*there, *elsewhere, *anywhere])))[:_LISTED]
        if found:
            return f"Similar: {'; '.join(found)}."
        return "Nothing has a similar name."

    # --- the lists

    # The source reads its file each time that it is asked: once is enough.

    @cached_property
    def _cities(self) -> list[Entry]:
        return self._source.cities()

    @cached_property
    def _spots(self) -> list[tuple[float, float, str]]:
        """Where the larger cities are, and in which country. It is kept by workers, so it is all that they keep."""
        entries = self._source.cities()
        return [(entry["latitude"], entry["longitude"], entry["countrycode"]) for entry in entries]

    @cached_property
    def _states(self) -> dict[str, str]:
        return self._source.us_states()

    @cached_property
    def _countries(self) -> dict[str, dict[str, str]]:
        return self._source.countries()

    @cached_property
    def _own(self) -> ByName:
        """The larger cities by their own names."""
        return _by_name(([entry["name"]], entry) for entry in self._cities)

    @cached_property
    def _other(self) -> ByName:
        """The larger cities by all of their other names: twenty times as many, so only where it is needed."""
        return _by_name((entry["alternatenames"], entry) for entry in self._cities)

    @cached_property
    def _small(self) -> ByName:
        """Villages, by their own names. Only where no larger city fits: there are many."""
        return _by_name(([entry["name"]], entry) for entry in self._source.villages())


def _by_name(entries: Iterable[tuple[Iterable[str], Entry]]) -> ByName:
    by_name: ByName = {}
    for names, entry in entries:
        for name in map(folded_name, names):
            by_name.setdefault(name, []).append(entry)
    return by_name


@cache
def _regions() -> dict[str, frozenset[tuple[str, str]]]:
    """Names and letters of first-level areas, as they are compared → country and GeoNames' code."""
    found: dict[str, set[tuple[str, str]]] = {}
    for row in _region_rows():
        for called in (row["letters"], row["name"]):
            found.setdefault(folded_name(called), set()).add((row["country"], row["code"]))
    return {called: frozenset(areas) for called, areas in found.items()}


@cache
def _letters() -> dict[tuple[str, str], str]:
    """Country and GeoNames' code of a first-level area → the letters that people know it by."""
    return {(row["country"], row["code"]): row["letters"] for row in reversed(_region_rows())}


@cache
def _region_rows() -> list[dict[str, str]]:
    text = resources.files("cocli.pipeline.plan").joinpath("regions.csv").read_text("utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def _city(entry: Entry) -> City:
    return City(
        str(entry["name"]),
        float(entry["latitude"]),
        float(entry["longitude"]),
        str(entry["countrycode"]),
        str(entry["admin1code"]),
        int(entry["population"]),
    )


def _fits(city: City, meant: frozenset[tuple[str, str]]) -> bool:
    return any(country in ("", city.country) and region in ("", city.region) for country, region in meant)


_NOT_WORD = re.compile(r"[\W_]+")


def folded_name(text: str) -> str:
    """Without case, accents and punctuation: `São Paulo`, `sao paulo` and `Sao-Paulo` are one name."""
    if text.isascii() and text.isalpha():
        return text.lower()  # most names: half a million of them are folded to find one
    if not text.isascii() and (max(text) < "\u0250" or "\u1e00" <= max(text) < "\u1f00"):  # Latin letters
        text = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return _NOT_WORD.sub(" ", text).strip().casefold()
