"""The files of places on this machine: one folder each, with `source.json` and the copy that is sorted by tile.

There is no list of them besides the folders themselves, so nothing can disagree with it. A folder appears complete, by
one rename; what a crash leaves has a name that begins with a dot, and is cleared away by the next `add`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import ValidationError

from cocli.config.private import make_private
from cocli.errors import SourceError, SourceRefused, UsageError
from cocli.pipeline.sources.capture import FileEdition
from cocli.pipeline.sources.open_places.limited_copy import copy_with_limits
from cocli.pipeline.sources.open_places.source_file import AddedFile, SourceFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cocli.keys.tile import Tile
    from cocli.pipeline.sources.open_places.kind import OpenFileKind
    from cocli.pipeline.sources.open_places.sorted_copy import BuiltCopy
    from cocli.pipeline.sources.open_places.tiles import Box

_ABOUT = "source.json"
_UNFINISHED = ".adding-"
_NAMED_RELEASES = 3
"""So many are named one by one; more are a digest, because the edition is a part of documents' names."""
_ABANDONED_AFTER = 86_400.0
_RELEASE_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[.T].*)?")


@dataclass(frozen=True, slots=True)
class Claims:
    """What a person says of a file."""

    source: str | None = None
    release: str | None = None
    covers: Box | None = None
    country: str | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Addition:
    file: AddedFile
    created: bool
    """False for a file whose content was added before."""


class Library:
    """The folder of the added files."""

    def __init__(self, folder: str, kinds: Sequence[OpenFileKind]) -> None:
        """`kinds` are the sources that a file may be of, in the order in which it is offered to them."""
        self.folder = folder
        self.kinds = kinds

    def files(self, source: str | None = None) -> list[AddedFile]:
        """The added files, the newest data first."""
        names = sorted(os.listdir(self.folder)) if os.path.isdir(self.folder) else []
        found = [self._read(name) for name in names if not name.startswith(".")]
        wanted = [file for file in found if source is None or file.about.source == source]
        return sorted(wanted, key=lambda file: (file.about.as_of, file.about.added_at, file.about.id), reverse=True)

    def find(self, name: str) -> AddedFile:
        """A file by its id, the beginning of its id, or the name that it had."""
        files = self.files()
        matching = [file for file in files if file.about.id == name] or [
            file for file in files if file.about.id.startswith(name) or file.about.filename == name
        ]
        if len(matching) == 1:
            return matching[0]
        known = ", ".join(file.about.id for file in matching or files) or "none"
        what = f'"{name}" is the name of several files' if matching else f'No file "{name}" was added'
        raise UsageError(reason=f"{what}. Known: {known}", hint="List them with: cocli source ls")

    def add(
        self, path: str, claims: Claims, now: datetime, progress: Callable[[int], None] = lambda _done: None
    ) -> Addition:
        """Take a file in. Adding the same content again changes what was said of it, and reads nothing anew."""
        digest, size = _content(path, progress)
        known = next((file for file in self.files() if file.about.sha256 == digest), None)
        if known is not None:
            return Addition(self._restate(known, claims), created=False)
        make_private(self.folder)
        self._clear_abandoned()
        with _unfinished(self.folder) as folder:
            built = copy_with_limits([path], self.kinds, claims.source, folder, progress)
            about = _about(path, digest, size, built, claims, now)
            return Addition(self._publish(folder, about), created=True)

    def remove(self, name: str) -> AddedFile:
        """Take a file out of the list, then remove its copy."""
        found = self.find(name)
        doomed = os.path.join(self.folder, f"{_UNFINISHED}removed-{os.path.basename(found.folder)}")
        shutil.rmtree(doomed, ignore_errors=True)
        os.rename(found.folder, doomed)
        shutil.rmtree(doomed)
        return found

    # --- folders

    def _publish(self, folder: str, about: SourceFile) -> AddedFile:
        shutil.rmtree(os.path.join(folder, "scratch"), ignore_errors=True)
        about = about.model_copy(update={"copy_bytes": os.path.getsize(os.path.join(folder, "places.parquet"))})
        _write_about(folder, about)
        home = os.path.join(self.folder, about.id)
        try:
            os.rename(folder, home)
        except OSError as error:
            # Somebody else has added the same content meanwhile: theirs is as good.
            if not os.path.isfile(os.path.join(home, _ABOUT)):
                raise SourceError(source=about.source, reason=f"{home} cannot be written: {error}") from error
            shutil.rmtree(folder, ignore_errors=True)
        return self._read(about.id)

    def _restate(self, known: AddedFile, claims: Claims) -> AddedFile:
        if claims.source is not None and claims.source != known.about.source:
            raise SourceRefused(file=known.about.filename, reason=f"it is a file of {known.about.source}")
        said = {name: getattr(claims, name) for name in ("release", "covers", "country") if getattr(claims, name)}
        if claims.release:
            said["as_of"] = _as_of(claims.release, known.about.as_of)
        if said:
            _write_about(known.folder, known.about.model_copy(update=said))
        return self._read(os.path.basename(known.folder))

    def _read(self, name: str) -> AddedFile:
        folder = os.path.join(self.folder, name)
        try:
            with open(os.path.join(folder, _ABOUT), "rb") as file:
                about = SourceFile.model_validate_json(file.read())
        except (OSError, ValidationError) as error:
            hint = f"Remove the folder {folder}, and add the file again."
            raise SourceError(source=name, reason=f"what is known of it cannot be read: {error}", hint=hint) from error
        return AddedFile(about, folder)

    def _clear_abandoned(self) -> None:
        """Folders of additions that were killed: nobody works on one for a day."""
        for name in os.listdir(self.folder):
            folder = os.path.join(self.folder, name)
            if name.startswith(_UNFINISHED) and time.time() - os.path.getmtime(folder) > _ABANDONED_AFTER:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def checked_copy(
    path: str, kinds: Sequence[OpenFileKind], source: str | None, folder: str, progress: Callable[[int], None]
) -> Iterator[BuiltCopy]:
    """What a file holds, without adding it."""
    _content_exists(path)
    make_private(folder)
    with _unfinished(folder) as scratch:
        yield copy_with_limits([path], kinds, source, scratch, progress)


