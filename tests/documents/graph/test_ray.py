"""A replay on a Ray cluster of two nodes: a head and another one, both started here as processes of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.documents.conftest import postgres_server  # noqa: F401 - a fixture
from tests.kit.postgres import PostgresServer
from tests.kit.servers import S3Server

from cocli.demo.ports import free_ports
from cocli.documents import Document, DocumentSource
from cocli.documents.catalog.job_rows import JobState
from cocli.documents.replay.engines.ray import RayCrew, RayWorker, check_address
from cocli.documents.replay.engines.workplace import Workplace
from cocli.documents.replay.jobs import run_job
from cocli.documents.replay.plan import ReplayPlan
from cocli.documents.replay.replay import plan_replay
from cocli.errors import CrewLost, UsageError
from cocli.exit_codes import ExitCode

HERE = Path(__file__).parent
ACCOUNT = "default"
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own warnings, and sockets that it leaves to the collector

_BOUNDED = ["--num-cpus=1", "--object-store-memory=80000000", "--node-ip-address=127.0.0.1", "--disable-usage-stats"]


@pytest.fixture
def cluster(tmp_path: Path, seaweedfs: S3Server) -> Iterator[str]:
    """The address of the head. Its processes know the credentials of the bucket. Ray stops with the session's folder as
    its only trace."""
    (port,) = free_ports(1)
    environment = {**os.environ, "PYTHONPATH": str(HERE), "RAY_DISABLE_DOCKER_CPU_WARNING": "1"}
    # Sockets have short names: Ray's folder cannot lie as deep as a test's.
    ray = [sys.executable, "-m", "ray.scripts.scripts", "start", *_BOUNDED]
    head = [*ray, "--head", f"--port={port}", "--include-dashboard=false"]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for command in ([*head, "--block"], [*ray, f"--address=127.0.0.1:{port}", "--block"]):
            log = (tmp_path / f"ray-{len(started)}.log").open("wb")
            started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True))
            log.close()
            if len(started) == 1:
                _wait_for(port)
        yield f"127.0.0.1:{port}"
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(port: int) -> None:
    import socket
    import time

    until = time.monotonic() + 30
    while time.monotonic() < until:
        with socket.socket() as line:
            if line.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError("the head of the Ray cluster did not come up")


def test_a_replay_on_two_nodes(
    cluster: str,
    tmp_path: Path,
    seaweedfs: S3Server,
    postgres_server: PostgresServer,  # noqa: F811 - the fixture
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On what machines share: a bucket and PostgreSQL."""
    monkeypatch.syspath_prepend(str(HERE))
    store = seaweedfs.url("cocli-data-test", f"ray-{tmp_path.name.replace('_', '-')}")
    catalog = postgres_server.new_schema()
    place = Workplace(store, catalog, "replay_factory:make_graph", "prod")
    with place.opened() as engine:
        for number in range(40):
            doc = f"https://example.com/{number:03d}"
            page = Document.intake(account=ACCOUNT, connector="web", doc=doc, source=DocumentSource(uri=doc))
            engine.repository.save(page)
        job = plan_replay(engine, ACCOUNT, ReplayPlan.of(engine))
        with RayCrew(place, jobs=2, address=cluster) as crew:
            assert len(set(crew.places())) == 2, "one worker on each node"
            _refused(place)
            done = run_job(engine, ACCOUNT, job.job, crew=crew, chunk=4)
            assert (done.state, done.done, done.failed) == (JobState.DONE, 32, 8)
            assert len(engine.repository.documents(ACCOUNT, cluster="prod", limit=1000).items) == 32 + 28
            crew._ray.kill(crew._actors[0])
            again = plan_replay(engine, ACCOUNT, ReplayPlan.of(engine, memo=False))
            with pytest.raises(CrewLost):
                run_job(engine, ACCOUNT, again.job, crew=crew, chunk=4)
        assert run_job(engine, ACCOUNT, again.job).state is JobState.DONE, "without Ray it goes on where it stopped"
    _as_a_person_would(cluster, tmp_path, store, catalog)


def _refused(place: Workplace) -> None:
    """While two workers have both processors."""
    with pytest.raises(UsageError, match="2 processors, and 3 workers need 3") as refused:
        RayCrew(place, jobs=3, begin_seconds=0.1).__enter__()
    assert "--jobs 2" in str(refused.value.hint)
    with pytest.raises(CrewLost, match=r"no worker stands after 0.5 s; 0 processors of the Ray cluster are free"):
        RayCrew(place, jobs=1, begin_seconds=0.5).__enter__()


def _as_a_person_would(cluster: str, home: Path, store: str, catalog: str) -> None:
    """The same documents into another cluster, from the command line."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COCLI_", "XDG_"))}
    environment |= {"HOME": str(home), "COCLI_DOCUMENTS_CATALOG": catalog, "PYTHONPATH": str(HERE)}
    words = ["documents", "replay", "--store", store, "--edition", "staging", "--json"]
    words += ["--graph", "replay_factory:make_graph", "--engine", f"ray:{cluster}", "--jobs", "2"]
    done = subprocess.run([sys.executable, "-m", "cocli", *words], env=environment, capture_output=True, text=True)
    assert done.returncode == ExitCode.DATA, done.stderr  # eight documents of the factory fail
    job = json.loads(done.stdout)["job"]
    assert (job["state"], job["done"], job["failed"]) == ("done", 32, 8)


@pytest.mark.parametrize("address", ["10.0.0.7:6379", "ray://head.example:10001", "head:6379", "[2001:db8::1]:6379"])
def test_a_cluster_that_anybody_can_use_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Workplace("s", "c", "m:f", "prod")
    with pytest.raises(UsageError, match="whoever reaches it can run programs"):
        RayCrew(place, jobs=1, address=address)
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(UsageError):
        RayCrew(place, jobs=1)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    RayCrew(place, jobs=1)
    for here in ("127.0.0.1:6379", "localhost:6379", "[::1]:6379", "ray://127.0.0.1:10001", "auto", None):
        check_address(here, {})


def test_what_a_worker_cannot_begin_with_is_its_answer(tmp_path: Path) -> None:
    worker = RayWorker(Workplace(str(tmp_path), str(tmp_path / "c.sqlite3"), "no.such.module:f", "prod"))
    assert isinstance(worker.ready(), UsageError)
    with pytest.raises(UsageError, match="at least one"):
        RayCrew(Workplace("s", "c", "m:f", "prod"), jobs=0)
