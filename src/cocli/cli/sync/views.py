"""How a sync looks: its plan, its progress, its report; for people and as JSON."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Self

from cocli.cli.kit.output import count_shown, size_shown
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from types import TracebackType

    from cocli.app.sync import Sync, SyncForecast
    from cocli.cli.kit.output import Output
    from cocli.sync.report import IndexMoved, RunStanding, SyncReport

_FIRST_AFTER = 0.5
_EVERY = 0.1
_SHOWN = 20
_WORDS = {
    "uploaded": "sent",
    "downloaded": "fetched",
    "merged": "merged",
    "kept_both": "kept in both versions",
    "deleted_there": "deleted in the bucket",
    "deleted_here": "deleted here",
    "held_here": "deleted here, still in the bucket (--delete follows)",
    "held_there": "deleted in the bucket, still here (--delete follows)",
    "behind": "newer in the bucket (pull fetches)",
    "ahead": "newer here (push sends)",
}


class TransferLine:
    """Bytes, files, rate and the time that is left: one line on stderr, rewritten in place, on a terminal only."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._wanted = output.stderr.isatty() and not (output.quiet or output.as_json)
        self._started = time.monotonic()
        self._next = self._started + _FIRST_AFTER
        self._shown = False

    def __call__(self, standing: RunStanding) -> None:
        now = time.monotonic()
        if not self._wanted or now < self._next:
            return
        self._next, self._shown = now + _EVERY, True
        self._output.stderr.write(f"\r{progress_text(standing, now - self._started)}\x1b[K")
        self._output.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._output.stderr.write("\r\x1b[K")
            self._output.stderr.flush()


def progress_text(standing: RunStanding, seconds: float) -> str:
    """`1,200 of 20,000 files, 3.4 MiB of 56.7 MiB, 1.1 MiB/s, 48 s left`."""
    rate = standing.bytes / seconds if seconds > 0 else 0.0
    files = standing.files / seconds if seconds > 0 else 0.0
    by_bytes = (standing.of_bytes - standing.bytes) / rate if rate > 0 else 0.0
    by_files = (standing.of_files - standing.files) / files if files > 0 else 0.0
    left = max(by_bytes, by_files)
    return (
        f"{standing.files:,} of {standing.of_files:,} files, {size_shown(standing.bytes)} of "
        f"{size_shown(standing.of_bytes)}, {size_shown(int(rate))}/s, {_duration(left)} left"
    )


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60}:{whole % 60:02} min" if whole < 3600 else f"{whole // 3600}:{whole % 3600 // 60:02} h"


# --- reports


def run_document(sync: Sync, direction: str, report: SyncReport) -> dict[str, Any]:
    return {
        **_where(sync, direction, dry_run=False),
        "counts": {name: report.counts[name] for name in (*_WORDS, "adopted", "forgotten")},
        "unchanged": report.unchanged,
        "bytes_up": report.bytes_up,
        "bytes_down": report.bytes_down,
        "indexes": [_index_document(index) for index in report.indexes],
        "conflicts": [
            *({"key": conflict.key, "copy": conflict.copy} for conflict in report.kept_both),
            *({"key": key, "copy": None} for key in report.conflicts),
        ],
        "failed": _failed_documents(report.failed),
        "skipped": _skipped_documents(report.skipped),
        "seconds": round(report.seconds, 3),
    }


def plan_document(sync: Sync, direction: str, look: SyncForecast) -> dict[str, Any]:
    plan = look.plan
    return {
        **_where(sync, direction, dry_run=True),
        "counts": dict(plan.counts),
        "unchanged": plan.unchanged,
        "bytes": plan.bytes,
        "indexes": [_index_document(index) for index in look.indexes],
        "steps": [{"key": step.key, "action": step.action.value, "bytes": step.size} for step in plan.steps],
        "failed": _failed_documents(plan.failed),
        "skipped": _skipped_documents(plan.skipped),
    }


def _where(sync: Sync, direction: str, *, dry_run: bool) -> dict[str, Any]:
    return {
        "direction": direction,
        "folder": sync.pair.folder.store.address,
        "bucket": sync.pair.bucket.address,
        "campaign": sync.selection.campaign,
        "dry_run": dry_run,
    }


def _index_document(one: IndexMoved) -> dict[str, Any]:
    return {
        "index": one.folder.rstrip("/"),
        "outcome": one.outcome,
        "version": one.version,
        "objects": one.objects,
        "bytes": one.bytes,
        "records": one.records,
    }


def _failed_documents(failed: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "code": error.code, "message": error.message} for key, error in failed.items()]


