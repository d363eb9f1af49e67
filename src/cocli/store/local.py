"""A store in a folder: one file per object, under the key as its path, readable with `ls`, `rg` and an editor.

- Content is complete before its name appears. A new object is a file without a name that is linked to its own
  (`unnamed`). Elsewhere, and to replace, it is a temporary file beside the target (its name holds a character that no
  key may contain, so it can never be taken for an object), then `link` or `rename`. A swap exchanges the two files and
  looks at what came out (`exchange`): editors take no locks.
- Swaps, replacements and deletions hold a lock file for that moment only; whoever dies lets go of it.
- A power cut: with `fsync="always"` an object is on the disk before `put` returns; `put_many` pays two
  synchronisations for the whole batch instead of two per file. Results of tasks pay one, from the ninth on: they are
  kept by a `journal` until the disk has them. With `fsync="never"` the kernel decides, and a power cut
  can leave empty files: for caches and tests.
- Folders that are symbolic links are not followed: whoever plants one in the tree gets nothing read or written
  through it.
"""

from __future__ import annotations

import errno
import itertools
import os
import secrets
import stat
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, TypeVar

from cocli import logs
from cocli.config.private import make_private
from cocli.errors import AlreadyExists, Conflict, InvalidKey, NotFound, StoreError, Unavailable
from cocli.keys.parts import MAX_KEY_BYTES, check_key, check_prefix
from cocli.keys.paths import is_completion
from cocli.store.base import ObjectInfo, Put, StoredObject
from cocli.store.bulk import answer
from cocli.store.conditions import check_put
from cocli.store.disk.beneath import Beneath, read_whole, sync_file_system
from cocli.store.disk.errors import failure, store_error, store_errors, translated
from cocli.store.disk.exchange import Exchange
from cocli.store.disk.last_holds import HELD, LastHolds, hold
from cocli.store.disk.new_folders import NewFolders
from cocli.store.disk.own_names import named_entries, place_of
from cocli.store.disk.results import Results
from cocli.store.disk.side_by_side import do_all
from cocli.store.disk.staged import StagedObject, remove_file, write_all
from cocli.store.disk.stripes import StripedLocks
from cocli.store.etag import content_etag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence, Sequence
    from collections.abc import Set as AbstractSet

    from cocli.store.disk.unnamed import UnnamedFile

_LOG = logs.get_logger(__name__)

Result = TypeVar("Result")
Fsync = Literal["always", "never"]

_TEMPORARY = ".tmp#"
_LOCKS_FOLDER = ".locks#"
_CLOCK_FILE = ".clock#"
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # non-blocking: a planted pipe must not hang us
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_CLOCK = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
_FOLDER_TRIES = 100
_BATCH_FILES = 1000
_first = itemgetter(0)
_MANY = 4  # from so many on, the file system is synchronised: that is quicker than one after the other
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV)
_OPEN = 64  # so many files of a `put_many` are kept open; of more, each is closed when it is written


