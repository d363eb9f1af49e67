"""The commands of `cocli index` that bring something in: compact, consolidate, backfill, migrate."""

from __future__ import annotations

from dataclasses import asdict
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.index.options import OptionalIndexArgument, campaign_of_indexes, chosen_indexes
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, DRY_RUN, JSON, QUIET, STORE, examples, shared
from cocli.cli.kit.output import count_shown, size_shown

if TYPE_CHECKING:
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.indexes.migration import IndexMigration
    from cocli.app.indexes.status import IndexStatus
    from cocli.cli.kit.output import Output
    from cocli.index.compaction import CompactionReport
    from cocli.pipeline.migrate.plan import MigrationPlan

app = typer.Typer()

_IncludeForeign = Annotated[
    bool, typer.Option("--include-foreign", help="Also rows that were written for another campaign.")
]
_WitnessesUntil = Annotated[
    str | None,
    typer.Option(
        "--witnesses-until",
        metavar="TIME",
        help="Ignore records that say a tile was read after this time.",
        show_default=False,
    ),
]
_Work = Annotated[
    str | None,
    typer.Option(
        "--work", metavar="DIR", help="A folder for the journal and the rejected rows.", show_default="beside FOLDER"
    ),
]


@app.command(epilog=examples("cocli index compact -c plumbers", "cocli index compact prospects -c plumbers --dry-run"))
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def compact(call: Call, index: OptionalIndexArgument = None) -> None:
    """Pack loose records and batches into a new version. The cost depends on what changed, not on the size.

    A file that cannot be read is named, and stays where it is. Several machines may do this at the same time.
    """
    from cocli.app.indexes.care import compact_index
    from cocli.app.indexes.status import index_status
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    with chosen_indexes(call) as indexes, ProgressLine(output, "records packed") as progress:
        refs = indexes.chosen(index)
        if call.dry_run:
            _would_compact(output, indexes, [index_status(indexes, ref) for ref in refs])
            return
        reports = [(ref.name, compact_index(indexes, ref, progress)) for ref in refs]
    if output.as_json:
        output.document({"campaign": _name(indexes), "indexes": [_compacted(name, report) for name, report in reports]})
        return
    _show_compacted(output, reports, indexes)


def _would_compact(output: Output, indexes: Indexes, statuses: list[IndexStatus]) -> None:
    if output.as_json:
        rows = [{"index": status.index, "status": "would_pack", "waiting": status.unpacked} for status in statuses]
        output.document({"campaign": _name(indexes), "indexes": rows})
        return
    output.table(("index", "waiting"), [(status.index, status.unpacked) for status in statuses], right=("waiting",))
    output.talk("A batch is counted as one, however many records it holds.")


def _compacted(name: str, report: CompactionReport) -> dict[str, Any]:
    return {
        "index": name,
        "status": "packed" if report.rounds else "already_packed",
        "version": report.version,
        "rows": report.rows,
        "records": report.records,
        "added": report.added,
        "changed": report.changed,
        "rejected": report.rejected_count,
        "rejects": [{"file": line.file, "line": line.line, "reason": line.reason} for line in report.rejected[:20]],
        "shards_written": report.shards_written,
        "deleted": report.deleted,
        "left": report.left,
        "strangers": report.foreign,
    }


def _show_compacted(output: Output, reports: list[tuple[str, CompactionReport]], indexes: Indexes) -> None:
    columns = ("index", "version", "rows", "added", "changed", "rejected", "shards written", "status")
    cells = [
        (name, outcome.version or "", f"{outcome.rows:,}", outcome.added, outcome.changed, outcome.rejected_count,
         outcome.shards_written, "packed" if outcome.rounds else "already_packed")
        for name, outcome in reports
    ]  # fmt: skip
    output.table(columns, cells, right=columns[1:-1])
    for _, report in reports:
        for rejected in report.rejected[:5]:
            output.talk(f"Set aside: {rejected}")
    if any(report.rejected_count for _, report in reports):
        output.hint(f"cocli index check{indexes.options}")
    elif any(report.rounds for _, report in reports) and indexes.campaign is not None:
        output.hint(f'cocli index query "from prospects limit 10"{indexes.options}')


