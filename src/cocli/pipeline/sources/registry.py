"""All sources. A new one is a folder beside this file, and a line here; nothing else repeats their names.

Everything that has to know which sources there are asks here: the rules of merging, plans, workers, the command line.
"""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING

from cocli.errors import UsageError
from cocli.pipeline.sources import alltheplaces, foursquare, google_maps, imports, openstreetmap, overture
from cocli.pipeline.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cocli.documents import Document
    from cocli.models.place import Place
    from cocli.pipeline.sources.open_places.kind import OpenFileKind

_SOURCES: dict[str, Source] = {}
"""In the order in which they are shown, and in which a file is offered to them."""


def register(source: Source) -> None:
    """Make a source known. Whoever brings one from outside does it before anything else of cocli is imported: the
    rules of merging take the ranks over when they are loaded."""
    if source.name in _SOURCES:
        raise ValueError(f"there are two sources called {source.name}")
    _SOURCES[source.name] = source


for module in (overture, openstreetmap, foursquare, alltheplaces, google_maps, imports):
    register(module.SOURCE)


def sources() -> tuple[Source, ...]:
    """All of them."""
    return tuple(_SOURCES.values())


def asked_sources() -> tuple[Source, ...]:
    """Those that a campaign can name."""
    return tuple(source for source in sources() if source.is_asked)


def find_source(name: str) -> Source | None:
    return _SOURCES.get(name)


def source_named(name: str) -> Source:
    found = find_source(name)
    if found is None:
        raise UsageError(reason=f'There is no source "{name}"', hint=f"There are: {', '.join(_SOURCES)}.")
    return found


def _by_name(source: Source) -> tuple[Callable[[str], Source], tuple[str]]:
    return source_named, (source.name,)


copyreg.pickle(Source, _by_name)  # to another process a source goes by its name

OPEN_PLACES = "open-places"


def source_choices() -> tuple[str, ...]:
    """What a person chooses from: all open data together, or one of the sources that are asked over a network."""
    return (OPEN_PLACES, *(source.name for source in asked_sources() if not source.reads_files))


def attributions(names: Iterable[str]) -> list[str]:
    """Whom to name for values of these sources, each by either of its names. What is no source has nobody; nor has a
    source whose terms only the person knows who brought its data."""
    wanted = set(names)
    used = [source for source in sources() if wanted & {source.name, source.row_name} and source.licence.link]
    return [f"{source.title}: {source.licence} ({source.licence.link})" for source in used]


# --- captures


def parses(connector: str) -> bool:
    """Whether the places of a capture can be read from it, by the connector that it carries."""
    source = find_source(connector)
    return source is not None and source.parse is not None


def parse(document: Document) -> Sequence[Place]:
    """The places in a capture, whichever source it is of; `UsageError` for what is none."""
    source = source_named(document.connector)
    if source.parse is None:
        raise UsageError(reason=f"A capture of {source.name} alone does not say how it is read")
    return source.parse(document)


# --- files


def file_names() -> tuple[str, ...]:
    """The sources that are files which a person adds."""
    return tuple(source.name for source in sources() if source.rows is not None)


def file_kind(name: str) -> OpenFileKind:
    """How the files of a source are read."""
    source = find_source(name)
    if source is None or source.rows is None:
        raise UsageError(
            reason=f'"{name}" is not a source of open places', hint=f"Choose one of: {', '.join(file_names())}"
        )
    return source.rows(source)


def file_kinds() -> tuple[OpenFileKind, ...]:
    return tuple(map(file_kind, file_names()))


def download_names() -> tuple[str, ...]:
    """The sources of which a part can be loaded over a network."""
    return tuple(source.name for source in sources() if source.download is not None)


def category_schemes() -> dict[str, tuple[str, ...]]:
    """Source → the sources whose words for categories it understands, its own first."""
    readers = [source for source in sources() if source.reads_files]
    return {source.name: tuple(filter(None, (source.name, source.speaks_like))) for source in readers}
