"""Files of places, made by hand in the schemas of their sources."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from cocli.pipeline.sources.categories import Categories, open_categories
from cocli.pipeline.sources.open_places import Claims, Library, OpenPlaces
from cocli.pipeline.sources.registry import category_schemes, file_kind, file_kinds

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
_GEO = json.dumps(
    {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {"geometry": {"encoding": "WKB", "geometry_types": ["Point"]}},
    }
)
_SOURCES = "STRUCT(property VARCHAR, dataset VARCHAR, record_id VARCHAR, update_time VARCHAR, confidence DOUBLE)[]"
_ADDRESSES = "STRUCT(freeform VARCHAR, locality VARCHAR, postcode VARCHAR, region VARCHAR, country VARCHAR)[]"
_COMMON = {
    "id": "VARCHAR",
    "geometry": "BLOB",
    "bbox": "STRUCT(xmin FLOAT, xmax FLOAT, ymin FLOAT, ymax FLOAT)",
    "version": "INTEGER",
    "sources": _SOURCES,
    "confidence": "DOUBLE",
    "websites": "VARCHAR[]",
    "socials": "VARCHAR[]",
    "emails": "VARCHAR[]",
    "phones": "VARCHAR[]",
    "addresses": _ADDRESSES,
}
OVERTURE_COLUMNS = {
    "new": _COMMON
    | {
        "names": 'STRUCT("primary" VARCHAR, common MAP(VARCHAR, VARCHAR))',
        "basic_category": "VARCHAR",
        "taxonomy": 'STRUCT("primary" VARCHAR, hierarchy VARCHAR[], alternates VARCHAR[])',
        "categories": 'STRUCT("primary" VARCHAR, alternate VARCHAR[])',
        "operating_status": "VARCHAR",
        "brand": 'STRUCT(wikidata VARCHAR, names STRUCT("primary" VARCHAR))',
    },
    "old": _COMMON
    | {
        "names": "STRUCT(common STRUCT(value VARCHAR, language VARCHAR)[])",
        "categories": 'STRUCT("main" VARCHAR, alternate VARCHAR[])',
    },
}
FOURSQUARE_COLUMNS = {
    **dict.fromkeys(("fsq_place_id", "name", "address", "locality", "region", "postcode", "country"), "VARCHAR"),
    **dict.fromkeys(("tel", "website", "email", "instagram", "twitter", "date_refreshed", "date_closed"), "VARCHAR"),
    **dict.fromkeys(("latitude", "longitude"), "DOUBLE"),
    "facebook_id": "BIGINT",
    "fsq_category_ids": "VARCHAR[]",
    "fsq_category_labels": "VARCHAR[]",
    "geom": "BLOB",
}


def wkb(lat: float, lon: float) -> bytes:
    return struct.pack("<BIdd", 1, 1, lon, lat)


def write_parquet(path: Path, columns: dict[str, str], rows: list[dict[str, Any]], *, geo: bool = False) -> Path:
    """Rows by their columns; what a row does not name is null."""
    connection = duckdb.connect(":memory:")
    described = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
    connection.execute(f"CREATE TABLE rows ({described})")
    marks = ", ".join("?" for _ in columns)
    for row in rows:
        connection.execute(f"INSERT INTO rows VALUES ({marks})", [row.get(name) for name in columns])
    meta = f", KV_METADATA {{geo: '{_GEO}'}}" if geo else ""
    connection.execute(f"COPY rows TO '{path}' (FORMAT parquet{meta})")
    connection.close()
    return path


def overture_row(identity: str, lat: float, lon: float, category: str = "plumbing", **values: Any) -> dict[str, Any]:
    """A row of the new schema."""
    return {
        "id": identity,
        "geometry": wkb(lat, lon),
        "bbox": {"xmin": lon, "xmax": lon, "ymin": lat, "ymax": lat},
        "version": 1,
        "names": {"primary": f"Business {identity}", "common": None},
        "basic_category": category,
        "taxonomy": {"primary": category, "hierarchy": ["services", category], "alternates": None},
        "categories": {"primary": category, "alternate": None},
        "operating_status": "open",
        **values,
    }


def feature(row: dict[str, Any], lat: float, lon: float) -> dict[str, Any]:
    """The same row as GeoJSON."""
    properties = {name: value for name, value in row.items() if name not in ("geometry", "bbox")}
    return {"type": "Feature", "properties": properties, "geometry": {"type": "Point", "coordinates": [lon, lat]}}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(str(tmp_path / "sources"), file_kinds())


@pytest.fixture(scope="session")
def categories() -> Categories:
    return open_categories(category_schemes())


@pytest.fixture
def opened(library: Library, categories: Categories) -> Iterator[Callable[..., OpenPlaces]]:
    """Add files and open their source."""
    some: list[OpenPlaces] = []

    def open_files(source: Any, *paths: Path, **claims: Any) -> OpenPlaces:
        for path in paths:
            library.add(str(path), Claims(**claims), NOON)
        some.append(OpenPlaces(file_kind(source), library.files(source), categories, account="acct"))
        return some[-1]

    yield open_files
    for one in some:
        one.close()


@pytest.fixture
def write_json(tmp_path: Path) -> Callable[..., Path]:
    def write(name: str, content: Any) -> Path:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return path

    return write


@pytest.fixture
def make() -> Any:
    """The helpers of this module, for tests that cannot import it."""
    from types import SimpleNamespace

    return SimpleNamespace(
        now=NOON,
        wkb=wkb,
        parquet=write_parquet,
        overture_row=overture_row,
        feature=feature,
        overture_columns=OVERTURE_COLUMNS,
        foursquare_columns=FOURSQUARE_COLUMNS,
    )
