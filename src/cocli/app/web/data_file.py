"""A file of the dashboard: its bytes, its type, and an etag that only changes with what it says."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cocli.formats import json_records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.models.record import Record
    from cocli.pipeline.suppression.veil import Veil

JSON = "application/json"
GEOJSON = "application/geo+json"
HTML = "text/html; charset=utf-8"
SVG = "image/svg+xml"
CAPTURED_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; frame-ancestors 'self'"
)
"""Of a captured page: it runs nothing, asks nobody, and is of no origin."""
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'"
"""Of the report without script."""
_PASSING = ("at", "age_seconds")
"""What changes by itself: two files that differ in nothing else are the same file."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file below `data/`."""

    path: str
    data: bytes
    content_type: str
    etag: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.data)

    def part(self, start: int, end: int) -> bytes:
        return self.data[start:end]


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One that lies on this machine and may be large: of which parts are read."""

    path: str
    source: str
    size: int
    content_type: str
    etag: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def part(self, start: int, end: int) -> bytes:
        with open(self.source, "rb") as file:
            file.seek(start)
            return file.read(end - start)


def without_left_alone(file: DataFile, veil: Veil | None) -> DataFile:
    """The file as it may be shown. What is no text was made of records, which pass the list where they are read."""
    kind = file.content_type.partition(";")[0]
    if veil is None or not (kind.startswith("text/") or kind.endswith(("json", "xml"))):
        return file
    data = veil.scrubber.data(file.data)
    if data == file.data:
        return file
    return replace(file, data=data, etag=_quoted(hashlib.sha256(data)))


def record_file(path: str, record: Record, content_type: str = JSON) -> DataFile:
    """A record as a file."""
    return DataFile(path, json_records.render(record), content_type, fingerprint(record))


def bytes_file(path: str, data: bytes, content_type: str, headers: Mapping[str, str] | None = None) -> DataFile:
    return DataFile(path, data, content_type, _quoted(hashlib.sha256(data)), headers or {})


def fingerprint(record: Record) -> str:
    """The etag of what a record says, whenever it is said."""
    values = {"schema": type(record).schema_id, **record.model_dump(mode="json")}
    return _quoted(hashlib.sha256(json_records.text(_lasting(values)).encode()))


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: item for name, item in value.items() if name not in _PASSING} | {
            name: [_lasting(item) for item in items]
            for name, items in value.items()
            if name == "hosts" and isinstance(items, list)
        }
    return value


def _quoted(digest: Any) -> str:
    return f'"{digest.hexdigest()[:32]}"'
