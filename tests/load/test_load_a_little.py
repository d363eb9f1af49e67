"""A few seconds of what `make load` does for minutes. The seed is printed where something does not hold."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path

import pytest

from cocli.models.completion import Ok
from cocli.queue.base import NewTask
from tests.kit.effort import effort
from tests.kit.servers import S3Server
from tests.load.queue import QueueLoad, QueueOutcome, judged, run_queue
from tests.load.queue_worker import opened_queue
from tests.load.services import SUBJECTS, ServiceLoad, run_services

SECONDS, TASKS = effort(3), effort(100)


@pytest.mark.parametrize("name", SUBJECTS)
def test_good_callers_are_answered_beside_bad_ones(name: str, tmp_path: Path) -> None:
    load = ServiceLoad(SECONDS, secrets.randbits(32), callers=36)
    with SUBJECTS[name](tmp_path / "home") as subject:
        outcome = run_services(subject, load)
        assert "Traceback" not in subject.service.log
    assert outcome.holds, f"seed {load.seed}: {outcome}"
    assert outcome.visits >= load.callers / 2


def test_no_task_is_lost_or_doubled_on_s3_with_faults(seaweedfs: S3Server, tmp_path: Path) -> None:
    load = QueueLoad(per_minute=1e6, seconds=60.0, seed=secrets.randbits(32), faults=0.1, most=TASKS)
    outcome = run_queue(seaweedfs, "cocli-data-test", f"load-{load.seed}", tmp_path / "log", load)
    assert outcome.holds, f"seed {load.seed}: {outcome}"
    assert outcome.tasks == TASKS
    assert outcome.faults > 0


def test_a_task_that_is_lost_or_done_twice_is_seen(tmp_path: Path) -> None:
    """The check can fail."""
    url, folder = str(tmp_path / "store"), tmp_path / "log"
    folder.mkdir()
    with opened_queue(url, "w") as queue:
        queue.put_many([NewTask(f"site{number}.example") for number in range(3)])
        claims = {claim.task.task_id: claim for claim in queue.claim_many(3)}
        queue.ack(claims["site0.example"], Ok())
        queue.ack(claims["site1.example"], Ok())
    (folder / "w0").write_text("site0.example\nsite1.example\nsite1.example\n")
    lost, doubled, left_over = judged(url, folder, 3)
    assert (lost, doubled, left_over > 0) == (1, 1, True)


def test_memory_that_grows_is_seen() -> None:
    """The check can fail."""
    grown = QueueOutcome(1, 1.0, 0, 0, 0, 1, 0, 0, 1.0, memory=(100 << 20, 200 << 20))
    assert not grown.holds
    assert replace(grown, memory=(100 << 20, 120 << 20)).holds