class LocalStore:
    """A folder as a store. Safe for any number of threads and processes of one machine."""

    def __init__(self, root: str | os.PathLike[str], *, fsync: Fsync = "always") -> None:
        path = os.path.abspath(os.fspath(root))
        with store_errors(path, path):
            make_private(path)
        self._root = os.path.realpath(path)
        self._fsync = fsync == "always"
        self._beneath = Beneath(self._root)
        self._clock: int | None = None
        self._locks = StripedLocks(f"{self._root}/{_LOCKS_FOLDER}")
        self._holds = LastHolds(self._root)
        self._nonce = secrets.token_hex(4)
        self._counter = itertools.count()
        self._results = Results(self._root, self._beneath, self)
        self._results.journal.restore_after_power_cut()
        _LOG.debug("store opened: %s", self._root)

    @property
    def address(self) -> str:
        return self._root

    # --- single objects

    def get(self, key: str) -> StoredObject:
        check_key(key)
        try:
            data, modified = self._read(key)
        except OSError as error:
            raise translated(error, self._root, key) from error
        return StoredObject(key, data, content_etag(data), modified)

    def head(self, key: str) -> ObjectInfo:
        stored = self.get(key)  # the etag is that of the content, so the content is read
        return ObjectInfo(key, len(stored.data), stored.modified, stored.etag)

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        return self._put(Put(key, data, if_absent, if_match))

    def _put(self, put: Put) -> str:
        check_put(put.key, if_absent=put.if_absent, if_match=put.if_match)
        if not self._fsync or not is_completion(put.key):
            return self.put_object(put)
        (etag,) = self._results.put([put])
        if isinstance(etag, StoreError):
            raise etag
        return etag

    def put_object(self, put: Put) -> str:
        with store_errors(self._root, put.key):
            staged = self._stage(put, keep_open=True)
            try:
                self._sync_contents([staged])
                self._publish(put, staged)
                if self._fsync and staged.durable:
                    self._sync_names([staged])
            finally:
                staged.close()
        return staged.etag

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        folder = self._delete(key, if_match)
        if folder is None:
            return
        if self._fsync:
            with store_errors(self._root, key):
                self._sync_folders([folder])
        self._remove_empty_folders([folder])

    def _delete(self, key: str, if_match: str | None = None, held: MutableSequence[int] | None = None) -> str | None:
        """The folder in which there is one name less now; None if it was gone already."""
        check_key(key)
        folder, _, name = place_of(self._root, key).rpartition("/")
        with store_errors(self._root, key):
            self._results.settle_for(key)
            try:
                descriptor = self._beneath.open(folder or ".", _FOLDER)
            except (FileNotFoundError, NotADirectoryError):
                return None
            try:
                if held is not None:
                    held.append(hold(name, descriptor))
                with self._locks.hold(key):
                    if if_match is None:
                        os.unlink(name, dir_fd=descriptor)
                    elif not Exchange(descriptor, name, self._temporary()).remove(if_match):
                        raise Conflict(key=key)
            except FileNotFoundError:
                return None
            finally:
                if held is None:
                    os.close(descriptor)
                else:
                    held.append(descriptor)
        return folder

    def list(self, prefix: str = "", *, start_after: str | None = None) -> Iterator[ObjectInfo]:
        check_prefix(prefix)
        folder = place_of(self._root, prefix.rstrip("/"))
        with store_errors(self._root, prefix):
            try:
                os.close(self._beneath.open(folder or ".", _FOLDER))
            except (FileNotFoundError, NotADirectoryError):
                return
        yield from self._walk(f"{self._root}/{folder}".rstrip("/"), prefix, start_after or "")

    def now(self) -> datetime:
        """The file system's clock: on a shared disk it is the server's, and the same one that dates the files."""
        try:
            if self._clock is None:
                try:
                    self._clock = self._beneath.open(_CLOCK_FILE, _CLOCK)
                except OSError:
                    if os.access(self._root, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
                        raise
                    return datetime.now(UTC)  # a process that may only read holds no lease: any clock will do
            os.utime(self._clock)
            return _time(os.fstat(self._clock))
        except OSError as error:
            raise store_error(error, self._root, _CLOCK_FILE) from error

    def close(self) -> None:
        self._results.journal.close()
        self._holds.close()
        self._close_descriptors()

    def _close_descriptors(self) -> None:
        self._beneath.close()
        self._locks.close()
        clock, self._clock = self._clock, None
        if clock is not None:
            os.close(clock)

    def __del__(self) -> None:
        if hasattr(self, "_results"):  # else it was never opened
            # A store that was forgotten does not keep its descriptors; nor does it wait for the disk at any odd moment.
            self._results.journal.close(settle=False)
            self._close_descriptors()

    # --- many objects

    def get_many(self, keys: Iterable[str]) -> Sequence[StoredObject | StoreError]:
        return [answer(self.get, key) for key in keys]

    def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
        remaining, answers = iter(puts), list[str | StoreError]()
        while batch := list(itertools.islice(remaining, _BATCH_FILES)):
            if self._fsync and len(batch) > 1:
                answers += self._results.put(batch)
            else:
                answers += [answer(self._put, put) for put in batch]
        return answers

    def delete_many(
        self, keys: Iterable[str], *, if_match: Mapping[str, str] | None = None, durable: bool = True
    ) -> Sequence[StoreError | None]:
        """Folders that became empty go in the end, and are synchronised once."""
        etags = if_match or {}
        every = list(keys)
        synced = durable and self._fsync
        if synced or not self._holds.are_worth_it(len(every)):
            return self._delete_some(every, etags, synced=synced)
        answers: list[StoreError | None] = []
        for start in range(0, len(every), HELD):
            held: list[int] = []
            try:
                answers += self._delete_some(every[start : start + HELD], etags, held)
            finally:
                self._holds.let_go(held)
        return answers

    def delete_folders(self, folders: Sequence[str], names: Sequence[str]) -> Sequence[StoreError | None]:
        """As `RemovesFolders` has it. Each folder is opened once, for all of its names."""
        if not self._holds.are_worth_it(len(folders)):
            return self._delete_by_name(folders, names)
        answers: list[StoreError | None] = []
        for start in range(0, len(folders), HELD):
            some, held = folders[start : start + HELD], list[int]()
            try:
                answers += [self._delete_folder(names, held, folder) for folder in some]
            finally:
                self._holds.let_go(held)
        removed = (folder for folder, error in zip(folders, answers, strict=True) if error is None)
        self._remove_empty_folders(dict.fromkeys(folder[:-1].rpartition("/")[0] for folder in removed))
        return answers

    def _delete_by_name(self, folders: Sequence[str], names: Sequence[str]) -> Sequence[StoreError | None]:
        """From all folders the first, then the next from those where that went well."""
        failed: dict[str, StoreError] = {}
        for name in names:
            some = [folder for folder in folders if folder not in failed]
            answers = self.delete_many([folder + name for folder in some], durable=False)
            failed |= {folder: error for folder, error in zip(some, answers, strict=True) if error is not None}
        return [failed.get(folder) for folder in folders]

    def _delete_folder(self, names: Sequence[str], held: MutableSequence[int], folder: str) -> StoreError | None:
        place = folder[:-1]
        try:
            check_prefix(folder)
            descriptor = self._beneath.open(place, _FOLDER)
            held.append(descriptor)
            for name in names:
                try:
                    held.append(hold(name, descriptor))
                    with self._locks.hold(folder + name):
                        os.unlink(name, dir_fd=descriptor)
                except FileNotFoundError:
                    continue
        except StoreError as error:
            return error
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return store_error(error, self._root, folder)
        with suppress(OSError):  # not empty, or in use by somebody: it stays
            os.rmdir(f"{self._root}/{place}")
        return None

    def _delete_some(
        self,
        keys: Sequence[str],
        etags: Mapping[str, str],
        held: MutableSequence[int] | None = None,
        *,
        synced: bool = False,
    ) -> Sequence[StoreError | None]:
        """`held` gets the descriptors that are to be closed afterwards; without it they are closed at once."""

        def remove(key: str) -> str | StoreError | None:
            return answer(partial(self._delete, if_match=etags.get(key), held=held), key)

        # What is held open waits for no device when it loses its name. In a busy process it waits for Python's own
        # lock, and threads would only stand in line for that.
        folders = do_all(remove, keys) if held is None else [remove(key) for key in keys]
        answers = [folder if isinstance(folder, StoreError) else None for folder in folders]
        touched = list(dict.fromkeys(folder for folder in folders if isinstance(folder, str)))
        if synced and touched:
            failed = failure(self._root, partial(self._sync_folders, touched))
            if failed is not None:
                return [failed if error is None else error for error in answers]
        self._remove_empty_folders(touched)
        return answers

    def sweep(self, *, older_than: float = 3600.0) -> int:
        """Remove temporary files that a killed writer left. They do no harm but take space; returns how many."""
        limit, swept = self.now().timestamp() - older_than, 0
        for folder, _, names in os.walk(self._root):
            for name in names:
                if name.startswith(_TEMPORARY) and _is_older(f"{folder}/{name}", limit):
                    remove_file(f"{folder}/{name}")
                    swept += 1
        return swept

    # --- reading

    def get_bytes(self, key: str) -> bytes:
        return self._read(key)[0]

    def _read(self, key: str) -> tuple[bytes, datetime]:
        try:
            descriptor = self._beneath.open(place_of(self._root, key), _READ)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(key=key) from None
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise _no_object(key, status)
            return read_whole(descriptor, status.st_size), _time(status)
        finally:
            os.close(descriptor)

    def _walk(self, folder: str, prefix: str, start_after: str) -> Iterator[ObjectInfo]:
        """Depth first in key order: a folder sorts as its name with a slash, as it does in the keys below it."""
        with store_errors(self._root, prefix):
            entries = _entries(folder, prefix)
        for name, entry in entries:
            key = prefix + name
            if name.endswith("/"):
                if key > start_after or start_after.startswith(key):
                    yield from self._walk(entry.path, key, start_after)
            elif key > start_after and len(key) <= MAX_KEY_BYTES:
                with suppress(FileNotFoundError):  # deleted since the folder was read: then it is not listed
                    status = entry.stat(follow_symlinks=False)
                    yield ObjectInfo(key, status.st_size, _time(status))

    # --- writing

    def _stage(
        self, put: Put, *, keep_open: bool, folders: NewFolders | None = None, is_kept: bool = False
    ) -> StagedObject:
        """`is_kept`: the journal has it, so the disk may take its time."""
        place = place_of(self._root, put.key)
        folder, slash, _ = place.rpartition("/")
        durable = put.durable and not is_kept
        staged = StagedObject(f"{self._root}/{place}", folder, content_etag(put.data), durable)
        if keep_open and put.if_absent and self._beneath.allows_unnamed:
            staged.unnamed, staged.folders = self._unnamed(put.key, folder, folders)
        descriptor = staged.unnamed.descriptor if staged.unnamed else None
        if descriptor is None:
            name = f"{folder}{slash}{self._temporary()}"
            staged.temporary = f"{self._root}/{name}"
            created, made = self._in_folder(put.key, folder, partial(self._create, name))
            descriptor = staged.descriptor = created
            staged.folders = [*staged.folders, *made]
        try:
            write_all(descriptor, put.data)
        except BaseException:  # whatever ends the write, nothing of it stays
            staged.discard()
            raise
        if not keep_open:
            staged.close_temporary()
        return staged

    def _unnamed(self, key: str, folder: str, folders: NewFolders | None) -> tuple[UnnamedFile | None, Sequence[str]]:
        """A file without a name, and which folders had to be made for it. `folders` are those of its batch."""
        if folders is None:
            return self._in_folder(key, folder, self._beneath.create_unnamed)
        descriptor, made = folders.make(folder)
        if descriptor is not None:
            return self._beneath.unnamed_in(descriptor), made
        unnamed, more = self._in_folder(key, folder, self._beneath.create_unnamed)
        if more:
            folders.note(more)
        return unnamed, [*made, *more]

    def _create(self, name: str, _: str) -> int:
        return self._beneath.open(name, _WRITE)

    def _temporary(self) -> str:
        # The process id as well: a forked child has its parent's nonce and counter.
        return f"{_TEMPORARY}{self._nonce}-{os.getpid()}-{next(self._counter)}"

    def _in_folder(self, key: str, folder: str, action: Callable[[str], Result]) -> tuple[Result, Sequence[str]]:
        """Do something in the folder of a key, and say which folders had to be made for it."""
        made: Sequence[str] = ()
        for _ in range(_FOLDER_TRIES):
            try:
                return action(folder or "."), made
            except FileNotFoundError:
                # The folder is not there yet, or was removed as empty between making it and using it: again.
                made = self._make_folders(folder)
            except NotADirectoryError:
                raise InvalidKey(
                    key=key, part=key, reason="lies below an object, which cannot be a folder as well"
                ) from None
        raise Unavailable(address=self._root, reason=f"the folder of {key} vanished {_FOLDER_TRIES} times")

    def _make_folders(self, folder: str) -> Sequence[str]:
        """Those that were missing, outermost first, relative to the root."""
        above, _, name = folder.rpartition("/")
        made: Sequence[str] = ()
        try:
            descriptor = self._beneath.open(above or ".", _FOLDER)
        except FileNotFoundError:
            made = self._make_folders(above)
            try:
                descriptor = self._beneath.open(above, _FOLDER)
            except FileNotFoundError:
                return made  # removed as empty meanwhile: _create looks again
        try:
            os.mkdir(name, dir_fd=descriptor)
        except (FileExistsError, FileNotFoundError):
            pass  # somebody else made or removed it: _create looks again
        finally:
            os.close(descriptor)
        return [*made, folder]

    def _publish(self, put: Put, staged: StagedObject) -> None:
        """Give the content its name, if the condition holds. The temporary name is gone afterwards in any case."""
        key = put.key
        if put.if_match is not None:
            self._swap(key, staged, put.if_match)
            return
        if staged.unnamed is not None:
            try:
                self._name(key, staged, staged.unnamed)
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                self._publish_named(put)
            return
        try:
            if put.if_absent:
                self._link(key, staged)
            else:
                with self._locks.hold(key):
                    os.rename(staged.temporary, staged.path)
        except BaseException:  # whatever ends the write, nothing of it stays
            remove_file(staged.temporary)
            raise

    def _name(self, key: str, staged: StagedObject, unnamed: UnnamedFile) -> None:
        """Nothing lies in its folder meanwhile, so that may be removed as empty: then it is made again."""
        name = staged.path.rpartition("/")[2]
        try:
            unnamed.link(name)
        except FileExistsError:
            raise AlreadyExists(key=key) from None
        except FileNotFoundError:
            reopen = partial(self._relink, unnamed, name)
            try:
                _, staged.folders = self._in_folder(key, staged.folder, reopen)
            except FileExistsError:
                raise AlreadyExists(key=key) from None

    def _publish_named(self, put: Put) -> None:
        """Where a file without a name can be made, and cannot be given one: write it again under a temporary name."""
        self._beneath.forbid_unnamed()
        staged = self._stage(put, keep_open=True)
        try:
            self._sync_contents([staged])
            self._publish(put, staged)
        finally:
            staged.close()

    def _relink(self, unnamed: UnnamedFile, name: str, folder: str) -> None:
        unnamed.move(self._beneath.open(folder, _FOLDER))
        unnamed.link(name)

    def _swap(self, key: str, staged: StagedObject, if_match: str) -> None:
        """The lock keeps other processes of ours away, the exchange sees what editors do: they take no lock."""
        started = False
        try:
            descriptor = self._beneath.open(staged.folder or ".", _FOLDER)
            try:
                with self._locks.hold(key):
                    name, temporary = (path.rpartition("/")[2] for path in (staged.path, staged.temporary))
                    started = True
                    if not Exchange(descriptor, name, temporary).replace(if_match, staged.etag):
                        raise Conflict(key=key)
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            raise Conflict(key=key) from None
        finally:
            if not started:  # afterwards what has the temporary name may be a person's
                remove_file(staged.temporary)

    def _link(self, key: str, staged: StagedObject) -> None:
        try:
            os.link(staged.temporary, staged.path)
            os.unlink(staged.temporary)
        except FileExistsError:
            raise AlreadyExists(key=key) from None
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # A file system without hard links (exFAT, some network shares): the lock has to do.
            with self._locks.hold(key):
                if os.path.lexists(staged.path):
                    raise AlreadyExists(key=key) from None
                os.rename(staged.temporary, staged.path)

    # --- many together

    def put_together(
        self, batch: Sequence[Put], journaled: AbstractSet[str] = frozenset()
    ) -> Sequence[str | StoreError]:
        """Write all, sync once, name all, sync once: as safe as one by one, at the price of two. What the journal keeps
        pays its synchronisation, and those of the others are not waited for."""
        staged = self._stage_all(batch, journaled)
        written = [content for content in staged if isinstance(content, StagedObject)]
        durable = [content for content in written if content.durable]
        failed = None
        try:
            if durable:
                failed = failure(self._root, partial(self._sync_contents, written))
            else:
                for content in written:
                    content.close_temporary()
            if failed is None and journaled:
                failed = failure(self._root, partial(self._results.keep, batch, staged, journaled))
            if failed is not None:
                return [failed] * len(batch)
            answers = [self._publish_put(put, content) for put, content in zip(batch, staged, strict=True)]
            if durable:
                failed = failure(self._root, partial(self._sync_names, durable))
        finally:
            for content in written:
                content.close()
        if failed is None:
            return answers
        return [etag if isinstance(etag, StoreError) else failed for etag in answers]

    def _stage_all(self, batch: Sequence[Put], journaled: AbstractSet[str]) -> Sequence[StagedObject | StoreError]:
        keep_open, folders = len(batch) <= _OPEN, NewFolders(self._beneath)
        try:
            return [self._stage_put(put, keep_open, put.key in journaled, folders) for put in batch]
        finally:
            folders.close()

    def _stage_put(self, put: Put, keep_open: bool, is_kept: bool, folders: NewFolders) -> StagedObject | StoreError:
        key, _, if_absent, if_match, _ = put
        try:
            check_put(key, if_absent=if_absent, if_match=if_match)
            if is_kept:
                self._results.check_absent(key)
            return self._stage(put, keep_open=keep_open, folders=folders, is_kept=is_kept)
        except StoreError as error:
            return error
        except OSError as error:
            return store_error(error, self._root, key)

    def _publish_put(self, put: Put, staged: StagedObject | StoreError) -> str | StoreError:
        if isinstance(staged, StoreError):
            return staged
        try:
            self._publish(put, staged)
        except StoreError as error:
            return error
        except OSError as error:
            return store_error(error, self._root, put.key)
        return staged.etag

    # --- reaching the disk

    def _sync_contents(self, written: Sequence[StagedObject]) -> None:
        """Before any of them gets its name, but for what a power cut may undo. If it fails, nothing of them stays.
        Nobody writes to a file afterwards: what has a temporary name is closed."""
        kept = [staged for staged in written if staged.durable]
        try:
            if self._fsync and len(kept) >= _MANY:
                sync_file_system(self._root)
            elif self._fsync:
                for staged in kept:
                    staged.sync()
        except BaseException:
            for staged in written:
                staged.discard()
            raise
        for staged in written:
            staged.close_temporary()

    def _sync_names(self, written: Sequence[StagedObject]) -> None:
        folders: dict[str, None] = {}
        for staged in written:
            folders[staged.folder] = None
            folders.update((made.rpartition("/")[0], None) for made in staged.folders)
        self._sync_folders(list(folders))

    def _sync_folders(self, folders: Sequence[str]) -> None:
        if len(folders) >= _MANY:
            sync_file_system(self._root)
            return
        for folder in folders:
            with suppress(FileNotFoundError):  # removed as empty meanwhile: then there is no name in it to keep
                descriptor = self._beneath.open(folder or ".", _FOLDER)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)

    def _remove_empty_folders(self, folders: Iterable[str]) -> None:
        above: dict[str, None] = {}
        for folder in folders:
            if folder:
                with suppress(OSError):  # not empty, or in use by somebody: it stays
                    os.rmdir(f"{self._root}/{folder}")
                    above[folder.rpartition("/")[0]] = None
        if above:
            self._remove_empty_folders(above)


def _entries(folder: str, prefix: str) -> list[tuple[str, os.DirEntry[str]]]:
    """The files and folders that a key can name, sorted as their keys sort. Links and foreign names are left out."""
    found = []
    try:
        with os.scandir(folder) as scan:
            for name, entry in named_entries(scan, prefix):
                if entry.is_file(follow_symlinks=False):
                    found.append((name, entry))
                elif entry.is_dir(follow_symlinks=False):
                    found.append((f"{name}/", entry))
    except (FileNotFoundError, NotADirectoryError):
        return []  # removed since its parent was read
    found.sort(key=_first)
    return found


def _no_object(key: str, status: os.stat_result) -> StoreError:
    if stat.S_ISDIR(status.st_mode):
        return NotFound(key=key)
    return InvalidKey(key=key, part=key.rsplit("/", 1)[-1], reason="is neither a file nor a folder on the disk")


def _is_older(path: str, limit: float) -> bool:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime < limit
    except FileNotFoundError:
        return False  # its writer lives, and has just finished


def _time(status: os.stat_result) -> datetime:
    return datetime.fromtimestamp(status.st_mtime, UTC)
