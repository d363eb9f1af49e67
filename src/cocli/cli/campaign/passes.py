"""Second passes: what `campaign retry` shares with the commands that are kept under older names, and `re-extract`."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import DRY_RUN, JSON, QUIET, STORE, CampaignArgument, DefaultCampaign, examples, shared
from cocli.cli.kit.output import count_shown
from cocli.errors import UsageError
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from cocli.app.campaigns.differences import Differences
    from cocli.app.campaigns.missing_emails import MissingEmails
    from cocli.app.campaigns.reextraction import Reextracted
    from cocli.app.campaigns.second_passes import RejectedSite
    from cocli.cli.kit.output import Output

app = typer.Typer()

ExamplesOption = Annotated[
    int, typer.Option("--examples", metavar="N", help="How many of each kind to show.", min=0, max=1000)
]
_SHOWN_ROWS = 20
_SHOWN_VALUES = 3


@app.command(
    "missing-emails",
    hidden=True,
    epilog=examples("cocli campaign retry plumbers --without-email --dry-run"),
)
@shared(STORE, JSON, QUIET)
def missing_emails(
    call: Call,
    name: DefaultCampaign,
    reason: Annotated[
        list[str],
        typer.Option(
            "--reason", metavar="WHY", help="Only prospects with this reason; may be repeated.", show_default=False
        ),
    ] = [],  # noqa: B006  typer copies it
    file: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write the rows into FILE; - is stdout.", show_default=False),
    ] = None,
) -> None:
    """Show which prospects have no e-mail address, and why: no website, dead, parked, blocked, only a form …

    Remove lines from the CSV file as you like, then give it to `campaign retry --sites` to read the websites again.
    """
    from cocli.app.campaigns.missing_emails import MissingEmails
    from cocli.app.campaigns.missing_emails import missing_emails as use
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    check_reasons(reason)
    with call.workspace() as workspace, ProgressLine(output, "prospects") as progress:
        found = use(workspace, name, on_progress=progress)
    if reason:
        found = MissingEmails(found.prospects, [row for row in found.rows if row.reason in reason])
    if file is not None:
        write_csv(call, name, file, found)
        if str(file) == "-":
            return
    if output.as_json:
        rows = [asdict(row) for row in found.rows]
        reasons = [{"reason": why, "count": count} for why, count in found.counts.items()]
        counts = {"prospects": found.prospects, "missing": len(rows), "reasons": reasons}
        output.document({"campaign": name, **counts, "rows": rows, "written": str(file) if file else None})
        return
    show_missing(output, name, found, listed=file is None)


def check_reasons(given: list[str]) -> None:
    from typing import get_args

    from cocli.app.campaigns.missing_emails import Reason

    known = get_args(Reason)
    for word in given:
        if word not in known:
            raise UsageError(reason=f'There is no reason "{word[:60]}". Known reasons: {", ".join(known)}.')


def write_csv(call: Call, name: str, file: Path, found: MissingEmails) -> None:
    from cocli.app.campaigns.missing_emails import write_missing
    from cocli.app.whole_file import whole_file

    output, data = call.output, write_missing(found.rows)
    if str(file) == "-":
        stdout = call.raw_stdout
        stdout.write(data)
        stdout.flush()
        return
    with whole_file(str(file)) as written:
        written.write(data)
    output.talk(f"Wrote {count_shown(len(found.rows), 'row')} to {file}.")
    output.hint(f"cocli campaign retry {name} --sites {shlex.quote(str(file))} --dry-run")


def show_missing(output: Output, name: str, found: MissingEmails, *, listed: bool) -> None:
    from cocli.app.campaigns.missing_emails import WORTH_ANOTHER_PASS

    if not found.prospects:
        output.talk("There is no prospect yet.")
        output.hint(f"cocli run {name} --emails 50 --budget 30m")
        return
    rows = [(why, f"{count:,}", "yes" if why in WORTH_ANOTHER_PASS else "") for why, count in found.counts.items()]
    output.table(("why", "prospects", "worth another pass"), rows, right=("prospects",))
    output.talk(
        f"Of {count_shown(found.prospects, 'prospect')}, {len(found.rows):,} without an address are shown here."
    )
    if listed and found.rows:
        output.line("")
        shown = [(row.name, row.domain, row.reason, row.evidence) for row in found.rows[:_SHOWN_ROWS]]
        output.table(("prospect", "domain", "why", "evidence"), shown)
        if len(found.rows) > _SHOWN_ROWS:
            output.talk(f"{len(found.rows) - _SHOWN_ROWS:,} more; --csv FILE or --json has them all.")
    if "not-settled" in found.counts:
        output.hint(f"cocli campaign settle {name}")
    elif listed and found.rows:
        output.hint(f"cocli campaign retry {name} --without-email --dry-run --csv missing.csv")


def read_sites(file: Path) -> bytes:
    """A file that names websites."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(reason=f"{file} cannot be read: {error.strerror}") from error


