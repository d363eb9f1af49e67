"""The store: objects under keys, with two conditional writes. What every backend must do, and nothing about how.

Contract (one suite in tests/store/ runs it on every backend):

- A key is `/`-joined parts as built by `cocli.keys.paths`; anything else is `InvalidKey`, before any I/O.
- `put(if_absent=True)` creates or raises `AlreadyExists`; `put(if_match=etag)` replaces or raises `Conflict`
  (also where the object is gone); of any number of racing callers exactly one succeeds.
- An etag names content. Writing A, then B, then A again may give the first etag again, so an object that is
  swapped carries a sequence number and a nonce in its content.
- A reader sees an object whole: the old one or the new one.
- `list` yields every key below a folder exactly once, in an order in which `start_after` continues. The order is
  the byte order of the keys, except on servers that list folder by folder (SeaweedFS).
- Only the errors of `cocli.errors.StoreError` come out. `Unavailable` means that it is not
  known whether a write took effect.
"""

from __future__ import annotations

from datetime import datetime  # noqa: TC003 - a NamedTuple's annotations are read when it is made
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cocli.errors import StoreError


class ObjectInfo(NamedTuple):
    """What a listing tells of an object. `etag` is None where knowing it would mean reading the object.

    A tuple, as is `StoredObject`: they are made by the million, and a frozen dataclass takes three times as long.
    """

    key: str
    size: int
    modified: datetime
    etag: str | None = None


class StoredObject(NamedTuple):
    """An object as read: its bytes and the etag to swap it against."""

    key: str
    data: bytes
    etag: str
    modified: datetime


class Put(NamedTuple):
    """One write of a `put_many`. At most one of the two conditions may be given."""

    key: str
    data: bytes
    if_absent: bool = False
    if_match: str | None = None
    durable: bool = True
    """False: a power cut may undo it, or leave half of it. For what only says something of processes that a power cut
    ends, and whose reader knows halves."""


@runtime_checkable
class Store(Protocol):
    """Objects under keys. Safe to share between threads; each process opens its own."""

    @property
    def address(self) -> str:
        """Where the objects are, for people: never contains a secret."""
        ...

    def get(self, key: str) -> StoredObject: ...

    def head(self, key: str) -> ObjectInfo: ...

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        """Write an object and return its new etag."""
        ...

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        """Remove an object: `Conflict` if another version of it is there. What is gone already is fine."""
        ...

    def list(self, prefix: str = "", *, start_after: str | None = None) -> Iterator[ObjectInfo]:
        """Every object below a folder: `prefix` is empty or ends with a slash."""
        ...

    def get_many(self, keys: Iterable[str]) -> Sequence[StoredObject | StoreError]:
        """Read concurrently. The answer is in the order of the keys; a failure stands where its object would."""
        ...

    def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
        """Write concurrently. One failure does not stop the others: each answer is an etag or the error."""
        ...

    def delete_many(
        self, keys: Iterable[str], *, if_match: Mapping[str, str] | None = None, durable: bool = True
    ) -> Sequence[StoreError | None]:
        """Remove many objects, in as few requests as the backend can. Those that `if_match` has an etag of are removed
        only if it is still theirs, concurrently: a `Conflict` stands where that does not hold. `durable` is as that of
        `Put`: False where they may be there again after a power cut."""
        ...

    def now(self) -> datetime:
        """The store's own clock (UTC), so that ages do not depend on this machine's."""
        ...

    def close(self) -> None:
        """Give back what the store holds open."""
        ...


@runtime_checkable
class RemovesFolders(Protocol):
    """A store that removes all of a small folder at less than the price of its objects."""

    def delete_folders(self, folders: Sequence[str], names: Sequence[str]) -> Sequence[StoreError | None]:
        """Remove the objects of these names from each of the folders, in this order, and the folders if they are empty
        then. After a power cut they may be there again. Not for results of tasks, nor for what people name. An answer
        for each folder."""
        ...
