"""The files as they were made last: asked by many, made once. Who changes something here empties it."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocli.app.web.data_file import DataFile
    from cocli.app.web.site import DataSite

_CHEAP_SECONDS, _DEAR_SECONDS = 1.0, 10.0
_CHEAP = ("dashboard.json", "queues.json", "machines.json", "config.json", "campaigns.json", "site.json")
_MOST_BYTES = 128 << 20


@dataclass(slots=True)
class _Cell:
    lock: threading.Lock = field(default_factory=threading.Lock)
    file: DataFile | None = None
    made_at: float = 0.0

    def is_fresh(self, path: str) -> bool:
        return self.file is not None and time.monotonic() - self.made_at < _seconds(path)


@dataclass(slots=True)
class FileCache:
    """Safe to share between threads: of those who ask for one path at once, one makes the file and the others wait."""

    site: DataSite
    _cells: OrderedDict[str, _Cell] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _bytes: int = 0

    def fresh(self, path: str) -> DataFile | None:
        """The file, if it was made just now. Never waits."""
        with self._lock:
            cell = self._cells.get(path)
        if cell is None or not cell.is_fresh(path):
            return None
        return cell.file

    def get(self, path: str) -> DataFile:
        cell = self._cell(path)
        with cell.lock:
            if cell.file is not None and cell.is_fresh(path):
                return cell.file
            made = self.site.file(path)
            self._keep(cell, made)
            return made

    def forget(self) -> None:
        """Something was changed through this server: whoever asks next sees it."""
        with self._lock:
            self._cells.clear()
            self._bytes = 0
        self.site.forget()

    def _cell(self, path: str) -> _Cell:
        with self._lock:
            cell = self._cells.setdefault(path, _Cell())
            self._cells.move_to_end(path)
            return cell

    def _keep(self, cell: _Cell, made: DataFile) -> None:
        before = len(cell.file.data) if cell.file else 0
        cell.made_at, cell.file = time.monotonic(), made
        with self._lock:
            self._bytes += len(made.data) - before
            while self._bytes > _MOST_BYTES and len(self._cells) > 1:
                _, oldest = self._cells.popitem(last=False)
                self._bytes -= len(oldest.file.data) if oldest.file else 0


def _seconds(path: str) -> float:
    return _CHEAP_SECONDS if path.endswith(_CHEAP) else _DEAR_SECONDS
