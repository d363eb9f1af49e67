"""Real workers in real processes: killed, stopped, and counted from outside."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.kit.effort import effort
from tests.kit.servers import S3Server

from cocli.formats import json_records
from cocli.keys.paths import LeaseKey
from cocli.models.completion import Completion, Ok
from cocli.queue.base import NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import open_store

TASKS_LOCALLY, TASKS_ON_S3 = effort(1500), effort(300)
HERE = Path(__file__).parent


@pytest.fixture(params=("local", "seaweedfs"))
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "local":
        return str(tmp_path / "store")
    server: S3Server = request.getfixturevalue("seaweedfs")
    return server.url("cocli-data-test", f"kill-{secrets.token_hex(6)}")


@pytest.mark.timeout(600)
def test_killed_workers_lose_nothing_and_do_nothing_twice(url: str, tmp_path: Path) -> None:
    tasks, log = TASKS_ON_S3 if url.startswith("s3") else TASKS_LOCALLY, tmp_path / "log"
    log.mkdir()
    done = subprocess.run(
        [sys.executable, HERE / "kill_workers.py", url, str(tasks), "8", log],
        capture_output=True,
        text=True,
        timeout=560,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kills"] > 5
    store = open_store(url, fsync="never")
    # A worker that was killed between the end of a task and that of its lease leaves the lease, which holds up nobody.
    keys = [info.key for info in store.list() if not LeaseKey.fits(info.key)]
    completed = [json_records.read(Completion, store.get(key).data) for key in keys]
    assert sorted(completion.task_id for completion in completed) == sorted(f"site{n}.example" for n in range(tasks)), (
        "lost or left over"
    )
    accepted = Counter(line for path in log.glob("w*") for line in path.read_text().split())
    assert accepted.total() > tasks * 0.9
    assert max(accepted.values()) == 1, "accepted twice"
    store.close()


def test_a_worker_stopped_past_its_lease_is_refused(url: str) -> None:
    store = open_store(url, fsync="never")
    queue = LeasedQueue(store, "c", "enrichment", worker="other", lease_seconds=1, margin=2.0)
    queue.put(NewTask("example.com"))
    stopped = subprocess.Popen(
        [sys.executable, HERE / "stopped_worker.py", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert stopped.stdin is not None
    assert stopped.stdout is not None
    assert stopped.stdout.readline() == "claimed\n"
    os.kill(stopped.pid, signal.SIGSTOP)
    deadline = time.monotonic() + 20
    while (claim := queue.claim()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert claim.token == 2
    os.kill(stopped.pid, signal.SIGCONT)
    out, _ = stopped.communicate("go\n", timeout=30)
    assert out == "refused\n"
    assert queue.ack(claim, Ok()) == "completed"
    queue.close()
    store.close()
