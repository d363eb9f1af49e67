"""A heartbeat: what a machine says about itself every two minutes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cocli.models.campaign import CampaignName, QueueName
from cocli.models.record import Count, Label, Many, Record, RecordPart, Text, UtcDatetime
from cocli.models.task import TaskId

Percent = Annotated[float, Field(ge=0, le=100)]


class ActiveTask(RecordPart):
    """A task in work: since when, by which worker process."""

    task_id: TaskId
    worker: Label
    claimed_at: UtcDatetime


class Versions(RecordPart):
    cocli: Label
    python: Label
    system: Label


class Heartbeat(Record):
    """`status/{hostname}.json`."""

    schema_id = "cocli.heartbeat/1"
    key = ("hostname",)

    hostname: Label
    machine: Label | None = None
    """Made up once per machine: two machines of one name are told apart by it."""
    campaign: CampaignName
    at: UtcDatetime
    """By the machine's own clock: the store's tells how far that one is off."""
    started_at: UtcDatetime
    stopped_at: UtcDatetime | None = None
    """The supervisor ended as it should: nothing more is to be expected."""
    period_seconds: Annotated[float, Field(gt=0)] = 120.0
    """When to expect the next one."""
    cpu_percent: Percent
    ram_percent: Percent
    ram_bytes: Count
    disk_free_bytes: Count
    temperature: float | None = None
    versions: Versions
    workers: dict[QueueName, Count] = Field(default_factory=dict)
    """Queue → worker processes that run."""
    active: dict[QueueName, Many[ActiveTask]] = Field(default_factory=dict)
    completed: dict[QueueName, Count] = Field(default_factory=dict)
    """Queue → tasks finished since the start."""
    rates: dict[QueueName, Annotated[float, Field(ge=0)]] = Field(default_factory=dict)
    """Queue → tasks finished per minute, lately."""
    last_error: Text | None = None
