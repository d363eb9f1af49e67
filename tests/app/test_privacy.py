"""What cocli makes on this machine is its owner's alone, and links that somebody planted there lead nowhere."""

from __future__ import annotations

import asyncio
import os
import random
import stat
import subprocess
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cocli.app.campaigns.campaign import new_campaign
from cocli.app.campaigns.in_use import use_campaign
from cocli.app.campaigns.publish_places import FolderPlace, LinkOptions
from cocli.app.doctor import diagnose
from cocli.app.documents.documents import opened_documents
from cocli.app.documents.tokens import load_tokens
from cocli.app.machines.this_machine import alone, machine_id
from cocli.app.program import Status
from cocli.app.setup import initialise
from cocli.app.workspace import open_workspace
from cocli.config.private import make_private
from cocli.config.resolve import Flags
from cocli.errors import CocliError
from cocli.index.cache import FolderCache
from cocli.index.queries.derived import DerivedFolder
from cocli.pipeline.sources.google_maps.browser.pace import Pace, PaceLimits
from cocli.store.local import LocalStore
from cocli.sync.state import SyncState

HOMES = {"COCLI_DATA_HOME": "data", "COCLI_STATE_HOME": "state", "COCLI_CACHE_HOME": "cache"}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {name: str(tmp_path / "home" / folder) for name, folder in HOMES.items()} | {"HOME": str(tmp_path / "home")}


@pytest.fixture(autouse=True)
def _generous_umask() -> object:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path | str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


# --- who may enter


def test_what_is_made_is_the_owners_alone(environ: dict[str, str]) -> None:
    initialise(environ, Flags())
    with open_workspace(environ, Flags()) as workspace:
        new_campaign(workspace, "plumbers")
        use_campaign(workspace, "plumbers")
    machine_id(environ["COCLI_STATE_HOME"])
    FolderCache(f"{environ['COCLI_CACHE_HOME']}/shards/deep").add("name", b"content")
    folders = [environ[name] for name in HOMES]
    assert {folder: oct(mode(folder)) for folder in folders} == dict.fromkeys(folders, "0o700")
    assert mode(f"{environ['HOME']}/.config/cocli") == 0o700
    assert mode(f"{environ['COCLI_DATA_HOME']}/campaigns/plumbers/config.toml") == 0o644  # inside, the umask decides


def test_a_folder_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    LocalStore(shared, fsync="never").put("a/b", b"1")
    assert (mode(shared), mode(shared / "a")) == (0o755, 0o755)
    assert not make_private(str(shared))


def test_the_doctor_names_folders_that_are_open(environ: dict[str, str]) -> None:
    for name in HOMES:
        os.makedirs(environ[name], mode=0o755)
    found = [check for check in diagnose(environ, Flags()).checks if check.name == "privacy"]
    assert [check.status for check in found] == [Status.WARNING] * 3
    for check, name in zip(found, HOMES, strict=True):
        assert check.fix
        assert environ[name] in check.detail
        subprocess.run(check.fix.removeprefix("Close it with: "), shell=True, check=True)
    os.chmod(environ["COCLI_DATA_HOME"], 0o770)  # a group that works on the same data
    found = [check for check in diagnose(environ, Flags()).checks if check.name == "privacy"]
    assert [check.status for check in found] == [Status.OK]


def test_what_a_person_names_follows_the_umask(tmp_path: Path) -> None:
    FolderPlace(str(tmp_path / "published"), LinkOptions()).put("list/index.html", b"<p>")
    assert (mode(tmp_path / "published/list"), mode(tmp_path / "published/list/index.html")) == (0o755, 0o644)


# --- planted links


