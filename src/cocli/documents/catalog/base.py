"""What a catalogue is, whichever database keeps it. Everything that a caller's words reach names the account."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence  # noqa: TC003 - a dataclass of rows is built with it
from dataclasses import astuple, dataclass
from enum import Enum
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from cocli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection
    from contextlib import AbstractContextManager
    from datetime import datetime

    from cocli.documents.catalog.job_rows import Commit
    from cocli.documents.catalog.outbox_table import OutboxTable
    from cocli.documents.catalog.routes_table import RoutesTable
    from cocli.documents.outbox import Event
    from cocli.models.document import PipeDoc, StateKey

T = TypeVar("T")
_LAST = "\U0010ffff"
"""Behind every name."""


class Which(Enum):
    EVERY = "every"
    CLUSTERS = "clusters"


EVERY = Which.EVERY
"""All states of a document, the intake included."""
CLUSTERS = Which.CLUSTERS
"""All states of a document in clusters, without the intake."""
Selection: TypeAlias = str | Which | None
"""Which states of a document: EVERY, CLUSTERS, None for the intake, or the name of a cluster."""
Kind = Literal["intake", "state"]


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page ended: the next one begins behind it, whatever was added or removed meanwhile."""

    doc: str
    cluster: str | None
    address: str
    datasource: str = ""
    connector: str = ""

    @classmethod
    def behind(cls, row: PipeDoc) -> Cursor:
        return cls(row.doc, row.cluster, row.address, row.datasource, row.connector)

    def is_behind(self, other: Cursor) -> bool:
        return self._order > other._order

    @property
    def _order(self) -> tuple[str, ...]:
        return self.doc, self.cluster or "", self.address, self.datasource, self.connector

    def token(self) -> str:
        """A text for callers to hand back; it means nothing to them."""
        return token_of(list(astuple(self)))

    @classmethod
    def parse(cls, token: str) -> Cursor:
        doc, cluster, address, *owner = parts_of(token, 3, 5)
        datasource, connector = owner or (_LAST, _LAST)  # a token of a version without them
        if not (isinstance(doc, str) and isinstance(address, str) and isinstance(cluster, str | None)):
            raise UsageError(reason="this is no page of a listing")
        if not (isinstance(datasource, str) and isinstance(connector, str)):
            raise UsageError(reason="this is no page of a listing")
        return cls(doc, cluster, address, datasource, connector)


def token_of(parts: Sequence[object]) -> str:
    """The parts of a cursor as a text that means nothing to callers."""
    text = json.dumps(parts, ensure_ascii=False)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def parts_of(token: str, *counts: int) -> list[object]:
    """The parts of a token that has one of these numbers of them."""
    try:
        parts = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(reason="this is no page of a listing") from error
    if not isinstance(parts, list) or len(parts) not in counts:
        raise UsageError(reason="this is no page of a listing")
    return parts


@dataclass(frozen=True, slots=True)
class CatalogPage(Generic[T]):
    """Some of the answer. `next` is None on the last page."""

    items: Sequence[T]
    next: Cursor | None = None


@dataclass(frozen=True, slots=True)
class Memo:
    """A step that was done: with this input and this code, the node made that output (None: it let nothing through)."""

    account: str
    doc: str
    node: str
    cluster: str
    input_digest: str
    code_digest: str
    output_digest: str | None
    at: datetime
    origin: str
    """`origin_id` of where the document came from: two datasources may have the same content under one id."""


class MemoQuestion(NamedTuple):
    """What a memo is looked for by."""

    account: str
    doc: str
    node: str
    cluster: str
    input_digest: str
    code_digest: str
    origin: str


@dataclass(frozen=True, slots=True)
class CatalogState:
    """What a writer has to know before it writes: the row at its place, and whether the document was deleted."""

    row: PipeDoc | None
    document_deleted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """An event and its place in the outbox."""

    number: int
    event: Event
    published_at: datetime | None


