"""`cocli sync`: push, pull, both, status, resolve."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import campaign_of, output_of, workspace_of
from cocli.cli.kit.options import (
    CampaignOption,
    DryRunOption,
    JsonOption,
    QuietOption,
    StoreOption,
    YesOption,
    command_group,
    examples,
)
from cocli.cli.sync.options import (
    BandwidthOption,
    DeleteOption,
    ExcludeOption,
    IncludeOption,
    OnlyOption,
    RestoreOption,
    RunOptions,
    WatchOption,
    check_parts,
    drive,
)
from cocli.errors import UsageError

if TYPE_CHECKING:
    from cocli.app.sync import ConflictCopy, Sync
    from cocli.app.workspace import Workspace
    from cocli.cli.kit.output import Output
    from cocli.sync.decision import SyncOptions

app = command_group("Bring the data home and the bucket together, so that nobody's work is lost.")


class Take(StrEnum):
    """Which of two versions keeps the name."""

    FILE = "file"
    COPY = "copy"


@app.command(
    epilog=examples(
        "cocli sync push -c plumbers",
        "cocli sync push -c plumbers --dry-run",
        "cocli sync push -c plumbers --restore",
        "cocli sync push --store s3://cocli-data-plumbers --only companies --bandwidth 2MB/s",
    )
)
def push(
    ctx: typer.Context,
    campaign: CampaignOption = None,
    only: OnlyOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    delete: DeleteOption = False,
    restore: RestoreOption = False,
    bandwidth: BandwidthOption = None,
    watch: WatchOption = None,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Send what is new or changed here to the bucket. Nothing here is changed; conflicts are left to `both`.

    With --delete, what was deleted here is deleted there, if nobody has changed it since. More than 20 % of deletions
    stop the run, unless --yes is said. With --restore, what was deleted there is sent again: a bucket that was emptied
    is filled. The exit code is 6 if some files have to be tried again.
    """
    output = output_of(ctx, as_json=json, quiet=quiet)
    options = _options("push", yes=yes, bandwidth=bandwidth, watch=watch, delete=delete, restore=restore)
    _sync(ctx, output, options, store, campaign, (only, include, exclude), dry_run=dry_run)


