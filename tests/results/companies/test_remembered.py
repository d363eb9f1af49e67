"""Files that a listing shows to be unchanged are not read again; whatever has changed is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cocli.index.queries.derived import DerivedFolder
from cocli.results.companies.sheets import load_sheets, read_sheets
from cocli.store import open_store
from cocli.store.memory import MemoryStore
from cocli.store.wrapper import WrappedStore

PAGE = '---\nstatus: {}\ncocli:\n  company_hash: "00112233445566f{}"\n  updated_at: "2026-11-15T12:00:00Z"\n---\n'


class Reads(WrappedStore):
    """Counts what is read."""

    keys: list[str]

    def get_many(self, keys: Any) -> Any:
        wanted = list(keys)
        self.keys += wanted
        return super().get_many(wanted)


@pytest.fixture
def store() -> Reads:
    reads = Reads(MemoryStore())
    reads.keys = []
    for number in range(3):
        reads.put(f"companies/c{number}/_index.md", PAGE.format("new", number).encode())
    reads.put("companies/c0/notes/a.md", b"---\ntitle: A\n---\nx \xff y")
    reads.put("people/jo.md", b"---\nname: Jo\ncompany: c1\n---\n")
    return reads


def test_only_what_has_changed_is_read(store: Reads, tmp_path: Path) -> None:
    copies = DerivedFolder(str(tmp_path / "sheets"))
    first = read_sheets(store, copies)
    assert len(store.keys) == 5
    store.keys.clear()
    assert read_sheets(store, copies) == first == load_sheets(store.inner)
    assert store.keys == []
    store.put("companies/c1/_index.md", PAGE.format("old", 1).encode())
    store.delete("companies/c2/_index.md")
    changed = read_sheets(store, copies)
    assert store.keys == ["companies/c1/_index.md"]
    assert changed == load_sheets(store.inner)
    assert changed.of("00112233445566f1").status == "old"
    assert changed.of("00112233445566f2").slug is None


def test_a_broken_copy_is_made_again(store: Reads, tmp_path: Path) -> None:
    copies = DerivedFolder(str(tmp_path / "sheets"))
    first = read_sheets(store, copies)
    (file,) = (tmp_path / "sheets").iterdir()
    for data in (b"", b"{}\n", file.read_bytes()[:-40], b"[1]\n[2]\n"):
        file.write_bytes(data)
        assert read_sheets(store, copies) == first


def test_files_of_a_folder_are_read_each_time(tmp_path: Path) -> None:
    """Two edits within one tick of its clock look alike in a listing."""
    store = open_store(str(tmp_path / "data"))
    copies = DerivedFolder(str(tmp_path / "sheets"))
    for status in ("new", "old", "bad"):
        store.put("companies/c1/_index.md", PAGE.format(status, 1).encode())
        assert read_sheets(store, copies).of("00112233445566f1").status == status
