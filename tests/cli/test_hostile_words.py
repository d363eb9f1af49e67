"""Every command, with words that nobody means: a clear answer, a documented exit code, never a mistake of ours.

`COCLI_TEST_EFFORT=50` tries fifty times as many lines; a line that fails is shown with its seed.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tarfile
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from cocli.exit_codes import ExitCode
from tests.kit.effort import effort
from tests.kit.hostile_words import bring_files, hostile_lines, leaves

ARCHIVE = Path(__file__).parents[1] / "data" / "home-2026-11.tar.xz"
SEEDS = effort(2)
LINES = 50
"""Of one seed, with one home: what a line changes, the next ones find."""


@pytest.fixture
def paths(home: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A home with a little of everything, and files of every kind."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(home, filter="data")
    monkeypatch.setenv("COCLI_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("COCLI_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("EDITOR", "true")
    (catalogue,) = (home / "state" / "documents").iterdir()
    catalogue.rename(catalogue.with_name(hashlib.sha256(str(home / "data").encode()).hexdigest()[:16]))
    files = home / "files"
    files.mkdir()
    monkeypatch.chdir(files)
    return bring_files(files)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_word_is_a_mistake_of_ours(cocli: Any, paths: tuple[str, ...], home: Path, seed: int) -> None:
    kinds = {path.name: stat.S_IFMT(path.lstat().st_mode) for path in (home / "files").iterdir()}
    for line in islice(hostile_lines(seed, paths), LINES):
        result = cocli(*line.words)
        shown = f"seed {seed}: {[ascii(word)[:120] for word in line.words]}\n{result.err[-2000:]}"
        assert result.code in set(ExitCode), shown
        assert "mistake in cocli" not in result.err, shown
        assert "Traceback" not in result.err + result.out, shown
    special = {name for name, kind in kinds.items() if kind not in (stat.S_IFREG, stat.S_IFDIR)}
    left = {name: stat.S_IFMT(os.lstat(home / "files" / name).st_mode) for name in special}
    assert left == {name: kinds[name] for name in special}, "a device, a pipe and a link are never replaced"


def test_every_command_has_its_turn() -> None:
    known = {path for path, _ in leaves()}
    assert {line.path for line in islice(hostile_lines(1, ("x",)), 9 * len(known))} == known
    assert len(known) > 100


def test_a_mistake_is_noticed(cocli: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("ours")

    monkeypatch.chdir(home)
    monkeypatch.setattr("cocli.cli.kit.options._check_values", broken)
    assert any("mistake in cocli" in cocli(*line.words).err for line in islice(hostile_lines(1, ("x",)), 20))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("index", "history", "prospects", "--limit", "9223372036854775808"), "--limit: 9.223e+18 is no number"),
        (("meeting", "ls", "--limit", "1" + "0" * 40), "--limit: 1e+40 is no number"),
        (("documents", "token", "--days", "nan"), "--days: nan is no number"),
        (("config", "unset", "#"), '"#" is not the name of a setting'),
        (("config", "set", "a = 1\nb", "2"), "is not the name of a setting"),
        (("documents", "work", "page", "--graph", "../../x"), "../../x is no name of a function"),
        (("campaign", "enqueue-batch", "", "leads.csv"), '"" is no name of a campaign'),
        (("index", "query", "\udcff\udcfe"), "has bytes that are no UTF-8"),
        (("campaign", "migrate", "harrowmere", "x" * 300), "File name too long"),
        (("store", "ls", "--store", "s3://bucket?endpoint=http://["), "is not a store"),
        (("store", "ls", "--store", "s3://bucket?endpoint=http://127.0.0.1:99999"), "no address of a server"),
        (("store", "ls", "--store", "s3://bucket?region=%0a"), "no region has such a name"),
        (("store", "ls", "--store", "s3://b\nc"), "characters that cannot be seen"),
    ],
)
def test_what_was_a_mistake_of_ours(plumbers: Any, words: tuple[str, ...], said: str) -> None:
    """Each of these was an internal error, or a panic of a library."""
    named = () if words[0] in ("config", "store", "campaign") else ("-c", "plumbers")
    refused = plumbers(*words, *named)
    assert said in refused.err
    assert refused.code in (ExitCode.USAGE, ExitCode.CONFIG, ExitCode.FAILURE)
    assert "mistake in cocli" not in refused.err
