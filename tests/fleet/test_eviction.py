"""A machine that was stolen or retired: what it holds is ended, what it ends later does not count, others go on."""

from __future__ import annotations

import json
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit import servers
from tests.kit.cluster import Cluster
from tests.kit.effort import effort

from cocli.app.campaigns.campaign import edit_campaign, new_campaign
from cocli.app.campaigns.mission import queue_mission
from cocli.app.campaigns.plan import build_targets
from cocli.app.campaigns.settle import settle_campaign
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.machines.command_listing import what_became_of
from cocli.app.machines.commands import send_command
from cocli.app.machines.evictions import EvictionReport, admit, evict, look_at_host
from cocli.app.machines.workers import WorkerSettings, run_worker
from cocli.app.sources.sources import FileClaims, add_source
from cocli.app.workspace import Campaign, Workspace, open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.config.template import TemplatePlace
from cocli.demo.town import build_town, truth_of, write_overture
from cocli.errors import HostEvicted, LeaseLost, UnknownHost
from cocli.fleet.command_execution import CommandExecutor
from cocli.fleet.commands import ALL
from cocli.fleet.drain import Drain
from cocli.fleet.election import Election, elected_worker
from cocli.fleet.eviction import Gate, read_eviction
from cocli.fleet.worker_name import host_of, is_of_host, supervisor_name, worker_name
from cocli.formats import json_records
from cocli.index.reader import open_reader
from cocli.keys.paths import IndexRef
from cocli.keys.tile import Tile
from cocli.models.command import Acknowledgement, Command
from cocli.models.completion import Completion, Ok
from cocli.models.prospect import Prospect
from cocli.queue.base import NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.places import Places
from cocli.store.base import Store
from cocli.store.counting import CountingStore

PLACES = ["folder", "s3"]
HARDER = ["folder", "s3"] if effort(1) > 1 else ["s3"]
"""Where whole machines run: on the harder ground alone, unless there is time."""
HOST_NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,12}", fullmatch=True)


