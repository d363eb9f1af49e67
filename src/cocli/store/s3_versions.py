"""The versions that a bucket of S3 keeps: listed, read and removed. The store's client library knows none of them.

boto3 does it, and is loaded when somebody asks. Whoever removes versions needs more rights than who works with the
bucket: `s3:GetBucketVersioning`, `s3:ListBucketVersions`, `s3:GetObjectVersion`, `s3:DeleteObjectVersion`.
"""

from __future__ import annotations

import string
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from cocli.errors import MissingExtra, NotFound, StoreError
from cocli.keys.parts import is_key
from cocli.store.base import StoredObject
from cocli.store.bulk import answer
from cocli.store.versions import ObjectVersion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from botocore.exceptions import ClientError
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ListObjectVersionsOutputTypeDef, ObjectIdentifierTypeDef

    from cocli.store.credentials import Credentials
    from cocli.store.s3_errors import S3Errors

_CONNECT_SECONDS = 5
_ANSWER_SECONDS = 60
_TRIES = 6
_PAGE = 1000
_SIDE_BY_SIDE = 16
_SKIPPING = "seaweedfs"
"""Goes through folders one by one, but goes on by the order of names: what lies between the two orders is left out."""
_SIGNS = "/%" + string.ascii_letters + string.digits + "._~@+=,-"
"""What a key is made of."""
_GONE = frozenset({"NoSuchVersion", "NoSuchKey"})


@dataclass(frozen=True, slots=True)
class BucketPlace:
    """Which part of which bucket, and whose credentials open it."""

    bucket: str
    prefix: str
    region: str
    endpoint: str | None
    profile: str | None
    credentials: Credentials = field(repr=False)


