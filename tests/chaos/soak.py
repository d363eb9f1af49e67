"""The whole job under random kills, and with a machine cut off: minutes. `make chaos` runs it, the suite does not."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from dataclasses import replace
from typing import Any

import psutil
import pytest
from tests.kit import servers
from tests.kit.town_records import TownOutcome

from cocli.demo.town.trades import PHRASES

SECONDS = 3000.0
LEFT_OUT = ("hair salon", "restaurant", "dentist", "florist", "plumber")
LASTING = tuple(phrase for phrase in PHRASES if phrase not in LEFT_OUT)
"""The demo without phrases whose goal cannot be met: some of their websites are behind a wall or need a browser, others
fail each time in a way that may pass, and with as many attempts as a storm needs they would be tried for hours."""
LEASE = 5.0 + 2.0
"""As configured, and what a lease must be overdue."""
pytestmark = pytest.mark.timeout(3 * SECONDS)


def the_same(after: TownOutcome, undisturbed: TownOutcome) -> None:
    assert after.differences(undisturbed) == []
    assert after.leftovers == ()
    assert all(state.in_hand == 0 for state in after.states.values())


@pytest.fixture(scope="module")
def calm(a_field: Any, tmp_path_factory: pytest.TempPathFactory) -> TownOutcome:
    """The whole demo, undisturbed."""
    outcome: TownOutcome = replace(a_field, folder=tmp_path_factory.mktemp("calm"), phrases=LASTING).undisturbed()
    return outcome


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_demo_on_a_folder(field_of: Any, calm: TownOutcome, seed: int) -> None:
    field_of.phrases, field_of.workers = LASTING, 8
    home = field_of.machine("home")
    storm = field_of.storm(field_of.goal(home), seed=seed)
    assert storm.rage(SECONDS), storm.log_of("goal")
    assert len(storm.kills) > 5
    the_same(field_of.outcome(home), calm)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_demo_on_three_machines_and_one_s3_server(
    field_of: Any, calm: TownOutcome, seaweedfs: servers.S3Server, seed: int
) -> None:
    """Two of them run supervisors, the third has workers of its own; whoever is killed is started again."""
    field_of.phrases = LASTING
    field_of.store = seaweedfs.url("cocli-data-test", f"chaos-{seed}")
    workers = [f"workers.{host}.{queue}=1" for host in ("pi1", "pi2") for queue in ("gm-list", "enrichment")]
    field_of.settings = (*field_of.settings, *workers)
    first, second, third = (field_of.machine(name) for name in ("first", "second", "third"))
    others = [field_of.supervisor(second, "pi1"), field_of.supervisor(third, "pi2")]
    storm = field_of.storm(field_of.goal(first), others, seed=seed)
    assert storm.rage(SECONDS), storm.log_of("goal")
    the_same(field_of.outcome(first), calm)


def test_a_machine_that_is_cut_off_for_two_lease_periods(
    field_of: Any, seaweedfs: servers.S3Server, undisturbed: TownOutcome
) -> None:
    """It stands still with tasks in hand, somebody else does them, and it wakes up with what it knew."""
    field_of.store = seaweedfs.url("cocli-data-test", "cut-off")
    first, second = field_of.machine("first"), field_of.machine("second")
    job = field_of.goal(second)
    frozen = subprocess.Popen(job.command, env=dict(job.environ), stdin=subprocess.DEVNULL)
    family = wait_for_workers(frozen.pid)
    tell(family, signal.SIGSTOP)
    wake = threading.Timer(2 * LEASE, tell, (family, signal.SIGCONT))
    wake.start()
    storm = field_of.storm(field_of.goal(first), period=1e9)
    assert storm.rage(SECONDS), storm.log_of("goal")
    wake.join()
    assert frozen.wait(SECONDS) == 0
    the_same(field_of.outcome(first), undisturbed)


def wait_for_workers(pid: int) -> list[psutil.Process]:
    """Until its workers do something: they have used a second of their processor."""
    head, deadline = psutil.Process(pid), time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        children = head.children(recursive=True)
        if len(children) >= 2 and all(sum(one.cpu_times()[:2]) > 1.0 for one in children):
            return [head, *children]
        time.sleep(0.1)
    raise AssertionError("its workers never began")


def tell(family: list[psutil.Process], number: signal.Signals) -> None:
    for one in family:
        if one.is_running():
            os.kill(one.pid, number)
