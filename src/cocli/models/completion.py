"""How a task ended: a typed verdict, written once. A page that did not load is never `empty`."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from cocli.models.campaign import CampaignName, QueueName
from cocli.models.document import DocumentReference
from cocli.models.record import Count, Label, Many, Record, RecordPart, Text, UtcDatetime
from cocli.models.task import Nonce, TaskError, TaskId


class Ok(RecordPart):
    """The work was done, and this came out of it."""

    kind: Literal["ok"] = "ok"
    result: dict[str, JsonValue] = Field(default_factory=dict)
    documents: Many[DocumentReference] = ()
    count: Count | None = None
    """How many records it gave."""


class Empty(RecordPart):
    """There is nothing, and that was proved: the end marker was seen."""

    kind: Literal["empty"] = "empty"
    evidence: Label


class Blocked(RecordPart):
    """The source refused (consent page, captcha, limited view): nothing is known about what is there."""

    kind: Literal["blocked"] = "blocked"
    reason: Text


class Failed(RecordPart):
    """The work failed; whether another attempt can help is part of the verdict."""

    kind: Literal["failed"] = "failed"
    error: TaskError

    @property
    def retryable(self) -> bool:
        return self.error.retryable


Verdict = Annotated[Ok | Empty | Blocked | Failed, Field(discriminator="kind")]


class Completion(Record):
    """`completed/…/{task_id}.json`: the first one written is the result, whoever comes later is told so."""

    schema_id = "cocli.completion/1"
    key = ("task_id",)

    task_id: TaskId
    queue: QueueName
    campaign: CampaignName
    verdict: Verdict
    token: Annotated[int, Field(ge=1)]
    attempt: Annotated[int, Field(ge=1)]
    worker: Label
    claimed_at: UtcDatetime
    finished_at: UtcDatetime
    nonce: Nonce

    @model_validator(mode="after")
    def _ends_after_it_began(self) -> Self:
        if self.finished_at < self.claimed_at:
            raise ValueError("finished_at lies before claimed_at")
        return self


class ItemCompletion(Record):
    """One row of `completed/…/{task_id}.usv`: how one item of a batch ended."""

    schema_id = "cocli.item-completion/1"
    key = ("item_id",)

    item_id: TaskId
    verdict: Literal["ok", "empty", "blocked", "failed"]
    result: dict[str, JsonValue] = Field(default_factory=dict)
    reason: Text | None = None
    """The evidence of `empty`, the reason of `blocked` and `failed`."""
    retryable: bool | None = None
    token: Annotated[int, Field(ge=1)]
    worker: Label
    finished_at: UtcDatetime