@pytest.fixture(params=PLACES)
def cluster(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    name, store = f"c{secrets.token_hex(6)}", None
    if request.param == "s3":
        store = request.getfixturevalue("seaweedfs").url("cocli-data-test", name)
        for variable, value in servers.credentials_environment().items():
            monkeypatch.setenv(variable, value)
    made = Cluster(tmp_path, name, store)
    yield made
    made.end()


@pytest.fixture
def workspace(cluster: Cluster) -> Iterator[Workspace]:
    with open_workspace(cluster.environ(), Flags()) as opened:
        yield opened


@pytest.fixture
def campaign(workspace: Workspace, cluster: Cluster) -> Campaign:
    new_campaign(workspace, cluster.name, ["plumber"])
    return workspace.campaign(cluster.name)


def without_waiting(workspace: Workspace, host: str) -> EvictionReport:
    """For machines that do not run: nobody needs to be given time for a look."""
    return evict(workspace, host, reason="stolen", pause=lambda _: None)


def a_queue(campaign: Campaign, host: str) -> LeasedQueue:
    """As a worker of a host opens it. A look never grows old: what was seen is what the test wants to be seen."""
    gate = Gate(campaign.store, host, look_seconds=0)
    return LeasedQueue(
        campaign.store, campaign.name, "enrichment", worker=worker_name(host), lease_seconds=600, gate=gate
    )


def counted(report: EvictionReport) -> dict[str, int]:
    return {kind.kind: kind.count for kind in report.traces.kinds if kind.count}


# --- names


@given(HOST_NAMES, HOST_NAMES)
def test_a_worker_is_of_its_host_and_of_no_other(host: str, other: str) -> None:
    workers = [worker_name(host), supervisor_name(host), f"{host}-{secrets.token_hex(3)}"]
    if not host.startswith(("supervisor-", "by-hand-")):
        assert {host_of(worker) for worker in workers[:1] + workers[2:]} == {host}
    assert all(is_of_host(worker, host) for worker in workers[:1] + workers[2:] if host_of(worker) == host)
    if other != host and not host.endswith(other):
        assert not any(is_of_host(worker, other) for worker in workers[:1])


def test_hosts_whose_names_begin_alike_are_told_apart() -> None:
    assert is_of_host("pi-5-1234-ab12", "pi-5")
    assert not is_of_host("pi-5-1234-ab12", "pi")
    assert not is_of_host("pi-5-123456", "pi")
    assert is_of_host("supervisor-pi", "pi")
    assert is_of_host("by-hand-pi-abcdef", "pi")


# --- what ends


def test_leases_end_and_a_late_ack_is_refused(workspace: Workspace, campaign: Campaign) -> None:
    stolen, other = a_queue(campaign, "pi1"), a_queue(campaign, "pi2")
    stolen.put_many([NewTask("a.example"), NewTask("b.example")])
    late, second = stolen.claim_many(2)
    report = without_waiting(workspace, "pi1")
    assert len(report.taken.leases) == 2
    with pytest.raises(LeaseLost, match="was evicted"):
        stolen.ack(late, Ok())
    with pytest.raises(LeaseLost):
        stolen.ack_and_claim(second, Ok())
    with pytest.raises(HostEvicted) as refused:
        stolen.claim()
    assert refused.value.hint == "If it may work again, run on another machine: cocli cluster admit pi1"
    taken = other.claim_many(2)
    assert {claim.task.task_id for claim in taken} == {"a.example", "b.example"}
    assert {(claim.token, claim.attempt) for claim in taken} == {(3, 1)}, "fenced, and no attempt is counted"
    for claim in taken:
        other.ack(claim, Ok())
    assert other.stats().completed == 2
    assert not counted(look_at_host(workspace, "pi1")).get("completions")


def test_a_worker_that_never_looks_finds_its_lease_replaced(workspace: Workspace, campaign: Campaign) -> None:
    """An older program knows no gate. Its lease is fenced all the same: it fails with the next renewal."""
    older = LeasedQueue(campaign.store, campaign.name, "enrichment", worker=worker_name("pi1"), lease_seconds=600)
    older.put(NewTask("a.example"))
    claim = older.claim()
    assert claim is not None
    without_waiting(workspace, "pi1")
    with pytest.raises(LeaseLost, match="replaced"):
        older.renew(claim)


def test_the_election_ends_for_its_host_alone(workspace: Workspace, campaign: Campaign) -> None:
    elected = Election(campaign.store, campaign.name, "pi-abcdef", look_seconds=0)
    assert elected.stand()
    campaign.store.put("status/pi.json", b"{}")
    assert not without_waiting(workspace, "pi").taken.elections, "pi-abcdef is another host, not a worker of pi"
    assert elected_worker(campaign.store, campaign.name) == "pi-abcdef"
    report = without_waiting(workspace, "pi-abcdef")
    assert report.taken.elections == [campaign.name]
    assert elected_worker(campaign.store, campaign.name) is None
    successor = Election(campaign.store, campaign.name, "pi2", look_seconds=0)
    assert successor.stand()
    assert successor.token > elected.token
    for election in (elected, successor):
        election.close()


def test_commands_for_it_are_set_aside(workspace: Workspace, campaign: Campaign) -> None:
    edit_campaign(workspace, campaign.name, [parse_change("workers.pi1.enrichment=1")])
    (sent,) = send_command(workspace.campaign(campaign.name), "restart", "pi1")
    report = without_waiting(workspace, "pi1")
    assert report.taken.commands == [f"{campaign.name} commands-pi1 {sent.id}"]
    with pytest.raises(HostEvicted):
        send_command(workspace.campaign(campaign.name), "restart", "pi1")


def test_what_it_sends_later_is_refused(workspace: Workspace, campaign: Campaign) -> None:
    """Its key still works: it may send what it likes, and nobody obeys."""
    host = socket.gethostname()
    campaign.store.put(f"status/{host}.json", b"{}")
    without_waiting(workspace, host)
    (sent,) = send_command(campaign, "add-query roofer")
    executor = CommandExecutor(
        campaign.settings.model, campaign.store, ALL, obeyed, worker=supervisor_name("pi2"), say=lambda _: None
    )
    assert executor.step() == 1
    executor.close()
    row = what_became_of(campaign, sent)
    assert row.state == "failed"
    assert "was evicted" in str(row.message)
    assert counted(look_at_host(workspace, host))["commands sent"] == 1


def obeyed(command: Command) -> Acknowledgement:
    raise AssertionError(f"{command.verb} was executed")


def test_admitted_again_it_works_again(workspace: Workspace, campaign: Campaign) -> None:
    queue = a_queue(campaign, "pi1")
    queue.put(NewTask("a.example"))
    assert queue.claim() is not None
    assert not without_waiting(workspace, "pi1").already
    assert without_waiting(workspace, "pi1").already
    assert admit(workspace, "pi1").status == "admitted"
    assert admit(workspace, "pi1").status == "already_admitted"
    assert queue.claim() is not None
    kept = read_eviction(campaign.store, "pi1")
    assert kept is not None
    assert (kept.holds, kept.reason, kept.sequence) == (False, "stolen", 1)


def test_what_it_may_have_written_is_listed(workspace: Workspace, campaign: Campaign) -> None:
    queue, other = a_queue(campaign, "pi1"), a_queue(campaign, "pi2")
    queue.put_many([NewTask(f"{letter}.example") for letter in "abc"])
    for worker in (queue, other, queue):
        claim = worker.claim()
        assert claim is not None
        if worker is other or worker.stats().completed != 2:
            worker.ack(claim, Ok())
    campaign.store.put("companies/acme/_index.conflict-pi1-20261115T120000Z.md", b"x")
    campaign.store.put(f"campaigns/{campaign.name}/indexes/prospects/4/4bf3bc18bdf336e3.usv", b"x")
    found = look_at_host(workspace, "pi1")
    assert counted(found) == {"leases": 1, "completions": 1, "conflict copies": 1, "records": 1}
    later = look_at_host(workspace, "pi1", datetime(2100, 1, 1, tzinfo=UTC))
    assert counted(later) == {"leases": 1}, "it holds that now, whenever it took it"


def test_looking_changes_nothing(workspace: Workspace, campaign: Campaign) -> None:
    queue = a_queue(campaign, "pi1")
    queue.put(NewTask("a.example"))
    claim = queue.claim()
    assert claim is not None
    before = contents(campaign.store)
    look_at_host(workspace, "pi1")
    assert contents(campaign.store) == before
    queue.ack(claim, Ok())


def test_an_unknown_host_is_refused_with_those_that_are_known(workspace: Workspace, campaign: Campaign) -> None:
    queue = a_queue(campaign, "pi1")
    queue.put(NewTask("a.example"))
    assert queue.claim() is not None
    campaign.store.put("status/pi2.json", b"{}")
    before = contents(campaign.store)
    for use in (look_at_host, without_waiting, admit):
        with pytest.raises(UnknownHost, match=r'"pl1" .* Known hosts: pi1, pi2\.'):
            use(workspace, "pl1")
    assert contents(campaign.store) == before


def contents(store: Store) -> dict[str, bytes]:
    return {info.key: store.get(info.key).data for info in store.list()}


# --- the gate


def test_a_gate_looks_now_and_then_only(workspace: Workspace, campaign: Campaign) -> None:
    campaign.store.put("status/pi1.json", b"{}")
    clock, store = [0.0], CountingStore(campaign.store)
    gate = Gate(store, "pi1", look_seconds=2.0, clock=lambda: clock[0])
    for _ in range(100):
        gate()
    assert store.counts["get"] == 1
    without_waiting(workspace, "pi1")
    clock[0] = 1.9
    gate()
    clock[0] = 2.0
    with pytest.raises(HostEvicted, match=r"pi1 was evicted on .* \(stolen\)"):
        gate()


# --- machines


@pytest.mark.timeout(300)
@pytest.mark.parametrize("cluster", HARDER, indirect=True)
def test_an_evicted_machine_stops_and_another_finishes_its_work(cluster: Cluster, workspace: Workspace) -> None:
    """The stolen one is held still in the middle of a task, by SIGSTOP, and goes on when all is over. Its lease lasts
    ten minutes: that the other one gets the task is due to the eviction, and to nothing else."""
    campaign = a_mission(workspace, cluster)
    queue = LeasedQueue(campaign.store, campaign.name, "gm-list")
    total = queue.stats().pending
    cluster.start("h1")
    held = stop_in_the_middle(cluster, campaign, "h1")
    cluster.start("h2")
    cluster.wait_for(lambda: any(info.key.startswith("status/h2") for info in campaign.store.list("status/")))
    told = command(cluster, "cluster", "evict", "h1", "--json")
    assert told["status"] == "evicted"
    assert f"{campaign.name} gm-list {held}" in told["leases_ended"]
    assert counts_of(told)["completions"] < total
    cluster.wait_for(lambda: queue.stats().pending == 0)
    let_go_on(cluster, "h1")
    assert cluster.supervisors["h1"].wait(60) == 12, cluster.log()
    assert "hint: If it may work again, run on another machine: cocli cluster admit h1" in cluster.log()
    cluster.wait_for(lambda: not cluster.workers("h1"))
    done = completion(campaign, held)
    assert (host_of(done.worker), done.token) == ("h2", 3), "what the first one did late does not count"
    assert queue.stats().completed == total
    refused = run(cluster, "worker", "gm-list", "-c", campaign.name, "--host", "h1", "--once")
    assert refused.returncode == 12, refused.stderr
    if cluster.store is not None:
        (key,) = told["keys"]
        assert (key["access_key"], key["shared_with"]) == (servers.ACCESS_KEY, ["h2"])
        assert servers.SECRET_KEY not in json.dumps(contents_shown(campaign.store))
    cluster.supervisors["h2"].terminate()
    assert cluster.supervisors["h2"].wait(60) == 0, cluster.log()
    assert records(workspace, campaign.name) == undisturbed(cluster, campaign.store)


def a_mission(workspace: Workspace, cluster: Cluster) -> Campaign:
    """A part of the demo town, its open data on this machine, and tasks in the queue: for two hosts."""
    town = build_town(seed=3)
    file = cluster.home / "places.parquet"
    write_overture(town, file)
    add_source(workspace, str(file), FileClaims(), datetime.now(UTC))
    truth = truth_of(town)
    places = [TemplatePlace(tile, *Tile.parse(*tile.split("_")).centre, 0.5) for tile in truth.tiles]
    new_campaign(workspace, cluster.name, truth.phrases[:1], places[:12])
    wanted = ["queue.lease_seconds=600", "workers.h1.gm-list=1", "workers.h2.gm-list=1"]
    edit_campaign(workspace, cluster.name, [parse_change(change) for change in wanted])
    campaign, indexes = workspace.campaign(cluster.name), campaign_indexes(workspace, cluster.name)
    build_targets(indexes, campaign)
    queue_mission(indexes, campaign)
    return campaign


def stop_in_the_middle(cluster: Cluster, campaign: Campaign, host: str) -> str:
    """Hold a machine still while one of its workers has a task; which one that is."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        for worker in cluster.workers(host):
            with suppress(psutil.Error):
                worker.suspend()
                held = task_of(campaign, host)
                if held is not None:
                    cluster.supervisors[host].send_signal(signal.SIGSTOP)
                    return held
                worker.resume()
        time.sleep(0.02)
    raise AssertionError(f"{host} never had a task in hand:\n{cluster.log()}")


def task_of(campaign: Campaign, host: str) -> str | None:
    """A task that is under a lease of the host, and has not ended."""
    from cocli.app.machines.host_traces import HostTraces

    traces = HostTraces(host)
    traces.look_through(campaign.store, [campaign.name])
    ended = {trace.what for trace in traces.completions.traces}
    held = [trace.what for trace in traces.leases.traces if trace.what.startswith("gm-list: ")]
    return next((what.removeprefix("gm-list: ") for what in held if what not in ended), None)


def let_go_on(cluster: Cluster, host: str) -> None:
    for worker in cluster.workers(host):
        with suppress(psutil.Error):
            worker.resume()
    cluster.supervisors[host].send_signal(signal.SIGCONT)


def completion(campaign: Campaign, task_id: str) -> Completion:
    key = Places(campaign.name, "gm-list").completion(task_id, batch=False)
    return json_records.read(Completion, campaign.store.get(key).data, file=key)


def run(cluster: Cluster, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cocli", *words], env=cluster.environ(), capture_output=True, text=True, timeout=120
    )


def command(cluster: Cluster, *words: str) -> Any:
    done = run(cluster, *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def counts_of(told: Any) -> dict[str, int]:
    return {kind["kind"]: kind["count"] for kind in told["written"]}


def contents_shown(store: Store) -> dict[str, str]:
    return {key: data.decode("utf-8", "replace") for key, data in contents(store).items() if key.startswith("access/")}


def records(workspace: Workspace, name: str) -> dict[str, dict[str, object]]:
    """What is known of each business, without the times at which it was written and the campaign's name."""
    settle_campaign(workspace, name)
    index = campaign_indexes(workspace, name).open(IndexRef("prospects", name))
    unlike = {"first_seen", "updated_at", "origins", "campaign"}
    rows: Iterator[Prospect] = open_reader(index, fresh=True).scan()
    return {row.company_hash: row.model_dump(mode="json", exclude=unlike) for row in rows}


def undisturbed(cluster: Cluster, disturbed: Store) -> dict[str, dict[str, object]]:
    """The same mission in a home of its own, done by one worker that nobody interrupts."""
    alone = Cluster(cluster.home / "alone", f"{cluster.name}b")
    alone.home.mkdir()
    with open_workspace(alone.environ(), Flags()) as workspace:
        campaign = a_mission(workspace, alone)
        assert campaign.store.address != disturbed.address
        run_worker(workspace, campaign, "gm-list", WorkerSettings(until_empty=True), Drain())
        return records(workspace, alone.name)
