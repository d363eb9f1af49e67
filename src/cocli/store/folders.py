"""One level of a store's tree, and whether a folder has anything in it. A store lists everything below a folder; this
skips what lies deeper."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.store.base import ObjectInfo, Store

_LAST = "~" * 200  # sorts behind every part that a folder can hold, in every order that a store may list in
_READ_AT_MOST = 50
"""Objects that are read in one folder before the rest of it is jumped over: a few cost less than a new request."""


def is_empty(store: Store, prefix: str) -> bool:
    """Whether nothing lies below a folder: one short look."""
    return next(iter(store.list(prefix)), None) is None


def children(store: Store, prefix: str) -> Iterator[ObjectInfo | str]:
    """The objects right in a folder, and the names of its folders (with their slash), without walking those."""
    seen: set[str] = set()
    after: str | None = None
    while True:
        jump: str | None = None
        read = 0
        for info in store.list(prefix, start_after=after):
            name, slash, _ = info.key[len(prefix) :].partition("/")
            if not slash:
                yield info
                continue
            folder = f"{name}/"
            if folder not in seen:
                seen.add(folder)
                read = 0
                yield folder
            read += 1
            if read > _READ_AT_MOST:
                jump = f"{prefix}{folder}{_LAST}"
                break
        if jump is None or jump == after:
            return
        after = jump
