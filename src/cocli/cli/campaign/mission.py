"""`cocli campaign plan`; and its two halves, which are kept under their older names."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import DRY_RUN, JSON, QUIET, STORE, DefaultCampaign, examples, shared
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
    int | None,
    typer.Option(
        "--limit", metavar="N", help="Queue at most N new tasks.", min=1, max=1_000_000_000, show_default=False
    ),
]


QueueOption = Annotated[bool, typer.Option("--queue", help="Also queue each target that was not read yet.")]


@app.command(
    epilog=examples(
        "cocli campaign plan plumbers --dry-run",
        "cocli campaign plan plumbers --queue --dry-run",
        "cocli campaign plan plumbers --queue --ttl 30d --limit 1000",
        "cocli campaign plan plumbers --prune",
    )
)
@shared(DRY_RUN, STORE, JSON, QUIET)
def plan(
    call: Call,
    name: DefaultCampaign,
    queue: QueueOption = False,
    prune: PruneOption = False,
    ttl: TtlOption = None,
    limit: LimitOption = None,
) -> None:
    """Write the targets: every tile of the territory with every phrase. A second run writes nothing.

    With --queue, each target that a source has not read yet, or read too long ago, is queued: a second run queues
    nothing twice. What was read before, for whichever campaign, is harvested from the kept pages, without a
    request. A tile that a source could not read to its end is queued as its four quarters. Tasks that were set
    aside stay aside. If nothing is planned yet, a dry run estimates all targets as if none of them had been read.
    """
    from cocli.errors import UsageError

    output = call.output
    if not queue and (ttl is not None or limit is not None):
        raise UsageError(reason="--ttl and --limit say what to queue", hint="Add --queue.")
    queued: Queued | None = None
    guess: Estimate | None = None
    with call.workspace() as workspace:
        built = _build(output, workspace, name, prune=prune, dry_run=call.dry_run)
        if queue:
            queued, guess = _queue_or_guess(call, workspace, name, built, ttl, limit)
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
    else:
        output.hint(f"cocli campaign plan {name} --queue --dry-run")


def _queue_or_guess(
    call: Call, workspace: Workspace, name: str, built: BuiltPlan, ttl: str | None, limit: int | None
) -> tuple[Queued | None, Estimate | None]:
    """What was queued, and what it costs; only the cost where nothing is planned yet, and a dry run plans nothing."""
    from cocli.app.campaigns.mission import estimate_all
    from cocli.errors import UsageError

    try:
        queued = _queue(call.output, workspace, name, ttl, limit, dry_run=call.dry_run)
    except UsageError:
        if not (call.dry_run and built.already == 0):
            raise
        return None, estimate_all(workspace.campaign(name), built.targets)
    return queued, queued.estimate


@app.command(
    "build-mission-index",
    hidden=True,
    epilog=examples("cocli campaign plan plumbers --dry-run"),
)
@shared(DRY_RUN, STORE, JSON, QUIET)
def build_mission_index(call: Call, name: DefaultCampaign, prune: PruneOption = False) -> None:
    """Write the targets, as `campaign plan` does. This is an older name."""
    output = call.output
    with call.workspace() as workspace:
        built = _build(output, workspace, name, prune=prune, dry_run=call.dry_run)
    if output.as_json:
        output.document({"campaign": name, **asdict(built)})
        return
    _show_built(output, name, built)
    output.hint(f"cocli campaign plan {name} --queue --dry-run")


@app.command("queue-mission", hidden=True, epilog=examples("cocli campaign plan plumbers --queue --dry-run"))
@shared(DRY_RUN, STORE, JSON, QUIET)
def queue_mission(call: Call, name: DefaultCampaign, ttl: TtlOption = None, limit: LimitOption = None) -> None:
    """Queue targets that were planned before, as `campaign plan --queue` does. This is an older name."""
    output = call.output
    with call.workspace() as workspace:
        queued = _queue(output, workspace, name, ttl, limit, dry_run=call.dry_run)
    if output.as_json:
        output.document({"campaign": name, **_queued_document(queued)})
        return
    _show_queued(output, name, queued)


def _build(output: Output, workspace: Workspace, name: str, *, prune: bool, dry_run: bool) -> BuiltPlan:
    from cocli.app.campaigns.plan import build_targets
    from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
    from cocli.cli.kit.progress import ProgressLine

    indexes = campaign_indexes(workspace, name)
    _tell_phrases(output, workspace, name)
    with ProgressLine(output, "targets") as progress:
        return build_targets(indexes, needed_campaign(indexes), prune=prune, dry_run=dry_run, progress=progress)


def _tell_phrases(output: Output, workspace: Workspace, name: str) -> None:
    """What phrases are looked for as, before anything is queued."""
    from cocli.app.sources.sources import phrase_notes

    notes = phrase_notes(workspace, workspace.campaign(name))
    for note in notes:
        output.talk(f"{note}.")
    if unknown := next((note.phrase for note in notes if note.taken is None), None):
        output.hint(f'cocli source categories "{unknown}" -c {name}')


def _queue(
    output: Output, workspace: Workspace, name: str, ttl: str | None, limit: int | None, *, dry_run: bool
) -> Queued:
    from cocli.app.campaigns.harvest import HarvestOptions, harvest_campaign
    from cocli.app.campaigns.mission import DEFAULT_AGE, parse_age, queue_mission
    from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
    from cocli.cli.kit.progress import ProgressLine

    age = DEFAULT_AGE if ttl is None else parse_age(ttl)
    indexes = campaign_indexes(workspace, name)
    with ProgressLine(output, "harvested") as progress:
        harvested = harvest_campaign(workspace, name, progress, HarvestOptions(age=age, dry_run=dry_run))
    with ProgressLine(output, "tasks") as progress:
        queued = queue_mission(
            indexes, needed_campaign(indexes), age=age, limit=limit, dry_run=dry_run, progress=progress
        )
    queued.harvest = harvested
    return queued


def _queued_document(queued: Queued) -> dict[str, Any]:
    document = asdict(queued) | {"harvested": queued.harvest.tiles if queued.harvest else 0}
    if queued.estimate is not None:
        document["estimate"] = _estimate_document(queued.estimate)
    return document


def _estimate_document(guess: Estimate) -> dict[str, Any]:
    return asdict(guess) | {"elapsed_hours": guess.elapsed_hours}


def _show_built(output: Output, name: str, built: BuiltPlan) -> None:
    rows = [
        ("places", f"{built.places:,}"),
        ("tiles", f"{built.tiles:,}"),
        ("phrases", f"{built.phrases:,}"),
        ("targets", f"{built.targets:,}"),
        ("would add" if built.dry_run else "added", f"{built.added:,}"),
        ("already there", f"{built.already:,}"),
        ("not wanted any more", f"{built.surplus:,}"),
        ("removed", f"{built.removed:,}"),
    ]
    output.table(("targets", "count"), rows, right=("count",))
    if built.surplus and not built.removed:
        output.talk("Targets that the campaign does not ask for any more were left in place.")
        output.hint(f"cocli campaign plan {name} --prune")


def _show_queued(output: Output, name: str, queued: Queued) -> None:
    rows = [("targets", queued.targets)]
    if queued.harvest is not None:
        rows.append(("would harvest" if queued.dry_run else "harvested", queued.harvest.tiles))
    reasons = ("unread", "stale", "blocked", "split", "missing", "sidelined")
    rows += [(why, queued.counts.get(why, 0)) for why in reasons]
    rows += [(outcome.replace("_", " "), count) for outcome, count in queued.outcomes.items()]
    output.table(("mission", "count"), [(what, f"{count:,}") for what, count in rows], right=("count",))
    _show_harvest(output, queued)
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
        output.hint(f"cocli campaign plan {name} --queue")
    else:
        output.hint(f"cocli queue status {name}")


def _show_harvest(output: Output, queued: Queued) -> None:
    found = queued.harvest
    if found is None:
        return
    if found.tiles and not found.dry_run:
        tiles, sightings = count_shown(found.tiles, "tile"), count_shown(found.businesses, "sighting")
        output.talk(f"Harvested {tiles} that were read before: {sightings} of businesses, no request.")
    if found.missing:
        output.talk(f"{count_shown(found.missing, 'tile')} cannot be harvested, and will be read again:")
        for example in found.examples:
            output.talk(f"  {example}")


def _estimate_shown(guess: Estimate) -> str:
    who = count_shown(guess.workers, "worker") if guess.workers else "one worker (none is configured)"
    money = f"${guess.dollars:,.2f} for the store" if guess.dollars else "nothing for the store"
    return (
        f"About {guess.requests:,} requests to sources, {guess.elapsed_hours:,.1f} hours with {who}, "
        f"{guess.store_writes:,} writes, {money}."
    )
