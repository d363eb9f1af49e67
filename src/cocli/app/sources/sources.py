"""The sources of open places, for people: files that were added, loading them, and what a phrase means to them."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cocli.app.workspace import no_progress
from cocli.config.places import cache_home, state_home, user_file
from cocli.config.private import make_private
from cocli.errors import FormatError, NotFound, UsageError
from cocli.keys.paths import CategoriesKey
from cocli.keys.tile import Tile
from cocli.pipeline.sources.categories import Categories, open_categories
from cocli.pipeline.sources.download import DownloadRequest
from cocli.pipeline.sources.open_places import Box, Claims, Library, OpenPlaces
from cocli.pipeline.sources.open_places.library import checked_copy
from cocli.pipeline.sources.opening import SourceOpening
from cocli.pipeline.sources.registry import (
    category_schemes,
    download_names,
    file_kind,
    file_kinds,
    file_names,
    find_source,
    sources,
)

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.app.workspace import Campaign, Progress, Workspace
    from cocli.config.places import Environment
    from cocli.pipeline.sources.download import Downloader
    from cocli.pipeline.sources.open_places.library import Addition
    from cocli.pipeline.sources.open_places.sorted_copy import BuiltCopy
    from cocli.pipeline.sources.open_places.source_file import AddedFile
    from cocli.pipeline.sources.source import Source

_TABLE = "categories.csv"
_MOSTLY_ELSEWHERE = 10
"""A box of more tiles than this many times those of a territory is not loaded for it …"""
_SMALL_BOX = 1000
"""… unless it has no more tiles than this: they are loaded in no time."""


@dataclass(frozen=True, slots=True)
class FileClaims:
    """What a person says of a file, as they type it."""

    source: str | None = None
    release: str | None = None
    covers: str | None = None
    country: str | None = None

    def parsed(self) -> Claims:
        country = self.country.upper() if self.country else None
        if country and not (len(country) == 2 and country.isascii() and country.isalpha()):
            raise UsageError(
                reason=f'"{self.country}" is not a country', hint="Write its two letters, such as --country CH"
            )
        box = Box.parse(self.covers) if self.covers else None
        return Claims(source=_file_source(self.source), release=self.release or None, covers=box, country=country)


@dataclass(frozen=True, slots=True)
class PhraseMeaning:
    """What a phrase means to a source, and how many rows of the files here it finds; None where there are none."""

    source: str
    by: str
    categories: tuple[str, ...]
    words: tuple[str, ...]
    found: int | None
    files: int
    taken: str | None = None
    """The phrase of a table that was taken for it, where no table has it as it is."""


def library_of(environ: Environment) -> Library:
    """The files of this machine. They are no part of the store: each machine reads its own."""
    return Library(os.path.join(state_home(environ), "sources"), file_kinds())


def opening_of(workspace: Workspace, campaign: Campaign, worker: str) -> SourceOpening:
    """What the sources of a campaign may need in order to be opened here."""
    return SourceOpening(
        campaign=campaign.name,
        worker=worker,
        config=campaign.settings.model(),
        environ=campaign.settings.environ,
        store=campaign.store,
        library=library_of(workspace.settings.environ),
        categories=lambda: categories_of(workspace, campaign),
    )


def _file_source(name: str | None) -> str | None:
    return None if name is None else file_kind(name).name


def known_sources() -> tuple[Source, ...]:
    """All sources that there are, whether something of them is here or not."""
    return sources()


def list_sources(workspace: Workspace) -> list[AddedFile]:
    return library_of(workspace.settings.environ).files()


def add_source(
    workspace: Workspace, path: str, claims: FileClaims, now: datetime, progress: Progress = no_progress
) -> Addition:
    """Take a file in: recognised, checked and copied."""
    path = os.path.abspath(os.path.expanduser(path))
    return library_of(workspace.settings.environ).add(path, claims.parsed(), now, progress)


def check_source(workspace: Workspace, path: str, source: str | None, progress: Progress = no_progress) -> BuiltCopy:
    """What a file holds and which of its rows are unusable, without adding it."""
    folder = os.path.join(cache_home(workspace.settings.environ), "sources")
    path = os.path.abspath(os.path.expanduser(path))
    with checked_copy(path, file_kinds(), _file_source(source), folder, progress) as built:
        return built


def remove_source(workspace: Workspace, name: str, *, dry_run: bool = False) -> AddedFile:
    library = library_of(workspace.settings.environ)
    if dry_run:
        return library.find(name)
    return library.remove(name)


def check_downloadable(name: str) -> Downloader:
    """How a source is loaded; `UsageError` for one of which a person has to bring the files."""
    source = find_source(name)
    if source is None or source.download is None:
        can = " and ".join(download_names())
        raise UsageError(
            reason=f'"{name}" cannot be loaded from here; {can} can', hint="Add a file instead: cocli source add FILE"
        )
    return source.download


def fetch_source(
    workspace: Workspace,
    name: str,
    box: str,
    now: datetime,
    *,
    release: str | None = None,
    base: str | None = None,
    extensions: str | None = None,
    progress: Progress = no_progress,
) -> Addition:
    """Load the part of a source that lies in a box, widened to whole tiles, and add it.

    `progress` is told the percentage that is loaded.
    """
    download = check_downloadable(name)
    library = library_of(workspace.settings.environ)
    wanted = DownloadRequest(Box.parse(box).snapped(), release, base, extensions=extensions)
    folder = os.path.join(cache_home(workspace.settings.environ), "sources")
    make_private(folder)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        wanted = replace(wanted, extension_folder=os.path.join(folder, "extensions"))
        fetched = download(wanted, scratch, progress)
        claims = Claims(name, fetched.release, wanted.box, origin=fetched.origin)
        added = library.add(fetched.path, claims, now)
    _remove_earlier(library, added.file)
    return added


def territory_box(campaign: Campaign) -> Box:
    """The box around a campaign's territory; refused where it would be mostly what nobody asked for."""
    from cocli.app.campaigns.plan import territory_of

    tiles = list(territory_of(campaign).tiles)
    box = Box.of_tiles(tiles)
    size = (box.east - box.west) * (box.north - box.south) * (1000 / Tile.WHOLE) ** 2
    if size > _MOSTLY_ELSEWHERE * len(tiles) and size > _SMALL_BOX:
        raise UsageError(
            reason=f"The territory of {campaign.name} lies far apart: the box around it is {box}",
            hint="Load its parts one by one: cocli source fetch overture --bbox W,S,E,N",
        )
    return box


