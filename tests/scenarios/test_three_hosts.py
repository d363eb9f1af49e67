"""Three hosts with networks of their own are deployed to, upgraded while they work, and mended: no task is lost.

Packages are fetched from the package index and shipped; what a host runs is the unit's own ExecStart.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from cocli.app.deploy.releases import find_release
from cocli.demo.town import WebsiteServer
from cocli.queue.leased.queue import LeasedQueue
from tests.deploy.conftest import changed_wheel
from tests.kit.namespaces import HostNetworks
from tests.kit.servers import S3Server, credentials_environment
from tests.kit.ssh_hosts import SshdHosts
from tests.scenarios.conftest import Machine, Machines, in_make_scenarios, looking, wait_until

NAMES = ("pi1", "pi2", "pi3")
RATE = 0.5
"""Requests per second and website: slow enough that the work lasts longer than an upgrade."""
CAMPAIGN = "bakeries"
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
    _deploy(laptop, hosts, "first", "--wheel", str(wheel), "--credentials", str(credentials))
    wait_until(lambda: _ended(laptop) > 0, "the first tasks are done")
    upgrade = changed_wheel(wheel, tmp_path / "upgrade", config__built='version = "8.0.0"\n')
    assert _ended(laptop) < total, "they work while they are upgraded"
    _deploy(laptop, hosts, "upgrade", "--wheel", str(upgrade))
    fix = changed_wheel(wheel, tmp_path / "fix", config__built='version = "8.0.1"\n')
    _deploy(laptop, hosts, "hot fix", "hotfix", "--wheel", str(fix))
    _deploy(laptop, hosts, "rollback", "rollback")
    wait_until(lambda: _ended(laptop) == total, "every task came to its end", 600)
    with looking(laptop, CAMPAIGN) as found:
        stats = LeasedQueue(found.store, CAMPAIGN, "enrichment").stats()
    assert stats.pending == 0
    _deploy(laptop, hosts, "remove", "remove", "--yes")
    assert not any(host.base.exists() for host in hosts.hosts.values())


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


def _deploy(laptop: Machine, hosts: SshdHosts, what: str, *words: str) -> Any:
    """All three at the same time, each into its own home. The seconds of each step are printed."""
    verbs = [word for word in words[:1] if not word.startswith("-")]
    rest = words[len(verbs) :]
    options = ["--ssh-config", str(hosts.config), "--base", "~/cocli", "-c", CAMPAIGN, "--json"]
    begin = time.monotonic()
    done = laptop.cocli("deploy", *verbs, *NAMES, *rest, *options)
    sys.stdout.write(f"{what}: {time.monotonic() - begin:.1f} s; {json.dumps(_seconds(done.json))}\n")
    return done.json


def _seconds(answer: Any) -> Any:
    if isinstance(answer["hosts"], dict):
        return {}
    return {host["host"]: host["seconds"] for host in answer["hosts"]}
