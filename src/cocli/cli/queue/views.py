"""How queues and tasks are shown: rows and documents, from what `cocli.app.queues.queues` found."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cocli.app.queues.listing import TaskRow
    from cocli.app.queues.queues import QueueStatus
    from cocli.cli.kit.output import Output
    from cocli.queue.base import QueueStats, TaskView

_NUMBERS = ("pending", "leased", "expired", "done", "/min")
_SHORT = 60


def seconds_shown(seconds: float | None) -> str:
    """45 s, 12 min, 3.3 h, 5.1 d; empty where it is not known."""
    if seconds is None:
        return ""
    for size, unit in ((86_400, "d"), (3600, "h")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{max(seconds, 0):.0f} s"


def shortened(text: str, length: int = _SHORT) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


# --- status


def status_document(status: QueueStatus) -> dict[str, Any]:
    stats = status.stats
    return {
        "queue": status.name,
        "pending": stats and stats.pending,
        "leased": stats and stats.leased,
        "expired": stats and stats.expired,
        "completed": stats and stats.completed,
        "sidelined": stats and dict(stats.sidelined),
        "oldest": stats and stats.oldest,
        "completed_recently": stats and stats.completed_recently,
        "recent_seconds": stats.recent.total_seconds() if stats and stats.recent else None,
        "rate_per_minute": stats and stats.rate,
        "minutes_left": stats and stats.minutes_left,
        "as_of": stats and stats.as_of,
        "problem": status.problem,
    }


def show_status(output: Output, statuses: list[QueueStatus]) -> None:
    columns = ("queue", *_NUMBERS[:4], "aside", "oldest", "/min", "left")  # short: it fits into 80 columns
    output.table(columns, [_status_row(status) for status in statuses], right=_NUMBERS)
    for status in statuses:
        if status.stats is not None and status.stats.as_of is not None:
            age = seconds_shown((status.at - status.stats.as_of).total_seconds())
            output.line(f"{status.name}: as its workers told it, the first of them {age} ago")


def _status_row(status: QueueStatus) -> tuple[object, ...]:
    stats = status.stats
    if stats is None:
        return (status.name, "", "", "", "", f"cannot be counted: {status.problem}", "", "", "")
    return (
        status.name,
        stats.pending,
        stats.leased,
        stats.expired,
        stats.completed,
        ", ".join(f"{category} {count}" for category, count in sorted(stats.sidelined.items())),
        seconds_shown((status.at - stats.oldest).total_seconds()) if stats.oldest else "",
        "" if stats.rate is None else f"{stats.rate:.1f}",
        _left(stats),
    )


def _left(stats: QueueStats) -> str:
    if not stats.pending:
        return "done" if stats.completed else ""
    return "" if stats.minutes_left is None else seconds_shown(stats.minutes_left * 60)


# --- ls


def row_document(row: TaskRow) -> dict[str, Any]:
    return asdict(row)


def show_pending(output: Output, rows: list[TaskRow]) -> None:
    cells = [
        (
            shortened(row.task_id),
            row.state,
            row.attempt,
            row.worker,
            row.until,
            shortened(row.detail or (_payload(row) if row.payload else "")),
        )
        for row in rows
    ]
    output.table(("task", "state", "attempt", "worker", "until", "what"), cells, right=("attempt",))


def show_completed(output: Output, rows: list[TaskRow]) -> None:
    cells = [
        (shortened(row.task_id), row.verdict or row.state, row.detail, row.attempt, row.worker, row.changed)
        for row in rows
    ]
    output.table(("task", "verdict", "detail", "attempt", "worker", "finished"), cells, right=("attempt",))


def show_sidelined(output: Output, rows: list[TaskRow]) -> None:
    cells = [
        (shortened(row.task_id), row.category or row.state, row.attempt, row.changed, shortened(row.detail or "", 100))
        for row in rows
    ]
    output.table(("task", "category", "attempts", "since", "reason"), cells, right=("attempts",))


def _payload(row: TaskRow) -> str:
    return json.dumps(row.payload, ensure_ascii=False)


# --- show


def view_document(view: TaskView) -> dict[str, Any]:
    return {
        "task_id": view.task_id,
        "states": list(view.states),
        "task": view.task,
        "lease": view.lease,
        "completion": view.completion,
        "items": list(view.items),
        "sidelined": view.sidelined,
        "problem": view.problem,
    }


def show_task(output: Output, view: TaskView, now: datetime) -> None:
    rows: list[tuple[str, object]] = [("task", view.task_id), ("state", _states(view, now)), ("problem", view.problem)]
    if view.task is not None:
        rows += [
            ("created", view.task.created_at),
            ("payload", view.task.payload or None),
            ("document", view.task.document and view.task.document.model_dump(mode="json")),
            ("items", len(view.task.items) or None),
            ("recovered", view.task.recoveries and f"{view.task.recoveries} times"),
        ]
    rows += _lease_rows(view) + _end_rows(view)
    output.table(("what", "value"), [row for row in rows if row[1] not in (None, "", 0)])
    _show_history(output, view)


def _states(view: TaskView, now: datetime) -> str:
    words = [str(state) for state in view.states]
    lease = view.lease
    if lease is not None and words and words[0] == "pending":
        if lease.expires is not None:
            words[0] = "pending: leased" if now < lease.expires else "pending: its lease has expired"
        elif lease.not_before is not None and lease.not_before > now:
            words[0] = "pending: waits after a failure"
    return ", ".join(words) or "unreadable"


def _lease_rows(view: TaskView) -> list[tuple[str, object]]:
    lease = view.lease
    if lease is None:
        return []
    return [
        ("worker", lease.worker),
        ("lease until", lease.expires),
        ("not before", lease.not_before),
        ("attempt", lease.attempt),
        ("token", lease.token),
        ("last error", lease.error and f"{lease.error.code}: {lease.error.message}"),
        ("items finished", len(lease.finished) or None),
    ]


def _end_rows(view: TaskView) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    if view.sidelined is not None:
        rows += [
            ("set aside", view.sidelined.at),
            ("category", view.sidelined.category),
            ("reason", view.sidelined.reason),
        ]
    done = view.completion
    if done is not None:
        rows += [
            ("verdict", done.verdict.model_dump(mode="json")),
            ("finished", done.finished_at),
            ("took", seconds_shown((done.finished_at - done.claimed_at).total_seconds())),
            ("done by", f"{done.worker}, attempt {done.attempt}, token {done.token}"),
        ]
    if view.items:
        verdicts = [item.verdict for item in view.items]
        counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in sorted(set(verdicts)))
        rows.append(("items", f"{len(verdicts)}: {counts}"))
    return rows


def _show_history(output: Output, view: TaskView) -> None:
    history = [attempt for record in (view.task, view.lease) if record for attempt in record.history]
    if not history:
        return
    output.line("")
    cells = [
        (
            attempt.attempt,
            attempt.token,
            attempt.worker,
            attempt.ended_at,
            attempt.outcome,
            attempt.error and f"{attempt.error.code}: {attempt.error.message}",
        )
        for attempt in history
    ]
    output.table(("attempt", "token", "worker", "ended", "outcome", "error"), cells, right=("attempt", "token"))
