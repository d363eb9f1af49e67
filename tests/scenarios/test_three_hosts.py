"""Three hosts with networks of their own are deployed to, upgraded while they work, and mended: no task is lost.

Packages are fetched from the package index and shipped; what a host runs is the unit's own ExecStart.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from cocli.app.deploy.releases import find_release
from cocli.demo.town import WebsiteServer
from cocli.exit_codes import ExitCode
from cocli.queue.leased.queue import LeasedQueue
from tests.deploy.conftest import SILENT, changed_wheel
from tests.kit.namespaces import HostNetworks
from tests.kit.servers import S3Server, credentials_environment
from tests.kit.ssh_hosts import SshdHost, SshdHosts
from tests.scenarios.conftest import Machine, Machines, in_make_scenarios, looking, wait_until

NAMES = ("pi1", "pi2", "pi3")
RATE = 0.5
"""Requests per second and website: slow enough that the work lasts longer than an upgrade."""
CAMPAIGN = "bakeries"
EXIT_CONFIG, EXIT_UNAVAILABLE = int(ExitCode.CONFIG), int(ExitCode.UNAVAILABLE)
_INDEX = {name: value for name, value in os.environ.items() if name.startswith(("UV_", "PIP_", "COCLI_CACHE", "SSL_"))}
"""How the package index is reached from here, and where its packages are kept."""


@pytest.fixture
def hosts(tmp_path: Path, seaweedfs: S3Server, websites: WebsiteServer) -> Iterator[SshdHosts]:
    with HostNetworks(NAMES) as networks:
        for port in (urlsplit(seaweedfs.endpoint).port, websites.port):
            networks.share(int(port or 0))
        made = SshdHosts(tmp_path, *NAMES, networks=networks)
        made.start()
        yield made
        made.stop()


@in_make_scenarios
@pytest.mark.timeout(1800)
def test_three_hosts_are_upgraded_while_they_work(
    hosts: SshdHosts, machine: Machines, seaweedfs: S3Server, tmp_path: Path
) -> None:
    bucket = seaweedfs.url("cocli-data-test", f"three-hosts-{time.monotonic_ns()}")
    laptop = machine("laptop", store=bucket, variables=_INDEX)
    total = _order(laptop)
    credentials = tmp_path / "worker.env"
    slow = tmp_path / "slow.toml"
    slow.write_text((laptop.folder / "config.toml").read_text().replace("rate = 100\n", f"rate = {RATE}\n"))
    told = {**credentials_environment(), "COCLI_CONFIG": str(slow)}
    credentials.write_text("".join(f"{name}={value}\n" for name, value in told.items()))
    credentials.chmod(0o600)
    release = find_release(None)
    (tmp_path / "wheel").mkdir()
    wheel = tmp_path / "wheel" / release.name
    wheel.write_bytes(release.data)
    first = ("--wheel", str(wheel), "--credentials", str(credentials))
    _one_dies_in_the_middle(laptop, hosts, *first)
    wait_until(lambda: _ended(laptop) > 0, "the first tasks are done")
    upgrade = changed_wheel(wheel, tmp_path / "upgrade", config__built='version = "8.0.0"\n')
    assert _ended(laptop) < total, "they work while they are upgraded"
    _deploy(laptop, hosts, "upgrade", "--wheel", str(upgrade))
    assert _ended(laptop) < total, "they were upgraded while they worked"
    _broken_releases_change_nothing(laptop, hosts, wheel, tmp_path)
    _unfit_hosts_are_refused(laptop, hosts, wheel)
    fix = changed_wheel(wheel, tmp_path / "fix", config__built='version = "8.0.1"\n')
    _deploy(laptop, hosts, "hot fix", "hotfix", "--wheel", str(fix))
    _deploy(laptop, hosts, "rollback", "rollback")
    wait_until(lambda: _ended(laptop) == total, "every task came to its end", 600)
    with looking(laptop, CAMPAIGN) as found:
        stats = LeasedQueue(found.store, CAMPAIGN, "enrichment").stats()
    assert stats.pending == 0
    _deploy(laptop, hosts, "remove", "remove", "--yes")
    assert not any(host.base.exists() for host in hosts.hosts.values())


def _one_dies_in_the_middle(laptop: Machine, hosts: SshdHosts, *words: str) -> None:
    """Its network goes while it unpacks. The others go their way, and it is brought up to them by the next attempt."""
    dying = hosts.hosts["pi2"]
    assert hosts.networks is not None
    thread, answers = _in_a_thread(lambda: _deploy(laptop, hosts, "first", *words, code=EXIT_UNAVAILABLE))
    wait_until(lambda: any((dying.base / "deps").glob(".*")), "it unpacks the packages", 300)
    hosts.networks.cut("pi2")
    thread.join()
    (answer,) = answers
    assert {host["host"]: host["outcome"] for host in answer["hosts"]} == {
        "pi1": "deployed", "pi2": "failed", "pi3": "deployed"
    }  # fmt: skip
    assert answer["hosts"][1]["problem"]["code"] == "host_lost"
    assert not (dying.base / "current").exists()
    hosts.networks.mend("pi2")
    again = _deploy(laptop, hosts, "again", *words[:2], *words[2:])
    assert all(host["outcome"] == "deployed" for host in again["hosts"])
    assert not any((dying.base / "deps").glob(".*")), "what the first attempt left is swept"


def _broken_releases_change_nothing(laptop: Machine, hosts: SshdHosts, wheel: Path, tmp_path: Path) -> None:
    """One that does not load is never switched to; one that does not report is taken back, on each by itself."""
    before = {name: os.readlink(host.base / "current") for name, host in hosts.hosts.items()}
    unloadable = changed_wheel(wheel, tmp_path / "unloadable", fleet__heartbeat="import nothing_like_it\n")
    answer = _deploy(laptop, hosts, "a release that does not load", "hotfix", "--wheel", str(unloadable), code=1)
    assert {host["outcome"] for host in answer["hosts"]} == {"failed"}
    silent = changed_wheel(wheel, tmp_path / "silent", cli__machines__supervisor=SILENT)
    words = ("hotfix", "--wheel", str(silent), "--wait", "5")
    answer = _deploy(laptop, hosts, "a release that does not report", *words, code=1)
    assert {host["outcome"] for host in answer["hosts"]} == {"rolled_back"}, answer
    assert {name: os.readlink(host.base / "current") for name, host in hosts.hosts.items()} == before
    found = laptop.cocli("deploy", "status", *NAMES, *_options(hosts)).json["hosts"]
    assert all(host["instances"][0]["running"] for host in found.values())


def _unfit_hosts_are_refused(laptop: Machine, hosts: SshdHosts, wheel: Path) -> None:
    """Another key, an old Python, a clock that is off, a full disk: each is refused, and nothing is left of it."""
    pi1, pi2, pi3 = hosts.hosts.values()
    known = hosts.known.read_text()
    hosts.known.write_text(known.replace(pi3.folder.joinpath("hostkey.pub").read_text(), _other_key(hosts)))
    fine = (pi1.bin / "python3").read_text()
    pi1.script("python3", 'case "$1" in --version) echo Python 3.9.2;; *) exit 1;; esac')
    for version in ("3.11", "3.12", "3.13", "3.14"):
        pi1.script(f"python{version}", "exit 1")
    (pi2.bin / "sitecustomize.py").write_text("import time\nthen = time.time\ntime.time = lambda: then() + 7200\n")
    pi2.script("python3", f'PYTHONPATH="{pi2.bin}" exec "{os.path.realpath(sys.executable)}" "$@"')
    answer = _deploy(laptop, hosts, "an old Python, a wrong clock, another key", "--wheel", str(wheel), code=None)
    told = [host["problem"]["message"] for host in answer["hosts"]]
    assert "Python 3.9.2 is too old" in told[0]
    assert "ahead" in told[1]
    assert "key is not the one that is known" in told[2]
    hosts.write()
    (pi2.bin / "sitecustomize.py").unlink()
    for host in (pi1, pi2):
        (host.bin / "python3").write_text(fine.replace(str(pi1.bin), str(host.bin)))
    for version in ("3.11", "3.12", "3.13", "3.14"):
        (pi1.bin / f"python{version}").unlink()
    with _few_files(pi3, pi3.home / "small") as inside:
        words = ["deploy", "pi3", "--wheel", str(wheel), *_options(hosts, base="~/small")]
        full = laptop.cocli(*words, code=EXIT_CONFIG).json["hosts"][0]
        assert "No space left" in full["problem"]["message"], full
        left = subprocess.run([*inside, "ls", "-A", str(pi3.home / "small" / "deps")], capture_output=True, text=True)
        assert (left.returncode, left.stdout) == (0, ""), "nothing that is half there"


def _other_key(hosts: SshdHosts) -> str:
    return (hosts.folder / "id.pub").read_text()


@contextmanager
def _few_files(host: SshdHost, folder: Path) -> Iterator[list[str]]:
    """A disk with room for many bytes and few files: it is full in the middle, whatever was asked before.

    Only the host sees it; the words that run a program there."""
    assert host.process is not None
    inside = ["nsenter", "--mount", f"--target={host.process.pid}"]
    folder.mkdir()
    options = "size=4g,nr_inodes=500"
    subprocess.run([*inside, "mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
    try:
        yield inside
    finally:
        subprocess.run([*inside, "umount", str(folder)], check=True)


def _in_a_thread(action: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(action()))
    thread.start()
    return thread, answers


def _order(laptop: Machine) -> int:
    """A campaign whose websites wait in the queue; how many."""
    laptop.cocli("campaign", "new", CAMPAIGN, "--query", "bakery", "--query", "florist", "--query", "plumber")
    settings = [f"prospecting.area={laptop.files / 'territory.geojson'}", "fetch.concurrency=1"]
    settings += [f"workers.{name}.enrichment=1" for name in NAMES]
    laptop.cocli("campaign", "edit", CAMPAIGN, *(word for text in settings for word in ("--set", text)))
    places = laptop.files / "places.parquet"
    laptop.cocli("source", "add", str(places), "--as", "overture", "--release", "2026-11-01.0")
    laptop.cocli("campaign", "plan", CAMPAIGN, "--queue")
    laptop.cocli("worker", "gm-list", "--once", "-c", CAMPAIGN)
    with looking(laptop, CAMPAIGN) as found:
        waiting = LeasedQueue(found.store, CAMPAIGN, "enrichment").stats().pending
    assert waiting > 20
    return waiting


def _ended(laptop: Machine) -> int:
    with looking(laptop, CAMPAIGN) as found:
        stats = LeasedQueue(found.store, CAMPAIGN, "enrichment").stats()
    return (stats.completed or 0) + sum(stats.sidelined.values())


def _options(hosts: SshdHosts, base: str = "~/cocli") -> list[str]:
    return ["--ssh-config", str(hosts.config), "--base", base, "-c", CAMPAIGN, "--json"]


def _deploy(laptop: Machine, hosts: SshdHosts, what: str, *words: str, code: int | None = 0) -> Any:
    """All three at the same time, each into its own home. The seconds of each step are printed."""
    verbs = [word for word in words[:1] if not word.startswith("-")]
    begin = time.monotonic()
    done = laptop.cocli("deploy", *verbs, *NAMES, *words[len(verbs) :], *_options(hosts), code=code)
    sys.stdout.write(f"{what}: {time.monotonic() - begin:.1f} s; {json.dumps(_seconds(done.json))}\n")
    return done.json


def _seconds(answer: Any) -> Any:
    if isinstance(answer["hosts"], dict):
        return {}
    return {host["host"]: host["seconds"] for host in answer["hosts"]}
