"""Editors take no locks: whatever one saves while a sync replaces or removes the file must survive."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cocli.errors import Conflict, StoreError
from cocli.store.etag import content_etag
from cocli.sync import exchange
from cocli.sync.exchange import CannotExchange
from cocli.sync.folder import Folder

KEY = "people/jane.md"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path, fsync="never")
    made.store.put(KEY, b"old")
    return made


def texts(root: Path) -> set[bytes]:
    return {path.read_bytes() for path in (root / "people").iterdir()}


def test_what_is_expected_is_replaced_and_removed(folder: Folder, tmp_path: Path) -> None:
    folder.replace(KEY, b"new", content_etag(b"old"))
    assert texts(tmp_path) == {b"new"}
    with pytest.raises(Conflict):
        folder.replace(KEY, b"newer", content_etag(b"old"))
    with pytest.raises(Conflict):
        folder.remove(KEY, content_etag(b"old"))
    folder.remove(KEY, content_etag(b"new"))
    assert not (tmp_path / "people").exists()
    with pytest.raises(Conflict):
        folder.replace(KEY, b"new", content_etag(b"old"))


@pytest.mark.parametrize("save", ["in place", "by renaming"])
@pytest.mark.parametrize("act", ["replace", "remove"])
def test_an_editor_that_saves_behind_the_look_wins(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str, save: str
) -> None:
    """The moment between the look and the call that changes something, made as long as a test needs it."""
    path, digest, looks = tmp_path / KEY, exchange._digest, []

    def edited_behind_the_first_look(descriptor: int, name: str) -> str | None:
        found = digest(descriptor, name)
        looks.append(name)
        if len(looks) == 1:
            if save == "in place":
                path.write_bytes(b"edited")
            else:
                (tmp_path / "people/.jane.swp").write_bytes(b"edited")
                (tmp_path / "people/.jane.swp").rename(path)
        return found

    monkeypatch.setattr(exchange, "_digest", edited_behind_the_first_look)
    change = partial(folder.replace, KEY, b"new") if act == "replace" else partial(folder.remove, KEY)
    with pytest.raises(Conflict):
        change(content_etag(b"old"))
    assert path.read_bytes() == b"edited"
    assert texts(tmp_path) == {b"edited"}


def test_a_new_file_of_the_same_name_is_not_written_over_by_putting_back(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, digest, looks = tmp_path / KEY, exchange._digest, []

    def twice(descriptor: int, name: str) -> str | None:
        looks.append(name)
        found = digest(descriptor, name)
        path.write_bytes(b"edited" if len(looks) == 1 else b"made anew")
        return found

    monkeypatch.setattr(exchange, "_digest", twice)
    with pytest.raises(Conflict):
        folder.remove(KEY, content_etag(b"old"))
    assert texts(tmp_path) == {b"edited", b"made anew"}


def test_a_file_system_without_the_call_is_served_by_the_store(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise CannotExchange

    monkeypatch.setattr(exchange, "_exchange", refuse)
    folder.replace(KEY, b"new", content_etag(b"old"))
    assert texts(tmp_path) == {b"new"}


def test_a_link_is_not_followed(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/jane.md").write_bytes(b"old")
    os.symlink(tmp_path / "elsewhere", tmp_path / "linked")
    with pytest.raises((StoreError, OSError)):
        folder.replace("linked/jane.md", b"new", content_etag(b"old"))
    assert (tmp_path / "elsewhere/jane.md").read_bytes() == b"old"


def test_no_save_is_lost_while_a_sync_replaces_all_the_time(folder: Folder, tmp_path: Path) -> None:
    """A person saves by renaming, as fast as possible, while another thread replaces what it has just seen."""
    path, seen, stop = tmp_path / KEY, set[bytes](), threading.Event()
    failures: list[BaseException] = []

    def sync() -> None:
        number = 0
        try:
            while not stop.is_set():
                data = folder.store.get(KEY).data
                number += 1
                try:
                    folder.replace(KEY, b"sync %d" % number, content_etag(data))
                except Conflict:
                    continue
                seen.add(data)
        except BaseException as error:  # noqa: BLE001 - told below, in the test's own thread
            failures.append(error)

    thread = threading.Thread(target=sync)
    thread.start()
    saved, overwritten = _save_often(path, lambda: not failures)
    stop.set()
    thread.join()
    assert not failures
    lost = [data for data in saved if data not in seen and data not in texts(tmp_path) and data not in overwritten]
    assert not lost


def _save_often(path: Path, going: Callable[[], bool]) -> tuple[list[bytes], set[bytes]]:
    """Each save is an exchange too, so that what it replaces is known to be replaced by the person."""
    saved: list[bytes] = []
    overwritten: set[bytes] = set()
    for number in range(300):
        if not going():
            break
        data = b"person %d" % number
        temporary = path.with_name("#editor")
        temporary.write_bytes(data)
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            exchange._exchange(descriptor, "#editor", path.name)
        finally:
            os.close(descriptor)
        overwritten.add(temporary.read_bytes())
        temporary.unlink()
        saved.append(data)
    return saved, overwritten
