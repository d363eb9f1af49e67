"""The start must be light: nothing heavy is loaded for the help, and the help is quick."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cocli import __version__
from cocli.cli.nouns import NOUNS, overview

ENGINES = {"duckdb", "obstore", "boto3", "playwright", "textual", "grpc", "httpx2", "rich", "tomlkit"}
HEAVY = {*ENGINES, "pydantic", "typer"}
STAGES = {f"cocli.{name}" for name in ("documents", "fleet", "pipeline", "queue")}
LIMIT = 6
_RUN = """
import sys
from cocli.cli.main import main

for line in sys.argv[1].splitlines():
    code = main(line.split())
    if code:
        sys.exit(f"{line}: {code}")
"""
_LOADED = """
print("\\nLOADED", *{name.partition(".")[0] for name in sys.modules})
print(*{".".join(name.split(".")[:2]) for name in sys.modules if name.startswith("cocli.")})
"""
_BUILT = """
from cocli.models.record import RecordPart


def kinds(model):
    return {model, *(kind for below in model.__subclasses__() for kind in kinds(below))}


print("\\nLOADED", *{kind.__name__ for kind in kinds(RecordPart) if kind.__pydantic_complete__})
"""


def after(code: str, *lines: str, home: Path) -> set[str]:
    """What a piece of code says in a process that has run some command lines."""
    environ = {**os.environ, "HOME": str(home), "COCLI_DATA_HOME": str(home / "data")}
    program = [sys.executable, "-c", _RUN + code, "\n".join(lines)]
    result = subprocess.run(program, env=environ, capture_output=True, text=True, check=True)
    return set(result.stdout.rpartition("LOADED")[2].split())


def loaded_by(*lines: str, home: Path) -> set[str]:
    """The top-level modules that commands leave loaded, and the packages of cocli."""
    return after(_LOADED, *lines, home=home)


def test_the_help_loads_nothing_heavy(tmp_path: Path) -> None:
    assert not {*HEAVY, "typing", "re", "enum", "dataclasses"} & loaded_by(
        "", "--help", "-h", "--version", home=tmp_path
    )


def test_the_help_of_a_noun_converts_nothing_and_reads_no_configuration(tmp_path: Path) -> None:
    lines = [f"{name} --help" for name, _, _, _ in NOUNS] + ["campaign list --help", "sync push --help"]
    loaded = loaded_by(*lines, home=tmp_path)
    assert "typer" in loaded
    assert not {*ENGINES, *STAGES, "pydantic", "cocli.app", "cocli.models", "cocli.keys"} & loaded


def test_ordinary_commands_load_no_engine(tmp_path: Path) -> None:
    loaded = loaded_by("campaign list", "store ls", "config show", "locate", home=tmp_path)
    assert "pydantic" in loaded
    assert not {*ENGINES, *STAGES, "cocli.index", "cocli.sync"} & loaded


ORDINARY = (
    *("campaign list", "campaign show plumbers", "config show plumbers", "store ls", "store du", "locate"),
    *("queue ls enrichment -c plumbers", "company ls", "note ls", "meeting ls", "person ls"),
)
ALLOWED = {
    *("typer", "annotated_doc", "shellingham"),
    *("pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection"),
}
"""All that an ordinary command may import of other people's packages. Each one more costs every command its time."""
_FOREIGN = """
import os.path

folders = {os.path.dirname(os.path.dirname(sys.modules["typer"].__file__))}
files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
print("\\nLOADED", *{name.partition(".")[0] for name, file in files.items() if file.startswith(tuple(folders))})
"""


@pytest.mark.parametrize("line", ORDINARY)
def test_an_ordinary_command_imports_typer_and_pydantic_and_nothing_else(line: str, tmp_path: Path) -> None:
    after("", "campaign new plumbers --query plumber", home=tmp_path)
    foreign = {name for name in after(_FOREIGN, line, home=tmp_path) if not name.startswith(("_", "cocli"))}
    assert "typer" in foreign
    pages = {"yaml"} if line.split()[0] in ("company", "note", "meeting", "person") else set()
    assert foreign <= ALLOWED | pages


def test_the_garbage_collector_leaves_a_short_command_alone_but_not_its_caller(tmp_path: Path) -> None:
    code = "import gc\nprint('\\nLOADED', gc.get_threshold()[0], gc.get_freeze_count() > 0)"
    assert after(code, "campaign list", home=tmp_path) == {"700", "False"}
    program = f"import sys\nsys.argv = ['cocli', 'locate']\nfrom cocli.cli.main import main\nmain()\n{code}"
    environ = {**os.environ, "HOME": str(tmp_path), "COCLI_DATA_HOME": str(tmp_path / "data")}
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    assert set(done.stdout.rpartition("LOADED")[2].split()) == {"20000", "True"}


def test_a_process_that_asked_the_database_ends_without_a_word(tmp_path: Path) -> None:
    after("", "campaign new plumbers --query plumber", home=tmp_path)
    environ = {**os.environ, "HOME": str(tmp_path), "COCLI_DATA_HOME": str(tmp_path / "data")}
    program = [sys.executable, "-m", "cocli", "index", "query", "select 41 + 1 as n", "-c", "plumbers", "-q"]
    done = subprocess.run(program, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["n", "42"]
    assert done.stderr == ""


def test_a_sync_of_nothing_new_loads_no_engine_and_builds_no_record(tmp_path: Path) -> None:
    company, bucket = tmp_path / "data/companies/acme/_index.md", tmp_path / "bucket"
    company.parent.mkdir(parents=True)
    company.write_text("Acme")
    bucket.mkdir()
    push = f"sync push -q --store {bucket}"
    assert not {*ENGINES, *STAGES} & loaded_by(push, push, home=tmp_path)
    assert (bucket / "companies/acme/_index.md").read_text() == "Acme"
    assert not after(_BUILT, push, home=tmp_path)


def test_only_the_records_that_a_command_uses_are_built(tmp_path: Path) -> None:
    lines = ["init", "campaign list"]
    assert not after(_BUILT, *lines, home=tmp_path)
    new = "campaign new plumbers --query plumber --location Springfield,39.80,-89.65"
    assert after(_BUILT, new, "campaign list", home=tmp_path) == {"CampaignConfig"}


def test_a_worker_that_reads_no_open_places_loads_no_database(tmp_path: Path) -> None:
    lines = ["campaign new plumbers --query plumber", "worker enrichment --once -q -c plumbers"]
    loaded = loaded_by(*lines, home=tmp_path)
    assert "httpx2" in loaded
    assert not ENGINES - {"httpx2"} & loaded


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
    for name, group, _, summary in NOUNS:
        block = overview().partition(f"{group}:\n")[2].partition("\n\n")[0]
        assert re.search(rf"^  {name} +{re.escape(summary)}$", block, re.MULTILINE)
    assert max(map(len, overview().splitlines())) <= 80
