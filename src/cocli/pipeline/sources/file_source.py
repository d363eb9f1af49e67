"""A source that is a file on this machine: what all of those have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.plan.estimate import Cost
from cocli.pipeline.sources.source import Source, SourceRank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.documents import Document
    from cocli.keys.tile import Tile
    from cocli.models.place import Place
    from cocli.pipeline.sources.capture import Capture
    from cocli.pipeline.sources.download import Downloader
    from cocli.pipeline.sources.licence import Licence
    from cocli.pipeline.sources.open_places.kind import OpenFileKind
    from cocli.pipeline.sources.open_places.search import OpenPlaces
    from cocli.pipeline.sources.opening import SourceOpening
    from cocli.pipeline.sources.source import CaptureNode

_RANK = SourceRank(40)
_COST = Cost(requests=0, seconds=0.05)


def file_source(
    *,
    name: str,
    title: str,
    licence: Licence,
    identity: str,
    rows: Callable[[Source], OpenFileKind],
    speaks_like: str | None = None,
    download: Downloader | None = None,
    newest: Callable[[str | None], str] | None = None,
) -> Source:
    """The description of a source whose files a person adds with `cocli source add`."""

    def parse(document: Document) -> Sequence[Place]:
        from cocli.pipeline.sources.open_places.parser import parse_rows

        return parse_rows(document, rows(source)).places

    def open_(opening: SourceOpening) -> FileSource:
        from cocli.pipeline.sources.open_places.search import OpenPlaces

        files = opening.library.files(name)
        places = OpenPlaces(rows(source), files, opening.categories(), account=opening.account)
        return FileSource(places)

    def nodes() -> Sequence[CaptureNode]:
        from cocli.pipeline.sources.open_places.node import open_places_node

        return (open_places_node(rows(source)),)

    def capture_of(tile: Tile, phrase: str, release: str | None) -> str | None:
        from cocli.pipeline.sources.open_places.search import slice_identity

        return None if release is None else slice_identity(release, tile, phrase)

    source = Source(
        name=name,
        title=title,
        licence=licence,
        rank=_RANK,
        identity=identity,
        parse=parse,
        nodes=nodes,
        open=open_,
        cost=_COST,
        capture_of=capture_of,
        rows=rows,
        speaks_like=speaks_like,
        download=download,
        newest=newest,
    )
    return source


@dataclass(frozen=True, slots=True)
class FileSource:
    """Fits `cocli.pipeline.sources.source.ListSource`."""

    places: OpenPlaces

    def read(self, tile: Tile, phrase: str) -> Capture:
        return self.places.find(tile, phrase)

    def close(self) -> None:
        self.places.close()
