"""Three hosts by ssh: seconds of a first deployment, a hot fix and a rollback while they work; tasks that were lost.

Three programs `sshd` on loopback, with homes of their own; the store is a folder, the websites are the town's. The
packages are fetched before the clock runs, because a fleet fetches them once for every change of the lock.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.deploy.conftest import changed_wheel
from tests.kit.ssh_hosts import SshdHosts

from benchmarks._town_server import served
from benchmarks.harness import Bench
from cocli.app.deploy.packages import Platform, packages_archive
from cocli.app.deploy.releases import find_release, lock_text
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town import build_town
from cocli.demo.town.campaign import TownHome, write_files
from cocli.queue.base import QueueStats
from cocli.queue.leased.queue import LeasedQueue

_NAMES = ("pi1", "pi2", "pi3")
_CAMPAIGN = "bakeries"
_HOTFIX_LIMIT = 10.0
_PATIENCE = 600.0
_IMAGE = "localhost/cocli-worker"


@dataclass(frozen=True)
class _Laptop:
    home: TownHome
    hosts: SshdHosts

    def cocli(self, *words: str) -> Any:
        environ = {**os.environ, **self.home.environ, "COCLI_CACHE_HOME": _cache()}
        done = subprocess.run(
            [sys.executable, "-m", "cocli", *words], env=environ, cwd=self.home.folder, capture_output=True, text=True
        )
        if done.returncode:
            raise AssertionError(f"cocli {' '.join(words)}: {done.stdout[-2000:]} {done.stderr[-2000:]}")
        return json.loads(done.stdout) if "--json" in words else None

    def deploy(self, *words: str) -> float:
        """Seconds, by the clock of whoever waits for it."""
        begin = time.perf_counter()
        verbs = [word for word in words[:1] if not word.startswith("-")]
        options = ["--ssh-config", str(self.hosts.config), "--base", "~/cocli", "-c", _CAMPAIGN, "--json"]
        self.cocli("deploy", *verbs, *_NAMES, *words[len(verbs) :], *options)
        return time.perf_counter() - begin

    def tasks(self) -> QueueStats:
        with open_workspace(self.home.environ, Flags()) as workspace:
            return LeasedQueue(workspace.campaign(_CAMPAIGN).store, _CAMPAIGN, "enrichment").stats()


def main(bench: Bench) -> None:
    release = find_release(None)
    bench.note(f"{release.name}, {len(release.data) / 1e6:.1f} MB; the packages are fetched unless they are kept")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    environ = {**os.environ, "COCLI_CACHE_HOME": _cache()}
    packages_archive(lock_text(), Platform(os.uname().machine, version), environ)
    town = build_town()
    with tempfile.TemporaryDirectory(prefix="bench-deploy-") as name, served(bench, town, 0.2) as (websites, _):
        folder = Path(name)
        hosts = SshdHosts(folder, *_NAMES)
        hosts.start()
        try:
            home = TownHome(folder / "laptop")
            files = write_files(home, town, websites)
            (home.folder / "config.toml").write_text(_user_file(files), "utf-8")
            _measure(bench, _Laptop(home, hosts), files, folder, release.data, release.name)
        finally:
            hosts.stop()
    _image(bench)


def _measure(bench: Bench, laptop: _Laptop, files: Path, folder: Path, data: bytes, name: str) -> None:
    total = _order(laptop, files)
    wheel = folder / name
    wheel.write_bytes(data)
    told = folder / "worker.env"
    told.write_text(f"COCLI_CONFIG={laptop.home.folder / 'config.toml'}\n")
    told.chmod(0o600)
    three = "3 hosts on this machine, side by side, until each has reported"
    first = laptop.deploy("--wheel", str(wheel), "--credentials", str(told))
    bench.measure("deploy.first_s", first, unit="s", conditions=f"{three}; packages included")
    fixed = changed_wheel(wheel, folder / "fixed", config__built='version = "9.9.9"\n')
    while not laptop.tasks().completed:
        time.sleep(0.2)
    hotfix = laptop.deploy("hotfix", "--wheel", str(fixed))
    left = laptop.tasks().pending
    bench.note(f"{left} of {total} tasks were left after the hot fix")
    bench.measure("deploy.hotfix_s", hotfix, unit="s", peer="at most", peer_value=_HOTFIX_LIMIT, conditions=three)
    bench.measure("deploy.rollback_s", laptop.deploy("rollback"), unit="s", conditions=three)
    until = time.monotonic() + _PATIENCE
    while laptop.tasks().pending and time.monotonic() < until:
        time.sleep(0.5)
    ended = laptop.tasks()
    lost = total - (ended.completed or 0) - sum(ended.sidelined.values())
    bench.measure("deploy.tasks_lost", lost, peer="at most", peer_value=0, conditions=f"{total} tasks, two switches")
    base = laptop.hosts.hosts["pi1"].base
    size = sum(_size(base / "deps" / key) for key in os.listdir(base / "deps")) + _size(
        base / os.readlink(base / "current")
    )
    bench.measure("deploy.install_mb", size / 1e6, unit="MB", conditions="packages and one release on a host")
    laptop.deploy("remove", "--yes")


def _order(laptop: _Laptop, files: Path) -> int:
    laptop.cocli("campaign", "new", _CAMPAIGN, "--query", "bakery", "--query", "florist", "--query", "plumber")
    settings = [f"prospecting.area={files / 'territory.geojson'}", "fetch.concurrency=1"]
    settings += [f"workers.{name}.enrichment=1" for name in _NAMES]
    laptop.cocli("campaign", "edit", _CAMPAIGN, *(word for text in settings for word in ("--set", text)))
    laptop.cocli("source", "add", str(files / "places.parquet"), "--as", "overture", "--release", "2026-11-01.0")
    laptop.cocli("campaign", "plan", _CAMPAIGN, "--queue")
    laptop.cocli("worker", "gm-list", "--once", "-c", _CAMPAIGN)
    return laptop.tasks().pending


def _image(bench: Bench) -> None:
    """The size of the worker's image, where podman has one."""
    podman = shutil.which("podman")
    words = [podman or "", "image", "inspect", _IMAGE, "--format", "{{.Size}}"]
    done = subprocess.run(words, capture_output=True, text=True) if podman else None
    if done is None or done.returncode:
        bench.note(f"no image {_IMAGE} here: its size is not measured")
        bench.unmeasured.append("image_mb_worker")
        return
    bench.measure("deploy.image_mb_worker", int(done.stdout) / 1e6, unit="MB", conditions=_IMAGE)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _cache() -> str:
    return os.environ.get("COCLI_CACHE_HOME") or str(Path(".bench/cache").resolve())


def _user_file(files: Path) -> str:
    return (
        f"[fetch]\nhosts_file = {json.dumps(str(files / 'hosts.json'))}\n"
        'allow_networks = ["127.0.0.0/8"]\nrate = 2\nper_address = 1000\naddress_rate = 100000\n\n'
        "[queue]\nattempts = 1\nlease_seconds = 5\n"
    )
