"""Matching over open data of whole towns, read where it lies: a second source that saw the same businesses meets them.

The second source is the first one as others spell it: moved by up to 35 m, in upper case, without postcodes, with its
own ids.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cocli.models.place import Place
from cocli.pipeline.comparison import comparable_name
from cocli.pipeline.merge import assign, place_to_prospect

SEEN = datetime(2026, 1, 1, tzinfo=UTC)


def vancouver(folder: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(folder / "osm_vancouver_amenities.json.gz", "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            row = json.loads(line)
            yield {"source_id": f"node/{number}", "lat": row["lat"], "lon": row["lon"]} | _tags(
                row["tags"] | {"name": row.get("name")}
            )


def farm_shops(folder: Path) -> Iterator[dict[str, Any]]:
    for feature in json.loads((folder / "osm_ch_farmshops.geojson").read_text("utf-8"))["features"]:
        lon, lat = feature["geometry"]["coordinates"]
        properties = feature["properties"]
        yield {"source_id": f"node/{properties['id']}", "lat": lat, "lon": lon} | _tags(properties["tags"])


def utrecht(folder: Path) -> Iterator[dict[str, Any]]:
    for number, feature in enumerate(
        json.loads((folder / "overture_utrecht_places.geojson").read_text("utf-8"))["features"]
    ):
        lon, lat = feature["geometry"]["coordinates"]
        name = feature["properties"]["names"]["common"][0]["value"]
        yield {"source_id": str(number), "lat": lat, "lon": lon, "name": name}


def _tags(tags: dict[str, Any]) -> dict[str, Any]:
    street = " ".join(tags[key] for key in ("addr:housenumber", "addr:street") if tags.get(key))
    return {
        "name": tags.get("name"),
        "website": tags.get("website") or tags.get("contact:website"),
        "street": street or None,
        "postcode": tags.get("addr:postcode"),
        "city": tags.get("addr:city"),
    }


def places(rows: Iterator[dict[str, Any]]) -> list[Place]:
    shared = {"source": "openstreetmap", "observed_at": SEEN}
    return [Place.checked(shared | row) for row in rows if row["name"]]


def as_others_spell_it(place: Place, chance: random.Random) -> Place:
    return place.with_changes(
        source="overture",
        source_id=f"other-{place.source_id}",
        observed_at=SEEN + timedelta(days=1),
        name=place.name.upper() if len(place.name.upper()) == len(place.name) else place.name,
        lat=(place.lat or 0) + chance.uniform(-25, 25) / 111_195,
        lon=(place.lon or 0) + chance.uniform(-25, 25) / 111_195,
        postcode=None,
    )


@pytest.mark.parametrize("read", [vancouver, farm_shops, utrecht], ids=lambda read: read.__name__)
def test_two_sources_of_a_town_meet(read: Any, captures: Path) -> None:
    folder = captures / "datasets"
    truth = {row["file"]: row for row in json.loads((folder / "truth.json").read_text("utf-8"))}
    file = {vancouver: "osm_vancouver_amenities.json.gz", farm_shops: "osm_ch_farmshops.geojson"}.get(
        read, "overture_utrecht_places.geojson"
    )
    first = places(read(folder))
    assert len(first) == truth[file]["named"]
    first = first[:3000]

    alone = {one.place.source_id: one.match.company_hash for one in assign(first, [])}
    # Some places are in the data twice; a town has few of those.
    assert len(set(alone.values())) > 0.93 * len(first)
    prospects = [place_to_prospect(place, "roofers", company=alone[place.source_id]) for place in first]
    chance = random.Random(7)
    second = assign([as_others_spell_it(place, chance) for place in first], prospects)
    same = sum(one.match.company_hash == alone[one.place.source_id.removeprefix("other-")] for one in second)
    assert same > 0.97 * len(first)
    again = assign(first, prospects)
    assert {one.place.source_id: one.match.company_hash for one in again} == alone


def test_the_branches_of_a_towns_chains_stay_apart(captures: Path) -> None:
    first = places(vancouver(captures / "datasets"))
    companies: dict[str, set[str]] = {}
    for one in assign(first, []):
        companies.setdefault(comparable_name(one.place.name), set()).add(one.match.company_hash)
    branches = Counter(comparable_name(place.name) for place in first)
    for name, count in branches.most_common(20):
        assert len(companies[name]) >= 0.95 * count
