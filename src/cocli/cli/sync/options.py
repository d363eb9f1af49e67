"""What the commands of `cocli sync` share: their options, and how a run is driven."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from cocli.errors import CocliError, TooManyDeletions, UsageError

if TYPE_CHECKING:
    from cocli.app.sync import Sync
    from cocli.cli.kit.output import Output
    from cocli.sync.decision import SyncOptions
    from cocli.sync.report import SyncReport

PARTS = ("config", "indexes", "records", "companies", "completions", "documents", "reports", "status", "other")


def _complete_part(incomplete: str) -> list[str]:
    return [name for name in PARTS if name.startswith(incomplete)]


OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only", metavar="PART", help=f"Only {', '.join(PARTS)}; repeatable.", autocompletion=_complete_part,
        show_default=False,
    ),
]  # fmt: skip
IncludeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--include", metavar="PATTERN", help="Only keys that match PATTERN (companies/*).", show_default=False
    ),
]
ExcludeOption = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="PATTERN", help="No keys that match PATTERN (*.mp4).", show_default=False),
]
DeleteOption = Annotated[
    bool,
    typer.Option("--delete", help="Carry deletions over to the other side; without it, they are only reported."),
]
RestoreOption = Annotated[bool, typer.Option("--restore", help="Undo deletions: bring back what the other side has.")]
BandwidthOption = Annotated[
    str | None,
    typer.Option("--bandwidth", metavar="RATE", help="Use at most this much, such as 2MB/s.", show_default=False),
]
WatchOption = Annotated[
    float | None,
    typer.Option("--watch", metavar="SECONDS", help="Repeat at this interval, until Ctrl-C.", min=1),
]


class RunOptions(NamedTuple):
    sync: SyncOptions
    yes: bool = False
    bandwidth: str | None = None
    watch: float | None = None


def check_parts(only: list[str] | None) -> list[str]:
    """The parts that were named; a `UsageError` for one that there is not."""
    from cocli.config.schema import nearest

    for name in only or []:
        if name not in PARTS:
            meant = nearest(name, list(PARTS))
            hint = f"Did you mean: --only {meant}" if meant else f"Choose from: {', '.join(PARTS)}."
            raise UsageError(reason=f'There is no part "{name}"', hint=hint)
    return list(only or [])


def drive(output: Output, sync: Sync, options: RunOptions) -> SyncReport:
    """Run once, ask where much would be deleted, show the report; with `--watch` again and again."""
    from cocli.cli.sync.views import show_report

    if options.watch is not None and output.as_json:
        raise UsageError(reason="--watch excludes --json")
    while True:
        try:
            report = _run(output, sync, options)
        except CocliError as error:
            if options.watch is None or not error.retryable:
                raise
            output.talk(error.message)  # the next round may find the network again
        else:
            if not output.as_json:
                show_report(output, report)
            if options.watch is None:
                return report
        _pause(output, options.watch)


def _run(output: Output, sync: Sync, options: RunOptions) -> SyncReport:
    from cocli.cli.kit.confirm import confirm, interactive
    from cocli.cli.sync.views import TransferLine
    from cocli.sync.pace import parse_rate

    rate = parse_rate(options.bandwidth) if options.bandwidth is not None else None
    with TransferLine(output) as line:
        try:
            return sync.run(options.sync, many_deletions=options.yes, bandwidth=rate, watcher=line)
        except TooManyDeletions as error:
            if not interactive(output) or not confirm(output, f"{error.message} Do you want that?", yes=False):
                raise
        return sync.run(options.sync, many_deletions=True, bandwidth=rate, watcher=line)


def _pause(output: Output, seconds: float) -> None:
    import time

    output.talk(f"Again in {seconds:g} s; Ctrl-C ends it.")
    time.sleep(seconds)
