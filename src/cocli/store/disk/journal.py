"""A journal of what was created lately: one synchronisation keeps an object until the disk has the object itself.

A new object costs two synchronisations, one for its content and one for its name. Where an object is created once and
never replaced, its key and content go into a file of this process instead, whose blocks are on the disk already: that
is one, and the cheapest there is. Then the object is made as ever, and the kernel writes it when it likes.

- Before anything is created, its key is locked, and it is looked for: no record is of an object that another has made.
- A journal is *settled* when it is full, when its process ends, and before any such object is removed or replaced: all
  that is written is brought to the disk, and the journal is removed. Whoever settles locks all keys at once, so nobody
  is between a record and its object. Anybody may settle any journal at any time.
- After a power cut, whoever opens the folder finds journals of an earlier start of the machine. What they hold and the
  disk lost, or has in halves, is made anew; then they are settled.

Only on Linux, and on disks of this machine: the journal of another machine tells nothing of a power cut there.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import threading
import zlib
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from cocli import logs
from cocli.errors import StoreError
from cocli.store.disk.beneath import read_whole, sync_file_system
from cocli.store.disk.key_locks import KeyLocks, locks_are_possible
from cocli.store.disk.own_disk import is_own_disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from cocli.store.disk.beneath import Beneath

_LOG = logs.get_logger(__name__)

JOURNAL_FOLDER = ".journal#"
SIZE = 1 << 20
"""Of a journal: some 1,500 results."""
_HEAD = "cocli-journal/1"
_RECORD = "create"
_WORDS = 4
_SHARE = 4
"""Of a journal, what is written together may take one in so many."""
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NAME = re.compile(r"[0-9]+-[0-9a-f]{8}")
"""Of a journal: its process, and chance."""


class JournalUsedUp(Exception):
    """The journal is full, or was settled by another process."""


class JournalRecord(NamedTuple):
    key: str
    data: bytes


class _JournalFile:
    """`end` is where the next record goes; what lies before `synced` is on the disk."""

    def __init__(self, descriptor: int, name: str, end: int) -> None:
        self.descriptor = descriptor
        self.name = name
        self.owner = os.getpid()
        self.end = end
        self.synced = end
        self.is_used_up = False


class ResultJournal:
    """The journal of this process in one folder, and those that others left. `restore` makes an object anew, unless it
    is there and whole."""

    def __init__(self, root: str, beneath: Beneath, restore: Callable[[str, bytes], None]) -> None:
        self._root = root
        self._beneath = beneath
        self._restore = restore
        self._locks = KeyLocks(beneath, f"{JOURNAL_FOLDER}/locks")
        self._file: _JournalFile | None = None
        self._is_broken = False
        self._preparing = threading.Lock()
        self._appending = threading.Lock()
        self._syncing = threading.Lock()

    # --- keeping

    def takes(self, size: int) -> bool:
        """Whether contents of so many bytes can be kept here, together."""
        return (
            size * _SHARE <= SIZE and not self._is_broken and self._beneath.allows_unnamed and _is_possible(self._root)
        )

    def prepare(self) -> bool:
        """Have a journal with room in it; False where there can be none. Called by who holds no keys."""
        file = self._file
        if file is not None and file.owner == os.getpid() and not file.is_used_up:
            return True
        try:
            with self._preparing:
                if file is self._file:
                    self._replace(file)
        except (
            OSError
        ) as error:  # a full disk, or a file system that lacks something: objects are synchronised one by one
            _LOG.warning("no journal can be kept: %s", error)
            self._is_broken = True
        return not self._is_broken

    def holding(self, keys: Sequence[str]) -> AbstractContextManager[None]:
        """Nobody else creates objects under these keys, nor settles a journal."""
        return self._locks.holding(keys)

    def keep(self, records: Sequence[JournalRecord]) -> None:
        """Bring them to the disk, together with what other threads write meanwhile. Their keys are held."""
        lines = b"".join([_rendered(record) for record in records])
        with self._appending:
            file = self._file
            if file is None or file.owner != os.getpid():
                raise JournalUsedUp
            is_settled = not os.fstat(file.descriptor).st_nlink
            if file.is_used_up or is_settled or file.end + len(lines) > SIZE:
                file.is_used_up = True
                raise JournalUsedUp
            if os.pwrite(file.descriptor, lines, file.end) != len(lines):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), file.name)
            file.end += len(lines)
            mine = file.end
        with self._syncing:
            if file.synced < mine:
                self._sync(file)

    def _sync(self, file: _JournalFile) -> None:
        end = file.end
        if self._is_broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO), file.name)
        try:
            os.fdatasync(file.descriptor)
        except OSError:
            self._is_broken = True  # nobody knows what the disk has: a second try would say that all is well
            raise
        file.synced = end

    def _replace(self, old: _JournalFile | None) -> None:
        with suppress(FileExistsError):
            os.mkdir(f"{self._root}/{JOURNAL_FOLDER}")
        mine = old is not None and old.owner == os.getpid()
        ended = [name for name in self._names() if _has_ended(name)]
        if old is not None and mine:
            ended.append(old.name)
        self._settle(ended)
        self._file = self._create()
        if old is not None:
            os.close(old.descriptor)

    def _create(self) -> _JournalFile:
        name = f"{os.getpid()}-{secrets.token_hex(4)}"
        descriptor = self._beneath.open(f"{JOURNAL_FOLDER}/{name}", _NEW)
        head = f"{_HEAD} {boot_id()}\n".encode()
        try:
            os.write(descriptor, head.ljust(SIZE, b"\0"))
            os.fsync(descriptor)
            self._sync_folder(JOURNAL_FOLDER)
            self._sync_folder(".")
        except BaseException:  # whatever it was, nothing of it stays
            os.close(descriptor)
            os.unlink(f"{self._root}/{JOURNAL_FOLDER}/{name}")
            raise
        return _JournalFile(descriptor, name, len(head))

    # --- settling

    def settle(self) -> None:
        """Before something is removed or replaced that a journal may hold: all of them."""
        self._settle(self._names())

    def restore_after_power_cut(self) -> None:
        """Make anew what the disk lost of journals that are older than the last start of this machine."""
        for name in self._names():
            try:
                data = self._read(name)
                if _is_of_this_start(data):
                    continue
                with self._locks.holding_all():
                    for record in read_journal(data):
                        self._restore(record.key, record.data)
                self._settle([name])
            except FileNotFoundError:
                continue  # another process has settled it
            except (OSError, StoreError) as error:  # who may only read goes on; else it is tried at the next opening
                _LOG.warning("what the journal %s holds could not be made anew now: %s", name, error)

    def close(self, *, settle: bool = True) -> None:
        """A journal that is not settled is found by the next process that makes one."""
        file, self._file = self._file, None
        try:
            if settle and file is not None and file.owner == os.getpid():
                self._settle([file.name])
        except OSError:
            pass  # the folder is gone, or full: what is left of the journal is settled by the next process
        finally:
            self._locks.close()
            if file is not None:
                os.close(file.descriptor)

    def _settle(self, names: Sequence[str]) -> None:
        if not names:
            return
        with self._locks.holding_all():
            sync_file_system(self._root)
            for name in names:
                with suppress(FileNotFoundError):  # somebody else was first
                    os.unlink(f"{self._root}/{JOURNAL_FOLDER}/{name}")
            self._sync_folder(JOURNAL_FOLDER)

    def _names(self) -> list[str]:
        try:
            names = os.listdir(f"{self._root}/{JOURNAL_FOLDER}")
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [name for name in names if _NAME.fullmatch(name)]

    def _read(self, name: str) -> bytes:
        descriptor = self._beneath.open(f"{JOURNAL_FOLDER}/{name}", _READ)
        try:
            return read_whole(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)

    def _sync_folder(self, folder: str) -> None:
        descriptor = self._beneath.open(folder, _FOLDER)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_journal(data: bytes) -> Iterator[JournalRecord]:
    """The records of a journal up to the first that is not whole: nobody was told that it is kept."""
    start = data.find(b"\n") + 1
    while start and (end := data.find(b"\n", start)) > 0:
        words = data[start:end].decode("ascii", "replace").split(" ")
        if len(words) != _WORDS or words[0] != _RECORD or not words[1].isdigit():
            return
        start = end + 1 + int(words[1])
        record = JournalRecord(words[3], data[end + 1 : start])
        if f"{_checksum(record):08x}" != words[2]:
            return
        yield record


def is_whole(data: bytes) -> bool:
    """Whether a power cut left all of an object that is kept here: every record ends with a line feed, and what a disk
    allotted and did not write reads as zeros."""
    return data.endswith(b"\n") and b"\0" not in data


def _rendered(record: JournalRecord) -> bytes:
    """One line that says what follows, and the content."""
    return f"{_RECORD} {len(record.data)} {_checksum(record):08x} {record.key}\n".encode("ascii") + record.data


def _checksum(record: JournalRecord) -> int:
    return zlib.crc32(record.data, zlib.crc32(record.key.encode("ascii")))


def _is_of_this_start(data: bytes) -> bool:
    return data.startswith(f"{_HEAD} {boot_id()}\n".encode())


def _has_ended(name: str) -> bool:
    """Whether the process whose journal it is does not live any more. If it does, all the same, elsewhere: it takes a
    new one."""
    try:
        os.kill(int(name.partition("-")[0]), 0)
    except (ProcessLookupError, OverflowError, ValueError):
        return True
    except PermissionError:
        return False
    return False


@cache
def boot_id() -> str:
    """Names the time since this machine was started; empty where the system does not tell."""
    with suppress(OSError), open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()
    return ""


@cache
def _is_possible(root: str) -> bool:
    """Whether this system has what it takes, and the folder is on a disk of this machine."""
    return locks_are_possible() and bool(boot_id()) and is_own_disk(root)
