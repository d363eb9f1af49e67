"""One task's life, as a list of moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.models.record import render_utc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cocli.queue.base import TaskView

    Moment = tuple[datetime, str, str]


def task_timeline(view: TaskView) -> dict[str, Any]:
    """What is known of a task, the earliest moment first."""
    moments = sorted(_moments(view), key=lambda moment: moment[0])
    return {
        "task_id": view.task_id,
        "states": [str(place) for place in view.states],
        "payload": view.task.model_dump(mode="json")["payload"] if view.task else None,
        "problem": view.problem,
        "timeline": [{"at": render_utc(at), "kind": kind, "text": text} for at, kind, text in moments],
    }


def _moments(view: TaskView) -> Iterator[Moment]:
    task, lease, done, aside = view.task, view.lease, view.completion, view.sidelined
    if task is not None:
        yield task.created_at, "queued", "put into the queue"
    for attempt in (*(task.history if task else ()), *(lease.history if lease else ())):
        said = f": {attempt.error.message}" if attempt.error else ""
        yield attempt.ended_at, attempt.outcome, f"attempt {attempt.attempt} of {attempt.worker}{said}"
    if lease is not None and lease.worker is not None and lease.expires is not None:
        yield lease.expires, "leased", f"{lease.worker} has it until then"
    if lease is not None and lease.not_before is not None:
        yield lease.not_before, "waits", "it is tried again then"
    if done is not None:
        yield done.claimed_at, "claimed", f"claimed by {done.worker}"
        yield done.finished_at, "completed", f"{done.verdict.kind}, by {done.worker}"
    if aside is not None:
        yield aside.at, "sidelined", f"{aside.category}: {aside.reason}"
