"""An index, opened: the store and the place, the kind, the cache, and who is asking. Everything else works on this."""

from __future__ import annotations

import secrets
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from cocli.index.objects import IndexObjects
from cocli.models.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.index.cache import Cache
    from cocli.index.spec import IndexSpec
    from cocli.keys.paths import IndexRef
    from cocli.store.base import Store

R = TypeVar("R", bound=Record)


class RecordVeil(Protocol):
    """What records pass through, read or written: the record as it may be known; None where it may not be."""

    @property
    def digest(self) -> str:
        """Changes with what it lets through."""
        ...

    def record(self, record: Any) -> Any | None: ...


def _no_veil() -> RecordVeil | None:
    return None


def _nonce() -> str:
    return secrets.token_hex(8)


@dataclass(frozen=True)
class Index(Generic[R]):
    store: Store
    ref: IndexRef
    spec: IndexSpec[R]
    cache: Cache
    writer: str = field(default_factory=socket.gethostname)
    """Who writes, for people: it stands in manifests."""
    nonce: Callable[[], str] = _nonce
    veil: Callable[[], RecordVeil | None] = _no_veil
    """Asked by every reader and every writer: what somebody wants to be left alone with is neither shown nor written.
    Packing, repairing and syncing have none: they move what is there."""

    @property
    def label(self) -> str:
        """The index by name, for messages and commands."""
        if self.ref.campaign is None:
            return self.ref.name
        return f"{self.ref.name} -c {self.ref.campaign}"

    @property
    def log_fields(self) -> dict[str, object]:
        """What a log record about this index carries."""
        return {"campaign": self.ref.campaign, "index": self.ref.name, "writer": self.writer}

    @property
    def objects(self) -> IndexObjects:
        return IndexObjects(self.store, self.ref, self.cache, self.label)
