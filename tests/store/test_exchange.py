"""Editors take no locks: whatever one saves while a file is replaced or removed must survive."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.kit.editors import SAVES, save_by_renaming, save_in_place

from cocli.errors import Conflict, InvalidKey, Unavailable
from cocli.store.disk import exchange, watched
from cocli.store.disk.exchange import CannotExchange
from cocli.store.etag import content_etag
from cocli.store.local import LocalStore

KEY = "people/jane.md"
OLD = content_etag(b"old")


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    made = LocalStore(tmp_path, fsync="never")
    made.put(KEY, b"old")
    return made


def texts(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (root / "people").iterdir()}


def before_call(number: int, action: Callable[[], object], call: Callable[..., Any]) -> Callable[..., Any]:
    """The call, with something that happens right before its so many-th time."""
    calls: list[int] = []

    def acting(*arguments: Any, **named: Any) -> Any:
        calls.append(1)
        if len(calls) == number:
            action()
        return call(*arguments, **named)

    return acting


def test_what_is_expected_is_replaced_and_removed(store: LocalStore, tmp_path: Path) -> None:
    store.put(KEY, b"new", if_match=OLD)
    assert texts(tmp_path) == {"jane.md": b"new"}
    with pytest.raises(Conflict):
        store.put(KEY, b"newer", if_match=OLD)
    with pytest.raises(Conflict):
        store.delete(KEY, if_match=OLD)
    store.delete(KEY, if_match=content_etag(b"new"))
    assert not (tmp_path / "people").exists()
    with pytest.raises(Conflict):
        store.put(KEY, b"new", if_match=OLD)


@pytest.mark.parametrize("manner", ["by renaming", "with a backup"])
def test_an_editor_that_saves_behind_the_look_wins(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, manner: str
) -> None:
    """The moment between the look and the call that changes something, made as long as a test needs it."""
    save = partial(SAVES[manner], tmp_path / KEY, b"edited")
    monkeypatch.setattr(exchange, "exchange", before_call(1, save, exchange.exchange))
    with pytest.raises(Conflict):
        store.put(KEY, b"new", if_match=OLD)
    assert texts(tmp_path) == {"jane.md": b"edited"}


def test_an_editor_that_writes_in_place_behind_the_look_wins(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel lets it wait in `open` until the look has ended; then it writes to the file that has the name."""
    editor = threading.Thread(target=partial(save_in_place, tmp_path / KEY, b"edited"))

    def opened_behind_the_look(_: object, old: watched.WatchedFile) -> None:
        editor.start()
        _wait_for(lambda: not old.is_untouched())

    monkeypatch.setattr(exchange.Exchange, "_take_over_mode", opened_behind_the_look)
    with pytest.raises(Conflict):
        store.put(KEY, b"new", if_match=OLD)
    editor.join()
    assert texts(tmp_path) == {"jane.md": b"edited"}


def _wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(3000):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not happen")


