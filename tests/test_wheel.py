"""The wheel: what is in it, and that it stands on the packages of requirements/run.txt alone.

`make wheel` installs it into an empty environment and runs the demo there; that takes minutes, so it is not done here.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "cocli"
FOLDERS = {"tests", "test", "testing", "simulator", "benchmarks"}
_PROGRAM = """
import importlib, pkgutil, re, sys
from importlib import metadata

root, allowed = sys.argv[1], set(sys.argv[2].split())


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


class OnlyLocked:
    \"\"\"Refuses what is installed here and not part of the lock.\"\"\"

    def __init__(self):
        self.owners = metadata.packages_distributions()

    def find_spec(self, name, path=None, target=None):
        owners = self.owners.get(name.partition(".")[0])
        if owners and name.partition(".")[0] != "cocli" and not {normal(owner) for owner in owners} & allowed:
            raise ModuleNotFoundError(f"No module named {name!r} in the lock", name=name)
        return None


sys.path.insert(0, root)
sys.meta_path.insert(0, OnlyLocked())
import cocli

assert cocli.__file__.startswith(root), cocli.__file__
extras = {}
for module in pkgutil.walk_packages(cocli.__path__, "cocli."):
    if module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        extras[module.name] = error.name
from cocli.cli.main import main

for words in (["--version"], ["demo", "--help"], ["--help"]):
    assert main(words) == 0, words
from cocli.app.program import check_program

failed = [check.detail for check in check_program() if check.status.value == "failed"]
assert failed == [], failed
print("MODULES", sum(name.startswith("cocli.") for name in sys.modules))
print("EXTRAS", *sorted({str(name).partition(".")[0] for name in extras.values()}))
"""
_LOCKS = {f"cocli/app/deploy/requirements/{name}.txt" for name in ("run", "image-worker", "image-maps")}
MADE = {"cocli/config/built.py", *_LOCKS}
"""What the build adds: the version that git gave, and the locks by which hosts get their packages."""
EXTRAS = {
    "aws_cdk",
    "boto3",
    "botocore",
    "confluent_kafka",
    "constructs",
    "grpc",
    "grpc_health",
    "jwt",
    "mcp",
    "playwright",
    "psycopg",
    "ray",
    "starlette",
    "uvicorn",
}
"""Packages of the extras: a module that needs one may say so, and nothing else may be missing."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built here without a network."""
    if find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed: `make test` installs it")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_package_and_no_test_doubles(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        files = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert {name.partition("/")[0] for name in files} == {"cocli"}
    assert not {"faulty_store.py", "fault_proxy.py", "hostile_site.py", "conftest.py"} & {
        Path(name).name for name in files
    }
    assert [name for name in sorted(files) if FOLDERS & set(name.split("/"))] == []
    doubles = {
        name: path for path in (ROOT / "tests" / "kit").rglob("*.py") for name in files if _is_double(name, path)
    }
    assert doubles == {}
    ours = {str(path.relative_to(SOURCE.parent)) for path in SOURCE.rglob("*") if path.is_file()}
    assert files == {name for name in ours if "__pycache__" not in name} | MADE
    assert "cocli/py.typed" in files
    kinds = {name.rpartition(".")[2] for name in files}
    assert {"py", "sql", "html", "js", "typed"} <= kinds


def _is_double(name: str, path: Path) -> bool:
    """Whether a file of the wheel is this one of the tests: by its name and what it says."""
    ours = SOURCE.parent / name
    return ours.name == path.name and bool(path.stat().st_size) and ours.read_bytes() == path.read_bytes()


def test_every_module_of_the_wheel_stands_on_the_lock_alone(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    lock = (ROOT / "requirements" / "run.txt").read_text("utf-8")
    allowed = {re.sub(r"[-_.]+", "-", name).lower() for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)}
    assert {"duckdb", "pydantic"} <= allowed
    assert not {"pytest", "hypothesis", "boto3"} & allowed
    program = [sys.executable, "-c", _PROGRAM, str(tmp_path / "site"), " ".join(allowed)]
    environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(program, cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    modules = int(re.search(r"^MODULES (\d+)$", done.stdout, re.MULTILINE)[1])  # type: ignore[index]
    assert modules > 500
    missing = set(re.search(r"^EXTRAS(.*)$", done.stdout, re.MULTILINE)[1].split())  # type: ignore[index]
    assert missing <= EXTRAS
