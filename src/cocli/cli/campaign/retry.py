"""`cocli campaign retry`: the second passes."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.campaign.passes import (
    ExamplesOption,
    check_reasons,
    read_sites,
    report_evaluation,
    show_missing,
    show_rejected,
    write_csv,
)
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import DRY_RUN, JSON, QUIET, STORE, DefaultCampaign, examples, shared
from cocli.errors import UsageError

if TYPE_CHECKING:
    from cocli.app.campaigns.retry import Retried, RetrySettings
    from cocli.cli.kit.output import Output

app = typer.Typer()

_Reasons = Annotated[
    list[str],
    typer.Option(
        "--reason",
        metavar="WHY",
        help="With --without-email: only prospects with this reason; may be repeated.",
        show_default=False,
    ),
]
_Csv = Annotated[
    Path | None,
    typer.Option(
        "--csv",
        metavar="FILE",
        help="With --without-email: write the prospects and the reasons into FILE; - is stdout.",
        show_default=False,
    ),
]
_Sites = Annotated[
    Path | None,
    typer.Option(
        "--sites",
        metavar="FILE",
        help="Read these websites again: a CSV file of domains, addresses or prospect hashes.",
        show_default=False,
    ),
]
_Brief = Annotated[
    bool,
    typer.Option(
        "--brief",
        help="With --sites: of a known website only the pages that have its contacts, unless one of them changed.",
    ),
]
_Stale = Annotated[
    str | None,
    typer.Option("--stale", metavar="AGE", help="Search tiles again that were read longer ago: 30d, 12h, 8w.",
                 show_default=False),
]  # fmt: skip
_Batch = Annotated[
    str | None,
    typer.Option("--batch", metavar="NAME", help="A name for the batch of websites.",
                 show_default="made from the sites"),
]  # fmt: skip
_Result = Annotated[
    str | None,
    typer.Option("--result", metavar="BATCH", help="Only show what a batch has changed.", show_default=False),
]


@app.command(
    epilog=examples(
        "cocli campaign retry plumbers",
        "cocli campaign retry plumbers --blocked --failed --dry-run",
        "cocli campaign retry plumbers --stale 30d",
        "cocli campaign retry plumbers --without-email --reason script-shell --batch with-browser",
        "cocli campaign retry plumbers --sites again.csv --batch again",
        "cocli campaign retry plumbers --sites again.csv --brief --batch november",
        "cocli campaign retry plumbers --result with-browser",
    )
)
@shared(DRY_RUN, STORE, JSON, QUIET)
def retry(
    call: Call,
    name: DefaultCampaign,
    blocked: Annotated[bool, typer.Option("--blocked", help="Tasks that were set aside as blocked.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Tasks that were set aside after failures.")] = False,
    stale: _Stale = None,
    without_email: Annotated[
        bool, typer.Option("--without-email", help="Read the websites again that gave no address, where it may help.")
    ] = False,
    reason: _Reasons = [],  # noqa: B006  typer copies it
    file: _Csv = None,
    sites: _Sites = None,
    brief: _Brief = False,
    batch: _Batch = None,
    result: _Result = None,
    most: ExamplesOption = 5,
) -> None:
    """Try again what was blocked, failed, was read long ago, or gave no address. Without a choice, only count it.

    A website is read again as a batch, even if it is done: how it stood before is remembered, and --result shows what
    the batch changed. The same batch is queued only once: to read the same sites once more, give another --batch.
    """
    from cocli.app.campaigns.retry import retry as use
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    settings = _settings(call, blocked, failed, stale, without_email, reason, sites, batch, brief=brief)
    if (reason or file) and not without_email:
        raise UsageError(reason="--reason and --csv say which prospects", hint="Add --without-email.")
    if result is not None:
        report_evaluation(call, name, result, most)
        return
    with call.workspace() as workspace, ProgressLine(output, "read") as progress:
        done = use(workspace, name, settings, progress)
    if file is not None and done.missing is not None:
        write_csv(call, name, file, done.missing)
        if str(file) == "-":
            return
    if output.as_json:
        output.document(_document(name, done, settings, file))
    else:
        _show(output, name, done, settings, listed=file is None)


def _settings(
    call: Call,
    blocked: bool,
    failed: bool,
    stale: str | None,
    without_email: bool,
    reasons: list[str],
    sites: Path | None,
    batch: str | None,
    *,
    brief: bool,
) -> RetrySettings:
    from dataclasses import replace

    from cocli.app.campaigns.retry import RetrySettings

    check_reasons(reasons)
    if without_email and sites is not None:
        raise UsageError(reason="--without-email and --sites are two batches", hint="Give one of them at a time.")
    if brief and sites is None:
        raise UsageError(reason="--brief says how websites are read again", hint="Name them with --sites FILE.")
    data = None if sites is None else read_sites(sites)
    settings = RetrySettings(
        blocked, failed, stale, without_email, tuple(reasons), data, brief, batch=batch, dry_run=call.dry_run
    )
    if settings.nothing_chosen:
        return replace(settings, blocked=True, failed=True, without_email=True, dry_run=True)
    return settings


def _document(name: str, done: Retried, settings: RetrySettings, file: Path | None) -> dict[str, object]:
    missing = None
    if done.missing is not None:
        reasons = [{"reason": why, "count": count} for why, count in done.missing.counts.items()]
        rows = [asdict(row) for row in done.missing.rows]
        missing = {"prospects": done.missing.prospects, "missing": len(rows), "reasons": reasons, "rows": rows}
    return {
        "campaign": name,
        "dry_run": settings.dry_run,
        "passes": [asdict(retried) for retried in done.passes],
        "batch": done.batch,
        "rejected": [asdict(line) for line in done.rejected],
        "without_email": missing,
        "written": str(file) if file else None,
    }


def _show(output: Output, name: str, done: Retried, settings: RetrySettings, *, listed: bool) -> None:
    if settings.without_email and not settings.blocked and done.missing is not None:
        show_missing(output, name, done.missing, listed=listed)
    rows = [
        (retried.choice, retried.queue, f"{count:,}", outcome.replace("_", " "))
        for retried in done.passes
        for outcome, count in retried.outcomes.items()
    ]
    output.table(("what", "queue", "tasks", "outcome"), rows, right=("tasks",))
    show_rejected(output, done.rejected)
    if not rows:
        output.talk("There is nothing to try again.")
    elif settings.dry_run:
        output.hint(f"cocli campaign retry {name} --{done.passes[0].choice}")
    elif done.batch is not None:
        output.hint(f"cocli campaign retry {name} --result {done.batch}")
    else:
        output.hint(f"cocli queue status {name}")
