"""Files as older versions wrote them: rows rendered the old way, in each dialect. Names and numbers are made up."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cocli.keys.identities import place_id_from_feature_id
from cocli.pipeline.migrate.columns import Table

ENDS = {"line feed": "\n", "U+001E and line feed": "\x1e\n", "U+001E": "\x1e"}


def place(number: int) -> str:
    """The place id of a made-up business."""
    return place_id_from_feature_id(f"0x80c2000000000001:0x{number + 1:x}")


def feature(number: int) -> str:
    return f"0x80c2000000000001:0x{number + 1:x}"


def sanitised(value: str) -> str:
    """What the careful one of the older writers did to a value."""
    for line_end in ("\r\n", "\n", "\r"):
        value = value.replace(line_end, "<br>")
    return value.replace("\x1f", " ")


def compacted(value: str, times: int = 1) -> str:
    """What runs of the older compaction did to a value: written as CSV, read as plain text."""
    for _ in range(times):
        if value and any(character in value for character in '"\n\r\x1f'):
            value = '"' + value.replace('"', '""') + '"'
    return value


def cells(table: Table, values: Mapping[str, str]) -> list[str]:
    unknown = set(values) - {column.name for column in table}
    assert not unknown, unknown
    return [values.get(column.name, "") for column in table]


def usv(rows: Iterable[Sequence[str]], end: str = "\n") -> bytes:
    return "".join("\x1f".join(row) + end for row in rows).encode()


def write(folder: Path, key: str, data: bytes | str) -> Path:
    path = folder / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    os.utime(path, (1_770_000_000, 1_770_000_000))
    return path


def fingerprint(folder: Path) -> dict[str, str]:
    """Every file of a folder, with its content and time: what must not change."""
    return {
        str(path.relative_to(folder)): f"{path.stat().st_mtime_ns} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


PROSPECT: dict[str, str] = {
    "company_slug": "harbour-lights",
    "name": "Harbour Lights",
    "phone": "(704) 555-0100",
    "created_at": "2026-01-05T08:00:00+00:00",
    "updated_at": "2026-02-05T09:30:00+00:00",
    "version": "1",
    "processed_by": "worker-3",
    "company_hash": "harbour--12-oak-s-28000",
    "keyword": "lamp shop",
    "full_address": "12 Oak Street, Springfield, NC 28000",
    "street_address": "12 Oak Street",
    "city": "Springfield",
    "zip": "28000",
    "state": "NC",
    "country": "United States",
    "phone_standard_format": "+1 704-200-0100",
    "website": "https://www.harbourlights.example.com/shop",
    "domain": "harbourlights.example.com",
    "first_category": "Lighting store",
    "second_category": "Gift shop",
    "reviews_count": "52",
    "average_rating": "4.6",
    "monday": "9 AM–5:30 PM",
    "sunday": "Closed",
    "latitude": "35.2271",
    "longitude": "-80.8431",
    "facebook_url": "https://facebook.com/harbourlights",
    "discovery_phrase": "lamp-shop",
    "discovery_tile_id": "35.2_-80.9",
    "email": "Hello@harbourlights.example.com; sales@harbourlights.example.com",
}
ITEM: dict[str, str] = {
    "company_slug": "harbour-lights",
    "name": "Harbour Lights",
    "phone": "(704) 555-0100",
    "domain": "harbourlights.example.com",
    "reviews_count": "52",
    "average_rating": "4.6",
    "street_address": "12 Oak Street",
}


def prospect_values(number: int, **changes: str) -> dict[str, str]:
    place_id = place(number)
    url = f"https://www.google.com/maps/place/?q=place_id:{place_id}"
    return PROSPECT | {"place_id": place_id, "gmb_url": url, "name": f"Harbour Lights {number}"} | changes


def item_values(number: int, **changes: str) -> dict[str, str]:
    place_id = place(number)
    url = f"https://www.google.com/maps/place/?q=place_id:{place_id}"
    return ITEM | {"place_id": place_id, "gmb_url": url, "name": f"Harbour Lights {number}"} | changes
