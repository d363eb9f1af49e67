"""Looking into a store by hand: list, read, write, remove and measure objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.store.deletion import FolderContents, delete_folder, measure_folder
from cocli.app.workspace import Progress, no_progress
from cocli.errors import NotFound, UsageError
from cocli.store.folders import children

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from cocli.store.base import ObjectInfo, Store, StoredObject


@dataclass(frozen=True, slots=True)
class StoreEntry:
    """One line of a listing. A folder has neither size nor time: a store knows them of objects only."""

    key: str
    size: int | None = None
    modified: datetime | None = None
    etag: str | None = None

    @property
    def is_folder(self) -> bool:
        return self.key.endswith("/")


@dataclass(frozen=True, slots=True)
class Usage:
    """How much lies below a folder; `key` is empty for the objects that lie right in it."""

    key: str
    contents: FolderContents


@dataclass(frozen=True, slots=True)
class Deletion:
    """What `rm` would take away: one object, or a whole folder."""

    key: str
    contents: FolderContents


def folder_of(path: str) -> str:
    """A folder as typed, with or without its slash; `/` and nothing are the whole store."""
    stripped = path.rstrip("/")
    if stripped:
        return f"{stripped}/"
    return ""


def list_entries(store: Store, path: str, *, recursive: bool = False) -> Iterator[StoreEntry]:
    """What is in a folder; or the object itself, where the path names one."""
    if path and not path.endswith("/"):
        try:
            yield _entry(store.head(path))
        except NotFound:
            pass  # then it is the name of a folder
        else:
            return
    prefix = folder_of(path)
    found = False
    listed: Iterable[ObjectInfo | str] = store.list(prefix) if recursive else children(store, prefix)
    for child in listed:
        found = True
        if isinstance(child, str):
            yield StoreEntry(prefix + child)
        else:
            yield _entry(child)
    if prefix and not found:
        raise NotFound(key=path, hint="See what there is with: cocli store ls")


def read_object(store: Store, key: str) -> StoredObject:
    return store.get(key)


def write_object(store: Store, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
    """Write an object and return its etag."""
    if if_absent and if_match is not None:
        raise UsageError(reason="--if-absent and --if-match exclude each other")
    return store.put(key, data, if_absent=if_absent, if_match=if_match)


def plan_deletion(store: Store, path: str, *, recursive: bool, progress: Progress = no_progress) -> Deletion:
    """Count what would go. A folder only goes when that was asked for."""
    folder = folder_of(path)
    if not folder:
        raise UsageError(reason="The whole store is never removed at once", hint="Name a folder or an object.")
    if recursive:
        contents = measure_folder([store], folder, progress)
        if contents.objects:
            return Deletion(folder, contents)
    if path.endswith("/"):
        raise UsageError(reason=f"{path} is a folder", hint=f"Remove all of it with: cocli store rm --recursive {path}")
    info = store.head(path)
    return Deletion(path, FolderContents(1, info.size))


def delete(store: Store, deletion: Deletion, progress: Progress = no_progress) -> FolderContents:
    if deletion.key.endswith("/"):
        return delete_folder(store, deletion.key, progress=progress)
    store.delete(deletion.key)
    return deletion.contents


def disk_usage(store: Store, path: str, progress: Progress = no_progress) -> list[Usage]:
    """How much lies in each folder below a folder, in the order of the keys."""
    prefix = folder_of(path)
    usage: dict[str, FolderContents] = {}
    for count, info in enumerate(store.list(prefix), 1):
        name, slash, _ = info.key[len(prefix) :].partition("/")
        key = f"{prefix}{name}/" if slash else ""
        usage[key] = usage.get(key, FolderContents(0, 0)) + FolderContents(1, info.size)
        progress(count)
    if prefix and not usage:
        raise NotFound(key=path, hint="See what there is with: cocli store ls")
    return [Usage(key, usage[key]) for key in sorted(usage)]


def _entry(info: ObjectInfo) -> StoreEntry:
    return StoreEntry(info.key, info.size, info.modified, info.etag)
