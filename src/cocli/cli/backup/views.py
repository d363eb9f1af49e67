"""How backups look: snapshots, versions, damage, plans and reports; for people and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cocli.cli.kit.output import count_shown, size_shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.cli.kit.output import Output
    from cocli.sync.backup.damage import BackupDamage
    from cocli.sync.backup.pruning import PruneReport
    from cocli.sync.backup.repository import BackupRepository
    from cocli.sync.backup.restoration import RestorePlan, RestoreReport
    from cocli.sync.backup.rows import BackupRow
    from cocli.sync.backup.snapshot import BackupSnapshot

_SHOWN = 10


# --- snapshots and versions


def snapshot_document(snapshot: BackupSnapshot) -> dict[str, Any]:
    told = {name: value for name, value in asdict(snapshot).items() if name != "lists"}
    return {"id": snapshot.id, **told}


def show_snapshots(output: Output, repository: BackupRepository, address: str) -> None:
    snapshots = repository.snapshots()
    if output.as_json:
        output.document({"backup": address, "snapshots": [snapshot_document(snapshot) for snapshot in snapshots]})
        return
    rows = [
        (
            snapshot.id,
            snapshot.time,
            snapshot.objects,
            size_shown(snapshot.bytes),
            size_shown(snapshot.stored_bytes),
            snapshot.host,
            snapshot.source,
        )
        for snapshot in snapshots
    ]
    columns = ("snapshot", "time", "objects", "size", "added", "host", "source")
    output.table(columns, rows, right=("objects", "size", "added"))


def show_versions(output: Output, repository: BackupRepository, key: str, address: str) -> None:
    from cocli.app.backup.versions import versions_of

    versions = versions_of(repository, key)
    if output.as_json:
        documents = [
            {"snapshot": version.snapshot.id, "time": version.snapshot.time, **_row_document(key, version.row)}
            for version in versions
        ]
        output.document({"key": key, "versions": documents})
        return
    rows = [
        (
            version.snapshot.id,
            version.snapshot.time,
            "gone" if version.row is None else size_shown(version.row.size),
            "" if version.row is None else version.row.sha256[:12],
        )
        for version in versions
    ]
    output.table(("snapshot", "time", "size", "sha256"), rows, right=("size",))
    output.hint(f"cocli backup restore SNAPSHOT --only {key} --to FOLDER --backup {address}")


def show_rows(output: Output, repository: BackupRepository, wanted: str, prefix: str) -> None:
    from cocli.sync.backup.history import rows_below

    snapshot = repository.find(wanted)
    rows = list(rows_below(repository, snapshot, prefix))
    if output.as_json:
        documents = [_row_document(row.key, row) for row in rows]
        output.document({"snapshot": snapshot_document(snapshot), "entries": documents})
        return
    output.table(
        ("key", "size", "modified"), [(row.key, size_shown(row.size), _time(row)) for row in rows], right=("size",)
    )


def _row_document(key: str, row: BackupRow | None) -> dict[str, Any]:
    if row is None:
        return {"key": key, "size": None, "sha256": None, "modified": None}
    return {"key": key, "size": row.size, "sha256": row.sha256, "modified": _time(row)}


def _time(row: BackupRow) -> datetime:
    return datetime.fromtimestamp(row.modified / 1_000_000, UTC)


# --- damage


def damage_document(damage: BackupDamage) -> dict[str, Any]:
    return {
        "object": damage.object,
        "reason": damage.reason,
        "snapshots": list(damage.snapshots),
        "keys": list(damage.keys),
        "ranges": list(damage.ranges),
    }


def show_damage(output: Output, found: Sequence[BackupDamage]) -> None:
    for damage in found:
        output.line(f"{damage.object}: {damage.reason}")
        affected = [*damage.keys, *damage.ranges]
        for key in affected[:_SHOWN]:
            output.line(f"  lost: {key}")
        if len(affected) > _SHOWN:
            output.line(f"  and {count_shown(len(affected) - _SHOWN, 'key')} more (--json lists all)")
        if not affected:
            output.line("  no key is affected")


# --- restoring


def plan_document(plan: RestorePlan, to: str) -> dict[str, Any]:
    return {
        "snapshot": snapshot_document(plan.snapshot),
        "to": to,
        "dry_run": True,
        "missing": len(plan.absent),
        "same": len(plan.same),
        "different": sorted(plan.different),
        "others": plan.others,
        "bytes": plan.bytes,
    }


def restore_document(report: RestoreReport, to: str) -> dict[str, Any]:
    told = plan_document(report.plan, to)
    damage = [damage_document(damage) for damage in report.damage]
    return told | {"dry_run": False, "written": report.written, "bytes": report.bytes, "damage": damage}


def show_plan(output: Output, plan: RestorePlan) -> None:
    output.talk(_of_snapshot(plan.snapshot))
    output.line(f"write    {len(plan.absent)}")
    output.line(f"same     {len(plan.same)}")
    output.line(f"replace  {len(plan.different)}")
    for key in sorted(plan.different)[:_SHOWN]:
        output.line(f"  {key}")
    if len(plan.different) > _SHOWN:
        output.line(f"  and {count_shown(len(plan.different) - _SHOWN, 'object')} more")
    output.line(f"others   {plan.others}")
    if plan.different:
        output.talk("Objects with other content are replaced with --overwrite only.")


def show_restored(output: Output, report: RestoreReport, to: str) -> None:
    output.talk(_of_snapshot(report.plan.snapshot))
    same, others = len(report.plan.same), report.plan.others
    output.talk(f"Wrote {count_shown(report.written, 'object')}, {size_shown(report.bytes)}, to {to}.")
    output.talk(f"{count_shown(same, 'object')} the same already; {count_shown(others, 'other object')} left alone.")


def _of_snapshot(snapshot: BackupSnapshot) -> str:
    return f"Snapshot {snapshot.id} of {snapshot.source}, {snapshot.time:%Y-%m-%d %H:%M:%SZ}."


# --- pruning


def prune_document(report: PruneReport) -> dict[str, Any]:
    return {
        "kept": [snapshot_document(snapshot) for snapshot in report.kept],
        "forgotten": [snapshot_document(snapshot) for snapshot in report.forgotten],
        "condemned": {"objects": report.condemned, "bytes": report.condemned_bytes},
        "removed": {"objects": report.removed, "bytes": report.removed_bytes},
        "damaged": report.damaged,
    }


def show_pruned(output: Output, report: PruneReport, *, dry_run: bool, grace_hours: int) -> None:
    rows = [("keep", snapshot.id, snapshot.time, snapshot.source) for snapshot in report.kept]
    rows += [("forget", snapshot.id, snapshot.time, snapshot.source) for snapshot in report.forgotten]
    output.table(("", "snapshot", "time", "source"), rows)
    if report.damaged:
        output.talk(f"{count_shown(report.damaged, 'snapshot')} that cannot be read any more.")
    verb = "Would remove" if dry_run else "Removed"
    output.talk(f"{verb} {count_shown(report.removed, 'object')}, {size_shown(report.removed_bytes)}.")
    if report.condemned:
        waiting = f"{count_shown(report.condemned, 'object')}, {size_shown(report.condemned_bytes)}"
        output.talk(f"{waiting}, that nobody needs are removed by a run after {grace_hours} hours or more.")
