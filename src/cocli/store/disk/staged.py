"""An object whose content is written, and which has not got its name yet."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.store.disk.unnamed import UnnamedFile


@dataclass(slots=True)
class StagedObject:
    """It lies under a temporary name, or is a file that has none."""

    path: str
    folder: str
    """Where it lies, relative to the root."""
    etag: str
    durable: bool
    folders: Sequence[str] = ()
    """Those that were made for it, outermost first: their names have to reach the disk as well."""
    temporary: str = ""
    unnamed: UnnamedFile | None = None
    descriptor: int | None = None
    """Of the file with the temporary name, as long as it is to be synchronised."""

    def sync(self) -> None:
        descriptor = self.unnamed.descriptor if self.unnamed else self.descriptor
        if descriptor is not None:
            os.fsync(descriptor)

    def close(self) -> None:
        """After its name was given, or could not be."""
        if self.unnamed is not None:
            self.unnamed.close()
        self.close_temporary()

    def close_temporary(self) -> None:
        descriptor, self.descriptor = self.descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def discard(self) -> None:
        self.close()
        if self.temporary:
            remove_file(self.temporary)


def remove_file(path: str) -> None:
    with suppress(FileNotFoundError):  # renamed into place, or never made
        os.unlink(path)


def write_all(descriptor: int, data: bytes) -> None:
    written = os.write(descriptor, data)
    if written < len(data):
        view = memoryview(data)
        while written < len(data):
            written += os.write(descriptor, view[written:])