def show_rejected(output: Output, rejected: list[RejectedSite]) -> None:
    """Lines that name no website."""
    for line in rejected[:_SHOWN_ROWS]:
        output.talk(f"left out: line {line.line}: {line.reason}")
    if len(rejected) > _SHOWN_ROWS:
        output.talk(f"{len(rejected) - _SHOWN_ROWS:,} more lines were left out.")


@app.command(
    "enqueue-batch",
    hidden=True,
    epilog=examples("cocli campaign retry plumbers --sites again.csv --batch with-browser"),
)
@shared(DRY_RUN, STORE, JSON, QUIET)
def enqueue_batch(
    call: Call,
    name: CampaignArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV file of domains, addresses or prospect hashes.")],
    batch: Annotated[
        str | None,
        typer.Option("--batch", metavar="NAME", help="A name for the batch.", show_default="made from the sites"),
    ] = None,
) -> None:
    """Read websites again, even those that are done, and remember their state.

    The file names sites in a column company_hash, domain, website or url; without a heading, in its first column. The
    same batch is queued only once: to read the same sites once more, give another --batch.
    """
    from cocli.app.campaigns.second_passes import enqueue_batch as use

    output, data = call.output, read_sites(file)
    with call.workspace() as workspace:
        done = use(workspace, name, data, batch=batch, dry_run=call.dry_run)
    if output.as_json:
        output.document({"campaign": name, **asdict(done)})
        return
    rows = [("sites", f"{done.sites:,}"), *((what.replace("_", " "), f"{n:,}") for what, n in done.outcomes.items())]
    output.table((f"batch {done.batch}", "count"), rows, right=("count",))
    show_rejected(output, done.rejected)
    if call.dry_run:
        output.hint(f"cocli campaign retry {name} --sites {shlex.quote(str(file))}")
    else:
        output.hint(f"cocli campaign retry {name} --result {done.batch}")


@app.command(
    "evaluate-batch",
    hidden=True,
    epilog=examples("cocli campaign retry plumbers --result with-browser"),
)
@shared(STORE, JSON, QUIET)
def evaluate_batch(
    call: Call,
    name: CampaignArgument,
    batch: Annotated[str, typer.Argument(metavar="BATCH", help="The batch's name.")],
    most: ExamplesOption = 5,
) -> None:
    """Show what a batch changed: which addresses were recovered, lost or changed since it was queued."""
    report_evaluation(call, name, batch, most)


def report_evaluation(call: Call, name: str, batch: str, most: int) -> None:
    """How the sites of a batch stood before, and how they stand now."""
    from cocli.app.campaigns.second_passes import evaluate_batch as use

    output = call.output
    with call.workspace() as workspace:
        found = use(workspace, name, batch, examples=most)
    if output.as_json:
        before = {"prospects": found.prospects_before, "with_email": found.with_email_before}
        now = {"prospects": found.prospects_now, "with_email": found.with_email_now}
        head = {"campaign": name, "batch": found.batch.batch, "created_at": found.batch.created_at}
        output.document({**head, "tasks": found.tasks, "before": before, "now": now, **found.differences.as_dict()})
        return
    _show_differences(output, found.differences)
    tasks = ", ".join(f"{count:,} {state}" for state, count in sorted(found.tasks.items()))
    output.talk(f"Tasks: {tasks}.")
    output.talk(
        f"Prospects with an address: {found.with_email_before:,} of {found.prospects_before:,} before, "
        f"{found.with_email_now:,} of {found.prospects_now:,} now."
    )
    if found.tasks.get("waiting"):
        output.hint(f"cocli worker enrichment -c {name}")


