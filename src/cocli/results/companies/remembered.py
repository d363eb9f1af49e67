"""The files of companies and people, remembered on this machine: an export reads only those that have changed.

For stores whose listing says which version of an object it lists (S3 does). A folder's files are read each time: that
costs little, and two edits within one tick of its clock cannot be told apart by a listing. One listing serves all.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cocli.models.record import parse_utc, render_utc
from cocli.store.base import StoredObject
from cocli.store.wrapper import WrappedStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.errors import StoreError
    from cocli.index.queries.derived import DerivedFolder
    from cocli.store.base import ObjectInfo, Store

NAME, ENDING = "files", "json"
_FORMAT = 1


class RememberedFiles(WrappedStore):
    """A store for one look at many files. `keep` writes down what was read, for the next one."""

    def __init__(self, inner: Store, copies: DerivedFolder) -> None:
        super().__init__(inner)
        self._copies = copies
        self._known = _read(copies)
        self._listed: dict[str, list[ObjectInfo]] = {}
        self._etags: dict[str, str] = {}
        self._changed = False

    def list(self, prefix: str = "", *, start_after: str | None = None) -> Iterator[ObjectInfo]:
        if prefix not in self._listed:
            self._listed[prefix] = list(super().list(prefix))
            self._etags |= {info.key: info.etag for info in self._listed[prefix] if info.etag is not None}
        return (info for info in self._listed[prefix] if start_after is None or info.key > start_after)

    def get_many(self, keys: Iterable[str]) -> Sequence[StoredObject | StoreError]:
        wanted = list(keys)
        missing = [key for key in wanted if not self._is_fresh(key)]
        found = dict(zip(missing, super().get_many(missing), strict=True)) if missing else {}
        for key, answer in found.items():
            if isinstance(answer, StoredObject) and key in self._etags:
                self._known[key], self._changed = answer, True
        return [found[key] if key in found else self._known[key] for key in wanted]

    def _is_fresh(self, key: str) -> bool:
        known = self._known.get(key)
        return known is not None and known.etag == self._etags.get(key)

    def keep(self) -> None:
        """Write down what is there now. What has gone is forgotten."""
        kept = [stored for key, stored in sorted(self._known.items()) if key in self._etags]
        if not self._changed and len(kept) == len(self._known):
            return
        temporary = self._copies.temporary()
        with open(temporary, "x", encoding="ascii", newline="\n") as file:
            file.write(json.dumps({"format": _FORMAT, "files": len(kept)}) + "\n")
            file.writelines(json.dumps(_row(stored)) + "\n" for stored in kept)
        self._copies.keep(temporary, NAME, ENDING)


def _row(stored: StoredObject) -> list[str]:
    text = stored.data.decode("utf-8", "surrogateescape")
    return [stored.key, stored.etag, render_utc(stored.modified), text]


def _read(copies: DerivedFolder) -> dict[str, StoredObject]:
    """What was written down before; nothing if it is not whole, or of another version of this program."""
    path = copies.find(NAME, ENDING)
    if path is None:
        return {}
    with open(path, encoding="ascii", errors="replace", newline="\n") as file:
        lines = file.read().splitlines()
    try:
        header, *lines = lines
        about = json.loads(header)
        rows: list[Any] = [json.loads(line) for line in lines]
        if about.get("format") != _FORMAT or len(rows) != about["files"]:
            return {}
        return {
            key: StoredObject(key, text.encode("utf-8", "surrogateescape"), etag, parse_utc(modified))
            for key, etag, modified, text in rows
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}  # it is made again
