"""`cocli campaign changes`: what became different, with both values and both documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import JSON, QUIET, STORE, DefaultCampaign, examples, shared

if TYPE_CHECKING:
    from cocli.app.freshness.changes import ChangeList
    from cocli.cli.kit.output import Output

app = typer.Typer()
_KINDS = ("new", "closed", "missing", "moved", "renamed", "phone", "email", "website", "came_back")


def _complete_kind(incomplete: str) -> list[str]:
    return [kind for kind in _KINDS if kind.startswith(incomplete)]


@app.command(
    epilog=examples(
        "cocli campaign changes plumbers --since 2026-10-01",
        "cocli campaign changes plumbers --kind new --kind closed --json",
    )
)
@shared(STORE, JSON, QUIET)
def changes(
    call: Call,
    name: DefaultCampaign,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="TIME", help="Only changes found since then: 2026-10-01 or 2026-10-01T12:00:00Z.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        list[str],
        typer.Option(
            "--kind", metavar="KIND", help=f"One of {', '.join(_KINDS)}; may be repeated.",
            autocompletion=_complete_kind, show_default=False,
        ),
    ] = [],  # noqa: B006  typer copies it
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="Show at most N; 0 shows all.", min=0)] = 0,
) -> None:  # fmt: skip
    """Show what changed: who is new, closed, missing or back, who moved, who has another name, phone or address.

    Each change has the value before and after, and the documents that show them. Changes are found when stock is
    taken: at the end of `cocli run`, by `cocli campaign refresh`, and by supervisors when no search waits.
    """
    from cocli.app.freshness.changes import changes_document, check_kinds, read_changes
    from cocli.app.indexes.indexes import campaign_indexes
    from cocli.app.indexes.query import parse_time

    kinds = check_kinds(kind)
    moment = parse_time(since, "--since") if since else None
    with call.workspace() as workspace:
        found = read_changes(campaign_indexes(workspace, name), since=moment, kinds=kinds, limit=limit or None)
    if call.output.as_json:
        call.output.document(changes_document(name, since, found))
    else:
        _show(call.output, name, found)


def _show(output: Output, name: str, found: ChangeList) -> None:
    rows = [
        (
            f"{told.change.found_at:%Y-%m-%d}",
            told.change.kind.replace("_", " "),
            told.change.name,
            told.change.before or "",
            told.change.after or "",
        )
        for told in found.changes
    ]
    output.table(("found", "change", "business", "before", "after"), rows)
    if found.taken_at is None:
        output.talk("Stock was never taken: there is nothing to compare with.")
        output.hint(f"cocli campaign refresh {name}")
        return
    counts = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in found.counts.items()) or "no changes"
    output.talk(f"{counts}; stock was last taken with a difference at {found.taken_at:%Y-%m-%d %H:%M}Z.")
    if found.excluded:
        output.talk(f"{found.excluded:,} of businesses that are excluded are not shown.")