class Catalog(Protocol):
    """Safe to share between threads; each process opens its own."""

    @property
    def address(self) -> str:
        """Where it is, for people: never contains a secret."""
        ...

    def tended(self) -> AbstractContextManager[None]:
        """For who commits all the time: see `Database`."""
        ...

    # --- rows

    def find(self, account: str, state: StateKey, intake: str) -> CatalogState:
        """The row of a state, and whether the document (by the uuid of its intake) was deleted."""
        ...

    def find_many(self, places: Sequence[tuple[str, StateKey, str]]) -> list[CatalogState]: ...

    def named(self, account: str, uuids: Sequence[str], cluster: str | None) -> list[PipeDoc]:
        """The rows of some uuids: mostly one of each; several where datasources share an id of a document."""
        ...

    def commit(self, rows: Sequence[PipeDoc], events: Sequence[Event], *, intake: str | None = None) -> bool:
        """Write rows and events in one transaction. An older version never replaces a newer one; an event that is
        there already stays as it is. False, and nothing written, if `intake` names a document deleted meanwhile."""
        ...

    def commit_many(self, commits: Sequence[Commit], memos: Sequence[Memo] = ()) -> list[Commit]:
        """Many commits, and steps to remember, in one transaction; those that `commit` would have refused."""
        ...

    def replace(self, rows: Sequence[PipeDoc], events: Sequence[Event], *, remove: Sequence[PipeDoc] = ()) -> None:
        """As `commit`, but whatever stood there gives way. For repairs, which have looked at the objects."""
        ...

    def states(self, account: str, doc: str, cluster: Selection, *, deleted: bool) -> list[PipeDoc]: ...

    def page(
        self,
        account: str,
        *,
        datasource: str | None,
        cluster: str | None,
        kind: Kind | None,
        after: Cursor | None,
        limit: int,
        deleted: bool,
    ) -> list[PipeDoc]: ...

    def scan(self, after: PipeDoc | None, limit: int) -> list[PipeDoc]:
        """Every row of every account, page by page: for `fsck` alone."""
        ...

    def clear(self) -> None:
        """Empty rows, events and memos, to build them anew."""
        ...

    # --- what catalogues tell each other

    def untold(self, limit: int) -> list[PipeDoc]:
        """Rows that were made through this catalogue and that others were not told of yet."""
        ...

    def untold_places(self) -> set[StateKey]:
        """The same, all of them."""
        ...

    def mark_told(self, rows: Sequence[PipeDoc], entry: str) -> None:
        """Others can read these rows in an object of the store; one that was replaced meanwhile stays untold."""
        ...

    def tell_again(self, states: Sequence[StateKey]) -> None:
        """No object of the store names these rows any more: others are to be told of them again."""
        ...

    def learn(self, rows: Sequence[PipeDoc], entries: Sequence[str]) -> None:
        """Take rows over that others told in these objects. An older version never replaces a newer one."""
        ...

    def is_learned(self, state: StateKey) -> bool:
        """Whether others made the row: its events are theirs to send."""
        ...

    def learned(self) -> set[str]:
        """The objects whose rows are here."""
        ...

    def forget_learned(self, entries: Sequence[str]) -> None: ...

    def places(self) -> set[StateKey]:
        """Of every row, of every account."""
        ...

    def fact(self, name: str, *, begin: str | None = None) -> str | None:
        """What is noted of the catalogue itself under a name. With `begin`, that is noted where nothing is yet."""
        ...

    def set_fact(self, name: str, value: str) -> None: ...

    # --- for those who watch

    def latest_change(self) -> int:
        """The number of the latest change of any state."""
        ...

    def changes_after(self, account: str, number: int, limit: int) -> list[tuple[int, PipeDoc]]:
        """The states that changed since, in the order in which they did: of each only its latest change."""
        ...

    # --- events

    @property
    def outbox(self) -> OutboxTable:
        """For those who send events."""
        ...

    @property
    def routes(self) -> RoutesTable:
        """Which editions get what comes in."""
        ...

    def waiting(self, limit: int) -> list[Event]:
        """Events that were not published yet, oldest first, whoever has them now: for looking."""
        ...

    def mark_published(self, event_ids: Sequence[str], at: datetime) -> None: ...

    def known_events(self, event_ids: Collection[str]) -> set[str]: ...

    def scan_events(self, after: int, limit: int) -> list[OutboxEntry]: ...

    def remove_events(self, event_ids: Sequence[str]) -> None: ...

    def prune_events(self, before: datetime) -> int:
        """Forget events that were published before a moment; `fsck` does not miss them. Returns how many."""
        ...

    def pruned_before(self) -> datetime | None: ...

    def forget_versions(self, versions: Sequence[tuple[StateKey, str]], *, deletions: bool = False) -> None:
        """Drop the events of versions, by state and digest, whose content is gone: nobody could read what they point
        at. Those that tell of a deletion only with `deletions`."""
        ...

    # --- memos

    def remember(self, memo: Memo) -> None: ...

    def recall_many(self, questions: Sequence[MemoQuestion]) -> list[Memo | None]: ...

    def forget(self, account: str, doc: str) -> None:
        """Drop memos and waiting events of a document that is purged."""
        ...

    def close(self) -> None: ...
