"""Folders for objects that are put together. Documents that come in lie side by side, each in folders of its own that
are not there yet: where one needed new ones, the next most likely does as well, and is not looked for first."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.store.disk.beneath import Beneath


class NewFolder(NamedTuple):
    """An open folder, None where it has to be looked for, and which folders were made on the way to it."""

    descriptor: int | None
    made: Sequence[str]


_LOOK_FOR_IT = NewFolder(None, ())


class NewFolders:
    """Of one batch. Keeps the folder open in which the latest ones were made."""

    def __init__(self, beneath: Beneath) -> None:
        self._beneath = beneath
        self._above = ""
        self._descriptor: int | None = None

    def note(self, made: Sequence[str]) -> None:
        """These had to be made, outermost first."""
        above = made[0].rpartition("/")[0]
        if self._descriptor is None or above != self._above:
            self.close()
            with suppress(OSError):  # nothing depends on it
                self._above, self._descriptor = above, self._beneath.open_folder(above or ".")

    def make(self, folder: str) -> NewFolder:
        """A folder below the one that was noted, with those on the way, if the outermost of them is new."""
        beginning = f"{self._above}/" if self._above else ""
        if self._descriptor is None or not folder.startswith(beginning):
            return _LOOK_FOR_IT
        descriptor, path, made = self._descriptor, self._above, list[str]()
        try:
            for name in folder[len(beginning) :].split("/"):
                os.mkdir(name, dir_fd=descriptor)
                path = f"{path}/{name}" if path else name
                made.append(path)
                inner = self._beneath.open_folder(name, descriptor)
                if descriptor != self._descriptor:
                    os.close(descriptor)
                descriptor = inner
        except OSError:  # it is there, or was removed as empty, or is a link: that is seen when it is looked for
            if descriptor != self._descriptor:
                os.close(descriptor)
            return NewFolder(None, made)
        return NewFolder(descriptor, made)

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)
