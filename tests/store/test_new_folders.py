"""Folders that are made for objects that are put together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.kit.power_cut import RecordedDisk

from cocli.errors import StoreError
from cocli.store import Put
from cocli.store.disk.beneath import Beneath
from cocli.store.disk.unnamed import can_link_unnamed
from cocli.store.local import LocalStore

pytestmark = pytest.mark.skipif(not can_link_unnamed(), reason="no files without a name here")


def new(key: str) -> Put:
    return Put(key, key.encode(), if_absent=True)


def test_folders_beside_new_ones_are_not_looked_for_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    open_at = Beneath._open_at

    def counted(self: Beneath, folder: int, path: str, flags: int) -> int:
        opened.append(path)
        return open_at(self, folder, path, flags)

    store = LocalStore(tmp_path / "store")
    store.put("documents/first/intake/1.pb", b"first")
    before = sorted(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(Beneath, "_open_at", counted)
    puts = [new(f"documents/page-{number}/intake/1.pb") for number in range(20)]
    assert all(isinstance(etag, str) for etag in store.put_many(puts))
    assert len(opened) < 3 * len(puts), "two new folders, each opened once; five times if each is looked for"
    monkeypatch.undo()
    assert [store.get(put.key).data for put in puts] == [put.data for put in puts]
    assert sorted(os.listdir("/proc/self/fd")) == before, "a folder was left open"


@pytest.mark.parametrize("folders", ["", "/intake"])
def test_new_folders_are_on_the_disk_when_the_put_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: str
) -> None:
    root = tmp_path / "store"
    store = LocalStore(root)
    disk = RecordedDisk(str(root))
    disk.record(monkeypatch)
    first, second, third = (f"documents/{name}{folders}/1.pb" for name in ("a", "b", "c"))
    store.put(first, first.encode())
    # Nobody waits for the second: what the third needs is synchronised for its own sake.
    store.put_many([new(second)._replace(durable=False), new(third)])
    left = disk.left_after(len(disk.changes), lambda: False)
    assert left.keys() >= {first, third}
    assert left[third] == third.encode()


def test_who_has_a_folder_there_already_or_a_link_is_answered_for_itself(tmp_path: Path) -> None:
    root, outside = tmp_path / "store", tmp_path / "outside"
    store = LocalStore(root)
    store.put("documents/known/intake/0.pb", b"0")
    store.put("documents/object", b"no folder")
    outside.mkdir()
    (root / "documents/link").symlink_to(outside)
    (root / "documents/half").mkdir()
    (root / "documents/half/intake").symlink_to(outside)
    names = ["new-1", "known", "new-2", "link", "new-3", "half", "new-4", "object", "new-5"]
    answers = store.put_many([new(f"documents/{name}/intake/1.pb") for name in names])
    failed = {name for name, answer in zip(names, answers, strict=True) if isinstance(answer, StoreError)}
    assert failed == {"link", "half", "object"}
    assert not any(outside.iterdir()), "something was written through a link"
    assert store.get("documents/known/intake/1.pb").data == b"documents/known/intake/1.pb"
