"""The commands of `cocli documents` over all that was fetched: replay, seed, jobs, job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.documents.options import DatasourceOption, GraphOption, chosen_documents
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, DRY_RUN, JSON, QUIET, STORE, examples, shared
from cocli.cli.kit.output import count_shown
from cocli.errors import UsageError
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    import threading

    from cocli.app.documents.documents import Documents
    from cocli.app.documents.jobs import ReplayOptions
    from cocli.cli.kit.output import Output
    from cocli.documents.catalog.job_rows import Job

app = typer.Typer()

JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="The job's id; last is the latest.")]
JobOption = Annotated[
    str | None,
    typer.Option("--job", metavar="JOB", help="Go on with this job; last is the latest.", show_default=False),
]
IntoOption = Annotated[
    str | None,
    typer.Option("--edition", metavar="NAME", help="The edition to save under.", show_default="the campaign's"),
]
RateOption = Annotated[
    float | None,
    typer.Option("--rate", metavar="N", help="At most so many documents in a second.", show_default=False),
]
ProcessesOption = Annotated[int, typer.Option("--jobs", metavar="N", help="How many processes.", min=1, max=256)]
EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine", metavar="ray[:ADDRESS]", help="Run on a Ray cluster.", show_default="processes of this machine"
    ),
]


@app.command(
    epilog=examples(
        "cocli documents replay -c plumbers --dry-run",
        "cocli documents replay --edition staging --graph my_package.graphs:contacts --jobs 4",
        "cocli documents replay --from emails --uri-prefix https://example.com/ --rate 50",
        "cocli documents replay --job 1f3a5c7e9b0d2f4a",
    )
)
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def replay(
    call: Call,
    doc: Annotated[str | None, typer.Option("--doc", metavar="DOC", help="Only this one.", show_default=False)] = None,
    datasource: DatasourceOption = None,
    uri_prefix: Annotated[
        str | None,
        typer.Option("--uri-prefix", metavar="TEXT", help="Only addresses that begin so.", show_default=False),
    ] = None,
    status: Annotated[
        int | None, typer.Option("--status", metavar="N", help="Only with this HTTP status.", show_default=False)
    ] = None,
    mime_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only types that begin so.", show_default=False)
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only saved since then.", show_default=False)
    ] = None,
    before: Annotated[
        str | None, typer.Option("--before", metavar="TIME", help="Only saved before then.", show_default=False)
    ] = None,
    start: Annotated[
        str | None, typer.Option("--from", metavar="NODE", help="The node to begin with.", show_default="the intake")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from-edition", metavar="NAME", help="With --from: whose states.", show_default="the one saved under"
        ),
    ] = None,
    edition: IntoOption = None,
    graph: GraphOption = None,
    again: Annotated[bool, typer.Option("--again", help="Also steps whose input and code did not change.")] = False,
    rate: RateOption = None,
    processes: ProcessesOption = 1,
    engine: EngineOption = None,
    job: JobOption = None,
) -> None:
    """Take what was fetched through a graph again, without fetching it again. What came in is never changed.

    A step whose input and code did not change is not done again. Stopped by Ctrl-C, killed or paused, the same command
    goes on where it stopped. Exits with 8 if documents failed; they are in quarantine.
    """
    from cocli.app.documents.jobs import ReplayOptions, forecast, job_of, plan, query_of

    output = call.output
    values = {"doc": doc, "datasource": datasource, "uri_prefix": uri_prefix, "http_status": status}
    times = {"saved_from": _time(since), "saved_before": _time(before)}
    query = query_of({**values, "content_type": mime_type, **times})
    options = ReplayOptions(query, start or "intake", source, edition, graph, not again, rate)
    with chosen_documents(call) as documents:
        if call.dry_run:
            found = forecast(documents, options)
            _show_forecast(output, documents, found.documents, found.skipped)
            return
        planned = job_of(documents, job) if job else plan(documents, options)
        if job:
            options = ReplayOptions(graph=graph, edition=planned.cluster)
        done = _run(output, documents, planned, options, processes, engine)
        _report(output, documents, done)


@app.command(
    epilog=examples(
        "cocli documents seed ac546a934bd55ed4 --edition staging -c plumbers",
        "cocli documents seed ac546a934bd55ed4 --edition staging --dry-run",
    )
)
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def seed(
    call: Call,
    datasource: Annotated[str, typer.Argument(metavar="DATASOURCE", help="The id of the datasource.")],
    edition: IntoOption = None,
    graph: GraphOption = None,
    rate: RateOption = None,
    processes: ProcessesOption = 1,
    engine: EngineOption = None,
) -> None:
    """Fill a new edition with what a datasource ever brought in. Seeding twice: the second run does nothing."""
    from cocli.app.documents.jobs import ReplayOptions, forecast, plan_seed, query_of

    output = call.output
    options = ReplayOptions(query_of({"datasource": datasource}), edition=edition, graph=graph, rate=rate)
    with chosen_documents(call) as documents:
        if call.dry_run:
            found = forecast(documents, options)
            _show_forecast(output, documents, found.documents, found.skipped)
            return
        planned = plan_seed(documents, options, datasource)
        done = _run(output, documents, planned, options, processes, engine)
        _report(output, documents, done)


# --- jobs


@app.command(epilog=examples("cocli documents jobs -c plumbers"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def jobs(
    call: Call,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many at most.", min=1, max=10_000)] = 20,
) -> None:
    """List the replays and seedings, the latest first."""
    from cocli.app.documents.jobs import jobs_of

    output = call.output
    with chosen_documents(call) as documents:
        found = jobs_of(documents, limit)
    if output.as_json:
        output.document({"account": documents.account, "jobs": [job_document(job) for job in found]})
    elif found:
        _show_jobs(output, found)
    else:
        output.talk("There is none.")


@app.command(
    epilog=examples(
        "cocli documents job 1f3a5c7e9b0d2f4a -c plumbers",
        "cocli documents job 1f3a5c7e9b0d2f4a --pause",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def job(
    call: Call,
    job: JobArgument,
    pause: Annotated[bool, typer.Option("--pause", help="Stop it; you can resume it with: replay --job JOB.")] = False,
    cancel: Annotated[bool, typer.Option("--cancel", help="Stop it for good: it cannot be resumed.")] = False,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="How many failures to show.", min=0, max=10_000)
    ] = 20,
) -> None:
    """Show a job and the documents that failed in it, or stop it."""
    from cocli.app.documents import jobs as use
    from cocli.documents.catalog.job_rows import DocumentOutcome

    output = call.output
    if pause and cancel:
        raise UsageError(reason="--pause or --cancel, not both")
    with chosen_documents(call) as documents:
        found = use.job_of(documents, job)
        if pause or cancel:
            found = (use.pause if pause else use.cancel)(documents, found.job)
        failed = use.outcomes_of(documents, found.job, DocumentOutcome.FAILED, limit) if limit else []
    rows = [
        {"doc": outcome.doc, "address": outcome.address, "code": outcome.code, "error": outcome.error}
        for outcome in failed
    ]
    if output.as_json:
        output.document({"account": documents.account, "job": job_document(found), "failures": rows})
        return
    _show_jobs(output, [found])
    if rows:
        output.table(("doc", "code", "error"), [(row["doc"], row["code"], row["error"]) for row in rows])
    if not found.state.is_final:
        output.hint(f"cocli documents replay --job {found.job}{documents.options}")


def job_document(job: Job) -> dict[str, object]:
    return {
        "id": job.job,
        "kind": job.kind,
        "state": job.state,
        "cluster": job.cluster,
        "total": job.total,
        "done": job.done,
        "unchanged": job.unchanged,
        "skipped": job.skipped,
        "failed": job.failed,
        "error": job.error,
        "planned_at": job.planned_at,
        "finished_at": job.finished_at,
    }


def _show_jobs(output: Output, found: list[Job]) -> None:
    columns = ("job", "kind", "state", "edition", "total", "done", "unchanged", "skipped", "failed", "planned", "error")
    rows = [
        (job.job, job.kind, job.state, job.cluster, job.total, job.done, job.unchanged, job.skipped, job.failed,
         job.planned_at, job.error)
        for job in found
    ]  # fmt: skip
    output.table(columns, rows, right=("total", "done", "unchanged", "skipped", "failed"))


def _show_forecast(output: Output, documents: Documents, total: int, skipped: int) -> None:
    if output.as_json:
        forecast = {"documents": total, "skipped": skipped, "to_do": total - skipped}
        output.document(
            {"account": documents.account, "dry_run": True, "forecast": forecast, "job": None, "without_node": None}
        )
        return
    output.table(("documents", "skipped", "to do"), [(total, skipped, total - skipped)])
    output.talk("Nothing was done; what is skipped went through this very graph before.")


def _report(output: Output, documents: Documents, done: Job) -> None:
    from cocli.app.documents.jobs import without_node

    unread, examples = without_node(documents, done)
    if output.as_json:
        document = {"account": documents.account, "dry_run": False, "forecast": None}
        missing = {"count": unread, "examples": examples}
        output.document({**document, "job": job_document(done), "without_node": missing})
    else:
        _show_jobs(output, [done])
        if unread:
            named = ", ".join(examples)
            output.talk(f"Of those skipped, no node of the graph takes {count_shown(unread, 'document')}: {named}")
        if done.state.value == "done" and not done.failed:
            output.hint(f"cocli documents compare OTHER {done.cluster}{documents.options}")
        elif done.failed:
            output.hint(f"cocli documents job {done.job}{documents.options}")
        else:
            output.hint(f"cocli documents replay --job {done.job}{documents.options}")
    if done.failed:
        raise typer.Exit(ExitCode.DATA)
    if done.state.value == "paused":
        raise typer.Exit(ExitCode.INTERRUPTED)


def _run(
    output: Output, documents: Documents, job: Job, options: ReplayOptions, processes: int, engine: str | None
) -> Job:
    from cocli.app.documents.jobs import run
    from cocli.cli.kit.progress import ProgressLine

    name, _, address = (engine or "").partition(":")
    if name not in ("", "ray"):
        raise UsageError(reason=f'there is no engine "{name}"', hint="Say --engine ray, or --jobs N.")
    with _interrupted() as stop, ProgressLine(output, f"of {job.total:,} documents") as progress:
        return run(
            documents,
            job.job,
            options,
            processes=processes,
            ray=address if name else None,
            on_progress=lambda now: progress(now.processed),
            stop=stop,
        )


@contextmanager
def _interrupted() -> Iterator[threading.Event]:
    """The first Ctrl-C pauses after what is in hand; a second one ends it now, and nothing is lost by that either."""
    import signal
    import threading

    stop = threading.Event()

    def note(*_: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    from datetime import UTC

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(reason=f'"{text}" is not a time', hint="Write 2026-11-15 or 2026-11-15T12:00:00Z.") from None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