@app.command(
    epilog=examples(
        "cocli sync pull -c plumbers",
        "cocli sync pull -c plumbers --only indexes --only companies",
        "cocli sync pull -c plumbers --restore",
    )
)
def pull(
    ctx: typer.Context,
    campaign: CampaignOption = None,
    only: OnlyOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    delete: DeleteOption = False,
    restore: RestoreOption = False,
    bandwidth: BandwidthOption = None,
    watch: WatchOption = None,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Fetch what is new or changed in the bucket. Nothing there is changed; what was edited here is kept beside it.

    With --delete, what was deleted there is deleted here, if it is unchanged here. With --restore, what was deleted
    here comes back.
    """
    output = output_of(ctx, as_json=json, quiet=quiet)
    options = _options("pull", yes=yes, bandwidth=bandwidth, watch=watch, delete=delete, restore=restore)
    _sync(ctx, output, options, store, campaign, (only, include, exclude), dry_run=dry_run)


@app.command(
    epilog=examples(
        "cocli sync both -c plumbers",
        "cocli sync both -c plumbers --delete --dry-run",
        "cocli sync both -c plumbers --watch 300 --exclude 'uploads/*'",
    )
)
def both(
    ctx: typer.Context,
    campaign: CampaignOption = None,
    only: OnlyOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    delete: DeleteOption = False,
    restore: RestoreOption = False,
    bandwidth: BandwidthOption = None,
    watch: WatchOption = None,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Bring both together: send, fetch, merge what machines wrote, keep both versions of what two people changed.

    A file that fails does not stop the others; it is tried again next time. Ctrl-C leaves a state that goes on.
    """
    output = output_of(ctx, as_json=json, quiet=quiet)
    options = _options("both", yes=yes, bandwidth=bandwidth, watch=watch, delete=delete, restore=restore)
    _sync(ctx, output, options, store, campaign, (only, include, exclude), dry_run=dry_run)


@app.command(epilog=examples("cocli sync status -c plumbers", "cocli sync status -c plumbers --json"))
def status(
    ctx: typer.Context,
    campaign: CampaignOption = None,
    only: OnlyOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say what differs, how much, and since when. Nothing is changed."""
    from cocli.app.sync import conflict_copies
    from cocli.cli.sync.views import plan_document, show_plan

    output = output_of(ctx, as_json=json, quiet=quiet)
    with workspace_of(ctx, store) as workspace, _opened(ctx, workspace, campaign, (only, None, None)) as sync:
        look = sync.look(_wishes("both", delete=True))
        standing, copies = sync.standing(), conflict_copies(sync)
        if json:
            facts = {name: value for name, value in standing._asdict().items() if name not in ("folder", "bucket")}
            document = {**plan_document(sync, "both", look), **facts, "copies": [one._asdict() for one in copies]}
            output.document({name: value for name, value in document.items() if name not in ("direction", "dry_run")})
            return
        output.line(f"folder  {standing.folder}")
        output.line(f"bucket  {standing.bucket}")
        output.line(f"last sync  {standing.last_run or 'never'}")
        if standing.last_whole_run != standing.last_run:
            output.line(f"last sync without failures  {standing.last_whole_run or 'never'}")
        show_plan(output, look)
        if copies:
            output.line(f"conflict copies  {len(copies)}")
            output.hint("cocli sync resolve")


@app.command(
    epilog=examples(
        "cocli sync resolve",
        "cocli sync resolve companies/acme/_index.conflict-laptop-20261116T033000Z.md --take copy",
        "cocli sync resolve people/jane.conflict-laptop-20261116T033000Z.md --take file",
    )
)
def resolve(
    ctx: typer.Context,
    copy: Annotated[
        str | None,
        typer.Argument(metavar="COPY", help="The conflict copy; all are listed without.", show_default=False),
    ] = None,
    take: Annotated[
        Take | None,
        typer.Option("--take", help="file: keep the file, drop the copy. copy: put the copy in its place."),
    ] = None,
    campaign: CampaignOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """List the copies that conflicts left, show how one differs, or end one. The next sync tells everybody else."""
    from cocli.app.sync import conflict_copies
    from cocli.app.sync import resolve as resolve_copy

    output = output_of(ctx, as_json=json, quiet=quiet)
    if take is not None and copy is None:
        raise UsageError(reason="Which copy?", hint="See which there are with: cocli sync resolve")
    with workspace_of(ctx, store) as workspace, _opened(ctx, workspace, campaign, (None, None, None)) as sync:
        if copy is not None and take is not None:
            copies = [resolve_copy(sync, copy, take=take.value)]
            if not json:
                output.talk(f"{copies[0].key} is the {take.value} now; the copy is gone.")
                output.hint("cocli sync both --delete")
        else:
            copies = [one for one in conflict_copies(sync) if copy in (None, one.copy)]
            if copy is not None and not copies:
                raise UsageError(reason=f"There is no copy {copy}", hint="See which: cocli sync resolve")
            if not json:
                _show_copies(output, sync, copies, differences=copy is not None)
        if json:
            output.document({"copies": [one._asdict() for one in copies], "taken": take.value if take else None})


def _show_copies(output: Output, sync: Sync, copies: list[ConflictCopy], *, differences: bool) -> None:
    if not copies:
        output.talk("There is none.")
        return
    if not differences:
        output.table(("file", "copy", "bytes"), [(one.key, one.copy, one.size) for one in copies], right=("bytes",))
        output.hint(f"cocli sync resolve {copies[0].copy}")
        return
    from difflib import unified_diff

    from cocli.app.sync import texts

    there, mine = texts(sync, copies[0])
    lines = unified_diff(there.splitlines(True), mine.splitlines(True), copies[0].key, copies[0].copy)
    output.text("".join(line if line.endswith("\n") else f"{line}\n" for line in lines))
    output.hint(f"cocli sync resolve {copies[0].copy} --take file|copy")


# --- what they share


def _wishes(direction: str, *, delete: bool = False, restore: bool = False) -> SyncOptions:
    from cocli.sync.decision import SyncOptions
    from cocli.sync.pair import Direction

    return SyncOptions(Direction(direction), delete=delete, restore=restore)


def _options(
    direction: str,
    *,
    yes: bool,
    bandwidth: str | None,
    watch: float | None,
    delete: bool,
    restore: bool = False,
) -> RunOptions:
    return RunOptions(_wishes(direction, delete=delete, restore=restore), yes, bandwidth, watch)


_Chosen = tuple[list[str] | None, list[str] | None, list[str] | None]
"""Parts, patterns to include, patterns to exclude."""


@contextmanager
def _opened(ctx: typer.Context, workspace: Workspace, campaign: str | None, chosen: _Chosen) -> Iterator[Sync]:
    from cocli.app.sync import open_sync
    from cocli.sync.kinds import SyncPart

    only, include, exclude = chosen
    parts = [SyncPart(name) for name in check_parts(only)]
    name = campaign_of(ctx, campaign)
    with open_sync(workspace, name, parts=parts, include=include or (), exclude=exclude or ()) as sync:
        yield sync


def _sync(
    ctx: typer.Context,
    output: Output,
    options: RunOptions,
    store: str | None,
    campaign: str | None,
    chosen: _Chosen,
    *,
    dry_run: bool,
) -> None:
    from cocli.cli.sync.views import exit_code, plan_document, run_document, show_plan

    direction = options.wishes.direction.value
    with workspace_of(ctx, store) as workspace, _opened(ctx, workspace, campaign, chosen) as sync:
        if dry_run:
            look = sync.look(options.wishes)
            if output.as_json:
                output.document(plan_document(sync, direction, look))
            else:
                show_plan(output, look)
            return
        report = drive(output, sync, options)
        if output.as_json:
            output.document(run_document(sync, direction, report))
    if code := exit_code(report):
        raise typer.Exit(code)