@contextmanager
def _unfinished(folder: str) -> Iterator[str]:
    scratch = tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _about(path: str, digest: str, size: int, built: BuiltCopy, claims: Claims, now: datetime) -> SourceFile:
    licence = built.kind.licence
    return SourceFile(
        source=built.source,
        filename=os.path.basename(path),
        origin=claims.origin,
        sha256=digest,
        size=size,
        release=claims.release,
        rows=built.rows,
        places=built.places,
        unnamed=built.unnamed,
        bad=built.bad,
        bad_rows=tuple(built.bad_rows),
        bounds=built.bounds,
        covers=claims.covers,
        country=claims.country,
        licence=licence.name,
        attribution=licence.attribution,
        as_of=_as_of(claims.release, now),
        added_at=now,
    )


def _as_of(release: str | None, otherwise: datetime) -> datetime:
    return release_day(release) or otherwise


def release_day(release: str | None) -> datetime | None:
    """`2026-01-21.0` is what Overture calls the release of a day; None for what names no day."""
    match = _RELEASE_DAY.fullmatch(release or "")
    if not match:
        return None
    try:
        return datetime.fromisoformat(match[1]).replace(tzinfo=UTC)
    except ValueError:
        return None  # 2026-02-31: a name that only looks like a day


def _write_about(folder: str, about: SourceFile) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".about-")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(about.model_dump_json(indent=2, exclude_none=True) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, os.path.join(folder, _ABOUT))


def _content_exists(path: str) -> None:
    if not os.path.isfile(path):
        raise UsageError(reason=f"There is no file {path}")
    if not os.path.getsize(path):
        raise SourceRefused(file=path, reason="it is empty")


def _content(path: str, progress: Callable[[int], None]) -> tuple[str, int]:
    _content_exists(path)
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
            size += len(piece)
    progress(0)
    return digest.hexdigest(), size


def edition_at(files: Sequence[AddedFile], tile: Tile) -> FileEdition | None:
    """The edition that some files, the newest first, have of a tile; None where none of them reaches it."""
    there = [file for file in files_at(files, tile) if file.about.touches_tile(tile)]
    if not there:
        return None
    return FileEdition(editions(there), there[0].about.as_of)


def files_at(files: Sequence[AddedFile], tile: Tile) -> list[AddedFile]:
    """The files that speak of a tile, the newest first, without earlier releases of what a later one has whole.

    Who is not in the later release is gone there. Files whose release nobody named are extracts that add up.
    """
    found: list[AddedFile] = []
    for file in files:
        if not any(_is_later(newer, file) and newer.about.covers_tile(tile) for newer in found):
            found.append(file)
    return found


def _is_later(file: AddedFile, other: AddedFile) -> bool:
    named = file.about.release is not None and other.about.release is not None
    return named and file.about.release != other.about.release and file.about.as_of > other.about.as_of


def editions(files: Sequence[AddedFile]) -> str:
    """The edition that some files make up: their releases, or a name that changes whenever one of them does."""
    releases = {file.about.release for file in files}
    if None not in releases and len(releases) <= _NAMED_RELEASES:
        return "+".join(sorted(filter(None, releases), reverse=True))
    digests = sorted(file.about.sha256 for file in files)
    if len(digests) == 1:
        return digests[0][:16]
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:16]
