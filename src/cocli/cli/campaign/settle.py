"""`cocli campaign settle`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import JSON, QUIET, STORE, DefaultCampaign, examples, shared
from cocli.cli.kit.output import count_shown

if TYPE_CHECKING:
    from cocli.app.workspace import Workspace
    from cocli.cli.kit.output import Output

app = typer.Typer()


@app.command(
    epilog=examples(
        "cocli campaign settle plumbers",
        "cocli campaign settle plumbers --everything",
        "cocli campaign settle plumbers --json",
    )
)
@shared(STORE, JSON, QUIET)
def settle(
    call: Call,
    name: DefaultCampaign,
    everything: Annotated[
        bool,
        typer.Option("--everything", help="Also refresh company pages, pack completions, and write the report."),
    ] = False,
    step: Annotated[str | None, typer.Option("--step", hidden=True, help="records, results, sweep or refresh.")] = None,
) -> None:
    """Merge the records that workers wrote about the same business. A second run changes nothing.

    This packs the indexes, joins prospects that are the same business, and adds what their websites said. Where a
    supervisor runs, it does all this and `--everything` by itself, within a minute of the work.
    """
    if step:
        from cocli.fleet.drain import end_with

        end_with(call.stdin)  # a supervisor that is gone, however it died, leaves no round behind
    with call.workspace() as workspace:
        done = _settled(workspace, name, step or ("everything" if everything else None))
    if call.output.as_json:
        call.output.document({"campaign": name, **done})
    else:
        _show(call.output, done)


def _settled(workspace: Workspace, name: str, what: str | None) -> dict[str, Any]:
    from cocli.app.campaigns.finish import finish_records, finish_results, keep_by_rule, sweep_leftovers
    from cocli.app.campaigns.settle import settle_campaign

    if what is None:
        return asdict(settle_campaign(workspace, name))
    done: dict[str, Any] = {}
    if what in ("records", "everything"):
        done |= asdict(finish_records(workspace, name))
    if what in ("results", "everything"):
        done |= asdict(finish_results(workspace, name))
    if what in ("sweep", "everything"):
        done["swept"] = sweep_leftovers(workspace, name)
        done["expired"] = keep_by_rule(workspace, name)
    if what == "refresh":
        from cocli.app.freshness.refresh import refresh_campaign

        done["refreshed"] = refresh_campaign(workspace, name).queued
    return done


def _show(output: Output, done: dict[str, Any]) -> None:
    if "prospects" in done:
        output.line(count_shown(done["prospects"], "prospect"))
        output.line(f"{done['moved']:,} were known twice, {done['joined']:,} got what their website had said before")
    if done.get("harvested"):
        output.line(f"{count_shown(done['harvested'], 'tile')} taken over from what others have read")
    if done.get("queued"):
        output.line(f"{count_shown(done['queued'], 'task')} queued: lists that were cut short go on")
    if "report" in done:
        output.line(f"{done['pages_created']:,} company pages are new, {done['pages_changed']:,} have changed")
        output.line(f"{count_shown(done['completions'], 'completion')} packed")
        if done["published"]:
            output.line(f"published again: {done['published']}")
        output.line(f"report: {done['report'] or 'not kept, because this store may only be read'}")
