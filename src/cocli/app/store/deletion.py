"""Counting and removing whole folders of a store, in batches, so that memory does not grow with the folder."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from cocli.app.workspace import Progress, no_progress

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.store.base import Store

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class FolderContents:
    """How much there is."""

    objects: int
    bytes: int

    def __add__(self, other: FolderContents) -> FolderContents:
        return FolderContents(self.objects + other.objects, self.bytes + other.bytes)


def measure_folder(stores: Iterable[Store], folder: str, progress: Progress = no_progress) -> FolderContents:
    """Count the objects below a folder, and their bytes, over several stores."""
    objects = size = 0
    for store in stores:
        for info in store.list(folder):
            objects += 1
            size += info.size
            progress(objects)
    return FolderContents(objects, size)


def delete_folder(
    store: Store, folder: str, *, last: str | None = None, progress: Progress = no_progress
) -> FolderContents:
    """Remove every object below a folder; `last` is kept until all others are gone."""
    removed = FolderContents(0, 0)
    kept = FolderContents(0, 0)
    listing = iter(store.list(folder))
    while batch := list(islice(listing, _BATCH)):
        for info in batch:
            if info.key == last:
                kept = FolderContents(1, info.size)
        going = [info for info in batch if info.key != last]
        _raise_first(store.delete_many([info.key for info in going]))
        removed += FolderContents(len(going), sum(info.size for info in going))
        progress(removed.objects)
    if last is not None and kept.objects:
        store.delete(last)
    return removed + kept


def _raise_first(answers: Iterable[Exception | None]) -> None:
    for answer in answers:
        if answer is not None:
            raise answer
