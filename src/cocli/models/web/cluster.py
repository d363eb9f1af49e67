"""Queues and machines, as their screens show them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cocli.models.campaign import CampaignName
from cocli.models.record import Count, Label, Many, Record, RecordPart, Text, UtcDatetime
from cocli.models.web.site import WebProblem

Amount = Annotated[float, Field(ge=0)]


class WebTask(RecordPart):
    """A task of a queue."""

    task_id: Text
    state: Label
    category: Label | None = None
    text: Text
    """What is to be done, in words."""
    worker: Label | None = None
    changed: UtcDatetime | None = None
    detail: Text | None = None
    command: Text


class WebQueue(RecordPart):
    """A queue."""

    queue: Label
    pending: Count = 0
    waiting: Count = 0
    leased: Count = 0
    expired: Count | None = None
    completed: Count | None = None
    sidelined: dict[Label, Count] = Field(default_factory=dict)
    rate_per_minute: Amount | None = None
    minutes_left: Amount | None = None
    oldest: UtcDatetime | None = None
    done_recently: Count | None = None
    recent_seconds: Amount | None = None
    problem: Text | None = None
    recover_command: Text
    tasks: Many[WebTask] = ()
    tasks_cut: bool = False
    """Whether there are more than are listed."""


class WebQueues(Record):
    """`data/{campaign}/queues.json`."""

    schema_id = "cocli.web-queues/1"

    campaign: CampaignName
    at: UtcDatetime
    paused: Many[Label] = ()
    queues: Many[WebQueue]


class WebActiveTask(RecordPart):
    """A task in work on a machine."""

    queue: Label
    task_id: Text
    worker: Label
    claimed_at: UtcDatetime


class WebHost(RecordPart):
    """A machine."""

    host: Label
    state: Label
    """alive, overdue, stopped, evicted; expected: configured, and never reported."""
    beat_at: UtcDatetime | None = None
    age_seconds: Amount | None = None
    skew_seconds: float | None = None
    started_at: UtcDatetime | None = None
    cpu_percent: float | None = None
    ram_percent: float | None = None
    ram_bytes: Count | None = None
    disk_free_bytes: Count | None = None
    temperature: float | None = None
    version: Label | None = None
    python: Label | None = None
    system: Label | None = None
    workers: dict[Label, Count] = Field(default_factory=dict)
    wanted: dict[Label, Count] = Field(default_factory=dict)
    completed: dict[Label, Count] = Field(default_factory=dict)
    rates: dict[Label, Amount] = Field(default_factory=dict)
    limited_by: dict[Label, Label] = Field(default_factory=dict)
    active: Many[WebActiveTask] = ()
    last_error: Text | None = None
    evicted_reason: Text | None = None


class WebMachines(Record):
    """`data/{campaign}/machines.json`."""

    schema_id = "cocli.web-machines/1"

    campaign: CampaignName
    at: UtcDatetime
    elected: Label | None = None
    finished_at: UtcDatetime | None = None
    upkeep_problem: Text | None = None
    problems: Many[WebProblem] = ()
    hosts: Many[WebHost] = ()
