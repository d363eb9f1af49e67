"""How indexes, their versions, records and findings look to a person, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cocli.cli.kit.output import count_shown, size_shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.app.indexes.status import IndexStatus, VersionInfo
    from cocli.cli.kit.output import Output
    from cocli.index.care.audit import AuditReport
    from cocli.index.care.repair import RepairReport
    from cocli.index.care.verification import VerifyReport
    from cocli.index.diff import Difference
    from cocli.models.record import Record


def status_document(status: IndexStatus) -> dict[str, Any]:
    document = asdict(status)
    del document["at"]
    return document


def show_status(output: Output, statuses: Sequence[IndexStatus]) -> None:
    columns = ("index", "rows", "version", "age", "shards", "size", "unpacked", "state")
    rows = [
        (
            status.index,
            f"{status.rows:,}",
            status.version or "",
            age_shown(status.at - status.published) if status.published else "",
            status.shards or "",
            size_shown(status.bytes) if status.shards else "",
            status.unpacked or "",
            _state(status),
        )
        for status in statuses
    ]
    output.table(columns, rows, right=columns[1:-1])


def _state(status: IndexStatus) -> str:
    if status.problem is not None:
        return status.problem
    words = []
    if status.damaged:
        words.append(f"{status.damaged} damaged")
    if status.lost_rows:
        words.append(f"{status.lost_rows} rows lost")
    if status.set_aside:
        words.append(f"{status.set_aside} set aside")
    if status.strangers:
        words.append(f"{status.strangers} foreign files")
    if not words and not status.version:
        return "not packed yet" if status.unpacked else "empty"
    return ", ".join(words) or ("ok, copied" if status.has_copy else "ok")


def age_shown(age: timedelta) -> str:
    """About how long ago: 40 s, 12 min, 5 h, 3 days."""
    seconds = max(0, int(age.total_seconds()))
    if seconds < 120:
        return f"{seconds} s"
    if seconds < 2 * 3600:
        return f"{seconds // 60} min"
    return f"{seconds // 3600} h" if seconds < 2 * 86400 else f"{seconds // 86400} days"


def show_history(output: Output, versions: Sequence[VersionInfo]) -> None:
    columns = ("version", "created", "rows", "change", "delta", "shards", "size", "writer", "manifest")
    rows = []
    for one, before in zip(versions, [*versions[1:], None], strict=True):
        change = f"{one.rows - before.rows:+,}" if before is not None else ""
        size = size_shown(one.bytes)
        rows.append(
            (one.version, one.created_at, f"{one.rows:,}", change, one.delta_rows, one.shards, size, one.writer,
             one.manifest[:12])
        )  # fmt: skip
    output.table(columns, rows, right=("version", "rows", "change", "delta", "shards", "size"))


def show_record(output: Output, record: Record) -> None:
    values = record.model_dump(mode="json") | dict(record.extras)
    output.table(("field", "value"), [(name, value) for name, value in values.items() if value not in (None, [], {})])


def show_differences(output: Output, differences: Sequence[Difference[Any]]) -> None:
    rows: list[tuple[object, ...]] = []
    for difference in differences:
        if difference.kind == "changed":
            rows += [
                (difference.key, difference.kind, name, _shown(old), _shown(new))
                for name, (old, new) in difference.fields.items()
            ]
        else:
            record = difference.new if difference.new is not None else difference.old
            name = getattr(record, "name", None) or ""
            rows.append(
                (
                    difference.key,
                    difference.kind,
                    "",
                    name if difference.kind == "removed" else "",
                    name if difference.new else "",
                )
            )
    if rows:
        output.table(("key", "what", "field", "old", "new"), rows)


def show_audit(output: Output, reports: Sequence[tuple[str, AuditReport]]) -> None:
    cells = [
        (
            name,
            report.version or "",
            f"{report.rows:,}",
            ", ".join(f"{finding} {count:,}" for finding, count in report.counts.items()) or "ok",
        )
        for name, report in reports
    ]
    output.table(("index", "version", "rows", "found"), cells, right=("version", "rows"))
    for name, report in reports:
        for finding, examples in report.examples.items():
            for example in examples:
                output.line(f"{name}: {finding}: {example.where}: {example.detail}")


def verified_document(name: str, report: VerifyReport) -> dict[str, Any]:
    return {
        "index": name,
        "version": report.version,
        "rows": report.rows,
        "shards": report.shards,
        "bytes": report.bytes,
        "problems": report.problems,
    }


def audited_document(name: str, report: AuditReport) -> dict[str, Any]:
    return {
        "index": name,
        "version": report.version,
        "rows": report.rows,
        "counts": {str(finding): count for finding, count in report.counts.items()},
        "examples": {str(finding): [asdict(example) for example in some] for finding, some in report.examples.items()},
    }


def repaired_document(report: RepairReport) -> dict[str, Any]:
    return {
        "version": report.version,
        "pointer": report.pointer,
        "restored": report.restored,
        "appended": report.appended,
        "losses": [loss.model_dump(mode="json") for loss in report.losses],
        "lost_rows": report.lost,
        "notes": report.notes,
    }


def show_repaired(output: Output, report: RepairReport) -> None:
    if report.pointer:
        output.talk(f"LATEST: {report.pointer}.")
    for key in report.restored:
        output.talk(f"Put back: {key}")
    if report.appended:
        output.talk(f"{count_shown(report.appended, 'record')} of unfinished versions wait to be packed.")
    for loss in report.losses:
        lost = loss.rows - loss.restored
        output.talk(f"Shard {loss.sha256} was beyond repair: {loss.restored:,} rows found elsewhere, {lost:,} lost.")
    for note in report.notes:
        output.talk(note)


def _shown(value: object) -> object:
    if isinstance(value, tuple):
        return [item.model_dump(mode="json") if hasattr(item, "model_dump") else item for item in value]
    return value
