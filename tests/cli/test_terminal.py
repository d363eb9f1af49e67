"""What a person sees on a terminal: tables that fit it, a pager, and at once what Ctrl-C waits for."""

from __future__ import annotations

import io
import os
import pty
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cocli.cli.kit.tables import drawn_table, fitting_widths
from cocli.cli.main import main

LONG = "Wolfeschlegelsteinhausenbergerdorff and Daughters Plumbing Heating and Drain Cleaning Services of Springfield"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


# --- tables ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def full_home(plumbers: Any, write_prospects: Any, home: Path) -> Any:
    """Long names wherever a list may have some."""
    write_prospects(
        "acme-with-a-very-long-name-indeed.example", name=LONG, city="Springfield", website="https://x.example"
    )
    assert plumbers("campaign", "new", "a-campaign-whose-name-is-as-long-as-a-name-may-be", "--query", LONG).code == 0
    assert plumbers("campaign", "plan", "plumbers", "--queue", "--limit", "5").code == 0
    assert plumbers("index", "compact", "-c", "plumbers").code == 0
    assert plumbers("report", "plumbers").code == 0
    assert plumbers("company", "new", LONG, "--website", "acme-with-a-very-long-name-indeed.example").code == 0
    assert plumbers("person", "new", LONG, "--email", "somebody.with.a.long.name@acme.example").code == 0
    slug = plumbers("company", "ls", "--json").json["companies"][0]["slug"]
    assert plumbers("note", "add", slug, LONG).code == 0
    assert plumbers("meeting", "add", slug, "2031-01-01 10:00", "--title", LONG[:80]).code == 0
    assert plumbers("remote", "send", f"add-query {LONG[:60]}", "-c", "plumbers").code == 0
    return plumbers


LISTS = [
    "campaign list", "campaign show plumbers", "campaign coverage plumbers --targets", "campaign retry plumbers",
    "queue status plumbers", "queue ls gm-list -c plumbers", "index status -c plumbers",
    "index history prospects -c plumbers", "index check -c plumbers", "company ls",
    "person ls", "note ls", "meeting ls",
    "find springfield", "config show", "config show plumbers --origin", "store ls -r", "store du",
    "remote ls -c plumbers",
    "cluster status plumbers", "report plumbers", "documents ls -c plumbers", "source ls", "locate",
]  # fmt: skip


def test_every_list_fits_eighty_columns(full_home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("COLUMNS", "80"), ("COCLI_PAGER", "cat"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    wide: list[str] = []
    for line in LISTS:
        screen = Screen()
        monkeypatch.setattr(sys, "stdout", screen)
        code = main(line.split())
        assert code in (0, 1, 8), line
        wide += [f"{line}: {shown}" for shown in screen.getvalue().splitlines() if cell_len(shown) > 80]
    assert wide == []


words = st.text(alphabet="abcdefghij", min_size=1, max_size=30)
texts = st.lists(words, max_size=6).map(" ".join)


@given(
    st.integers(2, 6).flatmap(
        lambda count: st.lists(st.lists(texts, min_size=count, max_size=count), min_size=1, max_size=5)
    )
)
def test_no_word_is_broken_unless_it_is_longer_than_its_column(rows: list[list[str]]) -> None:
    columns = [f"c{number}" for number in range(len(rows[0]))]
    os.environ["COLUMNS"] = "80"
    try:
        drawn = drawn_table(columns, rows, (), color=False)
        widths = fitting_widths(columns, rows, 80)
    finally:
        del os.environ["COLUMNS"]
    assert all(cell_len(line) <= 80 for line in drawn.splitlines())
    shown = set(drawn.split())
    for row in rows:
        for number, cell in enumerate(row):
            room = widths[number] if widths is not None else 80 - 4
            assert {word for word in cell.split() if len(word) <= room} <= shown


# --- the pager -------------------------------------------------------------------------------------------------------


def test_a_long_list_and_help_go_through_the_pager(on_terminal: Any, home: Path) -> None:
    pager = home / "pager"
    pager.write_text("#!/bin/sh\necho PAGED; cat\n")
    pager.chmod(0o755)
    long = on_terminal("config", "show", COCLI_PAGER=str(pager))
    assert "PAGED" in long.screen
    assert "fetch.rate" in long.screen
    assert "PAGED" in on_terminal("export", "--help", COCLI_PAGER=str(pager)).screen
    assert "PAGED" in on_terminal("--help", COCLI_PAGER=str(pager)).screen
    assert "PAGED" not in on_terminal("campaign", "list", COCLI_PAGER=str(pager)).screen, "it is short"
    assert "PAGED" not in on_terminal("config", "show", "--no-pager", COCLI_PAGER=str(pager)).screen
    broken = on_terminal("config", "show", COCLI_PAGER=str(home / "nowhere"))
    assert (broken.code, "fetch.rate" in broken.screen) == (0, True)


def test_a_pipe_gets_no_pager(cocli: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COCLI_PAGER", "false")
    assert "fetch.rate" in cocli("config", "show").out


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------


def test_ctrl_c_says_at_once_what_it_waits_for(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it takes connections, and never answers
        address = f"s3://bucket?endpoint=http://127.0.0.1:{silent.getsockname()[1]}"
        keys = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "cocli", "campaign", "list", "--store", address, "-vv"],
            stdin=slave, stdout=slave, stderr=slave, env={**os.environ, **keys},
        )  # fmt: skip
        os.close(slave)
        try:
            connection, _ = silent.accept()
            process.send_signal(signal.SIGINT)
            screen = _read_until(master, "Ctrl-C again ends it at once.")
            assert "Stopping: waiting for the answer to the request" in screen
            time.sleep(1.1)  # what comes sooner may be an echo of the first
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
            connection.close()
        finally:
            process.kill()
            os.close(master)


def _read_until(master: int, text: str) -> str:
    screen = ""
    while text not in screen:
        screen += os.read(master, 4096).decode()
    return screen
