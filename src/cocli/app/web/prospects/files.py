"""The files of the prospects' search, kept in the cache of this machine as long as nothing changed.

`manifest.json` names all others, and those are named by their content: `lines/0a1b….tsv.gz`. The files of the manifest
before are kept for those who have it open.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.results.rows import wanted_businesses
from cocli.app.web.data_file import JSON, DataFile, StoredFile, bytes_file
from cocli.app.web.downloads import data_basis
from cocli.app.web.prospects.fields import cells_of, chosen_fields
from cocli.app.web.prospects.folding import fold_rules
from cocli.app.web.prospects.lines import write_lines
from cocli.app.web.prospects.matches import MOST_LINES
from cocli.app.web.prospects.tables import ProspectTable, table_of
from cocli.app.web.prospects.view import SORTS
from cocli.app.web.shell import IMMUTABLE
from cocli.app.workspace import no_progress
from cocli.config.private import make_private
from cocli.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Progress, Workspace

MANIFEST = "manifest.json"
SCHEMA = "cocli.web-prospects/2"
_LAYOUT = 2
"""Grows when the same prospects would give other files."""
_KEPT = 4
_HASH = 20


@dataclass(frozen=True, slots=True)
class NamedFiles:
    """A folder of files that are named by their content."""

    folder: str

    def put(self, kind: str, ending: str, data: bytes) -> str:
        name = f"{kind}/{hashlib.sha256(data).hexdigest()[:_HASH]}.{ending}"
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return name

    def take(self, kind: str, ending: str, made: str) -> str:
        """A file that was made elsewhere."""
        with open(made, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:_HASH]
        name = f"{kind}/{digest}.{ending}"
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.move(made, path)
        return name


@dataclass(frozen=True, slots=True)
class ProspectFiles:
    """The files of one state of the prospects."""

    folder: str

    def names(self) -> list[str]:
        """The files, the manifest last: so they are written."""
        found = [
            os.path.relpath(os.path.join(path, file), self.folder).replace(os.sep, "/")
            for path, _, files in os.walk(self.folder)
            for file in files
        ]
        return [*sorted(name for name in found if name != MANIFEST), MANIFEST]

    def path(self, name: str) -> str:
        """Where a file is; `NotFound` if there is none of this name."""
        path = os.path.normpath(os.path.join(self.folder, name))
        if not path.startswith(f"{self.folder}{os.sep}") or not os.path.isfile(path):
            raise NotFound(key=f"prospects/{name}")
        return path

    def read(self, name: str) -> bytes:
        with open(self.path(name), "rb") as file:
            return file.read()


def prospect_file(workspace: Workspace, campaign: str, name: str, fields: tuple[str, ...] = ()) -> DataFile:
    """A file below `{campaign}/prospects/`. Those of the state before are still answered."""
    indexes = campaign_indexes(workspace, campaign)
    path = f"{campaign}/prospects/{name}"
    if name != MANIFEST:
        for folder in _kept(_home(indexes)):
            try:
                return _lasting(path, name, ProspectFiles(folder).read(name))
            except (NotFound, FileNotFoundError):  # of another state, or that state went away just now
                continue
    made = prospect_files(indexes, fields)
    if name != MANIFEST:
        return _lasting(path, name, made.read(name))
    return bytes_file(path, made.read(name), content_type(name))


def stored_file(home: str, path: str, name: str) -> StoredFile | None:
    """A file of a state that was made already, by where it lies; None where it has to be made, or is the manifest."""
    if name == MANIFEST:
        return None
    for folder in _kept(home):
        with suppress(NotFound, FileNotFoundError):  # of another state, or that state went away just now
            source = ProspectFiles(folder).path(name)
            return StoredFile(
                path, source, os.path.getsize(source), content_type(name), _etag(name), {"Cache-Control": IMMUTABLE}
            )
    return None


def search_home(workspace: Workspace, campaign: str) -> str:
    """Where the states of a campaign's search lie on this machine."""
    return _home(campaign_indexes(workspace, campaign))


def _lasting(path: str, name: str, data: bytes) -> DataFile:
    """A file that is named by its content: it needs no other etag, and many megabytes need not be hashed again."""
    return DataFile(path, data, content_type(name), _etag(name), {"Cache-Control": IMMUTABLE})


def _etag(name: str) -> str:
    return f'"{os.path.basename(name).partition(".")[0]}"'


def content_type(name: str) -> str:
    return JSON if name.endswith(".json") else "application/octet-stream"


def prospect_files(
    indexes: Indexes, fields: tuple[str, ...] = (), *, most_lines: int = MOST_LINES, progress: Progress = no_progress
) -> ProspectFiles:
    """The files of the prospects as they are now: made, if anything changed since they were."""
    names = fields or chosen_fields()
    basis = f"{_LAYOUT} {most_lines} {' '.join(names)} {data_basis(indexes)}"
    home = _home(indexes)
    folder = os.path.join(home, hashlib.sha256(basis.encode()).hexdigest()[:32])
    if not os.path.isfile(os.path.join(folder, MANIFEST)):
        rows = (cells_of(row, names) for row in wanted_businesses(indexes, progress))
        with _becoming(folder) as making:
            write_files(table_of(names, rows), needed_campaign(indexes).name, making, most_lines)
    os.utime(folder)
    for older in _kept(home)[_KEPT:]:
        shutil.rmtree(older, ignore_errors=True)  # what somebody has open stays until the next time
    return ProspectFiles(folder)


def write_files(table: ProspectTable, campaign: str, folder: str, most_lines: int = MOST_LINES) -> None:
    """All files of a table."""
    files = NamedFiles(folder)
    is_index = len(table.rows) > most_lines
    manifest: dict[str, Any] = {
        "schema": SCHEMA,
        "campaign": campaign,
        "at": table.at,
        "mode": "index" if is_index else "lines",
        "rows": len(table.rows),
        "columns": list(table.names),
        "searched": table.searched,
        "facets": table.counted(),
        "sorts": [sort for sort in SORTS if sort == "best" or sort in table.names],
        "fold": fold_rules(),
        "lines": None if is_index else write_lines(table, files),
        "index": _written_index(table, files) if is_index else None,
    }
    with open(os.path.join(folder, MANIFEST), "wb") as file:
        file.write(json.dumps(manifest, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")


def _written_index(table: ProspectTable, files: NamedFiles) -> dict[str, Any]:
    from cocli.app.web.prospects.postings import write_index  # here: it needs numpy, and few campaigns need it

    return write_index(table, files)


@contextmanager
def _becoming(folder: str) -> Iterator[str]:
    """A folder that has its name once it is whole. Who is faster wins: both have made the same."""
    making = f"{folder}.{secrets.token_hex(4)}.new"
    shutil.rmtree(making, ignore_errors=True)
    make_private(making)
    try:
        yield making
        try:
            os.rename(making, folder)
        except OSError:
            if not os.path.isfile(os.path.join(folder, MANIFEST)):
                raise
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _home(indexes: Indexes) -> str:
    """Files of a state are answered by their names for a while: those of another do-not-contact list never are."""
    folder = os.path.join(indexes.cache, "web", needed_campaign(indexes).name)
    if listed := indexes.left_alone.listed():
        folder = os.path.join(folder, f"without.{listed.digest}")
    make_private(folder)
    return folder


def _kept(home: str) -> list[str]:
    """The states that are there, the youngest first."""
    with os.scandir(home) as entries:
        whole = [entry for entry in entries if entry.is_dir() and "." not in entry.name]
        return [entry.path for entry in sorted(whole, key=lambda entry: -entry.stat().st_mtime_ns)]
