"""Lists and maps that somebody brings by the browser: kept on this machine for a while, and looked at before use."""

from __future__ import annotations

import json
import os
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.app.sources.content import BroughtFile
from cocli.app.sources.imports import ImportOptions, preview
from cocli.config.private import make_private
from cocli.errors import NotFound, UsageError
from cocli.pipeline.plan.areas import read_areas

if TYPE_CHECKING:
    from datetime import datetime

_ID = re.compile(r"[0-9a-f]{24}")
_NAME = re.compile(r"[^/\\\x00-\x1f\x7f]{1,150}")
_AREAS = (".kml", ".kmz", ".geojson")
_MOST_FILES = 50
_MOST_BYTES = 512 << 20


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """What was brought."""

    id: str
    name: str
    kind: str
    """`list` or `area`."""
    rows: int
    """Rows of a list, polygons of an area."""
    columns: dict[str, str]
    """Field → the column of the list that says it."""
    refused: list[str]
    """The first rows that cannot be read, and why."""


class UploadShelf:
    """A folder of uploads; the oldest go when there are too many."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.join(folder, "uploads")
        make_private(self._folder)

    def put(self, name: str, data: bytes, at: datetime) -> UploadedFile:
        """Keep a file, if it is one that can be used."""
        if not _NAME.fullmatch(name) or name in (".", ".."):
            raise UsageError(reason="The upload has no name that a file can have", hint="Write ?name=list.csv")
        if not data:
            raise UsageError(reason=f"{name} is empty")
        made = _looked_at(secrets.token_hex(12), name, data, at)
        path = os.path.join(self._folder, made.id)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        with open(os.open(f"{path}.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump({"name": name, "kind": made.kind}, file)
        self._make_room()
        return made

    def get(self, upload: str) -> tuple[BroughtFile, str]:
        """A file and its kind; `NotFound` if it went away."""
        if not _ID.fullmatch(upload):
            raise NotFound(key=f"upload {upload[:40]}")
        path = os.path.join(self._folder, upload)
        try:
            with open(f"{path}.json", encoding="utf-8") as file:
                said: dict[str, Any] = json.load(file)
            with open(path, "rb") as brought:
                return BroughtFile(brought.read(), said["name"]), said["kind"]
        except FileNotFoundError as error:
            raise NotFound(key=f"upload {upload}", hint="Upload it again.") from error

    def _make_room(self) -> None:
        with os.scandir(self._folder) as entries:
            whole = [entry for entry in entries if _ID.fullmatch(entry.name)]
        files = sorted(whole, key=lambda file: file.stat().st_mtime)
        sizes = sum(file.stat().st_size for file in files)
        while len(files) > _MOST_FILES or (sizes > _MOST_BYTES and len(files) > 1):
            oldest = files.pop(0)
            sizes -= oldest.stat().st_size
            for path in (oldest.path, f"{oldest.path}.json"):
                os.unlink(path)


def _looked_at(upload: str, name: str, data: bytes, at: datetime) -> UploadedFile:
    if name.lower().endswith(_AREAS):
        areas = read_areas(data, file=name)
        return UploadedFile(upload, name, "area", len(areas), {}, [])
    report = preview(data, ImportOptions(name), at=at)
    refused = [f"row {row.number}: {row.reason}" for row in report.refused[:20]]
    if report.rows == len(report.refused):
        raise UsageError(reason=f"{name} has no row that can be used", hint=refused[0] if refused else None)
    return UploadedFile(upload, name, "list", report.rows, dict(report.mapping), refused)
