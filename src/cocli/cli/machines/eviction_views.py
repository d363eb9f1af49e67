"""How an eviction is shown: what was taken back, which key is to be revoked, what the machine may have written."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cocli.app.machines.revocation import revocation

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.app.machines.evictions import EvictionReport
    from cocli.app.machines.host_traces import TraceKind
    from cocli.cli.kit.output import Output


def eviction_document(report: EvictionReport, *, done: bool, at: datetime, most: int) -> dict[str, Any]:
    """`at` is when it was looked; `most` is how many examples of a kind are told, 0 for all."""
    record = report.evicted
    return {
        "host": report.host,
        "status": _status(report, done=done),
        "evicted_at": record.evicted_at if record else None,
        "evicted_by": record.evicted_by if record else None,
        "reason": record.reason if record else None,
        "leases_ended": report.taken.leases,
        "elections_ended": report.taken.elections,
        "commands_withdrawn": report.taken.commands,
        "heartbeats_marked": report.taken.heartbeats,
        "keys": [
            {
                "store": key.store,
                "access_key": key.access.access_key if key.access else None,
                "credentials": key.access.credentials if key.access else None,
                "shared_with": key.shared_with,
                "revoke": revocation(key, at),
            }
            for key in report.keys
        ],
        "written": [_kind_document(kind, most) for kind in report.traces.kinds],
        "problems": report.problems,
    }


def _status(report: EvictionReport, *, done: bool) -> str:
    if report.already:
        return "already_evicted"
    return "evicted" if done else "would_evict"


def _kind_document(kind: TraceKind, most: int) -> dict[str, Any]:
    return {
        "kind": kind.kind,
        "names_writer": kind.names_writer,
        "count": kind.count,
        "note": kind.note,
        "examples": [asdict(trace) for trace in kind.traces[: most or None]],
    }


def show_eviction(output: Output, report: EvictionReport, *, done: bool, at: datetime, most: int) -> None:
    output.line(f"{report.host}: {_status(report, done=done).replace('_', ' ')}")
    if done:
        taken = report.taken
        ended = f"{len(taken.leases):,} leases and {len(taken.elections):,} elections ended"
        output.line(f"{ended}, {len(taken.commands):,} commands set aside, {taken.heartbeats:,} heartbeats marked")
    output.line("")
    output.table(
        ("written", "count", "names its writer", "what"),
        [(kind.kind, kind.count, kind.names_writer, kind.note) for kind in report.traces.kinds],
        right=("count",),
    )
    rows = [
        (kind.kind, trace.campaign, trace.what, trace.at, trace.detail)
        for kind in report.traces.kinds
        for trace in kind.traces[: most or None]
    ]
    if rows:
        output.line("")
        output.table(("written", "campaign", "what", "when", "more"), rows)
    _show_what_is_left(output, report, at)


def _show_what_is_left(output: Output, report: EvictionReport, at: datetime) -> None:
    """What a person has to do: nothing that cocli writes stops somebody who has a key."""
    output.line("")
    for key in report.keys:
        output.line(f"its key to {key.store}:")
        for line in revocation(key, at):
            output.line(f"  {line}")
    output.line(f"tokens: those made with --host {report.host} are refused while it is evicted, and ever after;")
    output.line("  others name no machine: to end them all, remove the service's token.secret and start it again")
    for problem in report.problems:
        output.line(f"problem: {problem}")
