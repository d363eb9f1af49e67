"""What a power cut may leave of a folder: every change that a program made is recorded, and any moment can be replayed.

The model is harsher than most file systems. Of the changes to names (files and folders, each within its folder) that
were not synchronised, any may be there and any may be gone; a file whose content was not synchronised may have half of
it, or half of what was written last. `fsync` of a file keeps its content, and not its name; `fsync` of a folder keeps
the names in it, and not the folder's own; `syncfs` keeps everything.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from cocli.store import local
from cocli.store.disk import beneath, exchange, journal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import pytest

_OWN = (".tmp#", ".clock#", ".locks#")
"""How the names begin that are none of an object: what becomes of them nobody reads."""


class Sync(Enum):
    CONTENT = auto()
    NAMES = auto()
    ALL = auto()
    JOURNAL = auto()
    """The content of a journal, with every record."""
    SETTLED = auto()
    """Everything, before a journal is removed."""


@dataclass(eq=False)
class RecordedFile:
    """`data` is all that was written to it."""

    data: bytes = b""


@dataclass(eq=False)
class RecordedFolder:
    """One life of a folder: one that is removed and made again is another."""


@dataclass(frozen=True, slots=True)
class Named:
    """A name in a folder, of a file or of a folder; of nothing any more, where the target is None."""

    folder: RecordedFolder
    name: str
    target: RecordedFile | RecordedFolder | None


@dataclass(frozen=True, slots=True)
class Written:
    file: RecordedFile
    start: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Synced:
    """`target` is None where everything was synchronised."""

    kind: Sync
    target: RecordedFile | RecordedFolder | None = None


class RecordedDisk:
    """Records what is done below `root`, which is empty. `ignored` are synchronisations that are not made: a disk that
    lies, or a program that forgets them."""

    def __init__(self, root: str, ignored: Collection[Sync] = ()) -> None:
        self.changes: list[Named | Written | Synced] = []
        self._root = root
        self._ignored = ignored
        self._files: dict[int, RecordedFile] = {}
        """By inode, the last life of each."""
        self._folders = {"": RecordedFolder()}

    # --- recording

    def record(self, patch: pytest.MonkeyPatch) -> None:
        """From now on. Every call is made as well: the program sees a real folder."""
        for name in ("write", "pwrite", "fsync", "fdatasync", "link", "unlink", "rename", "mkdir", "rmdir"):
            patch.setattr(os, name, _followed(getattr(os, name), getattr(self, f"_{name}")))
        rename, sync = exchange._rename, beneath.sync_file_system
        patch.setattr(exchange, "_rename", _followed(rename, self._exchange))
        patch.setattr(local, "sync_file_system", _followed(sync, lambda _: self._sync(Synced(Sync.ALL))))
        patch.setattr(journal, "sync_file_system", _followed(sync, lambda _: self._sync(Synced(Sync.SETTLED))))

    def _write(self, descriptor: int, data: bytes) -> None:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return
        start = os.lseek(descriptor, 0, os.SEEK_CUR) - len(data)
        if not start:  # the first write: the inode may have had another life
            file = self._files[status.st_ino] = RecordedFile()
            path = os.readlink(f"/proc/self/fd/{descriptor}")
            if path.startswith(f"{self._root}/{journal.JOURNAL_FOLDER}/"):  # it has its name from the beginning
                self._name(path, None, file)
        self._pwrite(descriptor, data, start)

    def _pwrite(self, descriptor: int, data: bytes, start: int) -> None:
        file = self._files[os.fstat(descriptor).st_ino]
        self.changes.append(Written(file, start, bytes(data)))
        file.data = _overwritten(file.data, start, data)

    def _fsync(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            folder = self._below(os.readlink(f"/proc/self/fd/{descriptor}"))
            if folder in self._folders:  # else it was removed as empty meanwhile
                self._sync(Synced(Sync.NAMES, self._folders[folder]))
        else:
            self._sync(Synced(Sync.CONTENT, self._files[status.st_ino]))

    def _fdatasync(self, descriptor: int) -> None:
        self._sync(Synced(Sync.JOURNAL, self._files[os.fstat(descriptor).st_ino]))

    def _sync(self, synced: Synced) -> None:
        if synced.kind not in self._ignored:
            self.changes.append(synced)

    def _link(self, _: str, name: str, *, dst_dir_fd: int | None = None, **__: object) -> None:
        self._name(name, dst_dir_fd, self._file_at(name, dst_dir_fd))

    def _unlink(self, name: str, *, dir_fd: int | None = None) -> None:
        self._name(name, dir_fd, None)

    def _rename(self, old: str, new: str, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        self._name(old, src_dir_fd, None)
        self._name(new, dst_dir_fd, self._file_at(new, dst_dir_fd))

    def _exchange(self, folder: int, old: str, new: str, _: int) -> None:
        for name in (old, new):
            self._name(name, folder, self._file_at(name, folder))

    def _mkdir(self, name: str, *_: object, dir_fd: int | None = None) -> None:
        folder = self._folders[self._path(name, dir_fd)] = RecordedFolder()
        self._name(name, dir_fd, folder)

    def _rmdir(self, name: str) -> None:
        self._folders.pop(self._path(name, None))
        self._name(name, None, None)

    def _name(self, name: str, folder: int | None, target: RecordedFile | RecordedFolder | None) -> None:
        above, _, last = self._path(name, folder).rpartition("/")
        if not last.startswith(_OWN):
            self.changes.append(Named(self._folders[above], last, target))

    def _file_at(self, name: str, folder: int | None) -> RecordedFile | None:
        return self._files.get(os.stat(name, dir_fd=folder).st_ino)

    def _path(self, name: str, folder: int | None) -> str:
        return self._below(name if folder is None else f"{os.readlink(f'/proc/self/fd/{folder}')}/{name}")

    def _below(self, path: str) -> str:
        path = path.removesuffix(" (deleted)")
        assert path == self._root or path.startswith(f"{self._root}/"), f"{path} is outside of the folder"
        return path[len(self._root) + 1 :]

    # --- replaying

    def left_after(self, changes: int, keep: Callable[[], bool]) -> dict[str, bytes]:
        """The objects that are there after so many changes and a power cut. `keep` is asked for each change that was
        not synchronised."""
        names: _Names = defaultdict(dict)
        waiting: dict[RecordedFolder, list[Named]] = defaultdict(list)
        unsynced: dict[RecordedFile, list[Written]] = defaultdict(list)
        contents: dict[RecordedFile, bytes] = defaultdict(bytes)
        for change in self.changes[:changes]:
            if isinstance(change, Named):
                waiting[change.folder].append(change)
            elif isinstance(change, Written):
                unsynced[change.file].append(change)
            elif isinstance(change.target, RecordedFile):
                _write_down(contents, unsynced.pop(change.target, []))
            elif isinstance(change.target, RecordedFolder):
                _apply(names, waiting.pop(change.target, []))
            else:
                for writes in unsynced.values():
                    _write_down(contents, writes)
                unsynced.clear()
                for named in waiting.values():
                    _apply(names, named)
                waiting.clear()
        for named in waiting.values():
            _apply(names, [change for change in named if keep()])
        files = _files_below(self._folders[""], "", names)
        return {key: _content(contents[file], unsynced.get(file, []), keep) for key, file in files}


_Names = dict[RecordedFolder, dict[str, RecordedFile | RecordedFolder]]


def _followed(call: Callable[..., Any], told: Callable[..., None]) -> Callable[..., Any]:
    def both(*words: Any, **how: Any) -> Any:
        answer = call(*words, **how)
        told(*words, **how)
        return answer

    return both


def _apply(names: _Names, changes: list[Named]) -> None:
    for change in changes:
        if change.target is None:
            names[change.folder].pop(change.name, None)
        else:
            names[change.folder][change.name] = change.target


def _write_down(contents: dict[RecordedFile, bytes], writes: list[Written]) -> None:
    for write in writes:
        contents[write.file] = _overwritten(contents[write.file], write.start, write.data)


def _content(content: bytes, unsynced: list[Written], keep: Callable[[], bool]) -> bytes:
    for write in unsynced:
        there = write.data if keep() else write.data[: len(write.data) // 2]
        content = _overwritten(content, write.start, there)
    return content


def _overwritten(content: bytes, start: int, data: bytes) -> bytes:
    return content[:start].ljust(start, b"\0") + data + content[start + len(data) :]


def _files_below(folder: RecordedFolder, path: str, names: _Names) -> list[tuple[str, RecordedFile]]:
    found: list[tuple[str, RecordedFile]] = []
    for name, target in sorted(names[folder].items()):
        if isinstance(target, RecordedFile):
            found.append((path + name, target))
        else:
            found += _files_below(target, f"{path}{name}/", names)
    return found