@app.command(
    epilog=examples("cocli index consolidate -c plumbers", "cocli index consolidate prospects -c plumbers --rebuild")
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def consolidate(
    call: Call,
    index: OptionalIndexArgument = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Also rebuild copies that are current.")] = False,
) -> None:
    """Make the derived copies current: Parquet for queries, the lines that `find` searches, and domains_master.csv.

    The copies lie in the cache of this machine; domains_master.csv goes to the campaign's exports. Shards of versions
    that are not kept any more are removed from the cache.
    """
    from cocli.app.indexes.consolidation import consolidate as consolidate_indexes
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    with campaign_of_indexes(call) as indexes, ProgressLine(output, "indexes") as progress:
        done = consolidate_indexes(indexes, indexes.chosen(index), rebuild=rebuild, progress=progress)
    if output.as_json:
        output.document({"campaign": _name(indexes), **asdict(done)})
        return
    rows = [(copy.index, copy.version, f"{copy.rows:,}", copy.status, copy.path) for copy in done.copies]
    output.table(("index", "version", "rows", "status", "copy"), rows, right=("version", "rows"))
    if not done.copies:
        output.talk("Nothing is packed yet.")
        output.hint(f"cocli index compact{indexes.options}")
        return
    if done.domains_path is not None:
        output.talk(f"Wrote {count_shown(done.domains, 'domain')} to {done.domains_path}.")
    output.talk(f"cocli find searches {count_shown(done.searched, 'line')}; freed {size_shown(done.freed_bytes)}.")


@app.command(epilog=examples("cocli index backfill -c plumbers --dry-run", "cocli index backfill -c plumbers"))
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def backfill(call: Call) -> None:
    """Add the addresses and websites of prospects to the indexes emails and domains, where they have no record yet.

    This is for older data, and for data that came another way. Then all loose records are packed. A record that exists
    is never changed, and a second run finds nothing to do.
    """
    from cocli.app.indexes.backfill import backfill as fill
    from cocli.app.indexes.care import compact_index
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    with campaign_of_indexes(call) as indexes, ProgressLine(output, "prospects read") as progress:
        done = fill(indexes, dry_run=call.dry_run, progress=progress)
        if not call.dry_run:
            for ref in indexes.refs():
                compact_index(indexes, ref)
    status = "filled" if done.emails + done.domains else "already_filled"
    status = "would_fill" if call.dry_run else status
    if output.as_json:
        output.document({"campaign": _name(indexes), "status": status, **asdict(done)})
        return
    output.line(status)
    output.talk(
        f"{count_shown(done.prospects, 'prospect')}; without a record: {count_shown(done.emails, 'e-mail')}, "
        f"{count_shown(done.domains, 'domain')}."
    )
    for reason in done.rejected[:5]:
        output.talk(f"Left out: {reason}")
    output.hint(f"cocli index backfill{indexes.options}" if call.dry_run else f"cocli index status{indexes.options}")


@app.command(
    epilog=examples("cocli index migrate old-data -c plumbers --dry-run", "cocli index migrate old-data -c plumbers")
)
@shared(CAMPAIGN, STORE, DRY_RUN, JSON, QUIET)
def migrate(
    call: Call,
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A data folder of an older version.")],
    apply: Annotated[bool, typer.Option("--apply", help="As without it: it was asked for once.", hidden=True)] = False,  # noqa: ARG001
    include_foreign: _IncludeForeign = False,
    witnesses_until: _WitnessesUntil = None,
    work: _Work = None,
) -> None:
    """Bring the records of an older version into the indexes. `cocli campaign migrate` brings the rest as well.

    The older files are only read. Every row that does not fit is kept, with the reason, in rejected.jsonl. If it is
    stopped half-way, the same command continues where it was.
    """
    from cocli.app.indexes.migration import apply_migration, planned, work_folder
    from cocli.app.indexes.query import parse_time
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    until = parse_time(witnesses_until, "--witnesses-until") if witnesses_until else None
    with campaign_of_indexes(call) as indexes:
        with ProgressLine(output, "rows read") as progress:
            plan = planned(indexes, folder, include_foreign=include_foreign, witnesses_until=until, progress=progress)
        if call.dry_run:
            _show_plan(output, plan, indexes, folder)
            return
        with ProgressLine(output, "rows moved") as progress:
            done = apply_migration(indexes, plan, work_folder(indexes, folder, work), progress)
    _show_migrated(output, plan, done, indexes)


def _show_plan(output: Output, plan: MigrationPlan, indexes: Indexes, folder: str) -> None:
    from cocli.pipeline.migrate.plan import TABLE_HEADER

    if output.as_json:
        output.document(
            {
                "campaign": _name(indexes),
                "status": "would_migrate",
                "plan": plan.as_dict(),
                "report": None,
                "rows": None,
            }
        )
        return
    output.table(TABLE_HEADER, plan.table(), right=TABLE_HEADER[1:])
    for reason, count in plan.left_out.most_common(10):
        output.talk(f"Not read: {count_shown(count, 'file')}: {reason}")
    for name, layout in plan.layouts.items():
        for reason, count in layout.reasons.most_common(3):
            output.talk(f"{name}: {count_shown(count, 'row')} would be set aside: {reason}")
    output.talk("Nothing was written.")
    output.hint(f"cocli index migrate {quote(folder)}{indexes.options}")


def _show_migrated(output: Output, plan: MigrationPlan, done: IndexMigration, indexes: Indexes) -> None:
    from cocli.pipeline.migrate.migration import REPORT_HEADER

    if output.as_json:
        document = {"campaign": _name(indexes), "status": "migrated", "plan": plan.as_dict()}
        rows = {"before": done.before, "after": done.after}
        output.document({**document, "report": done.report.as_dict(), "rows": rows})
        return
    output.table(REPORT_HEADER, done.report.table(), right=REPORT_HEADER[1:])
    output.table(
        ("index", "rows before", "after"), [(name, done.before[name], rows) for name, rows in done.after.items()]
    )
    output.talk(f"Rows that did not fit: {done.report.rejected:,}, kept in {done.report.rejected_file}")
    output.hint(f"cocli index check{indexes.options}")


def _name(indexes: Indexes) -> str | None:
    return indexes.campaign.name if indexes.campaign else None