def _remove_earlier(library: Library, newest: AddedFile) -> None:
    """The same box of the same release, loaded before: what is in it is in the new file."""
    for file in library.files(newest.about.source):
        about, new = file.about, newest.about
        if about.id != new.id and (about.origin, about.covers) == (new.origin, new.covers):
            library.remove(about.id)


def explain_phrase(workspace: Workspace, campaign: Campaign | None, phrase: str) -> list[PhraseMeaning]:
    """What a phrase means to each source, and how many rows it finds here."""
    categories = categories_of(workspace, campaign)
    library = library_of(workspace.settings.environ)
    return [_explained(library, categories, name, phrase) for name in file_names()]


def _explained(library: Library, categories: Categories, source: str, phrase: str) -> PhraseMeaning:
    meaning = categories.meaning(phrase, source)
    files = library.files(source)
    found = None
    if files:
        with OpenPlaces(file_kind(source), files, categories, account="default") as places:
            found = places.total(meaning)
    words = tuple(sorted(meaning.words))
    return PhraseMeaning(source, meaning.by, meaning.categories, words, found, len(files), meaning.taken)


@dataclass(frozen=True, slots=True)
class PhraseNote:
    """What a campaign's phrase is looked for as, where that is not what it says."""

    phrase: str
    taken: str | None
    """The phrase of a table that was taken for it; None: no table knows it, and only its words are looked for."""

    def __str__(self) -> str:
        if self.taken is None:
            return f'No table of categories knows "{self.phrase}": only names and categories with its words are found'
        return f'"{self.phrase}" is looked for as "{self.taken}"'


def phrase_notes(workspace: Workspace, campaign: Campaign) -> list[PhraseNote]:
    """What a person should know of the phrases before they are looked for in open data."""
    wanted = campaign.settings.model().prospecting
    asked = [name for name in dict.fromkeys(wanted.sources) if name in file_names()]
    if not asked:
        return []
    categories = categories_of(workspace, campaign)
    notes: list[PhraseNote] = []
    for phrase in dict.fromkeys(wanted.queries):
        meanings = [categories.meaning(phrase, source) for source in asked]
        known = [meaning for meaning in meanings if meaning.by == "categories"]
        if not known:
            notes.append(PhraseNote(phrase, None))
        elif known[0].taken is not None:
            notes.append(PhraseNote(phrase, known[0].taken))
    return notes


def categories_of(workspace: Workspace, campaign: Campaign | None) -> Categories:
    """The tables that hold: the campaign's over this person's over the packaged one."""
    layers: list[tuple[str, str]] = []
    if campaign is not None:
        key = str(CategoriesKey(campaign.name))
        with suppress(NotFound):  # most campaigns need no table of their own
            layers.append((_text(campaign.store.get(key).data, key), key))
    own = os.path.join(os.path.dirname(user_file(workspace.settings.environ)), _TABLE)
    if os.path.isfile(own):
        with open(own, "rb") as file:
            layers.append((_text(file.read(), own), own))
    return open_categories(category_schemes(), layers)


def _text(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FormatError(file=file, line=line, reason="it is not UTF-8") from error
