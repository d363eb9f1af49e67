"""Batches: many cheap items under one lease. How an item ended, and what becomes of those that are not done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.formats import usv
from cocli.models.completion import Blocked, Empty, Failed, ItemCompletion, Ok
from cocli.queue.base import NewTask

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cocli.models.task import Task
    from cocli.queue.base import Claim, Verdict

_AGAIN = re.compile(r"(.*)\+again-([0-9]+)\Z", re.DOTALL)


def item_completion(claim: Claim, item_id: str, verdict: Verdict, now: datetime) -> ItemCompletion:
    """One row of a batch's completion."""
    reason, retryable = None, None
    if isinstance(verdict, Empty):
        reason = verdict.evidence
    elif isinstance(verdict, Blocked):
        reason = verdict.reason
    elif isinstance(verdict, Failed):
        reason, retryable = f"{verdict.error.code}: {verdict.error.message}", verdict.retryable
    return ItemCompletion(
        item_id=item_id,
        verdict=verdict.kind,
        result=verdict.result if isinstance(verdict, Ok) else {},
        reason=reason,
        retryable=retryable,
        token=claim.token,
        worker=claim.worker,
        finished_at=now,
    )


def render_rows(rows: Sequence[ItemCompletion]) -> bytes:
    return usv.render(ItemCompletion, rows)


def to_try_again(claim: Claim) -> NewTask | None:
    """A batch of the items that failed but may succeed next time. Its id follows from the first, so it is put once."""
    failed = {item_id for item_id, row in claim.finished.items() if row.retryable}
    items = [item for item in claim.task.items if item.item_id in failed]
    if not items:
        return None
    return NewTask(_id_again(claim.task.task_id), claim.task.payload, claim.task.document, items)


def lives(task: Task) -> int:
    """How often the items of a batch have been put, this time included."""
    match = _AGAIN.match(task.task_id)
    return int(match[2]) if match else 1


def _id_again(task_id: str) -> str:
    match = _AGAIN.match(task_id)
    if match is None:
        return f"{task_id}+again-2"
    return f"{match[1]}+again-{int(match[2]) + 1}"


def parts_of(claim: Claim, parts: int) -> list[NewTask]:
    """The items that are still to be done, dealt out to several smaller batches."""
    items = claim.remaining
    dealt = [items[number::parts] for number in range(parts)]
    return [
        NewTask(f"{claim.task.task_id}+part-{number}", claim.task.payload, claim.task.document, some)
        for number, some in enumerate(dealt, start=1)
        if some
    ]
