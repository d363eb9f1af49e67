"""What only a folder can get wrong: kills, links, permissions, full disks, foreign files, leftovers."""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.kit.effort import effort

from cocli.errors import AlreadyExists, Denied, InvalidKey, NotFound, StoreError, StoreFull, Unavailable
from cocli.store import Put
from cocli.store.disk.stripes import StripedLocks, StripesTimeout
from cocli.store.disk.unnamed import can_link_unnamed
from cocli.store.local import LocalStore

KILL_LOOP = Path(__file__).with_name("kill_loop.py")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(folder: Path) -> LocalStore:
    return LocalStore(folder, fsync="never")


@pytest.mark.parametrize(("fsync", "kills"), [("never", effort(150)), ("always", effort(60))])
def test_killed_writers_leave_the_old_or_the_new_object(folder: Path, fsync: str, kills: int) -> None:
    done = subprocess.run([sys.executable, KILL_LOOP, folder, str(kills), fsync], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made, whole = map(int, done.stdout.split())
    assert made == kills
    assert whole > kills  # the loop saw objects after most kills, so it proved something


def test_files_are_what_people_expect(store: LocalStore, folder: Path) -> None:
    store.put("campaigns/x/config.toml", b"[campaign]\n")
    assert (folder / "campaigns/x/config.toml").read_bytes() == b"[campaign]\n"
    (folder / "campaigns/x/config.toml").write_bytes(b"edited by hand")
    assert store.get("campaigns/x/config.toml").data == b"edited by hand"


def test_a_symlinked_folder_is_not_followed(store: LocalStore, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"s")
    (folder / "link").symlink_to(outside)
    for call in (
        lambda: store.get("link/secret"),
        lambda: store.put("link/new", b"x"),
        lambda: store.put("link/deep/er/new", b"x"),
        lambda: store.put("link/secret", b"x", if_absent=True),
        lambda: store.put("link/secret", b"x", if_match="y"),
        lambda: store.delete("link/secret"),
        lambda: list(store.list("link/")),
    ):
        with pytest.raises(InvalidKey, match="symbolic link"):
            call()
    assert [isinstance(answer, InvalidKey) for answer in store.put_many([Put("link/a", b"1")] * 5)] == [True] * 5
    assert list(store.list()) == []
    assert sorted(os.listdir(outside)) == ["secret"]
    assert (outside / "secret").read_bytes() == b"s"


def test_a_folder_that_becomes_a_link_is_not_followed_either(store: LocalStore, folder: Path, tmp_path: Path) -> None:
    store.put("a/b", b"1")
    outside = tmp_path / "outside"
    (folder / "a").rename(outside)
    (folder / "a").symlink_to(outside)
    with pytest.raises(InvalidKey):
        store.get("a/b")
    with pytest.raises(InvalidKey):
        store.put("a/b", b"2")
    with pytest.raises(InvalidKey):
        store.delete("a/b")
    assert (outside / "b").read_bytes() == b"1"


def test_a_symlinked_object_is_not_followed(store: LocalStore, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"s")
    (folder / "key").symlink_to(tmp_path / "secret")
    with pytest.raises(InvalidKey):
        store.get("key")
    assert list(store.list()) == []
    store.put("key", b"mine")
    assert (tmp_path / "secret").read_bytes() == b"s"
    assert store.get("key").data == b"mine"


def test_a_root_that_is_a_link_is_fine(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "data").symlink_to(tmp_path / "disk")
    LocalStore(tmp_path / "data", fsync="never").put("a/b", b"1")
    assert (tmp_path / "disk/a/b").read_bytes() == b"1"


def test_a_pipe_in_the_tree_does_not_hang_a_reader(store: LocalStore, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(InvalidKey):
        store.get("pipe")
    assert list(store.list()) == []


def test_foreign_files_are_neither_listed_nor_touched(store: LocalStore, folder: Path) -> None:
    store.put("a/real", b"1")
    for name in ("My note.md", ".tmp#dead", "naïve", "x:y"):
        (folder / "a" / name).write_bytes(b"person's")
    assert [info.key for info in store.list()] == ["a/real"]
    store.delete("a/real")
    assert sorted(os.listdir(folder / "a")) == sorted(["My note.md", ".tmp#dead", "naïve", "x:y"])


def test_empty_folders_do_not_stay(store: LocalStore, folder: Path) -> None:
    store.put("a/b/c/d", b"1")
    store.put("a/x", b"1")
    store.delete("a/b/c/d")
    assert os.listdir(folder / "a") == ["x"]
    store.delete_many(["a/x"])
    assert not (folder / "a").exists()


def test_an_object_cannot_be_a_folder(store: LocalStore) -> None:
    store.put("a/b", b"1")
    with pytest.raises(InvalidKey):
        store.put("a/b/c", b"2")
    with pytest.raises(InvalidKey):
        store.put("a", b"2")
    with pytest.raises(AlreadyExists):
        store.put("a", b"2", if_absent=True)
    with pytest.raises(NotFound):
        store.get("a")


def test_a_full_disk_is_said_and_leaves_nothing(store: LocalStore, folder: Path) -> None:
    store.put("a", b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(StoreFull) as full:
            store.put("a", b"x" * 5000)
        with pytest.raises(StoreFull):
            store.put("new/one", b"x" * 5000, if_absent=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not full.value.retryable
    assert store.get("a").data == b"old"
    assert sorted(os.listdir(folder)) == ["a", "new"] or sorted(os.listdir(folder)) == [".locks#", "a", "new"]
    assert os.listdir(folder / "new") == []


def test_a_denied_write_is_said(store: LocalStore, folder: Path) -> None:
    store.put("a/b", b"1")
    (folder / "a").chmod(0o555)
    for parent in folder.parents[:3]:  # pytest's own folders are closed to others
        parent.chmod(0o755)
    script = (
        "import os, sys; from cocli.errors import Denied; from cocli.store.local import LocalStore\n"
        "if os.getuid() == 0: os.setuid(65534)  # the superuser may write everywhere\n"
        "try: LocalStore(sys.argv[1]).put('a/c', b'2')\n"
        "except Denied as error: print(error.code, error.details['credentials'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, folder], capture_output=True, text=True)
    assert done.stdout.startswith("denied user "), done.stderr
    assert os.listdir(folder / "a") == ["b"]
    (folder / "a").chmod(0o755)


def test_a_stopped_holder_of_a_lock_does_not_stop_everybody_for_ever(tmp_path: Path) -> None:
    held, waiting = (StripedLocks(str(tmp_path / "locks"), timeout=0.2) for _ in range(2))
    with held.hold("key"), pytest.raises(StripesTimeout), waiting.hold("key"):
        pass
    with waiting.hold("key"):
        pass


def test_a_stopped_writer_is_reported_as_unavailable(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    etag = store.put("key", b"1")
    monkeypatch.setattr(store, "_locks", StripedLocks(f"{store.address}/.locks#", timeout=0.2))
    with StripedLocks(f"{store.address}/.locks#").hold("key"), pytest.raises(Unavailable, match="locked"):
        store.put("key", b"2", if_match=etag)


def test_locks_do_not_leak_into_a_forked_child(folder: Path) -> None:
    """A child that used its parent's open lock file would be let in beside it."""
    script = (
        "import os, sys; from cocli.store.disk.stripes import *\n"
        "locks = StripedLocks(sys.argv[1], timeout=0.3)\n"
        "with locks.hold('k'): pass  # opens the lock file before the fork\n"
        "ready, go = os.pipe()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os.read(ready, 1)\n"
        "    try:\n"
        "        with locks.hold('k'): os._exit(1)\n"
        "    except StripesTimeout: os._exit(0)\n"
        "with locks.hold('k'):\n"
        "    os.write(go, b'!')\n"
        "    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert subprocess.run([sys.executable, "-c", script, folder], timeout=20).returncode == 0


def test_without_hard_links_create_still_has_one_winner(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    winners: list[int] = []
    gate = threading.Barrier(8)

    def create(number: int) -> None:
        gate.wait()
        try:
            store.put("k", b"%d" % number, if_absent=True)
        except AlreadyExists:
            return
        winners.append(number)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(winners) == 1
    assert store.get("k").data == b"%d" % winners[0]


def test_folders_removed_while_others_write_into_them(store: LocalStore) -> None:
    """Deleting the last object of a folder races with creating another one in it."""
    failures: list[Exception] = []

    def churn(number: int) -> None:
        try:
            for _ in range(200):
                store.put(f"a/b/{number}", b"x")
                store.delete(f"a/b/{number}")
        except Exception as error:  # noqa: BLE001 - collected and asserted on below
            failures.append(error)

    threads = [threading.Thread(target=churn, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_an_older_kernel_is_just_as_safe(store: LocalStore, folder: Path, tmp_path: Path) -> None:
    """Without `openat2` a file or folder is opened first and asked where it lies."""
    store._beneath._syscall = None
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"s")
    (folder / "link").symlink_to(outside)
    store.put("a/b/c", b"1")
    assert store.get("a/b/c").data == b"1"
    for call in (
        lambda: store.get("link/secret"),
        lambda: store.get("link"),
        lambda: store.put("link/new", b"x"),
        lambda: store.put("link/deep/er/new", b"x", if_absent=True),
        lambda: store.delete("link/secret"),
        lambda: list(store.list("link/")),
    ):
        with pytest.raises(InvalidKey, match="symbolic link"):
            call()
    assert os.listdir(outside) == ["secret"]
    with pytest.raises(NotFound):
        store.get("a/c")
    assert [info.key for info in store.list("a/")] == ["a/b/c"]
    store.delete("a/b/c")
    assert not (folder / "a").exists()


@pytest.mark.parametrize("fsync", ["never", "always"])
def test_many_are_deleted_with_their_folders(folder: Path, fsync: str) -> None:
    store = LocalStore(folder, fsync=fsync)  # type: ignore[arg-type]
    keys = [f"q/{n % 3}/{n}/{name}" for n in range(12) for name in ("task", "lease")]
    store.put_many([Put(key, b"1") for key in keys])
    (folder / "q/0/0/My note.md").write_bytes(b"person's")
    answers = store.delete_many(["q/1", *keys, "q/none/at/all", "../up"])
    assert [type(answer) for answer in answers if answer is not None] == [InvalidKey, InvalidKey]
    assert [str(path.relative_to(folder)) for path in folder.rglob("*.md")] == ["q/0/0/My note.md"]
    assert list(store.list()) == []
    assert sorted(os.listdir(folder / "q")) == ["0"]
    assert os.listdir(folder / "q/0") == ["0"]


def test_the_clock_is_that_of_the_file_system(store: LocalStore, folder: Path) -> None:
    before = store.now()
    store.put("a", b"1")
    (folder / ".clock#").unlink()  # somebody tidies up
    assert before <= store.get("a").modified <= store.now()
    store.close()


def test_who_may_only_read_is_told_the_time(store: LocalStore, folder: Path) -> None:
    store.put("a", b"1")
    reader = LocalStore(folder)
    folder.chmod(0o555)
    if os.geteuid() == 0:
        os.seteuid(65534)  # root may write everywhere
    try:
        assert abs(reader.now() - datetime.now(UTC)) < timedelta(minutes=1)
        with pytest.raises(Denied):
            reader.put("b", b"1")
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        folder.chmod(0o755)
    (folder / ".clock#").mkdir()
    with pytest.raises(StoreError):
        LocalStore(folder).now()  # who may write must have the file system's clock


def test_each_object_is_on_the_disk_before_it_has_its_name_and_before_the_put_returns(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for what a power cut may undo."""
    store, happened = LocalStore(folder, fsync="always"), list[str]()
    link, fsync = os.link, os.fsync

    def recorded_link(source: str, name: str, **how: object) -> None:
        happened.append(f"named {name.rpartition('/')[2]}")
        link(source, name, **how)  # type: ignore[arg-type]

    def recorded_fsync(descriptor: int) -> None:
        happened.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "content")
        fsync(descriptor)

    store.put("a/there", b"0")
    store.put("b/there", b"0")
    monkeypatch.setattr(os, "link", recorded_link)
    monkeypatch.setattr(os, "fsync", recorded_fsync)
    store.put_many([Put("a/kept", b"1", if_absent=True), Put("b/passing", b"2", if_absent=True, durable=False)])
    assert happened == ["content", "named kept", "named passing", "folder"]
    happened.clear()
    store.put_many([Put("b/passing2", b"2", if_absent=True, durable=False)])
    assert happened == ["named passing2"]
    happened.clear()
    store.put("a/new", b"3", if_absent=True)
    assert happened == ["content", "named new", "folder"]


@pytest.mark.skipif(not can_link_unnamed(), reason="this system has no files without a name")
def test_who_dies_before_the_name_leaves_nothing(
    store: LocalStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Died(BaseException):
        pass

    def die(*_: object, **__: object) -> None:
        raise Died

    store.put("a/there", b"0")
    monkeypatch.setattr(os, "link", die)
    with pytest.raises(Died):
        store.put("a/new", b"1", if_absent=True)
    assert [path.name for path in (folder / "a").iterdir()] == ["there"]