@app.command(
    "re-extract",
    epilog=examples(
        "cocli campaign re-extract plumbers --dry-run",
        "cocli campaign re-extract plumbers --edition staging --jobs 4",
        "cocli campaign re-extract plumbers --apply",
    ),
)
@shared(DRY_RUN, STORE, JSON, QUIET)
def re_extract(
    call: Call,
    name: DefaultCampaign,
    edition: Annotated[
        str, typer.Option("--edition", metavar="NAME", help="Where the pages are read into, for comparison.")
    ] = "staging",
    processes: Annotated[int, typer.Option("--jobs", metavar="N", help="How many processes.", min=1, max=256)] = 1,
    apply: Annotated[bool, typer.Option("--apply", help="Write the new facts into the campaign.")] = False,
    most: ExamplesOption = 5,
) -> None:
    """Read the stored pages again with the extractors of this version, without one request, and compare.

    Without --apply the campaign stays as it is. Stopped, the same command goes on. Exits with 8 if pages failed.
    """
    from cocli.app.campaigns.reextraction import ReextractionOptions, preview, reextract
    from cocli.app.documents.documents import standing_of
    from cocli.cli.documents.options import show_standing
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    options = ReextractionOptions(edition, processes, apply, most)
    with call.workspace() as workspace:
        if call.dry_run:
            found = preview(workspace, name, options)
            show_standing(output, standing_of(workspace, name), f" -c {name}")
            forecast = {"documents": found.documents, "skipped": found.skipped, "to_do": found.to_do}
            if output.as_json:
                output.document({"campaign": name, "cluster": edition, "dry_run": True, "forecast": forecast})
                return
            output.table(("pages", "read before", "to do"), [tuple(forecast.values())])
            return
        with ProgressLine(output, "pages") as pages, ProgressLine(output, "sites") as sites:
            done = reextract(workspace, name, options, on_pages=lambda job: pages(job.processed), on_sites=sites)
        show_standing(output, standing_of(workspace, name), f" -c {name}")
    _report_reextracted(output, name, done, applied=apply)


def _report_reextracted(output: Output, name: str, done: Reextracted, *, applied: bool) -> None:
    job = {"id": done.job.job, "state": done.job.state, "total": done.job.total, "failed": done.job.failed}
    if output.as_json:
        head = {"campaign": name, "cluster": done.edition, "dry_run": False, "job": job, "pages": done.pages}
        written = {"sites": done.applied, "prospects": done.prospects_changed, "emails": done.emails_written}
        output.document({**head, "applied": written if applied else None, **done.differences.as_dict()})
    elif done.whole:
        _show_differences(output, done.differences)
        pages = done.pages
        output.talk(f"{pages['compared']:,} pages: {pages['identical']:,} say the same, {pages['different']:,} do not.")
        if applied:
            output.talk(f"Written: {done.applied:,} sites, {done.prospects_changed:,} prospects.")
        elif done.differences.examples:
            output.hint(f"cocli campaign re-extract {name} --edition {done.edition} --apply")
    else:
        output.talk(f"The replay is {done.job.state}: {done.job.error or 'the same command goes on with it'}.")
    if done.job.failed:
        raise typer.Exit(ExitCode.DATA)
    if not done.whole:
        raise typer.Exit(ExitCode.INTERRUPTED)


def _show_differences(output: Output, found: Differences) -> None:
    from cocli.app.campaigns.differences import WORDS

    rows = [(word.replace("_", " "), f"{found.emails[word]:,}", f"{found.phones[word]:,}") for word in WORDS]
    output.table(("sites", "e-mails", "phones"), rows, right=("e-mails", "phones"))
    for change, count in found.statuses.most_common():
        output.line(f"status {change}: {count:,}")
    if found.examples:
        shown = [
            (example.difference, example.domain, _listed(example.before.emails), _listed(example.after.emails))
            for example in found.examples
        ]
        output.table(("what", "site", "before", "after"), shown)


def _listed(values: tuple[str, ...]) -> str:
    more = f" and {len(values) - _SHOWN_VALUES} more" if len(values) > _SHOWN_VALUES else ""
    return (", ".join(values[:_SHOWN_VALUES]) or "–") + more
