"""The start must be light: nothing heavy is loaded for the help, and the help is quick."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cocli import __version__
from cocli.cli.nouns import NOUNS, overview

HEAVY = {"duckdb", "obstore", "boto3", "playwright", "textual", "grpc", "pydantic", "rich", "httpx2", "typer"}
LIMIT = 6


def loaded_by(*words: str, home: Path) -> set[str]:
    """The top-level modules that a command leaves loaded."""
    code = (
        "import sys; from cocli.cli.main import main; main(sys.argv[1:]);"
        "print('\\nLOADED', *{name.partition('.')[0] for name in sys.modules})"
    )
    environ = {**os.environ, "HOME": str(home), "COCLI_DATA_HOME": str(home / "data")}
    result = subprocess.run(
        [sys.executable, "-c", code, *words], env=environ, capture_output=True, text=True, check=True
    )
    return set(result.stdout.rpartition("LOADED")[2].split())


@pytest.mark.parametrize("words", [("--help",), ("-h",), (), ("--version",)])
def test_the_help_loads_nothing_heavy(words: tuple[str, ...], tmp_path: Path) -> None:
    assert not HEAVY & loaded_by(*words, home=tmp_path)


@pytest.mark.parametrize("words", [("campaign", "list"), ("store", "ls"), ("config", "show"), ("locate",)])
def test_ordinary_commands_load_no_engine(words: tuple[str, ...], tmp_path: Path) -> None:
    engines = {"duckdb", "obstore", "boto3", "playwright", "textual", "grpc", "httpx2", "rich", "tomlkit"}
    assert not engines & loaded_by(*words, home=tmp_path)


def test_the_help_takes_at_most_six_times_a_bare_python() -> None:
    def seconds(*words: str) -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - started

    pairs = [(seconds("-m", "cocli", "--help"), seconds("-c", "pass")) for _ in range(9)]
    assert statistics.median(help_ for help_, _ in pairs) < LIMIT * statistics.median(bare for _, bare in pairs)


def test_help_and_version_are_the_same_on_every_way_in(tmp_path: Path) -> None:
    def run(*words: str) -> str:
        return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True).stdout

    assert run("-m", "cocli", "--help") == run("-m", "cocli") == overview()
    assert run("-m", "cocli", "--version") == f"cocli {__version__}\n"
    script = Path(sys.executable).with_name("cocli")
    if script.exists():
        assert run(str(script), "--help") == overview()


def test_the_help_names_every_noun() -> None:
    for name, _, summary in NOUNS:
        assert f"  {name}" in overview()
        assert summary in overview()
    assert max(map(len, overview().splitlines())) <= 100
