"""Tasks, leases, completions, documents and heartbeats: the rules that hold between their fields."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cocli.errors import RecordError
from cocli.models.completion import Blocked, Completion, Empty, Failed, Ok
from cocli.models.document import DocumentReference, PipeDoc
from cocli.models.heartbeat import Heartbeat
from cocli.models.lease import Lease
from cocli.models.task import Task, TaskError

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DIGEST = "0" * 64
REFERENCE: dict[str, Any] = {
    "account": "acct",
    "connector": "web",
    "datasource": "ds",
    "doc": "d",
    "address": "parser",
    "cluster": "main",
    "digest": DIGEST,
}
PIPEDOC: dict[str, Any] = {
    "uuid": "a3526da5-c3be-344c-82be-e341d1a7eb75",
    "account": "acct",
    "connector": "web",
    "datasource": "ds",
    "doc": "d",
    "address": "ds",
    "digest": DIGEST,
    "size": 1,
    "saved_at": NOON,
}
COMPLETION: dict[str, Any] = {
    "task_id": "t",
    "queue": "gm-list",
    "campaign": "c",
    "token": 1,
    "attempt": 1,
    "worker": "w",
    "claimed_at": NOON,
    "finished_at": NOON,
    "nonce": "01234567",
}


def test_a_lease_is_held_or_free() -> None:
    base: dict[str, Any] = {"task_id": "t", "token": 1, "attempt": 1, "nonce": "01234567"}
    assert Lease(**base, worker="w", expires=NOON).held
    assert not Lease(**base, not_before=NOON).held
    for wrong in ({"worker": "w"}, {"expires": NOON}, {"worker": "w", "expires": NOON, "not_before": NOON}):
        with pytest.raises(RecordError, match="a held lease"):
            Lease.checked(base | wrong)
    with pytest.raises(RecordError, match="token"):
        Lease.checked(base | {"token": 0})


def test_a_page_that_did_not_load_is_never_empty() -> None:
    with pytest.raises(RecordError, match="evidence"):
        Completion.checked(COMPLETION | {"verdict": {"kind": "empty"}})
    proved = Completion.checked(COMPLETION | {"verdict": {"kind": "empty", "evidence": "end of list"}})
    assert proved.verdict == Empty(evidence="end of list")


def test_no_verdict_no_completion() -> None:
    with pytest.raises(RecordError, match="verdict: Field required"):
        Completion.checked(COMPLETION)
    with pytest.raises(RecordError, match="verdict"):
        Completion.checked(COMPLETION | {"verdict": None})
    with pytest.raises(RecordError, match="verdict"):
        Completion.checked(COMPLETION | {"verdict": {"kind": "fine"}})


def test_the_verdicts_are_typed() -> None:
    error = TaskError(code="timeout", message="30 s", retryable=True)
    assert Failed(error=error).retryable
    for verdict in (Ok(count=3), Empty(evidence="end"), Blocked(reason="captcha"), Failed(error=error)):
        assert Completion(**COMPLETION, verdict=verdict).verdict == verdict


def test_a_completion_ends_after_it_began() -> None:
    with pytest.raises(RecordError, match="lies before"):
        Completion.checked(COMPLETION | {"verdict": Ok(), "finished_at": NOON - timedelta(seconds=1)})


def test_a_task_carries_a_reference_never_the_page() -> None:
    base: dict[str, Any] = {"task_id": "t", "queue": "enrichment", "campaign": "c", "created_at": NOON}
    task = Task(**base, nonce="01234567", document=DocumentReference(**REFERENCE))
    assert task.document is not None
    with pytest.raises(RecordError, match="one id"):
        Task.checked(base | {"nonce": "01234567", "items": [{"item_id": "a"}, {"item_id": "a"}]})


@pytest.mark.parametrize("part", ["account", "doc", "address", "cluster"])
@pytest.mark.parametrize("value", ["", "  ", "a|b"])
def test_the_parts_of_an_address_cannot_run_into_each_other(part: str, value: str) -> None:
    with pytest.raises(RecordError, match=part):
        DocumentReference.checked(REFERENCE | {part: value})


@pytest.mark.parametrize("model", [DocumentReference, PipeDoc])
def test_a_cluster_is_not_called_intake(model: type[DocumentReference | PipeDoc]) -> None:
    values = REFERENCE if model is DocumentReference else PIPEDOC
    with pytest.raises(RecordError, match="may not be called intake"):
        model.checked(values | {"cluster": "intake"})


def test_a_document_is_intake_or_the_state_of_a_cluster() -> None:
    intake = PipeDoc(**PIPEDOC)
    assert intake.reference == DocumentReference(**REFERENCE | {"address": "ds", "cluster": None})
    state = PipeDoc(**(PIPEDOC | {"kind": "state", "cluster": "main", "address": "parser"}))
    assert state.reference.cluster == "main"
    with pytest.raises(RecordError, match="has no cluster"):
        PipeDoc.checked(PIPEDOC | {"cluster": "main"})
    with pytest.raises(RecordError, match="is its datasource"):
        PipeDoc.checked(PIPEDOC | {"address": "parser"})


def test_a_heartbeat_counts_per_queue() -> None:
    heartbeat = Heartbeat.checked(
        {
            "hostname": "pi-1",
            "campaign": "c",
            "at": NOON,
            "started_at": NOON,
            "cpu_percent": 12.5,
            "ram_percent": 40,
            "ram_bytes": 4 << 30,
            "disk_free_bytes": 1 << 30,
            "versions": {"cocli": "0.1.0", "python": "3.11", "system": "Linux"},
            "workers": {"gm-list": 2},
            "active": {"gm-list": [{"task_id": "t", "worker": "w", "claimed_at": NOON}]},
        }
    )
    assert heartbeat.active["gm-list"][0].task_id == "t"
    with pytest.raises(RecordError, match="cpu_percent"):
        heartbeat.with_changes(cpu_percent=101.0)
