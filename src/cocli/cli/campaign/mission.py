"""The commands of `cocli campaign` that plan: build-mission-index, queue-mission, queue-scrapes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import DRY_RUN, JSON, QUIET, STORE, CampaignArgument, examples, shared
from cocli.cli.kit.output import count_shown

if TYPE_CHECKING:
    from cocli.app.campaigns.mission import Queued
    from cocli.app.campaigns.plan import BuiltPlan
    from cocli.app.workspace import Workspace
    from cocli.cli.kit.output import Output
    from cocli.pipeline.plan.estimate import Estimate

app = typer.Typer()

PruneOption = Annotated[
    bool, typer.Option("--prune", help="Also remove targets that the campaign's file does not ask for any more.")
]
TtlOption = Annotated[
    str | None,
    typer.Option(
        "--ttl",
        metavar="AGE",
        help="Read a target again if its last reading is older: 30d, 12h, 8w.",
        show_default="90d",
    ),
]
LimitOption = Annotated[
    int | None, typer.Option("--limit", metavar="N", help="Queue at most N new tasks.", min=1, show_default=False)
]


@app.command(
    "build-mission-index",
    epilog=examples(
        "cocli campaign build-mission-index plumbers --dry-run", "cocli campaign build-mission-index plumbers --prune"
    ),
)
@shared(DRY_RUN, STORE, JSON, QUIET)
def build_mission_index(call: Call, name: CampaignArgument, prune: PruneOption = False) -> None:
    """Write the targets: every tile of the territory with every query. A second run writes nothing."""
    output = call.output
    with call.workspace() as workspace:
        built = _build(output, workspace, name, prune=prune, dry_run=call.dry_run)
    if output.as_json:
        output.document({"campaign": name, **asdict(built)})
        return
    _show_built(output, name, built)
    output.hint(f"cocli campaign queue-mission {name} --dry-run")


@app.command(
    "queue-mission",
    epilog=examples(
        "cocli campaign queue-mission plumbers --dry-run",
        "cocli campaign queue-mission plumbers --ttl 30d --limit 1000",
    ),
)
@shared(DRY_RUN, STORE, JSON, QUIET)
def queue_mission(call: Call, name: CampaignArgument, ttl: TtlOption = None, limit: LimitOption = None) -> None:
    """Queue each target that a source has not read yet, or read too long ago. A second run queues nothing twice.

    A tile that a source could not read to its end is queued as its four quarters. Tasks that were set aside stay aside.
    """
    output = call.output
    with call.workspace() as workspace:
        queued = _queue(output, workspace, name, ttl, limit, dry_run=call.dry_run)
    if output.as_json:
        output.document({"campaign": name, **_queued_document(queued)})
        return
    _show_queued(output, name, queued)


@app.command(
    "queue-scrapes",
    epilog=examples("cocli campaign queue-scrapes plumbers --dry-run", "cocli campaign queue-scrapes plumbers"),
)
@shared(DRY_RUN, STORE, JSON, QUIET)
def queue_scrapes(
    call: Call, name: CampaignArgument, prune: PruneOption = False, ttl: TtlOption = None, limit: LimitOption = None
) -> None:
    """Build the targets and queue what was not read: build-mission-index and queue-mission in one.

    If nothing is planned yet, a dry run estimates all targets as if none of them had been read.
    """
    from cocli.app.campaigns.mission import estimate_all
    from cocli.errors import UsageError

    output = call.output
    queued: Queued | None = None
    guess: Estimate | None = None
    with call.workspace() as workspace:
        built = _build(output, workspace, name, prune=prune, dry_run=call.dry_run)
        try:
            queued = _queue(output, workspace, name, ttl, limit, dry_run=call.dry_run)
        except UsageError:
            if not (call.dry_run and built.already == 0):  # nothing is planned yet, and a dry run plans nothing
                raise
            guess = estimate_all(workspace.campaign(name), built.targets)
    guess = guess if queued is None else queued.estimate
    if output.as_json:
        mission = None if queued is None else _queued_document(queued)
        estimated = None if guess is None else _estimate_document(guess)
        output.document({"campaign": name, "targets": asdict(built), "mission": mission, "estimate": estimated})
        return
    _show_built(output, name, built)
    if queued is not None:
        _show_queued(output, name, queued)
    elif guess is not None:
        output.talk(_estimate_shown(guess))


def _build(output: Output, workspace: Workspace, name: str, *, prune: bool, dry_run: bool) -> BuiltPlan:
    from cocli.app.campaigns.plan import build_targets
    from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
    from cocli.cli.kit.progress import ProgressLine

    indexes = campaign_indexes(workspace, name)
    with ProgressLine(output, "targets") as progress:
        return build_targets(indexes, needed_campaign(indexes), prune=prune, dry_run=dry_run, progress=progress)


def _queue(
    output: Output, workspace: Workspace, name: str, ttl: str | None, limit: int | None, *, dry_run: bool
) -> Queued:
    from cocli.app.campaigns.mission import DEFAULT_AGE, parse_age, queue_mission
    from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
    from cocli.cli.kit.progress import ProgressLine

    age = DEFAULT_AGE if ttl is None else parse_age(ttl)
    indexes = campaign_indexes(workspace, name)
    with ProgressLine(output, "tasks") as progress:
        return queue_mission(
            indexes, needed_campaign(indexes), age=age, limit=limit, dry_run=dry_run, progress=progress
        )


def _queued_document(queued: Queued) -> dict[str, Any]:
    document = asdict(queued)
    if queued.estimate is not None:
        document["estimate"] = _estimate_document(queued.estimate)
    return document


def _estimate_document(guess: Estimate) -> dict[str, Any]:
    return asdict(guess) | {"elapsed_hours": guess.elapsed_hours}


def _show_built(output: Output, name: str, built: BuiltPlan) -> None:
    rows = [
        ("places", f"{built.places:,}"),
        ("tiles", f"{built.tiles:,}"),
        ("queries", f"{built.phrases:,}"),
        ("targets", f"{built.targets:,}"),
        ("would add" if built.dry_run else "added", f"{built.added:,}"),
        ("already there", f"{built.already:,}"),
        ("not wanted any more", f"{built.surplus:,}"),
        ("removed", f"{built.removed:,}"),
    ]
    output.table(("targets", "count"), rows, right=("count",))
    if built.surplus and not built.removed:
        output.talk("Targets that the campaign does not ask for any more were left in place.")
        output.hint(f"cocli campaign build-mission-index {name} --prune")


def _show_queued(output: Output, name: str, queued: Queued) -> None:
    rows = [("targets", queued.targets)]
    rows += [(f"{why}", queued.counts.get(why, 0)) for why in ("unread", "stale", "blocked", "split", "sidelined")]
    rows += [(outcome.replace("_", " "), count) for outcome, count in queued.outcomes.items()]
    output.table(("mission", "count"), [(what, f"{count:,}") for what, count in rows], right=("count",))
    if queued.estimate is not None and queued.queued:
        output.talk(_estimate_shown(queued.estimate))
    if queued.left:
        output.talk(f"The limit was reached; {count_shown(queued.left, 'task')} would follow.")
    if queued.counts.get("sidelined"):
        output.hint(f"cocli queue recover gm-list --category blocked -c {name}")
    elif completed := queued.outcomes.get("already_completed"):
        output.talk(f"{count_shown(completed, 'task')} ended, but no record says that the tile was read.")
        output.talk("To have them done again, remove them:")
        output.hint(f"cocli queue purge gm-list --state completed -c {name} --dry-run")
    elif queued.dry_run:
        output.hint(f"cocli campaign queue-mission {name}")
    else:
        output.hint(f"cocli queue status {name}")


def _estimate_shown(guess: Estimate) -> str:
    who = count_shown(guess.workers, "worker") if guess.workers else "one worker (none is configured)"
    money = f"${guess.dollars:,.2f} for the store" if guess.dollars else "nothing for the store"
    return (
        f"About {guess.requests:,} requests to sources, {guess.elapsed_hours:,.1f} hours with {who}, "
        f"{guess.store_writes:,} writes, {money}."
    )
