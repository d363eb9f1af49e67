"""`cocli sync`: push, pull, both, status, resolve; without a verb, what `needed` does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.default_verb import group_with_default
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
from cocli.cli.sync import needed
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

app = group_with_default(
    """Sync the data home with the bucket, so that nobody's work is lost.

    Without a verb, this is what you need to work with the results: configuration, versions of indexes, companies and
    people. Documents, completions and unpacked records stay in the bucket; --only documents fetches the documents.
    """,
    needed.VERB,
)


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
@shared(DRY_RUN, YES, CAMPAIGN, STORE, JSON, QUIET)
def push(
    call: Call,
    only: OnlyOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    delete: DeleteOption = False,
    restore: RestoreOption = False,
    bandwidth: BandwidthOption = None,
    watch: WatchOption = None,
) -> None:
    """Send what is new or changed here to the bucket. Nothing here is changed; conflicts are left to `both`.

    With --delete, files that were deleted here are deleted in the bucket, if nobody has changed them since. A run that
    would delete more than 20 % stops, unless you give --yes. With --restore, files that were deleted in the bucket are
    sent again: this fills a bucket that was emptied. The exit code is 6 if some files have to be tried again.
    """
    options = RunOptions(_options("push", delete=delete, restore=restore), call.yes, bandwidth, watch)
    _sync(call, options, (only, include, exclude))


@app.command(
    epilog=examples(
        "cocli sync pull -c plumbers",
        "cocli sync pull -c plumbers --only indexes --only companies",
        "cocli sync pull -c plumbers --restore",
    )
)
@shared(DRY_RUN, YES, CAMPAIGN, STORE, JSON, QUIET)
def pull(
    call: Call,
    only: OnlyOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    delete: DeleteOption = False,
    restore: RestoreOption = False,
    bandwidth: BandwidthOption = None,
    watch: WatchOption = None,
) -> None:
    """Fetch what is new or changed in the bucket. Nothing there is changed; what was edited here is kept beside it.

    With --delete, files that were deleted in the bucket are deleted here, if they are unchanged here. With --restore,
    files that were deleted here come back.
    """
    options = RunOptions(_options("pull", delete=delete, restore=restore), call.yes, bandwidth, watch)
    _sync(call, options, (only, include, exclude))


@app.command(
    epilog=examples(
        "cocli sync both -c plumbers",
        "cocli sync both -c plumbers --delete --dry-run",
        "cocli sync both -c plumbers --watch 300 --exclude 'uploads/*'",
    )
)
@shared(DRY_RUN, YES, CAMPAIGN, STORE, JSON, QUIET)
def both(
    call: Call,
    only: OnlyOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    delete: DeleteOption = False,
    restore: RestoreOption = False,
    bandwidth: BandwidthOption = None,
    watch: WatchOption = None,
) -> None:
    """Bring both together: send, fetch, merge what machines wrote, keep both versions of what two people changed.

    A file that fails does not stop the others; it is tried again next time. After Ctrl-C, the next sync continues.
    """
    options = RunOptions(_options("both", delete=delete, restore=restore), call.yes, bandwidth, watch)
    _sync(call, options, (only, include, exclude))


@app.command(epilog=examples("cocli sync status -c plumbers", "cocli sync status -c plumbers --json"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def status(call: Call, only: OnlyOption = None) -> None:
    """Say what differs, how much, and since when. Nothing is changed."""
    from cocli.app.sync import conflict_copies
    from cocli.cli.sync.views import plan_document, show_plan

    output = call.output
    with call.workspace() as workspace, _opened(call, workspace, (only, None, None)) as sync:
        look = sync.look(_options("both", delete=True))
        standing, copies = sync.standing(), conflict_copies(sync)
        if output.as_json:
            facts = {name: value for name, value in standing._asdict().items() if name not in ("folder", "bucket")}
            document = {
                **plan_document(sync, "both", look),
                **facts,
                "copies": [conflict._asdict() for conflict in copies],
            }
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
@shared(CAMPAIGN, STORE, JSON, QUIET)
def resolve(
    call: Call,
    copy: Annotated[
        str | None,
        typer.Argument(
            metavar="COPY", help="The conflict copy; without it, all copies are listed.", show_default=False
        ),
    ] = None,
    take: Annotated[
        Take | None,
        typer.Option("--take", help="file: keep the file, drop the copy. copy: put the copy in its place."),
    ] = None,
) -> None:
    """List the copies that conflicts left, show how one differs, or resolve one. The next sync passes that on."""
    from cocli.app.sync import conflict_copies
    from cocli.app.sync import resolve as resolve_copy

    output = call.output
    if take is not None and copy is None:
        raise UsageError(reason="Name the conflict copy", hint="List the copies with: cocli sync resolve")
    with call.workspace() as workspace, _opened(call, workspace, (None, None, None)) as sync:
        if copy is not None and take is not None:
            copies = [resolve_copy(sync, copy, take=take.value)]
            if not output.as_json:
                output.talk(f"{copies[0].key} is the {take.value} now; the copy is gone.")
                output.hint("cocli sync both --delete")
        else:
            copies = [conflict for conflict in conflict_copies(sync) if copy in (None, conflict.copy)]
            if copy is not None and not copies:
                raise UsageError(reason=f"There is no copy {copy}", hint="List the copies with: cocli sync resolve")
            if not output.as_json:
                _show_copies(output, sync, copies, differences=copy is not None)
        if output.as_json:
            output.document({"copies": [clash._asdict() for clash in copies], "taken": take.value if take else None})


def _show_copies(output: Output, sync: Sync, copies: list[ConflictCopy], *, differences: bool) -> None:
    if not copies:
        output.talk("There is none.")
        return
    if not differences:
        output.table(
            ("file", "copy", "bytes"),
            [(conflict.key, conflict.copy, conflict.size) for conflict in copies],
            right=("bytes",),
        )
        output.hint(f"cocli sync resolve {copies[0].copy}")
        return
    from difflib import unified_diff

    from cocli.app.sync import texts

    there, mine = texts(sync, copies[0])
    lines = unified_diff(there.splitlines(True), mine.splitlines(True), copies[0].key, copies[0].copy)
    output.text("".join(line if line.endswith("\n") else f"{line}\n" for line in lines))
    output.hint(f"cocli sync resolve {copies[0].copy} --take file|copy")


# --- what they share


def _options(direction: str, *, delete: bool = False, restore: bool = False) -> SyncOptions:
    from cocli.sync.decision import SyncOptions
    from cocli.sync.pair import Direction

    return SyncOptions(Direction(direction), delete=delete, restore=restore)


_Chosen = tuple[list[str] | None, list[str] | None, list[str] | None]
"""Parts, patterns to include, patterns to exclude."""


@contextmanager
def _opened(call: Call, workspace: Workspace, chosen: _Chosen) -> Iterator[Sync]:
    from cocli.app.sync import open_sync
    from cocli.sync.kinds import SyncPart

    only, include, exclude = chosen
    parts = [SyncPart(name) for name in check_parts(only)]
    name = call.campaign
    with open_sync(workspace, name, parts=parts, include=include or (), exclude=exclude or ()) as sync:
        yield sync


def _sync(call: Call, options: RunOptions, chosen: _Chosen) -> None:
    from cocli.cli.sync.views import exit_code, plan_document, run_document, show_plan

    output, direction = call.output, options.sync.direction.value
    with call.workspace() as workspace, _opened(call, workspace, chosen) as sync:
        if call.dry_run:
            look = sync.look(options.sync)
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


app.add_typer(needed.app)