def test_an_editor_that_saves_behind_the_look_outlives_a_removal(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = partial(save_by_renaming, tmp_path / KEY, b"edited")
    monkeypatch.setattr(os, "rename", before_call(1, save, os.rename))
    with pytest.raises(Conflict):
        store.delete(KEY, if_match=OLD)
    assert texts(tmp_path) == {"jane.md": b"edited"}


def test_a_second_save_in_the_same_moment_has_the_name_and_the_first_is_kept(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{KEY}.saved-1").write_bytes(b"an earlier one")
    saved = [b"first", b"second"]

    def save() -> None:
        save_by_renaming(tmp_path / KEY, saved.pop(0))

    calls = before_call(2, save, before_call(1, save, exchange.exchange))
    monkeypatch.setattr(exchange, "exchange", calls)
    with pytest.raises(Conflict):
        store.put(KEY, b"new", if_match=OLD)
    expected = {"jane.md": b"second", "jane.md.saved-1": b"an earlier one", "jane.md.saved-2": b"first"}
    assert texts(tmp_path) == expected


def test_a_new_file_of_the_same_name_is_not_written_over_by_putting_back(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / KEY
    monkeypatch.setattr(os, "rename", before_call(1, partial(save_by_renaming, path, b"edited"), os.rename))
    again = before_call(1, partial(path.write_bytes, b"made anew"), exchange.rename_new)
    monkeypatch.setattr(exchange, "rename_new", again)
    with pytest.raises(Conflict):
        store.delete(KEY, if_match=OLD)
    assert texts(tmp_path) == {"jane.md": b"made anew", "jane.md.saved-1": b"edited"}


def test_a_file_that_is_moved_away_while_it_goes_back_is_not_lost(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / KEY
    calls = before_call(1, partial(save_by_renaming, path, b"edited"), exchange.exchange)
    calls = before_call(2, lambda: path.rename(f"{path}~"), calls)
    monkeypatch.setattr(exchange, "exchange", calls)
    with pytest.raises(Conflict):
        store.put(KEY, b"new", if_match=OLD)
    assert texts(tmp_path) == {"jane.md": b"edited", "jane.md~": b"new"}


def test_half_a_save_is_waited_for(store: LocalStore, tmp_path: Path) -> None:
    """An editor that has begun to write in place is given the time to end; what it wrote stays."""
    descriptor = os.open(tmp_path / KEY, os.O_WRONLY | os.O_TRUNC)
    half = store.get(KEY).etag

    def end() -> None:
        os.write(descriptor, b"edited")
        os.close(descriptor)

    timer = threading.Timer(0.2, end)
    timer.start()
    with pytest.raises(Conflict):
        store.put(KEY, b"made of half a text", if_match=half)
    timer.join()
    assert texts(tmp_path) == {"jane.md": b"edited"}


def test_a_program_that_keeps_a_file_open_is_named(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched.WatchedFile.__init__, "__kwdefaults__", {"patience": 0.05})
    with (tmp_path / KEY).open("r+b") as file:
        for change in (partial(store.put, KEY, b"new", if_match=OLD), partial(store.delete, KEY, if_match=OLD)):
            with pytest.raises(Unavailable, match="open for writing in another program"):
                change()
        file.write(b"edited")
    assert texts(tmp_path) == {"jane.md": b"edited"}


def test_without_leases_the_content_is_compared_again(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another system, on a share, and in a file of another user."""
    monkeypatch.setattr(sys, "platform", "other")
    store.put(KEY, b"old too", if_match=OLD)
    save = partial(save_in_place, tmp_path / KEY, b"edited")
    monkeypatch.setattr(exchange, "exchange", before_call(1, save, exchange.exchange))
    with pytest.raises(Conflict):
        store.put(KEY, b"new", if_match=content_etag(b"old too"))
    assert texts(tmp_path) == {"jane.md": b"edited"}


@pytest.mark.parametrize("saved", [True, False])
def test_a_file_system_without_the_call_is_looked_at_once_more(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: bool
) -> None:
    def refuse(*_: Any) -> None:
        if saved:
            save_by_renaming(tmp_path / KEY, b"edited")
        raise CannotExchange

    monkeypatch.setattr(exchange, "exchange", refuse)
    if saved:
        with pytest.raises(Conflict):
            store.put(KEY, b"new", if_match=OLD)
    else:
        store.put(KEY, b"new", if_match=OLD)
    assert texts(tmp_path) == {"jane.md": b"edited" if saved else b"new"}


def test_a_file_that_is_closed_to_others_stays_closed(store: LocalStore, tmp_path: Path) -> None:
    (tmp_path / KEY).chmod(0o600)
    store.put(KEY, b"new", if_match=OLD)
    assert stat.S_IMODE((tmp_path / KEY).stat().st_mode) == 0o600


def test_a_link_is_not_followed(store: LocalStore, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/jane.md").write_bytes(b"old")
    os.symlink(tmp_path / "elsewhere", tmp_path / "linked")
    os.symlink(tmp_path / "elsewhere/jane.md", tmp_path / "people/link.md")
    for key in ("linked/jane.md", "people/link.md"):
        for change in (partial(store.put, key, b"new", if_match=OLD), partial(store.delete, key, if_match=OLD)):
            with pytest.raises(InvalidKey):
                change()
    assert (tmp_path / "elsewhere/jane.md").read_bytes() == b"old"


def test_a_lease_that_is_broken_does_not_end_the_process(tmp_path: Path) -> None:
    """The kernel's signal for it would: another one is asked for, which is ignored."""
    script = (
        "import os, subprocess, sys\n"
        "from cocli.store.disk.watched import WatchedFile\n"
        "folder = os.open(sys.argv[1], os.O_RDONLY)\n"
        "with WatchedFile(folder, 'page') as file:\n"
        "    editor = subprocess.Popen(['sh', '-c', 'echo mine > page'], cwd=sys.argv[1])\n"
        "    while file.is_untouched(): pass\n"
        "sys.exit(editor.wait())\n"
    )
    (tmp_path / "page").write_bytes(b"old")
    assert subprocess.run([sys.executable, "-c", script, tmp_path], timeout=60).returncode == 0
    assert (tmp_path / "page").read_bytes() == b"mine\n"
