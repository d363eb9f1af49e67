"""`cocli retention`: what a campaign keeps how long, removing the rest, and what was removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.documents.options import ByOption, who
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN,
    CAMPAIGN_ARGUMENT,
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
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from cocli.app.retention.retention import RetentionReport
    from cocli.cli.kit.output import Output

app = command_group("How long a campaign keeps things, by the rules of [retention]: look, apply them, see the proofs.")

_Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Only this kind; may be repeated.", show_default=False),
]
_WithEvidence = Annotated[bool, typer.Option("--with-evidence", help="Also pages that values of the list still name.")]


@app.command(epilog=examples("cocli retention show plumbers", "cocli retention show plumbers --json"))
@shared(CAMPAIGN_ARGUMENT, CAMPAIGN, STORE, JSON, QUIET)
def show(call: Call, kind: _Kinds = None, with_evidence: _WithEvidence = False) -> None:
    """Show the rules, and what they would remove now. Nothing is removed."""
    _run(call, kind, with_evidence, None, apply=False)


@app.command(
    epilog=examples(
        "cocli retention apply plumbers --dry-run",
        "cocli retention apply plumbers --yes",
        "cocli retention apply plumbers --kind captures --with-evidence --yes",
    )
)
@shared(CAMPAIGN_ARGUMENT, DRY_RUN, YES, CAMPAIGN, STORE, JSON, QUIET)
def apply(call: Call, kind: _Kinds = None, with_evidence: _WithEvidence = False, by: ByOption = None) -> None:
    """Remove what the rules no longer let the campaign keep. A record of it stays: what, digests, when, by whom.

    A page that a value still names stays, unless --with-evidence. It can be cut off and run again.
    """
    _run(call, kind, with_evidence, by, apply=not call.dry_run)


@app.command(epilog=examples("cocli retention proofs plumbers", "cocli retention proofs plumbers --json"))
@shared(CAMPAIGN_ARGUMENT, CAMPAIGN, STORE, JSON, QUIET)
def proofs(call: Call) -> None:
    """List what was removed by rule before: when, by whom, how much. With --json every digest."""
    from cocli.app.retention.retention import proofs as use

    name = call.needed_campaign()
    with call.workspace() as workspace:
        records = use(workspace, name)
    if call.output.as_json:
        found = [record.model_dump(mode="json", exclude={"campaign"}) for record in records]
        call.output.document({"campaign": name, "records": found})
        return
    rows = [
        (record.at, record.rule, len(record.items), size_shown(sum(item.size for item in record.items)), record.by)
        for record in records
    ]
    call.output.table(("at", "rule", "removed", "size", "by"), rows, right=("removed", "size"))


def _run(call: Call, kinds: list[str] | None, with_evidence: bool, by: str | None, *, apply: bool) -> None:
    from cocli.app.retention.retention import RetentionOptions, apply_retention, plan_retention
    from cocli.cli.kit.confirm import confirm
    from cocli.cli.kit.progress import ProgressLine

    output, name = call.output, call.needed_campaign()
    options = RetentionOptions(who(by), tuple(kinds or ()), with_evidence)
    with call.workspace() as workspace:
        with ProgressLine(output, "looked at") as progress:
            report = plan_retention(workspace, name, options, progress)
        going = sum(plan.count for plan in report.plans)
        if apply and going:
            if not output.as_json:
                _show(output, report)
            if not confirm(output, f"Remove {count_shown(going, 'thing')} of {name} for good?", yes=call.yes):
                output.talk("Nothing was removed.")
                return
            with ProgressLine(output, "removed") as progress:
                report = apply_retention(workspace, name, options, progress)
    if output.as_json:
        output.document({"campaign": name, "dry_run": not apply, **_document(report)})
    elif not (apply and going):
        _show(output, report)
    if not output.as_json:
        _say(output, report, name, apply=apply)
    if report.problems:
        raise typer.Exit(ExitCode.DATA)


def _document(report: RetentionReport) -> dict[str, Any]:
    return {
        "kinds": [
            {
                "kind": plan.kind,
                "age": plan.age,
                "count": plan.count,
                "bytes": plan.bytes,
                "kept_as_evidence": plan.kept,
                "values_naming_them": plan.values,
                "removed": report.removed.get(plan.kind, 0),
            }
            for plan in report.plans
        ],
        "held_back": report.held_back,
        "problems": report.problems,
    }


def _show(output: Output, report: RetentionReport) -> None:
    rows = [(plan.kind, plan.age, plan.count, size_shown(plan.bytes), plan.kept, plan.values) for plan in report.plans]
    columns = ("kind", "kept for", "would go", "size", "kept as evidence", "values that name them")
    output.table(columns, rows, right=columns[2:])


def _say(output: Output, report: RetentionReport, name: str, *, apply: bool) -> None:
    for kind, reason in report.held_back.items():
        output.talk(f"The rule for {kind} does not hold: {reason}.")
    for problem in report.problems:
        output.talk(f"Not done: {problem}")
    if not report.plans:
        output.talk("No rule holds: everything is kept.")
        output.hint(f'cocli campaign edit {name} --set retention.captures="12mo"')
    elif apply:
        removed = sum(report.removed.values())
        output.talk(f"Removed {count_shown(removed, 'thing')}.")
        if removed:
            output.hint(f"cocli retention proofs {name}")
    elif any(plan.count for plan in report.plans):
        output.hint(f"cocli retention apply {name}")
