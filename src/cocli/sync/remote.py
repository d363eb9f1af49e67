"""What is in the bucket: one listing, a page per thousand keys, and nothing asked per file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import NotFound, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cocli.store.base import ObjectInfo, Store


def look(store: Store, folders: Sequence[str], keys: Iterable[str] = ()) -> dict[str, ObjectInfo]:
    """Everything below some folders, and some single keys."""
    found: dict[str, ObjectInfo] = {}
    for folder in folders:
        for info in store.list(folder):
            found[info.key] = info
    for key in keys:
        try:
            found[key] = store.head(key)
        except NotFound:
            continue  # not there is an answer as well
    return found


def etags(store: Store, infos: Iterable[ObjectInfo], failed: Callable[[str, StoreError], None]) -> dict[str, str]:
    """The etags of objects. A folder as the other side tells none in its listing: there every object is read."""
    known: dict[str, str] = {}
    for info in infos:
        if info.etag is not None:
            known[info.key] = info.etag
            continue
        try:
            known[info.key] = store.head(info.key).etag or ""
        except NotFound:
            continue  # deleted since it was listed
        except StoreError as error:
            failed(info.key, error)
    return known