def side_files(environ: dict[str, str]) -> dict[str, tuple[str, Callable[[], object]]]:
    """Every kind of file that lies beside the data: the name that is planted, and what writes it."""
    data, state, cache = (environ[name] for name in HOMES)

    def swap() -> None:
        store = LocalStore(data, fsync="never")
        store.put("a", b"2", if_match=store.put("a", b"1"))

    def pace() -> None:
        now = datetime(2026, 11, 17, tzinfo=UTC)
        taken = Pace(f"{state}/maps.json", PaceLimits(), clock=lambda: now, sleep=asyncio.sleep, rng=random.Random(1))
        asyncio.run(taken.take())

    def supervise() -> None:
        with alone(state, "address", "host"):
            pass

    def use() -> None:
        with open_workspace(environ, Flags()) as workspace:
            use_campaign(workspace, "plumbers")

    def catalogue() -> None:
        with open_workspace(environ, Flags()) as workspace, opened_documents(workspace, None):
            pass

    def token() -> None:
        with open_workspace(environ, Flags()) as workspace, opened_documents(workspace, None) as documents:
            load_tokens(documents, create=True)

    supervise()
    (lock,) = os.listdir(f"{state}/supervisors")
    catalogue()
    (folder,) = (name for name in os.listdir(f"{state}/documents") if name != "token.secret")
    return {
        "a folder of locks": (f"{data}/.locks#", swap),
        "the clock": (f"{data}/.clock#", lambda: LocalStore(data, fsync="never").now()),
        "an object": (f"{data}/b", lambda: LocalStore(data, fsync="never").put("b", b"1")),
        "a folder of objects": (f"{data}/people", lambda: LocalStore(data, fsync="never").put("people/jane", b"1")),
        "the lock of Maps": (f"{state}/maps.json.lock", pace),
        "the new count of Maps": (f"{state}/maps.json.new", pace),
        "the count of Maps": (f"{state}/maps.json", pace),
        "the lock of a supervisor": (f"{state}/supervisors/{lock}", supervise),
        "the machine's name": (f"{state}/machine", lambda: machine_id(state)),
        "the campaign in use": (f"{state}/campaign-in-use", use),
        "the lock of a sync": (f"{state}/sync/x.sqlite3.lock", lambda: SyncState(f"{state}/sync/x.sqlite3").close()),
        "the state of a sync": (f"{state}/sync/x.sqlite3", lambda: SyncState(f"{state}/sync/x.sqlite3").close()),
        "the log of a sync": (f"{state}/sync/x.sqlite3-wal", lambda: SyncState(f"{state}/sync/x.sqlite3").close()),
        "a catalogue and its outbox": (f"{state}/documents/{folder}/catalog.sqlite3", catalogue),
        "the secret of tokens": (f"{state}/documents/token.secret", token),
        "a shard": (f"{cache}/shards/name", lambda: FolderCache(f"{cache}/shards").add("name", b"content")),
        "a derived copy": (f"{cache}/derived/{'0' * 8}-1.fz", lambda: _derived(f"{cache}/derived")),
    }


def _derived(folder: str) -> None:
    copies = DerivedFolder(folder)
    temporary = copies.temporary()
    Path(temporary).write_bytes(b"rows")
    copies.keep(temporary, "0" * 8, "fz")


@pytest.fixture
def planted(environ: dict[str, str]) -> dict[str, tuple[str, Callable[[], object]]]:
    initialise(environ, Flags())
    with open_workspace(environ, Flags()) as workspace:
        new_campaign(workspace, "plumbers")
    return side_files(environ)


@pytest.mark.parametrize("target", ["a file", "nothing", "a folder", "a pipe"])
def test_planted_links_are_not_followed(
    planted: dict[str, tuple[str, Callable[[], object]]], tmp_path: Path, target: str
) -> None:
    """Nothing outside is made, emptied or written to; that a command fails is fine, that it waits for ever is not."""
    outside = tmp_path / "outside"
    outside.mkdir()
    victim = outside / "victim"
    if target == "a file":
        victim.write_bytes(b"")  # empty: a library would take it for a new file of its own
    elif target == "a folder":
        victim.mkdir()
    elif target == "a pipe":
        os.mkfifo(victim)
    followed = []
    for kind, (path, write) in planted.items():
        _plant(path, victim)
        with suppress(CocliError):  # refused
            write()
        expected = set() if target == "nothing" else {"victim"}
        written = target == "a file" and victim.read_bytes()
        if written or {entry.name for entry in outside.rglob("*")} != expected:
            followed.append(kind)
        if os.path.islink(path):
            os.unlink(path)
    assert followed == []


def _plant(path: str, victim: Path) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    for name in (path, f"{path}-wal", f"{path}-shm"):
        if os.path.isdir(name):
            os.rename(name, f"{name}.before")
        elif os.path.lexists(name):
            os.unlink(name)
    os.symlink(victim, path)
