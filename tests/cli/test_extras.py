"""A lean installation: a command that needs a package of an extra says which, and how to get it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cocli.cli.kit.errors import _EXTRAS as EXTRAS
from cocli.exit_codes import ExitCode

ROOT = Path(__file__).parents[2]
_PROGRAM = """
import contextlib, io, json, sys

for name in sys.argv[1].split():
    sys.modules[name] = None
from cocli.cli.main import main

for words in json.loads(sys.argv[2]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    print(json.dumps([code, err.getvalue()]))
"""
COMMANDS = {
    ("documents", "serve", "-c", "plumbers"): "grpc",
    ("documents", "token", "-c", "plumbers"): "http",
    ("enrichment", "serve", "-c", "plumbers"): "http",
    ("worker", "gm-details", "-c", "plumbers", "--once"): "browser",
    ("documents", "replay", "-c", "plumbers", "--engine", "ray"): "ray",
    ("queue", "status", "-c", "on-sqs"): "aws",
    ("documents", "ls", "-c", "on-postgres"): "postgres",
}
"""Words → the extra that they need. `documents serve` needs two, and names the first."""


@pytest.fixture(scope="module")
def lean(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], tuple[int, str]]:
    """What each command says in one process in which no extra can be imported."""
    home = tmp_path_factory.mktemp("lean")
    environ = {**os.environ, "HOME": str(home), "COCLI_DATA_HOME": str(home / "data")}
    prepared = [
        ["campaign", "new", "plumbers", "--query", "plumber"],
        ["campaign", "new", "on-sqs"],
        ["campaign", "edit", "on-sqs", "--set", "queue.provider=sqs"],
        ["campaign", "new", "on-postgres"],
        ["campaign", "edit", "on-postgres", "--set", "documents.catalog=postgresql://127.0.0.1:1/nowhere"],
        ["campaign", "edit", "plumbers", "--set", 'prospecting.sources=["google-maps"]'],
    ]
    run = [*prepared, *map(list, COMMANDS)]
    program = [sys.executable, "-c", _PROGRAM, " ".join(EXTRAS), json.dumps(run)]
    done = subprocess.run(program, env=environ, cwd=home, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [code for code, _ in answers[: len(prepared)]] == [0] * len(prepared), answers
    return {words: (code, said) for words, (code, said) in zip(COMMANDS, answers[len(prepared) :], strict=True)}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_names_the_extra_that_it_needs(lean: Any, words: tuple[str, ...]) -> None:
    code, said = lean[words]
    assert code == ExitCode.MISSING_EXTRA, said
    assert f"cocli[{COMMANDS[words]}]" in said
    assert "Traceback" not in said


def test_the_demo_on_a_map_says_what_it_needs(tmp_path: Path) -> None:
    program = (
        f"import sys; sys.modules['playwright'] = None; sys.argv = ['demo', '--maps', {str(tmp_path / 'demo')!r}]\n"
    )
    program += "from cocli.demo.demo import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == ExitCode.MISSING_EXTRA, done.stderr
    assert "cocli[browser]" in done.stderr
    assert not (tmp_path / "demo").exists()


def test_every_package_of_an_extra_is_known() -> None:
    """A package that is added to an extra needs a line in the table."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras: dict[str, list[str]] = tomllib.load(file)["project"]["optional-dependencies"]
    known = {package for package, _ in EXTRAS.values()}
    listed = {text.partition(">")[0].partition("[")[0] for packages in extras.values() for text in packages}
    assert listed <= known
    assert {extra for _, extra in EXTRAS.values()} == set(extras)
