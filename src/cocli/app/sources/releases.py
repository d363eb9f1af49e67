"""Releases of open data that this machine loads: what was loaded so far, and which release is the newest.

What was loaded once says from where and which box, so that it can be loaded again. The newest release is asked for once
a day at most; the answer is kept beside other caches.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cocli.app.sources.sources import fetch_source, library_of
from cocli.app.whole_file import whole_file
from cocli.config.places import cache_home
from cocli.config.private import make_private
from cocli.errors import UsageError
from cocli.pipeline.sources.registry import source_named

if TYPE_CHECKING:
    from cocli.app.workspace import Workspace
    from cocli.pipeline.sources.open_places import Box
    from cocli.pipeline.sources.open_places.source_file import AddedFile

_LOOK_AGAIN = timedelta(days=1)
_LAYOUT = "/release/"


@dataclass(frozen=True, slots=True)
class LoadedBox:
    """A box of a source that this machine keeps."""

    source: str
    box: Box
    base: str | None = None
    """Where it was loaded from; None: where the source itself publishes."""
    as_of: datetime | None = None
    """Of the newest release of it that lies here; None where none does."""


def loaded_boxes(workspace: Workspace, source: str) -> list[LoadedBox]:
    """What was loaded of a source here, each box once. Files that a person brought are not among it."""
    found: dict[str, LoadedBox] = {}
    for file in library_of(workspace.settings.environ).files(source):  # the newest first
        about = file.about
        if about.origin is None or about.covers is None or about.release is None:
            continue
        base = about.origin.rpartition(_LAYOUT)[0]
        found.setdefault(str(about.covers), LoadedBox(source, about.covers, base or None, about.as_of))
    return list(found.values())


def newest_release(workspace: Workspace, source: str, base: str | None, now: datetime, *, anew: bool = False) -> str:
    """The newest release that is published. With `anew` it is asked for, however lately that was done before."""
    newest = source_named(source).newest
    if newest is None:
        raise UsageError(reason=f'Nobody can be asked for the newest release of "{source}"')
    path = os.path.join(cache_home(workspace.settings.environ), "sources", "newest.json")
    known = _known(path)
    name = f"{source} {base or ''}".strip()
    release, looked_at = known.get(name, ("", datetime.min.replace(tzinfo=UTC)))
    if not anew and release and timedelta(0) <= now - looked_at < _LOOK_AGAIN:
        return release
    known[name] = (newest(base), now)
    make_private(os.path.dirname(path))
    with whole_file(path) as file:
        file.write(json.dumps({name: [told, at.isoformat()] for name, (told, at) in known.items()}).encode())
    return known[name][0]


def _known(path: str) -> dict[str, tuple[str, datetime]]:
    known: dict[str, tuple[str, datetime]] = {}
    with suppress(OSError, ValueError, TypeError, AttributeError):  # a cache that cannot be read is asked for anew
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)
        known = {str(name): (str(told), datetime.fromisoformat(at)) for name, (told, at) in rows.items()}
    return known


def load_release(workspace: Workspace, wanted: LoadedBox, release: str, now: datetime) -> AddedFile:
    """Have a release of a box here. What lies here is not loaded again."""
    for file in library_of(workspace.settings.environ).files(wanted.source):
        if (file.about.release, file.about.covers) == (release, wanted.box):
            return file
    return fetch_source(workspace, wanted.source, str(wanted.box), now, release=release, base=wanted.base).file


def drop_earlier(workspace: Workspace, newest: AddedFile) -> None:
    """Remove what was loaded of earlier releases of the same box: nobody reads it any more."""
    library = library_of(workspace.settings.environ)
    new = newest.about
    for file in library.files(new.source):
        about = file.about
        if about.origin is not None and about.covers == new.covers and about.as_of < new.as_of:
            library.remove(about.id)
