"""Writes the town as open data: a GeoParquet file in the schema of Overture's places theme, made by DuckDB."""

from __future__ import annotations

import json
import math
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cocli.demo.town.business import Business
    from cocli.demo.town.town import Town

RELEASE = "2026-10-21.0"
"""The release that the file claims to be of."""
_SCHEMA = {
    "id": "VARCHAR",
    "geometry": "VARCHAR",
    "categories": 'STRUCT("primary" VARCHAR, alternate VARCHAR[])',
    "confidence": "DOUBLE",
    "websites": "VARCHAR[]",
    "socials": "VARCHAR[]",
    "emails": "VARCHAR[]",
    "phones": "VARCHAR[]",
    "brand": 'STRUCT(wikidata VARCHAR, "names" STRUCT("primary" VARCHAR, common MAP(VARCHAR, VARCHAR)))',
    "addresses": "STRUCT(freeform VARCHAR, locality VARCHAR, postcode VARCHAR, region VARCHAR, country VARCHAR)[]",
    "names": 'STRUCT("primary" VARCHAR, common MAP(VARCHAR, VARCHAR), '
    'rules STRUCT(variant VARCHAR, "language" VARCHAR, "value" VARCHAR)[])',
    "sources": "STRUCT(property VARCHAR, dataset VARCHAR, license VARCHAR, "
    "record_id VARCHAR, update_time VARCHAR, confidence DOUBLE)[]",
    "operating_status": "VARCHAR",
    "basic_category": "VARCHAR",
    "taxonomy": 'STRUCT("primary" VARCHAR, hierarchy VARCHAR[], alternates VARCHAR[])',
    "version": "INTEGER",
    "bbox": "STRUCT(xmin FLOAT, xmax FLOAT, ymin FLOAT, ymax FLOAT)",
    "theme": "VARCHAR",
    "type": "VARCHAR",
}
_GEO = {
    "version": "1.1.0",
    "primary_column": "geometry",
    "columns": {
        "geometry": {
            "encoding": "WKB",
            "geometry_types": ["Point"],
            "covering": {
                "bbox": {edge: ["bbox", edge] for edge in ("xmin", "ymin", "xmax", "ymax")},
            },
        }
    },
}
_DATASETS = (
    ("meta", "CDLA-Permissive-2.0"),
    ("Microsoft", "CDLA-Permissive-2.0"),
    ("Foursquare", "Apache-2.0"),
    ("AllThePlaces", "CC0-1.0"),
)
_OPERATING = {"operational": "open"}
_TWIN_OFFSET = 90
"""Millionths of a degree between the two rows of one business: some eight metres."""


def write_overture(town: Town, path: Path) -> int:
    """Write the file; the number of its rows. The bytes depend on the town alone."""
    import duckdb

    rows = list(overture_rows(town))
    lines = path.with_suffix(".rows.json")
    lines.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    columns = ", ".join(f"{name}: '{kind}'" for name, kind in _SCHEMA.items())
    try:
        with duckdb.connect(config={"threads": 1, "preserve_insertion_order": True}) as connection:
            connection.execute(
                "COPY (SELECT * REPLACE (unhex(geometry) AS geometry) FROM read_json($lines, "
                f"format = 'newline_delimited', "
                f"columns = {{{columns}}})) TO $target (FORMAT parquet, COMPRESSION zstd, KV_METADATA {{geo: $geo}})",
                {"lines": str(lines), "target": str(path), "geo": json.dumps(_GEO)},
            )
    finally:
        lines.unlink()
    return len(rows)


def overture_rows(town: Town) -> Iterator[dict[str, object]]:
    """The rows in the order of their ids, which is no order of the town's."""
    known = [business for business in town.businesses if "overture" in business.sources]
    rows = [_row(business) for business in known]
    rows += [_twin(business) for business in known if business.twin_id is not None]
    yield from sorted(rows, key=lambda row: str(row["id"]))


def _row(business: Business) -> dict[str, object]:
    spot, trade = business.spot, business.trade
    dataset, licence = _DATASETS[business.number % len(_DATASETS)]
    closed = business.status == "permanently_closed"
    website = business.website_in("overture")
    social = website is not None and "facebook.com" in website
    return {
        "id": business.gers_id,
        "geometry": _wkb(spot.lon, spot.lat),
        "categories": {"primary": trade.category, "alternate": list(trade.hierarchy[1:-1])},
        "confidence": 0.0 if closed else round(0.55 + business.number % 45 / 100, 2),
        "websites": [website] if website and not social else None,
        "socials": [website] if social else None,
        "emails": _emails(business),
        "phones": _phones(business),
        "brand": {"wikidata": None, "names": {"primary": business.chain, "common": None}} if business.chain else None,
        "addresses": [
            {
                "freeform": spot.street,
                "locality": spot.city,
                "postcode": spot.postcode,
                "region": "KS",
                "country": "US",
            }
        ],
        "names": {"primary": business.name, "common": None, "rules": None},
        "sources": [
            {
                "property": "",
                "dataset": dataset,
                "license": licence,
                "record_id": str(10_000_000 + business.number * 7919),
                "update_time": f"2026-{1 + business.number % 10:02d}-11T00:00:00.000Z",
                "confidence": 0.77,
            }
        ],
        "operating_status": _OPERATING.get(business.status, business.status),
        "basic_category": trade.category,
        "taxonomy": {"primary": trade.category, "hierarchy": list(trade.hierarchy), "alternates": None},
        "version": 1,
        "bbox": _bbox(spot.lon, spot.lat),
        "theme": "places",
        "type": "place",
    }


def _twin(business: Business) -> dict[str, object]:
    """The same business once more, as another dataset has it: a few metres away, without contacts."""
    lon = (business.spot.lon_micro + _TWIN_OFFSET) / 1_000_000
    lat = (business.spot.lat_micro + _TWIN_OFFSET) / 1_000_000
    return _row(business) | {
        "id": business.twin_id,
        "geometry": _wkb(lon, lat),
        "bbox": _bbox(lon, lat),
        "emails": None,
        "phones": None,
        "confidence": 0.41,
    }


def _emails(business: Business) -> list[str] | None:
    """Few rows have an address, and then one that the website has as well."""
    if business.number % 9 or business.site is None or not business.site.readable_emails:
        return None
    return [business.site.readable_emails[0].address]


def _phones(business: Business) -> list[str] | None:
    phone = business.phone_in("overture")
    if phone is None:
        return None
    return [phone if business.number % 5 else f"({phone[2:5]}) {phone[5:8]}-{phone[8:]}"]


def _wkb(lon: float, lat: float) -> str:
    """A point in well-known binary, as hex digits."""
    return struct.pack("<BIdd", 1, 1, lon, lat).hex()


def _bbox(lon: float, lat: float) -> dict[str, float]:
    """Single precision, rounded outwards, as in the real files: a filter on it must not lose a point on a border."""
    return {
        "xmin": _single(lon, -math.inf),
        "xmax": _single(lon, math.inf),
        "ymin": _single(lat, -math.inf),
        "ymax": _single(lat, math.inf),
    }


def _single(value: float, towards: float) -> float:
    packed = struct.unpack("<f", struct.pack("<f", value))[0]
    if (towards < 0 and packed > value) or (towards > 0 and packed < value):
        bits = struct.unpack("<i", struct.pack("<f", packed))[0]
        # Neighbouring numbers have neighbouring bits; those of negative numbers run the other way.
        bits += 1 if (towards > 0) == (packed > 0) else -1
        packed = struct.unpack("<f", struct.pack("<i", bits))[0]
    return float(packed)
