"""What the program knows of a source without opening it. One description per source; `registry.py` has them all.

A description is light: what is heavy (DuckDB, a browser, a parser) is imported by its functions when they are called.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cocli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.documents import Document
    from cocli.documents.graph.node import NodeFunction
    from cocli.keys.tile import Tile
    from cocli.models.place import Place
    from cocli.pipeline.plan.estimate import Cost
    from cocli.pipeline.sources.capture import Capture
    from cocli.pipeline.sources.download import Downloader
    from cocli.pipeline.sources.licence import Licence
    from cocli.pipeline.sources.open_places.kind import OpenFileKind
    from cocli.pipeline.sources.opening import SourceOpening


class ListSource(Protocol):
    """A source that was opened: it is asked for a tile and a phrase."""

    def read(self, tile: Tile, phrase: str) -> Capture:
        """Ask it. What it answered, and how far that got. What is in the answer is said by its node of the graph."""
        ...

    def close(self) -> None: ...


class SourceRank(NamedTuple):
    """How much a source counts where two of them contradict each other; greater is better."""

    page: int
    """What it says of one place by itself."""
    row: int | None = None
    """What it says in a row of a result list; None where that is as good."""


class CaptureNode(NamedTuple):
    """A node of the pipeline's graph that reads captures of a source."""

    name: str
    states: NodeFunction
    version: str = "1"
    """Whoever changes what is read from a capture changes this: then a replay reads every capture again."""
    doc: str = ""
    """How the names of the documents begin that it reads; empty: all of the source."""


@dataclass(frozen=True, slots=True)
class Source:
    """One source of businesses."""

    name: str
    """In configurations, tasks, witnesses and origins; also the connector that its captures carry."""
    title: str
    licence: Licence
    rank: SourceRank
    identity: str
    """What its ids are, in words."""
    parse: Callable[[Document], Sequence[Place]] | None = None
    """The places in a capture: a pure function, the same whether it runs live or years later. None: a capture alone
    does not say how it is read."""
    nodes: Callable[[], Sequence[CaptureNode]] | None = None
    """The nodes of the pipeline's graph that do it. None: one, which is called like the source and runs `parse`."""
    open: Callable[[SourceOpening], ListSource] | None = None
    """Makes it ready to be asked for a tile and a phrase. None: no campaign can name it."""
    cost: Cost | None = None
    """Of one tile and one phrase. None: it is not asked by tile."""
    capture_of: Callable[[Tile, str, str | None], str | None] | None = None
    """Tile, phrase and the release of a file → the identity of the document of that capture; None where the release
    has to be known, and is not. A source without it keeps no lists that could be read again."""
    page_of_place: Callable[[str], str] | None = None
    """Place id → the identity of the document of its page. None: it has no page that says more than its list."""
    rows: Callable[[Source], OpenFileKind] | None = None
    """How the rows of its files are read. None: it is no file that a person adds."""
    speaks_like: str | None = None
    """The source whose words for categories it uses where it has none of its own."""
    download: Downloader | None = None
    """Loads the part of it that lies in a box into a folder. None: its files are brought by a person."""
    newest: Callable[[str | None], str] | None = None
    """The newest release at an address, or where the source itself publishes. At most one request."""

    def opened(self, opening: SourceOpening) -> ListSource:
        """Ready to be asked; `UsageError` for one that no campaign can name."""
        if self.open is None:
            raise UsageError(reason=f'"{self.name}" cannot be asked for a tile and a phrase')
        return self.open(opening)

    @property
    def connector(self) -> str:
        """What its captures carry."""
        return self.name

    @property
    def row_name(self) -> str:
        """The name under which a row of its list counts."""
        return self.name if self.rank.row is None else f"{self.name}-list"

    @property
    def is_asked(self) -> bool:
        """Whether a campaign can name it."""
        return self.open is not None

    @property
    def gives_details(self) -> bool:
        """Whether the page of one place says more than a row of its list."""
        return self.page_of_place is not None

    @property
    def reads_files(self) -> bool:
        """Whether it is open data: files that are added to this machine."""
        return self.rows is not None
