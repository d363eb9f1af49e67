"""What was read of a campaign's territory: every tile with what was found, expected and missing in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cocli.app.campaigns.coverage import measure_coverage, render_file, totals_document
from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.indexes.query import opened_query, options_at
from cocli.errors import PlanningError, UsageError
from cocli.models.web.coverage import WebCoverage, WebTown
from cocli.pipeline.plan.coverage import tile_state
from cocli.pipeline.plan.coverage_files import render_geojson
from cocli.pipeline.plan.map_points import towns_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from cocli.app.campaigns.coverage import Covered
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.web.site import DataSite

_TOWNS = "SELECT city, lat, lon FROM prospects WHERE city <> '' AND lat IS NOT NULL AND lon IS NOT NULL"
_MIXED = "mixed"
_EMPTY_MAP = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 60" role="img"><title>{title}</title></svg>\n'


def measured(indexes: Indexes, as_of: datetime | None = None) -> Covered | None:
    """The coverage; None where nothing is planned."""
    try:
        return measure_coverage(indexes, needed_campaign(indexes), limit=0, as_of=as_of)
    except (PlanningError, UsageError):  # a campaign without a plan has no coverage, and a page all the same
        return None


def make_coverage(site: DataSite, name: str, as_of: datetime | None = None) -> WebCoverage:
    """What was read; now, or as it was."""
    indexes = campaign_indexes(site.workspace, name)
    covered, now = measured(indexes, as_of), as_of or site.now()
    prospecting = needed_campaign(indexes).settings.model().prospecting
    sources, phrases = tuple(dict.fromkeys(prospecting.sources)), prospecting.queries
    if covered is None:
        return WebCoverage(campaign=name, at=now, sources=sources, phrases=phrases)
    features = _features(covered)
    return WebCoverage(
        campaign=name,
        at=now,
        bbox=_box(features),
        sources=sources,
        phrases=phrases,
        totals=totals_document(covered.coverage.totals, covered.at),
        features=tuple(features),
        towns=tuple(_towns(indexes, as_of)),
    )


def _features(covered: Covered) -> list[dict[str, Any]]:
    by_phrase: dict[str, dict[str, str]] = {}
    for pair in covered.pairs:
        known = by_phrase.setdefault(pair.tile, {})
        state = _word(pair.state.value)
        known[pair.phrase] = state if known.get(pair.phrase, state) == state else _MIXED
    features: list[dict[str, Any]] = json.loads(render_geojson(covered.coverage.tiles))["features"]
    for feature in features:
        totals = covered.coverage.tiles[feature["id"]]
        population = totals.population
        feature["properties"] |= {
            "state": _word(tile_state(totals)),
            "missing": round(population.missing, 1) if population else None,
            "low": round(population.low, 1) if population else None,
            "high": round(population.high, 1) if population else None,
            "phrases": by_phrase.get(feature["id"], {}),
        }
    return features


def _word(state: str) -> str:
    """The state as the pages call it: one word each, also in addresses and style sheets."""
    return _MIXED if state == "partly" else state.replace("_", "-")


def _box(features: Sequence[dict[str, Any]]) -> tuple[float, ...] | None:
    corners = [corner for feature in features for corner in feature["geometry"]["coordinates"][0]]
    if not corners:
        return None
    lons, lats = [corner[0] for corner in corners], [corner[1] for corner in corners]
    return (min(lons), min(lats), max(lons), max(lats))


def _towns(indexes: Indexes, as_of: datetime | None) -> Iterable[WebTown]:
    with opened_query(indexes, _TOWNS, options_at(as_of)) as query:
        places = [(str(city), float(lat), float(lon)) for city, lat, lon in query.result().rows()]
    for town in towns_of(places):
        yield WebTown(name=town.name, lat=town.lat, lon=town.lon)


def make_coverage_picture(site: DataSite, name: str) -> bytes:
    """The same as a picture."""
    covered = measured(campaign_indexes(site.workspace, name))
    if covered is None:
        return _EMPTY_MAP.format(title="Nothing is planned yet").encode()
    return render_file(covered, "svg").encode()
