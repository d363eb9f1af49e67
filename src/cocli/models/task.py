"""A task of a queue: what is to be done, never the page it is done to."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, StringConstraints, model_validator

from cocli.models.campaign import CampaignName, QueueName
from cocli.models.document import DocumentReference
from cocli.models.record import Count, Label, Many, Record, RecordPart, Text, UtcDatetime

TaskId = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00]+$")]
Nonce = Annotated[str, StringConstraints(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
"""Chosen anew for every write, so that a writer recognises its own object after a lost answer."""

SidelineCategory = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,62}$"), "a reason"]
"""Written like a queue's name and no queue: the last word keeps the two types apart."""


class TaskError(RecordPart):
    """Why an attempt failed: the code and message of the error, and whether trying again can help."""

    code: Label
    message: Text
    retryable: bool


class Attempt(RecordPart):
    """One try that did not finish the task."""

    attempt: Annotated[int, Field(ge=1)]
    token: Annotated[int, Field(ge=1)]
    worker: Label
    ended_at: UtcDatetime
    outcome: Literal["failed", "blocked", "expired", "released"]
    error: TaskError | None = None


class TaskItem(RecordPart):
    """One piece of a batch."""

    item_id: TaskId
    payload: dict[str, JsonValue] = Field(default_factory=dict)
    document: DocumentReference | None = None


class Sidelined(RecordPart):
    """Why a task was set aside, so that it can be found and recovered by category."""

    category: SidelineCategory
    reason: Text
    at: UtcDatetime


class Task(Record):
    """`task.json`. The payload says what to do (a tile and a phrase, a place id, a domain)."""

    schema_id = "cocli.task/1"
    key = ("task_id",)

    task_id: TaskId
    queue: QueueName
    campaign: CampaignName
    payload: dict[str, JsonValue] = Field(default_factory=dict)
    document: DocumentReference | None = None
    items: Many[TaskItem] = ()
    """A batch: cheap pieces that share one lease and one completion."""
    created_at: UtcDatetime
    nonce: Nonce
    recoveries: Count = 0
    """How often the task came back from the sideline with fresh attempts."""
    last_token: Count = 0
    """The greatest fencing number given out before it was set aside: the next one is greater."""
    history: Many[Attempt] = ()
    sidelined: Sidelined | None = None

    @model_validator(mode="after")
    def _items_are_distinct(self) -> Self:
        if len({item.item_id for item in self.items}) != len(self.items):
            raise ValueError("two items of the batch have one id")
        return self
