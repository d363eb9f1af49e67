"""Names of places, and tables of them: what is found, what is refused with the candidates or the row."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from cocli.app.campaigns.places import resolve_places
from cocli.errors import AmbiguousPlace, AreaRefused, PlanningError, UnknownPlace, UsageError
from cocli.pipeline.plan.gazetteer import Gazetteer
from cocli.pipeline.plan.geonames import GeoNames
from cocli.pipeline.plan.locations import read_locations


@pytest.fixture(scope="module")
def gazetteer() -> Gazetteer:
    return Gazetteer()


def test_a_name_with_what_tells_it_apart(gazetteer: Gazetteer) -> None:
    springfield = gazetteer.resolve("Springfield, IL")
    assert (springfield.lat, springfield.lon) == (39.80172, -89.64371)
    for text in (
        "springfield,Illinois",
        "SPRINGFIELD, IL, US",
        "Springfield, IL, United States",
        "Springfield, IL, USA",
    ):
        assert gazetteer.resolve(text) == springfield
    assert gazetteer.resolve(str(springfield)) == springfield, "as it is listed, it is found"
    assert gazetteer.resolve("Paris, France").country == "FR"
    assert gazetteer.resolve("Paris, TX").country == "US"
    assert gazetteer.resolve("sao paulo, BR").name == "São Paulo"


def test_an_ambiguous_name_lists_the_candidates(gazetteer: Gazetteer) -> None:
    with pytest.raises(AmbiguousPlace) as raised:
        gazetteer.resolve("Springfield")
    for candidate in ("Springfield, IL, US", "Springfield, MO, US", "Springfield, MA, US"):
        assert candidate in raised.value.message
    assert 'Name one of them as it is listed: --location "Springfield, MO, US"' in str(raised.value.hint)


class SmallWorld(GeoNames):
    """Tables as the package has them, with one village."""

    _VILLAGE: ClassVar[dict[str, Any]] = {
        "name": "Nether Wallop",
        "latitude": 51.15,
        "longitude": -1.57,
        "countrycode": "GB",
        "admin1code": "ENG",
        "population": 600,
        "alternatenames": [],
    }

    def cities(self) -> list[dict[str, Any]]:
        town = {"name": "Wallop", "admin1code": "X", "population": 20_000, "alternatenames": ["Big W"]}
        return [self._VILLAGE | town]

    def villages(self) -> list[dict[str, Any]]:
        return [self._VILLAGE]

    def us_states(self) -> dict[str, str]:
        return {"GA": "Georgia"}

    def countries(self) -> dict[str, dict[str, str]]:
        return {"GB": {"name": "United Kingdom", "iso3": "GBR"}, "GE": {"name": "Georgia", "iso3": "GEO"}}

    def us_counties(self) -> list[str]:
        return ["Cook County"]


def test_a_village_is_looked_for_in_the_long_list() -> None:
    world = Gazetteer(SmallWorld())
    assert world.resolve("nether wallop, UK").population == 600
    assert world.resolve("big w").name == "Wallop"
    with pytest.raises(UnknownPlace, match=r"Similar: Wallop, X, GB\."):
        world.resolve("Walop")
    with pytest.raises(UnknownPlace, match="Wallop, X, GB"):
        world.resolve("Wallop, GE")
    with pytest.raises(UnknownPlace, match="Nothing has a similar name"):
        world.resolve("Zzzzz")


def test_the_list_of_cities_is_read_once_however_often_it_is_asked() -> None:
    read: list[int] = []

    class Counted(SmallWorld):
        def cities(self) -> list[dict[str, Any]]:
            read.append(1)
            return super().cities()

    world = Gazetteer(Counted())
    assert {world.country_at(lat, 0.0) for lat in range(-80, 80, 10)} == {"GB"}
    assert len(read) == 1
    for _ in range(3):
        assert world.resolve("Wallop").name == world.resolve("big w").name == "Wallop"
        assert len(world.within(-90, -180, 90, 180)) == 1
    assert len(read) == 2


def test_an_area_without_a_border_is_refused_with_what_to_do() -> None:
    world = Gazetteer(SmallWorld())
    with pytest.raises(PlanningError, match="administrative area") as raised:
        world.resolve("Georgia")
    assert "cities of Georgia" in str(raised.value.hint)
    assert "GeoJSON" in str(raised.value.hint)
    with pytest.raises(PlanningError, match="county") as raised:
        world.resolve("Cook County")
    assert "GeoJSON" in str(raised.value.hint)
    assert "cities of" not in str(raised.value.hint)


def test_an_area_stands_for_its_cities(gazetteer: Gazetteer) -> None:
    cities = gazetteer.cities_of("cities of Illinois")
    assert cities is not None
    assert {city.region for city in cities} == {"IL"}
    assert cities[0].name == "Chicago"
    assert {city.country for city in gazetteer.cities_of("cities in FR") or ()} == {"FR"}
    assert gazetteer.cities_of("Illinois") is None
    with pytest.raises(UnknownPlace, match="no state"):
        gazetteer.cities_of("cities of Atlantis")


def test_places_on_the_command_line(gazetteer: Gazetteer) -> None:
    (place,) = resolve_places("Springfield, IL", gazetteer)
    assert (place.name, place.radius_miles) == ("Springfield, IL, US", 25.0)
    assert resolve_places("Springfield, IL,40", gazetteer)[0].radius_miles == 40
    (given,) = resolve_places("Nowhere, XX,39.8,-89.65,10", gazetteer)
    assert (given.name, given.lat, given.lon, given.radius_miles) == ("Nowhere, XX", 39.8, -89.65, 10)
    assert len(resolve_places("cities of Rhode Island,5", gazetteer)) > 5
    for text in ("x", "x,1", ",1,2", "Springfield, IL,0", "Springfield, IL,1001", "Springfield,39,80,-89,65"):
        with pytest.raises(UsageError):
            resolve_places(text, gazetteer)


# --- tables


def test_a_table_by_its_headings(gazetteer: Gazetteer) -> None:
    data = b"\xef\xbb\xbfID;City;Latitude;LNG;Radius\r\n1;Springfield;39.8;-89.65;30\r\n\r\n2;Anywhere;1;2;\r\n"
    one, two = read_locations(data, file="places.csv", gazetteer=gazetteer)
    assert (one.name, one.lat, one.lon, one.radius_miles) == ("Springfield", 39.8, -89.65, 30)
    assert (two.lat, two.lon, two.radius_miles) == (1.0, 2.0, 25.0)
    named = read_locations(b'name,radius_miles\n"Springfield, IL",10\n', file="places.csv", gazetteer=gazetteer)
    assert (named[0].lat, named[0].radius_miles) == (39.80172, 10)


def refusal(data: str, gazetteer: Gazetteer) -> str:
    with pytest.raises(AreaRefused) as raised:
        read_locations(data.encode(), file="places.csv", gazetteer=gazetteer)
    return raised.value.message


def test_swapped_latitude_and_longitude_are_refused_with_the_row(gazetteer: Gazetteer) -> None:
    far = refusal("name,lat,lon\nA,1,1\nLos Angeles,-118.2,34.1\n", gazetteer)
    assert far == (
        "places.csv, row 3: the latitude -118.2 is not on the globe; latitude and longitude seem to be swapped"
    )
    both = refusal('name,lat,lon\n"Springfield, IL",-89.65,39.8\n', gazetteer)
    assert "row 2: Springfield, IL is near 39.8, -89.65" in both
    assert "swapped" in both
    right = read_locations(b"name,lat,lon\nParis,48.85,2.35\n", file="places.csv", gazetteer=gazetteer)
    assert right[0].lat == 48.85
    unheard_of = read_locations(b"name,lat,lon\nOur depot,2.35,48.85\n", file="places.csv", gazetteer=gazetteer)
    assert unheard_of[0].lat == 2.35, "nobody knows better"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "row 1: expected the columns name, lat, lon"),
        ("lat,lon\n1,2\n", "row 1: expected the columns"),
        ("name,lat\nA,1\n", "row 1: expected the columns"),
        ("name,lat,latitude,lon\n", "row 1: two columns may be lat"),
        ("name,lat,lon\n", "it has no places"),
        ("name,lat,lon\nA,x,2\n", 'row 2: "x" is not a number'),
        ("name,lat,lon\nA,1\n", 'row 2: "" is not a number'),
        ("name,lat,lon\nA,91,92\n", "row 2: lat: "),
        ("name,lat,lon\nA,nan,1\n", "row 2: lat: "),
        ("name,lat,lon\n ,1,2\n", "row 2: name: "),
        ("name,lat,lon,radius\nA,1,2,0\n", "row 2: radius_miles: "),
        ("name,lat,lon\nSpringfield,,\n", "row 2: There are several places"),
    ],
)
def test_a_table_that_cannot_be_meant_so_names_the_row(data: str, reason: str, gazetteer: Gazetteer) -> None:
    assert reason in refusal(data, gazetteer)
    with pytest.raises(AreaRefused, match="not UTF-8"):
        read_locations(b"name,lat,lon\nCaf\xe9,1,2\n", file="places.csv", gazetteer=gazetteer)


@pytest.mark.parametrize(
    ("text", "name", "miles"),
    [
        ("Toronto, ON", "Toronto, ON, CA", 25),
        ("Toronto, Ontario, CA", "Toronto, ON, CA", 25),
        ("Toronto, 08, CA", "Toronto, ON, CA", 25),
        ("Toronto, ON,40km", "Toronto, ON, CA", 24.855),
        ("Toronto, ON, CA, 40.5 KM", "Toronto, ON, CA", 25.166),
        ("Springfield, IL, 10 miles", "Springfield, IL, US", 10),
        ("München, Bayern", "Munich, BY, DE", 25),
        ("Perth, Scotland", "Perth, SCT, GB", 25),
        ("Perth, WA", "Perth, WA, AU", 25),
        ("Somewhere,39.8,-89.65,40km", "Somewhere", 24.855),
    ],
)
def test_regions_by_their_letters_and_kilometres(gazetteer: Gazetteer, text: str, name: str, miles: float) -> None:
    (place,) = resolve_places(text, gazetteer)
    assert (place.name, place.radius_miles) == (name, miles)
    if name != "Somewhere":
        assert str(gazetteer.resolve(name)) == name, "as it is shown, it is found"


@pytest.mark.parametrize(
    ("text", "town"),
    [("10115 Berlin", "Berlin"), ("62701 Springfield, IL", "Springfield, IL"), ("75001 Paris", "Paris")],
)
def test_a_postcode_before_its_town_leads_to_the_town(gazetteer: Gazetteer, text: str, town: str) -> None:
    with pytest.raises(PlanningError, match="has a postcode") as raised:
        gazetteer.resolve(text)
    assert raised.value.hint is not None
    assert f'--location "{town}"' in raised.value.hint
    assert f"FILE#{text[:5]}" in raised.value.hint


@pytest.mark.parametrize("postcode", ["62701", "SW1A 1AA", "8001"])
def test_a_postcode_is_shown_the_way(gazetteer: Gazetteer, postcode: str) -> None:
    with pytest.raises(PlanningError, match="looks like a postcode") as raised:
        resolve_places(postcode, gazetteer)
    assert f"prospecting.area=FILE#{postcode}" in str(raised.value.hint)


def test_a_table_with_kilometres(gazetteer: Gazetteer) -> None:
    table = b"name,lat,lon,radius_km\nHere,39.8,-89.65,40\nThere,39.9,-89.65,\n"
    here, there = read_locations(table, file="t.csv", gazetteer=gazetteer)
    assert (here.radius_miles, there.radius_miles) == (24.855, 25)
    mixed = b"name,lat,lon,radius\nHere,39.8,-89.65,40 km\n"
    assert read_locations(mixed, file="t.csv", gazetteer=gazetteer)[0].radius_miles == 24.855
