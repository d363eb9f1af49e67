"""Random damage to a catalogue's file and to its log: every command works, or names the command that mends."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import cocli, home  # noqa: F401 - fixtures

from cocli.documents.catalog.damage import damage_of, set_aside
from cocli.documents.catalog.opening import open_catalog
from cocli.errors import CatalogError, CatalogUnavailable

DOCS = 25
COMMANDS = (
    ("documents", "ls", "--json"),
    ("documents", "get", "doc-7", "--json"),
    ("documents", "states", "doc-3", "--json"),
    ("documents", "fsck", "--json"),
    ("documents", "replay", "--dry-run", "--json"),
)


@pytest.fixture
def catalog(cocli: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: F811
    monkeypatch.setenv("COCLI_STATE_HOME", str(home / "state"))
    for number in range(DOCS):
        assert cocli("documents", "save", "-", "--doc", f"doc-{number}", stdin=b"%d" % number).code == 0
    (found,) = (home / "state").rglob("catalog.sqlite3")
    return found


def with_log(catalog: Path) -> bytes:
    """Leave some of it in the write-ahead log, as a killed process does; its bytes."""
    opened = open_catalog(str(catalog))
    opened.set_fact("here", "1")
    log = catalog.with_name(f"{catalog.name}-wal").read_bytes()
    whole = catalog.read_bytes()
    opened.close()
    catalog.write_bytes(whole)
    return log


def spoil(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    kind = rng.choice(("bytes", "page", "cut", "zero"))
    at = rng.randrange(len(changed))
    if kind == "bytes":
        for _ in range(rng.choice((1, 20, 400))):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    elif kind == "page":
        changed[at : at + 4096] = rng.randbytes(len(changed[at : at + 4096]))
    elif kind == "cut":
        del changed[at:]
    else:
        changed[at : at + 8192] = bytes(len(changed[at : at + 8192]))
    return bytes(changed)


def damaged(catalog: Path, whole: bytes, log: bytes, rng: random.Random) -> None:
    shutil.rmtree(catalog.parent)
    catalog.parent.mkdir()
    file, beside = whole, log
    if rng.random() < 0.6:
        file = spoil(whole, rng)
    else:
        beside = spoil(log, rng)
    catalog.write_bytes(file)
    if beside and rng.random() < 0.7:
        catalog.with_name(f"{catalog.name}-wal").write_bytes(beside)


@pytest.mark.timeout(600)
def test_damage_is_said_with_the_command_that_mends_and_then_everything_is_there(
    cocli: Any,  # noqa: F811
    catalog: Path,
) -> None:
    log = with_log(catalog)
    whole = catalog.read_bytes()
    expected = cocli("documents", "ls", "--json").json["states"]
    assert len(expected) == DOCS
    refused = 0
    for seed in range(16):
        rng = random.Random(seed)
        damaged(catalog, whole, log, rng)
        for words in rng.sample(COMMANDS, 2):
            answer = cocli(*words)
            if words[1] == "fsck" and answer.code == 8 and '"findings"' in answer.out:
                continue  # it says what it found
            if answer.code != 0 and answer.error["code"] != "document_not_found":
                refused += 1
                assert answer.error["code"] in ("catalog", "catalog_unavailable"), (seed, words, answer)
                assert "fsck --rebuild" in answer.error["hint"], (seed, words, answer)
        mended = cocli("documents", "fsck", "--rebuild", "--yes", "--json")
        assert mended.code == 0, (seed, mended)
        assert cocli("documents", "ls", "--json").json["states"] == expected, seed
        assert cocli("documents", "fsck", "--all").code == 0, seed
    assert refused > 5, "the damage was never noticed"


def test_a_file_whose_own_complaint_is_no_text_is_damaged(tmp_path: Path) -> None:
    """SQLite names the broken table in its message, byte for byte: that once ended as a mistake of ours."""
    path = str(tmp_path / "c.sqlite3")
    open_catalog(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        broken = "UPDATE sqlite_master SET name = CAST(x'fffe' AS TEXT), sql = 'CREATE TABLE nonsense (' WHERE name = ?"
        assert connection.execute(broken, ["outbox"]).rowcount == 1
        connection.commit()
    with pytest.raises(CatalogError, match="damaged"):
        open_catalog(path)


def test_the_broken_file_is_kept(cocli: Any, catalog: Path) -> None:  # noqa: F811
    broken = b"no database at all " * 500
    catalog.write_bytes(broken)
    for beside in catalog.parent.glob("*-wal"):
        beside.unlink()
    mended = cocli("documents", "fsck", "--rebuild", "--yes")
    assert mended.code == 0, mended.err
    (aside,) = catalog.parent.glob("catalog.sqlite3.broken-*")
    assert aside.read_bytes() == broken
    assert str(aside) in mended.err
    assert len(cocli("documents", "ls", "--json").json["states"]) == DOCS


def test_a_moved_data_home_is_known_at_once(
    cocli: Any,  # noqa: F811
    catalog: Path,
    home: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (home / "data").rename(home / "moved")
    monkeypatch.setenv("COCLI_DATA_HOME", str(home / "moved"))
    assert len(cocli("documents", "ls", "--json").json["states"]) == DOCS
    assert cocli("documents", "get", "doc-1", "--blob", "body").out == "1"


def test_a_restored_data_home_without_what_was_told_is_known_too(
    cocli: Any,  # noqa: F811
    catalog: Path,
    home: Path,  # noqa: F811
) -> None:
    shutil.rmtree(home / "data" / "catalog")
    shutil.rmtree(home / "state")
    before = sorted(path for path in (home / "data").rglob("*") if path.is_file())
    assert len(cocli("documents", "ls", "--json").json["states"]) == DOCS
    assert cocli("documents", "fsck").code == 0
    assert sorted(path for path in (home / "data").rglob("*") if path.is_file()) == before, "who looks writes nothing"
    assert cocli("documents", "fsck", "--repair").code == 0
    assert list((home / "data" / "catalog").rglob("*.usv")), "who repairs tells the others"


def test_a_file_that_cannot_be_opened_is_no_damage(tmp_path: Path) -> None:
    (tmp_path / "catalog.sqlite3").mkdir()
    with pytest.raises(CatalogUnavailable):
        damage_of(str(tmp_path / "catalog.sqlite3"))
    assert damage_of(str(tmp_path / "none.sqlite3")) is None
    assert set_aside("postgresql://host/x", datetime.now(UTC)) is None


def test_a_row_that_cannot_be_read_is_damage(tmp_path: Path) -> None:
    opened = open_catalog(str(tmp_path / "c.sqlite3"))
    opened.close()
    assert damage_of(str(tmp_path / "c.sqlite3")) is None
    (tmp_path / "c.sqlite3").write_bytes(b"x" * 5000)
    assert "not a database" in str(damage_of(str(tmp_path / "c.sqlite3")))
    with pytest.raises(CatalogError):
        open_catalog(str(tmp_path / "c.sqlite3"))
