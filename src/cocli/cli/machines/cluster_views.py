"""How a cluster is shown: tables, a document, and the live view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.cli.kit.output import size_shown
from cocli.cli.queue.views import seconds_shown, shortened, show_status
from cocli.cli.queue.views import status_document as queue_document
from cocli.formats.safe_text import safe_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from cocli.app.machines.cluster import ClusterStatus
    from cocli.cli.kit.output import Output
    from cocli.fleet.stall import Beat

_HOSTS = ("host", "state", "seen", "cocli", "cpu", "ram", "disk", "workers", "tasks", "/min", "limited by")
_RIGHT = ("cpu", "ram", "disk", "tasks", "/min")


def status_document(status: ClusterStatus) -> dict[str, Any]:
    return {
        "campaign": status.campaign,
        "at": status.at,
        "figures": None if status.figures is None else status.figures.model_dump(mode="json"),
        "hosts": [_host_document(status, beat) for beat in status.beats],
        "queues": [queue_document(queue) for queue in status.queues],
        "paused": list(status.paused),
        "upkeep": _upkeep_document(status),
        "problems": [
            {"kind": problem.kind, "subject": problem.subject, "message": problem.message, "hint": problem.hint}
            for problem in status.problems
        ],
    }


def _upkeep_document(status: ClusterStatus) -> dict[str, Any]:
    record = status.upkeep.record
    return {
        "elected": status.upkeep.elected,
        "by": record.host if record else None,
        "settled_at": record.settled_at if record else None,
        "finished_at": record.finished_at if record else None,
        "seconds": record.seconds if record else None,
        "problem": record.problem if record else None,
    }


def _upkeep_line(status: ClusterStatus) -> str:
    """Who finishes the campaign, and when that was last done."""
    elected, record = status.upkeep.elected, status.upkeep.record
    parts = [f"finished by {elected}" if elected else "nobody finishes the campaign: no supervisor runs"]
    times = (("settled", record.settled_at), ("report", record.finished_at)) if record else ()
    parts += [f"{what} {seconds_shown((status.at - at).total_seconds())} ago" for what, at in times if at is not None]
    return ", ".join(parts)


def _host_document(status: ClusterStatus, beat: Beat) -> dict[str, Any]:
    heartbeat = beat.heartbeat
    return {
        "host": heartbeat.hostname,
        "state": status.state_of(beat),
        "campaign": heartbeat.campaign,
        "seen_seconds_ago": round((status.at - beat.written_at).total_seconds(), 1),
        "clock_ahead_seconds": round(beat.skew.total_seconds(), 1),
        "started_at": heartbeat.started_at,
        "stopped_at": heartbeat.stopped_at,
        "cpu_percent": heartbeat.cpu_percent,
        "ram_percent": heartbeat.ram_percent,
        "ram_bytes": heartbeat.ram_bytes,
        "disk_free_bytes": heartbeat.disk_free_bytes,
        "temperature": heartbeat.temperature,
        "versions": heartbeat.versions,
        "workers": dict(heartbeat.workers),
        "active": {queue: len(tasks) for queue, tasks in heartbeat.active.items()},
        "completed": dict(heartbeat.completed),
        "rates_per_minute": dict(heartbeat.rates),
        "limited_by": dict(heartbeat.limited_by),
        "last_error": heartbeat.last_error,
    }


def show_cluster(output: Output, status: ClusterStatus) -> None:
    if status.beats:
        output.table(_HOSTS, _host_rows(status), right=_RIGHT)
        output.line("")
    else:
        output.talk("No supervisor has reported yet.")
    show_status(output, list(status.queues))
    output.line(_upkeep_line(status))
    if status.figures is not None:
        from cocli.results.reports.figure_words import figure_line

        output.line(figure_line(status.figures))
    if status.paused:
        output.line(f"paused: {', '.join(status.paused)}")
    for beat in status.beats:
        if beat.heartbeat.last_error:
            output.line(f"{beat.heartbeat.hostname}, last error: {beat.heartbeat.last_error}")
    for problem in status.problems:
        output.line(f"problem ({problem.kind}): {problem.subject}: {problem.message}")
        if problem.hint:
            output.hint(problem.hint)


def _host_rows(status: ClusterStatus) -> list[tuple[object, ...]]:
    return [_host_row(status, beat) for beat in status.beats]


def _host_row(status: ClusterStatus, beat: Beat) -> tuple[object, ...]:
    heartbeat = beat.heartbeat
    return (
        heartbeat.hostname,
        status.state_of(beat),
        seconds_shown((status.at - beat.written_at).total_seconds()),
        heartbeat.versions.cocli,
        f"{heartbeat.cpu_percent:.0f} %",
        f"{heartbeat.ram_percent:.0f} %",
        size_shown(heartbeat.disk_free_bytes),
        ", ".join(f"{queue} {count}" for queue, count in sorted(heartbeat.workers.items())),
        sum(len(tasks) for tasks in heartbeat.active.values()),
        f"{sum(heartbeat.rates.values()):.1f}",
        ", ".join(dict.fromkeys(heartbeat.limited_by.values())),
    )


# --- live


def drawn(status: ClusterStatus) -> RenderableType:
    """The same for a terminal that is redrawn."""
    from rich.console import Group
    from rich.text import Text

    lines: list[RenderableType] = [
        Text(f"{status.campaign}  {status.at:%H:%M:%SZ}  Ctrl-C ends it", style="dim"),
        _table(_HOSTS, _host_rows(status), _RIGHT),
        Text(""),
        _table(
            ("queue", "pending", "leased", "done", "/min", "left"), _queue_rows(status), ("pending", "leased", "done")
        ),
        Text(safe_line(_upkeep_line(status))),
        Text(""),
    ]
    for beat in status.beats:
        for queue, tasks in beat.heartbeat.active.items():
            shown = ", ".join(shortened(task.task_id, 30) for task in tasks[:5])
            lines.append(Text(safe_line(f"{beat.heartbeat.hostname} {queue}: {shown}"), style="dim"))
    lines += [Text(safe_line(f"{problem.subject}: {problem.message}"), style="bold red") for problem in status.problems]
    return Group(*lines)


def _queue_rows(status: ClusterStatus) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for queue in status.queues:
        stats = queue.stats
        if stats is None:
            rows.append((queue.name, queue.problem, "", "", "", ""))
            continue
        left = seconds_shown(stats.minutes_left * 60) if stats.minutes_left is not None else ""
        rate = "" if stats.rate is None else f"{stats.rate:.1f}"
        name = f"{queue.name} (paused)" if queue.name in status.paused else queue.name
        rows.append((name, stats.pending, stats.leased, stats.completed, rate, left))
    return rows


def _table(columns: tuple[str, ...], rows: list[tuple[object, ...]], right: tuple[str, ...]) -> RenderableType:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(safe_line("" if cell is None else str(cell))) for cell in row))
    return table