class BucketVersions:
    """Safe to share between threads. Nothing is sent before it is used."""

    def __init__(self, place: BucketPlace, errors: S3Errors) -> None:
        self._place = place
        self._errors = errors
        self._above = f"{place.prefix.strip('/')}/" if place.prefix.strip("/") else ""
        self._lock = threading.Lock()
        self._opened: S3Client | None = None

    def are_kept(self) -> bool:
        """A bucket that kept versions once, and keeps none of what comes now, has those of before."""
        with self._mapped(""):
            return bool(self._client().get_bucket_versioning(Bucket=self._place.bucket).get("Status"))

    def listed(self) -> Iterator[list[ObjectVersion]]:
        """Of each key all versions. Where an answer ends within a key, the rest of it is waited for."""
        first = self._page(self._above)
        if first.get("IsTruncated") and _SKIPPING in _server_of(first):
            yield from self._in_parts(self._above)
            return
        waiting: dict[str, list[ObjectVersion]] = {}
        for page in self._pages(self._above, first):
            _gather(waiting, self._rows(page))
            last = page.get("NextKeyMarker", "").removeprefix(self._above)
            for key in [key for key in waiting if key != last]:
                yield from self._ours(waiting.pop(key))
        for versions in waiting.values():
            yield from self._ours(versions)

    def _pages(self, prefix: str, first: ListObjectVersionsOutputTypeDef) -> Iterator[ListObjectVersionsOutputTypeDef]:
        page = first
        yield page
        while page.get("IsTruncated"):
            page = self._page(prefix, KeyMarker=page["NextKeyMarker"], VersionIdMarker=page["NextVersionIdMarker"])
            yield page

    def _page(self, prefix: str, **more: str) -> ListObjectVersionsOutputTypeDef:
        options: dict[str, Any] = {"Bucket": self._place.bucket, "Prefix": prefix, "MaxKeys": _PAGE, **more}
        with self._mapped(prefix):
            return self._client().list_object_versions(**options)

    def _rows(self, page: ListObjectVersionsOutputTypeDef) -> list[ObjectVersion]:
        rows = [self._version(entry, is_marker=False) for entry in page.get("Versions", [])]
        return rows + [self._version(entry, is_marker=True) for entry in page.get("DeleteMarkers", [])]

    def _in_parts(self, prefix: str) -> Iterator[list[ObjectVersion]]:
        """Below a prefix, in answers that are whole: of a folder that is too large for one, folder by folder; of one
        with too many objects, sign by sign."""
        whole = self._page(prefix)
        wanted = prefix.removeprefix(self._above)
        if not any(row.key.startswith(wanted) for row in self._rows(whole)):
            return  # it takes `name/` for `name`, and answers with that
        if not whole.get("IsTruncated"):
            yield from self._grouped(self._rows(whole))
            return
        folder = self._page(prefix, Delimiter="/")
        if not folder.get("IsTruncated"):
            yield from self._grouped(self._rows(folder))
            for below in folder.get("CommonPrefixes", []):
                yield from self._in_parts(below["Prefix"])
            return
        rows = self._rows(whole)
        if {row.key for row in rows} == {wanted}:  # one object with that many versions
            rows = [row for page in self._pages(prefix, whole) for row in self._rows(page)]
        yield from self._grouped([row for row in rows if row.key == wanted])
        for sign in _SIGNS[1:] if prefix.endswith("/") else _SIGNS:  # no part of a key is empty
            yield from self._in_parts(f"{prefix}{sign}")

    def _grouped(self, rows: list[ObjectVersion]) -> Iterator[list[ObjectVersion]]:
        found: dict[str, list[ObjectVersion]] = {}
        _gather(found, rows)
        for versions in found.values():
            yield from self._ours(versions)

    @staticmethod
    def _ours(versions: list[ObjectVersion]) -> Iterator[list[ObjectVersion]]:
        if is_key(versions[0].key):  # what other programs put into the bucket is not ours to look at
            yield versions

    def _version(self, entry: Any, *, is_marker: bool) -> ObjectVersion:
        key = str(entry["Key"]).removeprefix(self._above)
        return ObjectVersion(key, entry["VersionId"], entry.get("Size", 0), bool(entry["IsLatest"]), is_marker)

    def get(self, version: ObjectVersion) -> StoredObject:
        name = f"{self._above}{version.key}"
        with self._mapped(version.key):
            found = self._client().get_object(Bucket=self._place.bucket, Key=name, VersionId=version.version)
            with found["Body"] as body:
                return StoredObject(version.key, body.read(), found["ETag"], found["LastModified"])

    def get_many(self, versions: Sequence[ObjectVersion]) -> list[StoredObject | StoreError]:
        with ThreadPoolExecutor(_SIDE_BY_SIDE, thread_name_prefix="cocli-versions") as pool:
            return list(pool.map(partial(answer, self.get), versions))

    def remove(self, versions: Sequence[ObjectVersion]) -> list[StoreError | None]:
        answers: list[StoreError | None] = []
        remaining = iter(versions)
        while lot := list(islice(remaining, _PAGE)):
            failed = self._remove_lot(lot)
            answers += [failed.get((version.key, version.version)) for version in lot]
        return answers

    def _remove_lot(self, lot: Sequence[ObjectVersion]) -> dict[tuple[str, str], StoreError]:
        wanted: list[ObjectIdentifierTypeDef] = [
            {"Key": f"{self._above}{version.key}", "VersionId": version.version} for version in lot
        ]
        try:
            with self._mapped(lot[0].key):
                client = self._client()
                done = client.delete_objects(Bucket=self._place.bucket, Delete={"Objects": wanted, "Quiet": True})
        except StoreError as error:
            return {(version.key, version.version): error for version in lot}
        failed: dict[tuple[str, str], StoreError] = {}
        for entry in done.get("Errors", []):
            if (code := entry.get("Code", "")) not in _GONE:
                key = entry.get("Key", "").removeprefix(self._above)
                said = self._errors.from_code(_status(code), code, entry.get("Message", ""), key)
                failed[key, entry.get("VersionId", "")] = said
        return failed

    def close(self) -> None:
        with self._lock:
            opened, self._opened = self._opened, None
        if opened:
            opened.close()

    # --- opening, and errors

    def _client(self) -> S3Client:
        with self._lock:
            if self._opened is None:
                self._opened = self._connect()
            return self._opened

    def _connect(self) -> S3Client:
        try:
            import boto3
            from botocore.config import Config
        except ImportError as error:
            raise MissingExtra(feature="Looking at versions of objects", package="boto3", extra="aws") from error
        place, keys = self._place, self._place.credentials.settings
        config = Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_ANSWER_SECONDS,
            max_pool_connections=_SIDE_BY_SIDE,
            retries={"mode": "standard", "total_max_attempts": _TRIES},
            request_checksum_calculation="when_required",  # what other servers than Amazon's understand
            response_checksum_validation="when_required",
            s3={"addressing_style": "path" if place.endpoint else "auto"},
        )
        session = boto3.Session(
            profile_name=place.profile,
            region_name=place.region,
            aws_access_key_id=keys.get("access_key_id"),
            aws_secret_access_key=keys.get("secret_access_key"),
            aws_session_token=keys.get("session_token"),
        )
        return session.client("s3", endpoint_url=place.endpoint, config=config)

    @contextmanager
    def _mapped(self, key: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            from botocore import exceptions as foreign  # loaded by now, or the error is one of ours

            if isinstance(error, foreign.ClientError):
                raise self._translated(error, key) from error
            if isinstance(error, foreign.BotoCoreError):
                raise self._errors.from_status(0, str(error), key) from error
            raise

    def _translated(self, error: ClientError, key: str) -> StoreError:
        said: Any = error.response.get("Error", {})
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        if said.get("Code") in _GONE:
            return NotFound(key=key)
        return self._errors.from_code(status, said.get("Code", ""), said.get("Message", ""), key)


def _gather(found: dict[str, list[ObjectVersion]], rows: list[ObjectVersion]) -> None:
    for row in rows:
        found.setdefault(row.key, []).append(row)


def _server_of(page: ListObjectVersionsOutputTypeDef) -> str:
    return page["ResponseMetadata"].get("HTTPHeaders", {}).get("server", "").lower()


def _status(code: str) -> int:
    """Of an answer within an answer: what may pass is tried again by the next run."""
    return 503 if code in ("InternalError", "SlowDown", "ServiceUnavailable") else 400
