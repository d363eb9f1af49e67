"""The kinds of stores: by the scheme of an address, how each is opened and what can be relied on.

A new kind is a module beside this one, and an entry here. What nobody says of it is taken to be the worse: a kind that
does not say that its conditional writes hold is tried before workers coordinate through it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.errors import StoreUrlError
from cocli.store.addresses import open_azure, open_folder, open_s3

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.store.base import Store
    from cocli.store.local import Fsync

    Opener = Callable[[str, Fsync], Store]

FOLDER = ""
"""The scheme of an address that has none: a folder."""


@dataclass(frozen=True, slots=True)
class StoreKind:
    """What the program may ask of a store before it uses it."""

    scheme: str
    form: str
    """How `[storage] url` names it."""
    open: Opener | None = None
    needs_probe: bool = True
    """Whether its conditional writes are tried before workers coordinate through it."""
    dates_exactly: bool = False
    """Whether the time at which an object was written is exact, and not rounded to whole seconds."""
    is_shared: bool = True
    """Whether other processes see what one of them writes."""
    has_credentials: bool = False
    """Whether it is opened with the credentials of an AWS profile."""
    dollars_per_write: float = 0.0


def _open_memory(address: str, fsync: Fsync) -> Store:  # noqa: ARG001  every opener has this signature
    from cocli.store.memory import MemoryStore

    return MemoryStore()


def _open_s3(address: str, fsync: Fsync) -> Store:  # noqa: ARG001  a server syncs as it likes
    return open_s3(address)


def _open_azure(address: str, fsync: Fsync) -> Store:  # noqa: ARG001  a server syncs as it likes
    return open_azure(address)


_LOCAL = StoreKind(
    scheme=FOLDER,
    form='"local" (or another folder)',
    open=open_folder,
    needs_probe=False,
    dates_exactly=True,
)

KINDS: dict[str, StoreKind] = {
    FOLDER: _LOCAL,
    "file": _LOCAL,
    "memory": StoreKind(
        scheme="memory",
        form='"memory://"',
        open=_open_memory,
        needs_probe=False,
        dates_exactly=True,
        is_shared=False,
    ),
    "s3": StoreKind(
        scheme="s3",
        form='"s3://bucket/prefix"',
        open=_open_s3,
        has_credentials=True,
        dollars_per_write=0.000005,  # of Amazon in most regions
    ),
    "az": StoreKind(
        scheme="az",
        form='"az://container/prefix?account=…"',
        open=_open_azure,
        dollars_per_write=0.0000065,  # of Microsoft, hot and locally redundant, in most regions
    ),
}
"""Scheme → kind."""


def scheme_of(address: str) -> str:
    scheme, separator, _ = address.partition("://")
    return scheme if separator else FOLDER


def store_kind(address: str) -> StoreKind:
    """What a store is, by its address, which a store that wraps another one passes on. Of a stranger the worse is
    assumed in everything."""
    scheme = scheme_of(address)
    return KINDS.get(scheme) or StoreKind(scheme=scheme, form=f'"{scheme}://…"')


def opener_of(address: str, shown: str) -> Opener:
    kind = store_kind(address)
    if kind.open is None:
        raise StoreUrlError(url=shown, reason=f'"{kind.scheme}" is not a kind of store')
    return kind.open
