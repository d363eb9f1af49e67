"""What a worker process tells its supervisor: one line of JSON whenever something changed."""

from __future__ import annotations

from pydantic import Field

from cocli.models.campaign import QueueName
from cocli.models.heartbeat import ActiveTask
from cocli.models.record import Count, Label, Many, Record, Text


class WorkerReport(Record):
    """Counts are since the worker's start: the newest line says everything."""

    schema_id = "cocli.worker-report/1"

    queue: QueueName
    worker: Label
    active: Many[ActiveTask] = ()
    ended: dict[Label, Count] = Field(default_factory=dict)
    """How tasks ended → how many: completed, already_completed, waiting, sidelined, lost, released."""
    last_error: Text | None = None
    limited_by: Label | None = None
    """What holds its work up now: network, politeness, processor, memory, sockets, store, nothing waits."""

    @property
    def completed(self) -> int:
        return self.ended.get("completed", 0)
