"""A host on loopback that is deployed to, a store that it and we share, and wheels that work or do not."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cocli.app.deploy.packages import Platform, packages_key
from cocli.app.deploy.releases import find_release, lock_text
from tests.kit.ssh_hosts import SshdHost, SshdHosts

SECRET = "sesame-open-7311"
SILENT = """
import typer
from cocli.cli.kit.options import single_command
app = single_command()

@app.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def supervisor() -> None:
    print("I will not")
    raise typer.Exit(1)
"""
"""A supervisor that loads, and never reports."""


@dataclass(frozen=True)
class Answered:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def host(self) -> Any:
        """The only host of the answer."""
        (found,) = self.json["hosts"]
        return found


@dataclass(frozen=True)
class Deployer:
    """A person's machine, with what it needs to reach the hosts."""

    folder: Path
    hosts: SshdHosts

    def __call__(self, *words: str, base: SshdHost | None = None) -> Answered:
        where = base or next(iter(self.hosts.hosts.values()))
        options = ["--ssh-config", str(self.hosts.config), "--base", str(where.base), "-c", "plumbers", "--json"]
        return self.run("deploy", *words, *options)

    def run(self, *words: str) -> Answered:
        environ = {
            "HOME": str(self.folder),
            "PATH": os.environ["PATH"],
            "COCLI_STORE": str(self.folder / "store"),
            "COCLI_CACHE_HOME": str(self.folder / "cache"),
        }
        done = subprocess.run([sys.executable, "-m", "cocli", *words], env=environ, capture_output=True, text=True)
        return Answered(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshdHosts]:
    made = SshdHosts(tmp_path_factory.mktemp("ssh"), "pi1")
    made.start()
    yield made
    made.stop()


@pytest.fixture
def pi1(hosts: SshdHosts) -> SshdHost:
    """A host that has the packages already: this environment's. `make hosts` fetches and ships them."""
    host = hosts.hosts["pi1"]
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    key = packages_key(lock_text(), Platform(os.uname().machine, version))
    (host.base / "deps").mkdir(parents=True)
    (host.base / "deps" / key).symlink_to(sysconfig.get_path("purelib"))
    return host


@pytest.fixture
def deployer(hosts: SshdHosts, pi1: SshdHost, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployer]:
    folder = tmp_path_factory.mktemp("me")
    (folder / "store").mkdir()
    made = Deployer(folder, hosts)
    new = made.run("campaign", "new", "plumbers", "--query", "plumber", "--location", "Springfield, IL,39.8,-89.64,5")
    assert new.code == 0, new
    yield made
    made("stop", "pi1", "--drain", "0")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    release = find_release(None)
    path = tmp_path_factory.mktemp("wheel") / release.name
    path.write_bytes(release.data)
    return path


def changed_wheel(wheel: Path, target: Path, **changes: str) -> Path:
    """The wheel with the text of some files changed: `config__built` is cocli/config/built.py."""
    wanted = {f"cocli/{name.replace('__', '/')}.py": text for name, text in changes.items()}
    made = io.BytesIO()
    with zipfile.ZipFile(wheel) as before, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as after:
        for info in before.infolist():
            after.writestr(info, wanted.get(info.filename, before.read(info)))
    target.mkdir(exist_ok=True)
    path = target / wheel.name
    path.write_bytes(made.getvalue())
    return path


def everything_below(*folders: Path) -> Iterator[tuple[Path, bytes]]:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                yield path, path.read_bytes()


__all__ = ["SECRET", "SILENT", "Answered", "Deployer", "changed_wheel", "everything_below"]