def _skipped_documents(skipped: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "reason": reason} for key, reason in skipped.items()]


def show_report(output: Output, report: SyncReport) -> None:
    for name, words in _WORDS.items():
        if report.counts[name]:
            output.line(f"{count_shown(report.counts[name], 'file')} {words}")
    for index in report.indexes:
        if index.outcome != "unchanged":
            more = f", {count_shown(index.records, 'record')} of ours" if index.records else ""
            moved = f"{count_shown(index.objects, 'object')}, {size_shown(index.bytes)}{more}"
            output.line(f"{index.folder.rstrip('/')}: version {index.version} {index.outcome} ({moved})")
    if report.did_nothing and not (report.failed or report.conflicts):
        output.talk(f"Nothing to do: {count_shown(report.unchanged, 'file')} as before.")
    for kept in report.kept_both[:_SHOWN]:
        output.line(f"both kept: {kept.key} and {kept.copy}")
    for key in report.conflicts[:_SHOWN]:
        output.line(f"changed on both sides, left alone: {key}")
    _show_trouble(output, report.failed, report.skipped)
    _hint(output, report)


def _hint(output: Output, report: SyncReport) -> None:
    if report.kept_both:
        output.hint("cocli sync resolve")
    elif report.conflicts:
        output.hint("cocli sync both")


def show_plan(output: Output, look: SyncForecast) -> None:
    plan = look.plan
    sizes: dict[str, int] = {}
    for step in plan.steps:
        sizes[step.action.value] = sizes.get(step.action.value, 0) + step.size
    rows = [(action, count, size_shown(sizes[action])) for action, count in sorted(plan.counts.items())]
    if rows:
        output.table(("would", "files", "bytes"), rows, right=("files", "bytes"))
    for step in plan.steps[:_SHOWN]:
        output.line(f"{step.action.value}: {step.key}")
    if len(plan.steps) > _SHOWN:
        output.talk(f"… and {len(plan.steps) - _SHOWN:,} more; --json lists all.")
    for index in look.indexes:
        if index.outcome != "unchanged":
            output.line(f"{index.folder.rstrip('/')}: version {index.version} would be {index.outcome}")
    _show_trouble(output, plan.failed, plan.skipped)
    if not rows and look.in_agreement:
        output.talk(f"Nothing differs: {count_shown(plan.unchanged, 'file')}.")


def _show_trouble(output: Output, failed: dict[str, Any], skipped: dict[str, str]) -> None:
    for key, error in list(failed.items())[:_SHOWN]:
        output.line(f"failed: {key}: {error.message}")
    if len(failed) > _SHOWN:
        output.line(f"… and {len(failed) - _SHOWN:,} more that failed")
    for key, reason in list(skipped.items())[:_SHOWN]:
        output.line(f"skipped: {key} {reason}")
    if len(skipped) > _SHOWN:
        output.line(f"… and {len(skipped) - _SHOWN:,} more that were skipped")


def exit_code(report: SyncReport) -> ExitCode:
    """6 if trying again may help, else the code of the first failure; 5 for conflicts that were left; else 0."""
    if any(error.retryable for error in report.failed.values()):
        return ExitCode.UNAVAILABLE
    if report.failed:
        return next(iter(report.failed.values())).exit_code
    return ExitCode.CONFLICT if report.conflicts else ExitCode.OK
