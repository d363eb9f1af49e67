"""`cocli backup`: create, ls, verify, restore, prune"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN,
    DRY_RUN,
    JSON,
    QUIET,
    STORE,
    YES,
    command_group,
    examples,
    shared,
)
from cocli.cli.kit.output import count_shown, size_shown
from cocli.errors import UsageError
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from cocli.store.base import Store
    from cocli.sync.backup.restoration import RestoreOptions

app = command_group(
    """Take snapshots of a store into another folder or bucket, check them, and bring back all of it or one file.

    A snapshot has every object of the store as it was at that moment. What is unchanged since the last one takes
    neither time nor space. Nothing is encrypted: whoever can read the backup can read your data.
    """
)

_Backup = Annotated[
    str | None,
    typer.Option(
        "--backup",
        "-b",
        metavar="URL",
        help="Where the backup is: a folder, or s3://bucket/prefix?endpoint=… [env: COCLI_BACKUP]",
        show_default=False,
    ),
]


def _address(call: Call, backup: str | None) -> str:
    from cocli.app.backup.place import backup_address

    return backup_address(call.environ, backup)


@app.command(
    epilog=examples(
        "cocli backup create --backup /srv/backup",
        "cocli backup create -c plumbers -b s3://my-backups/cocli",
        "COCLI_BACKUP=/srv/backup cocli backup create",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def create(
    call: Call,
    backup: _Backup = None,
    read_all: Annotated[
        bool, typer.Option("--read-all", help="Read every object, also those that look unchanged.")
    ] = False,
) -> None:
    """Take a snapshot of the whole store that is configured, or of the store that a campaign is in.

    Workers may go on meanwhile. A run that is cut off leaves the backup as it was; the next one does not send again
    what was sent already.
    """
    from cocli.app.backup.backup import create_snapshot
    from cocli.app.backup.place import opened_backup
    from cocli.cli.backup.views import snapshot_document
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    address = _address(call, backup)
    with call.workspace() as workspace:
        source: Store = workspace.campaign(call.campaign).store if call.campaign else workspace.store
        progress_line = ProgressLine(output, "objects looked at")
        with opened_backup(address, make_for=source) as repository, progress_line as progress:
            made = create_snapshot(source, repository.store, read_all=read_all, progress=progress)
    if output.as_json:
        output.document({"backup": address, "snapshot": snapshot_document(made)})
        return
    output.line(made.id)
    output.talk(
        f"Snapshot {made.id} of {made.source}: {count_shown(made.objects, 'object')}, {size_shown(made.bytes)}; "
        f"{count_shown(made.stored_objects, 'new content')} took {size_shown(made.stored_bytes)}."
    )
    output.hint(f"cocli backup verify --backup {address}")


@app.command(
    epilog=examples(
        "cocli backup ls -b /srv/backup",
        "cocli backup ls companies/acme/_index.md -b /srv/backup",
        "cocli backup ls campaigns/plumbers/ --snapshot latest -b /srv/backup",
    )
)
@shared(JSON, QUIET)
def ls(
    call: Call,
    key: Annotated[
        str | None,
        typer.Argument(metavar="KEY", help="A file: its versions. With --snapshot also a folder.", show_default=False),
    ] = None,
    snapshot: Annotated[
        str | None,
        typer.Option("--snapshot", metavar="ID", help="List what this snapshot holds.", show_default=False),
    ] = None,
    backup: _Backup = None,
) -> None:
    """List the snapshots, the versions of one file, or what a snapshot holds."""
    from cocli.app.backup.place import opened_backup
    from cocli.cli.backup.views import show_rows, show_snapshots, show_versions

    address = _address(call, backup)
    with opened_backup(address) as repository:
        if snapshot is not None:
            show_rows(call.output, repository, snapshot, key or "")
        elif key is not None:
            show_versions(call.output, repository, key, address)
        else:
            show_snapshots(call.output, repository, address)


@app.command(epilog=examples("cocli backup verify -b /srv/backup", "cocli backup verify -b s3://my-backups --quick"))
@shared(JSON, QUIET)
def verify(
    call: Call,
    backup: _Backup = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Read no contents: only look whether everything is there.")
    ] = False,
) -> None:
    """Read the whole backup, and name what is damaged, with the keys affected. Exits with 8 if anything is."""
    from cocli.app.backup.backup import verify_backup
    from cocli.app.backup.place import opened_backup
    from cocli.cli.backup.views import damage_document, show_damage
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    address = _address(call, backup)
    with opened_backup(address) as repository, ProgressLine(output, "bytes read") as progress:
        found = verify_backup(repository.store, quick=quick, progress=progress)
    if output.as_json:
        counts = ("snapshots", "lists", "packs", "contents", "bytes", "unused")
        document = {"backup": address, "ok": not found.damage, "quick": found.quick}
        document |= {name: getattr(found, name) for name in counts}
        output.document(document | {"damage": [damage_document(damage) for damage in found.damage]})
    else:
        show_damage(output, found.damage)
        output.talk(
            f"{count_shown(found.snapshots, 'snapshot')}, {count_shown(found.contents, 'content')} in "
            f"{count_shown(found.packs, 'pack')}; {count_shown(found.unused, 'object')} that no snapshot needs."
        )
        output.talk(_verdict(len(found.damage), quick=quick))
    if found.damage:
        raise typer.Exit(ExitCode.DATA)


def _verdict(damaged: int, *, quick: bool) -> str:
    if damaged:
        return f"{count_shown(damaged, 'object')} of the backup missing or damaged."
    if quick:
        return "Everything is there. Contents were not read."
    return "Everything is there and whole."


@app.command(
    epilog=examples(
        "cocli backup restore --to /srv/cocli -b /srv/backup",
        "cocli backup restore 20261117 --to s3://cocli-data-plumbers -b /srv/backup --dry-run",
        "cocli backup restore 3f2a91 --to ~/cocli --only companies/acme/ --overwrite -b /srv/backup",
    )
)
@shared(DRY_RUN, JSON, QUIET)
def restore(
    call: Call,
    to: Annotated[str, typer.Option("--to", metavar="URL", help="The folder or bucket to write to.")],
    snapshot: Annotated[
        str, typer.Argument(metavar="SNAPSHOT", help="The beginning of an id or of a time (20261117T12), or latest.")
    ] = "latest",
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="KEY", help="Only this file or folder/; repeatable.", show_default=False),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace objects that have other content.")] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Restore what is whole, although the backup is damaged.")
    ] = False,
    backup: _Backup = None,
) -> None:
    """Write a snapshot, or a part of it, to a store: the bytes as they were.

    What is there with the same content is left alone, so repeat the command if it was cut off. What is there with other
    content stops it before anything is written, unless --overwrite is given. What the snapshot does not have stays.
    """
    from cocli.app.backup.place import opened_backup, opened_target
    from cocli.sync.backup.restoration import RestoreOptions

    address = _address(call, backup)
    options = RestoreOptions(tuple(only or ()), overwrite, keep_going)
    with opened_backup(address) as repository:
        found = repository.find(snapshot)  # before a folder is made for it
        with opened_target(to, make=not call.dry_run) as target:
            _restore(call, repository.store, target, found.name, options, to)


def _restore(call: Call, backup: Store, target: Store, snapshot: str, options: RestoreOptions, to: str) -> None:
    from cocli.app.backup.backup import plan_restore, restore_snapshot
    from cocli.cli.backup.views import plan_document, restore_document, show_damage, show_plan, show_restored
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    if call.dry_run:
        plan = plan_restore(backup, target, snapshot, options=options)
        if output.as_json:
            output.document(plan_document(plan, to))
        else:
            show_plan(output, plan)
        return
    with ProgressLine(output, "objects written") as progress:
        report = restore_snapshot(backup, target, snapshot, options=options, progress=progress)
    if output.as_json:
        output.document(restore_document(report, to))
    else:
        show_damage(output, report.damage)
        show_restored(output, report, to)
    if report.damage:
        raise typer.Exit(ExitCode.DATA)


@app.command(
    epilog=examples(
        "cocli backup prune --keep-last 10 --dry-run -b /srv/backup",
        "cocli backup prune --keep-daily 7 --keep-weekly 5 --keep-monthly 12 --yes -b /srv/backup",
    )
)
@shared(DRY_RUN, YES, JSON, QUIET)
def prune(
    call: Call,
    keep_last: Annotated[int, typer.Option("--keep-last", metavar="N", min=0, help="The last N snapshots.")] = 0,
    keep_daily: Annotated[int, typer.Option("--keep-daily", metavar="N", min=0, help="The last of N days.")] = 0,
    keep_weekly: Annotated[int, typer.Option("--keep-weekly", metavar="N", min=0, help="The last of N weeks.")] = 0,
    keep_monthly: Annotated[int, typer.Option("--keep-monthly", metavar="N", min=0, help="The last of N months.")] = 0,
    grace_hours: Annotated[
        int,
        typer.Option("--grace-hours", metavar="HOURS", min=0, max=8760, help="How long unneeded objects wait."),
    ] = 24,
    forget_damaged: Annotated[
        bool, typer.Option("--forget-damaged", help="Also forget snapshots that cannot be read any more.")
    ] = False,
    backup: _Backup = None,
) -> None:
    """Forget snapshots that are not to be kept, and remove what no other snapshot needs.

    Days, weeks and months are those that have snapshots, by UTC; each store that was backed up counts by itself. What
    nobody needs is named first, and removed by a run that comes --grace-hours later.
    """
    from cocli.app.backup.backup import prune_backup
    from cocli.app.backup.place import opened_backup
    from cocli.cli.backup.views import prune_document, show_pruned
    from cocli.cli.kit.confirm import confirm
    from cocli.cli.kit.progress import ProgressLine
    from cocli.sync.backup.pruning import Retention

    output = call.output
    address = _address(call, backup)
    retention = Retention(keep_last, keep_daily, keep_weekly, keep_monthly)
    if retention.says_nothing:
        raise UsageError(reason="Nothing would be kept.", hint="Say what to keep, for example: --keep-last 10")
    grace = timedelta(hours=grace_hours)
    with opened_backup(address) as repository, ProgressLine(output, "objects removed") as progress:
        pruned = partial(
            prune_backup, repository.store, retention, grace=grace, forget_damaged=forget_damaged, progress=progress
        )
        report = pruned(dry_run=True)
        if not call.dry_run:
            forgotten = len(report.forgotten) + report.damaged
            question = f"Forget {count_shown(forgotten, 'snapshot')}, keep {len(report.kept)}?"
            if forgotten and not confirm(output, question, yes=call.yes):
                output.talk("Nothing was removed.")
                raise typer.Exit(1)
            report = pruned()
    if output.as_json:
        output.document({"backup": address, "dry_run": call.dry_run, **prune_document(report)})
    else:
        show_pruned(output, report, dry_run=call.dry_run, grace_hours=grace_hours)
