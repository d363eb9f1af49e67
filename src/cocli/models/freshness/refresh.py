"""A round of refreshing: what was chosen to be read again, written before anything is queued."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue

from cocli.models.campaign import CampaignName, QueueName
from cocli.models.record import Count, Label, Many, Record, RecordPart, Text, UtcDatetime
from cocli.models.task import Nonce, TaskId


class RoundTask(RecordPart):
    """One thing that is read again."""

    queue: QueueName
    task_id: TaskId
    payload: dict[str, JsonValue] = Field(default_factory=dict)
    requests: Count = 0
    """What it is expected to cost."""
    reason: Text


class RefreshRound(Record):
    """`campaigns/{campaign}/refresh/{day}/{number}.json`: written once, by whoever came first."""

    schema_id = "cocli.refresh-round/1"
    key = ("day", "number")

    campaign: CampaignName
    day: Annotated[str, Field(pattern=r"^[0-9]{8}$")]
    number: Annotated[int, Field(ge=1)]
    created_at: UtcDatetime
    host: Label
    requests: Count
    tasks: Many[RoundTask] = ()
    nonce: Nonce
