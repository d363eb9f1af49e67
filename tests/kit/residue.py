"""A search through every byte that is kept: folders and stores, compressed content and databases included.

It shares nothing with the code that forgets: it looks for plain texts, whatever the file says of itself.
"""

from __future__ import annotations

import gzip
import io
import os
import sqlite3
import zipfile
import zlib
from contextlib import closing
from email import message_from_bytes
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import duckdb

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mypy_boto3_s3 import S3Client

    from cocli.store.base import Store
    from cocli.store.versions import ObjectVersions


class BucketHistory:
    """Every version of every object of a bucket, and the marks of deletion, as boto3 tells them."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def files(self) -> Iterator[tuple[str, bytes]]:
        for page in self._client.get_paginator("list_object_versions").paginate(Bucket=self._bucket):
            for version in page.get("Versions", []):
                found = self._client.get_object(Bucket=self._bucket, Key=version["Key"], VersionId=version["VersionId"])
                yield version["Key"], found["Body"].read()
            for marker in page.get("DeleteMarkers", []):
                yield marker["Key"], b""


class StoreHistory:
    """The same as the store itself lists it: where there are so many that the paging of a server leaves some out."""

    def __init__(self, versions: ObjectVersions) -> None:
        self._versions = versions

    def files(self) -> Iterator[tuple[str, bytes]]:
        for group in self._versions.listed():
            for version in group:
                yield version.key, b"" if version.is_marker else self._versions.get(version).data


def residue(
    places: Iterable[str | Path | Store | BucketHistory | StoreHistory], needles: Sequence[str]
) -> list[tuple[str, str]]:
    """Where one of some texts stands: the file, or its name, and the text. Case does not matter."""
    wanted = [needle.lower() for needle in needles]
    found: list[tuple[str, str]] = []
    for place in places:
        for name, data in _files(place):
            told = unquote(name).lower()
            found += [(name, f"(its name) {needle}") for needle in wanted if needle in told]
            for plain in _plain(data):
                text = plain.decode("utf-8", "replace").lower()
                found += [(name, needle) for needle in wanted if needle in text]
    return sorted(set(found))


def _files(place: str | Path | Store | BucketHistory | StoreHistory) -> Iterator[tuple[str, bytes]]:
    if isinstance(place, (BucketHistory, StoreHistory)):
        yield from place.files()
    elif isinstance(place, (str, Path)):
        for folder, _, names in os.walk(place):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    yield os.path.relpath(path, place), Path(path).read_bytes()
    else:
        for info in place.list():
            yield info.key, place.get(info.key).data


def _plain(data: bytes) -> Iterator[bytes]:
    """The bytes, and whatever they hold in another form."""
    yield data
    if data.startswith(b"\x1f\x8b"):
        yield from _plain(gzip.decompress(data))
    elif data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.namelist():
                yield from _plain(archive.read(member))
    elif data.startswith(b"PAR1"):
        yield _rows_of_parquet(data)
    elif data.startswith(b"SQLite format 3"):
        yield from _rows_of_sqlite(data)
    elif b"\nMIME-Version: " in data[:2000]:
        for part in message_from_bytes(data).walk():
            payload = part.get_payload(decode=True)
            if isinstance(payload, bytes):
                yield payload
    else:
        try:
            yield zlib.decompress(data, -zlib.MAX_WBITS)  # what the dashboard searches in has no head
        except zlib.error:
            return


def _rows_of_parquet(data: bytes) -> bytes:
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"residue-{os.getpid()}.parquet"
    path.write_bytes(data)
    try:
        with duckdb.connect(":memory:") as connection:
            rows = connection.execute(f"SELECT to_json(row)::VARCHAR FROM read_parquet('{path}') AS row").fetchall()
        return "\n".join(str(row[0]) for row in rows).encode()
    finally:
        path.unlink()


def _rows_of_sqlite(data: bytes) -> Iterator[bytes]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(_without_wal(data))
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                for cell in row:
                    yield from _plain(cell) if isinstance(cell, bytes) else (str(cell).encode("utf-8", "replace"),)


def _without_wal(data: bytes) -> bytes:
    """A database that lives in memory has no log beside it."""
    return data[:18] + b"\x01\x01" + data[20:]
