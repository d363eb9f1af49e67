"""The commands of `cocli index` that remove something: gc, purge; and `repair`, the older name of `check --fix`."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.index.options import IndexArgument, OptionalIndexArgument, campaign_of_indexes, chosen_indexes
from cocli.cli.kit.confirm import confirm
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN,
    DRY_RUN,
    JSON,
    QUIET,
    STORE,
    YES,
    examples,
    shared,
)
from cocli.cli.kit.output import count_shown, size_shown
from cocli.errors import UsageError
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.indexes.purge import ForeignRecords
    from cocli.cli.kit.output import Output
    from cocli.index.care.garbage import CollectionReport

app = typer.Typer()

_KeepVersions = Annotated[int, typer.Option("--keep-versions", metavar="N", help="Keep the last N versions.", min=1)]
_KeepDays = Annotated[
    float, typer.Option("--keep-days", metavar="DAYS", help="Also keep versions that are younger.", min=0, max=36_500)
]
_GraceHours = Annotated[
    float,
    typer.Option("--grace-hours", metavar="HOURS", help="The time between marking and deleting.", min=0, max=876_000),
]
_AcceptLosses = Annotated[
    bool, typer.Option("--accept-losses", help="Collect garbage although a repair has lost some rows.")
]


@app.command(
    epilog=examples(
        "cocli index gc -c plumbers --dry-run", "cocli index gc -c plumbers --keep-versions 3 --keep-days 0"
    )
)
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def gc(
    call: Call,
    index: OptionalIndexArgument = None,
    keep_versions: _KeepVersions = 10,
    keep_days: _KeepDays = 1,
    grace_hours: _GraceHours = 1,
    accept_losses: _AcceptLosses = False,
) -> None:
    """Collect garbage: shards and manifests that no kept version needs. Records are never touched.

    The first run only marks garbage. A run after the grace period checks again and deletes it, so that readers of an
    old version can finish. Run it once a day; nothing else is needed.
    """
    from cocli.app.indexes.care import collect_garbage

    output = call.output
    keep, grace = timedelta(days=keep_days), timedelta(hours=grace_hours)
    with chosen_indexes(call) as indexes:
        reports = [
            (
                ref.name,
                collect_garbage(
                    indexes,
                    ref,
                    keep_versions=keep_versions,
                    keep=keep,
                    grace=grace,
                    dry_run=call.dry_run,
                    accept_losses=accept_losses,
                ),
            )
            for ref in indexes.chosen(index)
        ]
    if output.as_json:
        status = "would_collect" if call.dry_run else "collected"
        rows = [_collected(name, outcome) for name, outcome in reports]
        output.document({"campaign": _name(indexes), "status": status, "indexes": rows})
        return
    columns = ("index", "versions kept", "in use", "young", "condemned", "deleted", "freed")
    cells = [
        (
            name,
            len(report.kept_versions),
            report.live,
            report.young,
            len(report.condemned),
            len(report.deleted),
            size_shown(report.freed_bytes),
        )
        for name, report in reports
    ]
    output.table(columns, cells, right=columns[1:])
    if call.dry_run:
        output.talk("Nothing was changed.")
    elif any(report.condemned for _, report in reports):
        output.talk(f"Garbage that is marked now is deleted by a run in {grace_hours:g} h or later.")


def _collected(name: str, report: CollectionReport) -> dict[str, Any]:
    return {
        "index": name,
        "kept_versions": report.kept_versions,
        "live": report.live,
        "young": report.young,
        "condemned": report.condemned,
        "deleted": report.deleted,
        "freed_bytes": report.freed_bytes,
        "strangers": report.foreign,
    }


@app.command(
    hidden=True,
    epilog=examples("cocli index check prospects -c plumbers --fix"),
)
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def repair(call: Call, index: IndexArgument) -> None:
    """Mend an index: a lost or damaged LATEST, missing or damaged shards. Where nothing is wrong, nothing is written.

    Files that this machine has in its cache are put back. Rows of other files are looked for in earlier versions and in
    what is left of the file. Shards that only a lost manifest named are read, and their rows are packed again. Rows
    that cannot be found are reported, and the exit code is 8.
    """
    from cocli.app.indexes.care import repair_index, verify_index
    from cocli.cli.index.views import repaired_document, show_repaired

    output = call.output
    with chosen_indexes(call) as indexes:
        ref = indexes.ref(index)
        if call.dry_run:
            found = verify_index(indexes, ref)
            if output.as_json:
                output.document({"index": ref.name, "campaign": ref.campaign, "status": "would_repair",
                                 "version": found.version, "problems": found.problems})  # fmt: skip
                return
            for problem in found.problems:
                output.line(problem)
            output.talk(f"{count_shown(len(found.problems), 'problem')}; nothing was changed.")
            return
        report = repair_index(indexes, ref)
    status = "repaired" if report.pointer or report.restored or report.losses or report.notes else "already_sound"
    if output.as_json:
        output.document({"index": ref.name, "campaign": ref.campaign, "status": status, **repaired_document(report)})
    else:
        output.line(status)
        show_repaired(output, report)
        output.hint(f"cocli index check {ref.name}{indexes.options}")
    if report.lost:
        raise typer.Exit(ExitCode.DATA)


@app.command(
    epilog=examples(
        "cocli index purge --foreign-campaign -c plumbers --dry-run",
        "cocli index purge prospects --foreign-campaign -c plumbers --yes",
    )
)
@shared(DRY_RUN, YES, CAMPAIGN, STORE, JSON, QUIET)
def purge(
    call: Call,
    index: OptionalIndexArgument = None,
    foreign_campaign: Annotated[
        bool, typer.Option("--foreign-campaign", help="Remove records that belong to another campaign.")
    ] = False,
) -> None:
    """Remove records of other campaigns, packed and loose. Earlier versions keep them until gc removes the versions."""
    from cocli.app.indexes.purge import find_foreign, purge_foreign
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    if not foreign_campaign:
        raise UsageError(reason="Nothing says what to remove", hint="Give the option: --foreign-campaign")
    with campaign_of_indexes(call) as indexes:
        with ProgressLine(output, "rows read") as progress:
            found = [one for ref in indexes.chosen(index) if (one := find_foreign(indexes, ref, progress)).count]
        total = sum(foreign.count for foreign in found)
        if call.dry_run or not found:
            _report_purge(output, indexes, found, "would_remove" if call.dry_run else "already_gone", 0)
            return
        question = f"Remove {count_shown(total, 'record')} of other campaigns from {_name(indexes)}?"
        if not confirm(output, question, yes=call.yes):
            output.talk("Nothing was removed.")
            return
        removed = sum(purge_foreign(indexes, records) for records in found)
        _report_purge(output, indexes, found, "removed", removed)


def _report_purge(output: Output, indexes: Indexes, found: list[ForeignRecords], status: str, removed: int) -> None:
    if output.as_json:
        rows = [
            {"index": foreign.ref.name, "rows": len(foreign.keys), "files": len(foreign.objects), "kept": foreign.kept,
             "campaigns": dict(foreign.campaigns)}
            for foreign in found
        ]  # fmt: skip
        output.document({"campaign": _name(indexes), "status": status, "removed": removed, "indexes": rows})
        return
    if found:
        cells = [
            (records.ref.name, len(records.keys), len(records.objects), records.kept, ", ".join(records.campaigns))
            for records in found
        ]
        output.table(("index", "rows", "files", "kept", "campaigns"), cells, right=("rows", "files", "kept"))
    output.line(status)
    if status == "removed":
        output.talk(
            f"Removed {count_shown(removed, 'record')}. Earlier versions keep the rows until gc removes the versions."
        )
        output.hint(f"cocli index gc{indexes.options}")


def _name(indexes: Indexes) -> str | None:
    return indexes.campaign.name if indexes.campaign else None
