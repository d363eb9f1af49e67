"""`cocli store`: looking into a store by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HOSTILE = b"name\x1b]0;owned\x07 \x9b31m \xe2\x80\xae tail\r\n\ttab\n"


@pytest.fixture
def filled(cocli: Any) -> Any:
    for key in ("a/1.txt", "a/b/2.txt", "a/b/3.txt", "a-b/4.txt", "top.txt"):
        assert cocli("store", "put", key, stdin=key.encode()).code == 0
    return cocli


def keys(result: Any) -> list[str]:
    assert result.code == 0, result.err
    return [entry["key"] for entry in result.json["entries"]]


def test_ls_shows_one_level(filled: Any) -> None:
    assert keys(filled("store", "ls", "--json")) == ["a-b/", "a/", "top.txt"]
    assert keys(filled("store", "ls", "a", "--json")) == ["a/1.txt", "a/b/"]
    assert keys(filled("store", "ls", "a/", "--json")) == ["a/1.txt", "a/b/"]
    assert keys(filled("store", "ls", "a/1.txt", "--json")) == ["a/1.txt"]


def test_ls_recursive_shows_everything(filled: Any) -> None:
    every = ["a-b/4.txt", "a/1.txt", "a/b/2.txt", "a/b/3.txt", "top.txt"]
    assert keys(filled("store", "ls", "-r", "--json")) == every
    text = filled("store", "ls", "--recursive").out
    assert [line.split()[0] for line in text.splitlines()[1:]] == every
    assert "7 B" in text


def test_ls_of_what_is_not_there(filled: Any) -> None:
    result = filled("store", "ls", "nope")
    assert result.code == 4
    assert "hint: " in result.err


def test_ls_of_an_empty_store(cocli: Any) -> None:
    assert (cocli("store", "ls").code, cocli("store", "ls", "--json").json) == (0, {"entries": []})


def test_cat_is_byte_for_byte(cocli: Any, home: Path) -> None:
    (home / "hostile").write_bytes(HOSTILE)
    assert cocli("store", "put", "x/hostile", str(home / "hostile")).code == 0
    done = subprocess.run([sys.executable, "-m", "cocli", "store", "cat", "x/hostile"], capture_output=True)
    assert done.stdout == HOSTILE


def test_cat_on_a_terminal_shows_escapes(cocli: Any, on_terminal: Any) -> None:
    cocli("store", "put", "x/hostile", stdin=HOSTILE)
    shown = on_terminal("store", "cat", "x/hostile")
    assert shown.code == 0
    assert "\x1b]0;" not in shown.screen
    assert "\\x1b]0;owned\\x07" in shown.screen
    assert "\\u202e" in shown.screen
    raw = on_terminal("store", "cat", "--raw", "x/hostile")
    assert "\x1b]0;owned\x07" in raw.screen


def test_put_only_if_absent(cocli: Any) -> None:
    assert cocli("store", "put", "k", "--if-absent", stdin=b"1").code == 0
    again = cocli("store", "put", "k", "--if-absent", stdin=b"2")
    assert again.code == 5
    assert cocli("store", "cat", "k").out == "1"


def test_put_only_if_match(cocli: Any) -> None:
    etag = cocli("store", "put", "k", stdin=b"1").out.strip()
    changed = cocli("store", "put", "k", "--if-match", etag, "--json", stdin=b"22")
    assert changed.json["bytes"] == 2
    stale = cocli("store", "put", "k", "--if-match", etag, stdin=b"3")
    assert stale.code == 5
    assert "hint: " in stale.err
    assert cocli("store", "cat", "k").out == "22"
    assert cocli("store", "put", "k", "--if-match", etag, "--if-absent", stdin=b"3").code == 2


def test_put_of_a_file_that_is_not_there(cocli: Any, home: Path) -> None:
    result = cocli("store", "put", "k", str(home / "none"))
    assert result.code == 2
    assert "cannot be read" in result.err


@pytest.mark.parametrize("key", ["../x", "/etc/passwd", "a//b", "a/./b", "a\x00b", "ä", "a b", "x" * 2000])
@pytest.mark.parametrize("verb", ["cat", "put", "rm"])
def test_no_key_leaves_the_store(cocli: Any, home: Path, verb: str, key: str) -> None:
    result = cocli("store", verb, key, *(("--yes",) if verb == "rm" else ()))
    assert result.code == 8, result.err
    assert "is not valid" in result.err
    assert sorted(path.name for path in home.iterdir()) in ([], ["data"])


def test_rm_counts_asks_and_removes(filled: Any, on_terminal: Any) -> None:
    assert filled("store", "rm", "a/1.txt").code == 2
    assert filled("store", "rm", "a/").code == 2
    assert filled("store", "rm", "/", "--recursive", "--yes").code == 2
    assert filled("store", "rm", "nope", "--yes").code == 4
    tried = filled("store", "rm", "a", "--recursive", "--dry-run", "--json").json
    assert tried == {"key": "a/", "status": "would_remove", "objects": 3, "bytes": 25}
    assert on_terminal("store", "rm", "a", "-r", typed=[("(3 objects, 25 B) for good? [y/N]", "\n")]).code == 1
    assert filled("store", "rm", "a", "--recursive", "--yes").code == 0
    assert filled("store", "rm", "top.txt", "--yes", "--json").json["status"] == "removed"
    assert keys(filled("store", "ls", "-r", "--json")) == ["a-b/4.txt"]


def test_du_adds_up(filled: Any) -> None:
    usage = filled("store", "du", "--json").json
    assert usage["total"] == {"objects": 5, "bytes": 41}
    assert {folder["key"]: folder["objects"] for folder in usage["folders"]} == {"": 1, "a-b/": 1, "a/": 3}
    assert "total" in filled("store", "du", "a").out
    assert filled("store", "du", "nope").code == 4


def test_a_misspelt_folder_is_not_created(cocli: Any, home: Path) -> None:
    for words in (("store", "ls"), ("campaign", "new", "x"), ("campaign", "list")):
        result = cocli(*words, "--store", str(home / "typo"))
        assert result.code == 2
        assert f"hint: Create it with: mkdir -p {home}/typo" in result.err
    assert not (home / "typo").exists()


def test_a_table_on_a_terminal_is_drawn_and_harmless(cocli: Any, on_terminal: Any) -> None:
    cocli("campaign", "new", "plumbers", "--query", "[bold]x[/bold] \u009b31m")
    drawn = on_terminal("campaign", "list")
    assert "─" in drawn.screen
    assert "[bold]x[/bold]" in drawn.screen
    assert "\x9b31m" not in drawn.screen
    plain = on_terminal("campaign", "list", NO_COLOR="1")
    assert "\x1b[1m" not in plain.screen
