"""A lease: who works on a task, until when, under which fencing number."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from cocli.models.completion import ItemCompletion
from cocli.models.record import Count, Label, Many, Record, UtcDatetime
from cocli.models.task import Attempt, Nonce, TaskError, TaskId


class Lease(Record):
    """`lease.json`, beside its task. Held while `worker` is set; a free one keeps token and attempts.

    A lease is deleted only together with its task, so a token never starts again at 1.
    """

    schema_id = "cocli.lease/1"
    key = ("task_id",)

    task_id: TaskId
    token: Annotated[int, Field(ge=1)]
    """The fencing number: grows with every holder, goes into the completion."""
    attempt: Annotated[int, Field(ge=1)]
    worker: Label | None = None
    expires: UtcDatetime | None = None
    not_before: UtcDatetime | None = None
    """A failed task waits until then."""
    recoveries: Count = 0
    """Those of the task when the lease was taken: a task that came back from the sideline starts its attempts anew."""
    error: TaskError | None = None
    history: Many[Attempt] = ()
    finished: Many[ItemCompletion] = ()
    """The items of a batch that are done already: whoever takes the batch over does not do them again."""
    sequence: Count = 0
    """Grows with every replacement: an etag may be a hash of the content, and A → B → A must be seen."""
    nonce: Nonce

    @model_validator(mode="after")
    def _held_or_free(self) -> Self:
        if (self.worker is None) != (self.expires is None):
            raise ValueError("a held lease has a worker and an expiry, a free one has neither")
        if self.worker is not None and self.not_before is not None:
            raise ValueError("a held lease does not wait: not_before belongs to a free one")
        return self

    @property
    def held(self) -> bool:
        return self.worker is not None
