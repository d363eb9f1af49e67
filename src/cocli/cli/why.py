"""`cocli why`: where a value of a prospect came from."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, examples, shared, single_command

if TYPE_CHECKING:
    from cocli.app.why.answers import EmailTrail, Explanation, ObservedValue, Overview, PersonalValue
    from cocli.app.why.trace import DocumentView
    from cocli.cli.kit.output import Output

app = single_command()
_LONG = 60


@app.command(
    epilog=examples(
        "cocli why acme-roofing -c plumbers",
        "cocli why acme-roofing phone -c plumbers",
        'cocli why "Acme Roofing" info@acme.example -c plumbers',
        "cocli why ChIJyUzh2kXqwoARUtNFG8VjnYQ socials.facebook -c plumbers --json",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def why(
    call: Call,
    prospect: Annotated[
        str,
        typer.Argument(
            metavar="PROSPECT", help="The prospect: its hash, place id, page, domain, e-mail address, phone or name."
        ),
    ],
    field: Annotated[
        str | None,
        typer.Argument(
            metavar="FIELD",
            help="A field such as phone or socials.facebook, or one of its e-mail addresses.",
            show_default="one line for each",
        ),
    ] = None,
) -> None:
    """Say why a prospect has a value: each observation, the rule that chose among them, and the document behind it.

    The stored listings and the stored website are read again, so that you also see the values that did not win. No
    source and no website is asked.
    """
    from cocli.app.why.why import explain, overview

    output = call.output
    with call.workspace() as workspace:
        chosen = workspace.campaign(call.needed_campaign(workspace)).name
        if field is None:
            seen = overview(workspace, chosen, prospect)
            if output.as_json:
                output.document(asdict(seen))
            else:
                _show_overview(output, seen)
            return
        found = explain(workspace, chosen, prospect, field)
    if output.as_json:
        output.document(asdict(found))
    else:
        _show(output, found)


def _show_overview(output: Output, seen: Overview) -> None:
    output.line(f"{seen.name} [{seen.company_hash}]")
    _talk_of_moves(output, seen.moved_from, seen.merged)
    rows = [
        (field.field, _short(field.value), field.source, field.observed_at, _short_uuid(field.document), field.reason)
        for field in seen.fields
    ]
    output.table(("field", "value", "source", "observed", "document", "reason"), rows)
    for written in seen.written:
        _talk_of_page(output, written)
    output.hint(f"cocli why {seen.company_hash} FIELD -c {seen.campaign}")


def _show(output: Output, found: Explanation) -> None:
    output.line(f"{found.name} [{found.company_hash}]")
    output.line(f"{found.field}: {_value(found.value)}")
    output.line(f"rule: {found.rule} ({found.meaning})")
    _talk_of_moves(output, found.moved_from, found.merged)
    if found.written is not None:
        _talk_of_page(output, found.written)
    if found.observations:
        output.text("\n")
        columns = ("", "value", "source", "counts", "observed", "told by", "document", "reason")
        output.table(columns, [_row(observation) for observation in found.observations], right=("counts",))
    elif found.value in (None, "", (), {}):
        output.talk("No source has said anything about this field so far.")
    else:
        output.talk("The origin of this value is not known: it is older than the record of origins, or was imported.")
    for trail in found.emails:
        _show_rows(output, _trail_rows(trail))
    for document in found.documents:
        _show_rows(output, _document_rows(document))
    for problem in found.problems:
        output.talk(f"warning: {problem}")
    if found.left_behind is not None:
        output.talk("This is a copy: pages behind some of these values were left in the bucket.")
        output.hint(found.left_behind)
    if not all(document.catalogued for document in found.documents):
        output.talk("This machine's catalogue does not know some of these; to show them here, look for them:")
        output.hint(f"cocli documents fsck --repair -c {found.campaign}")


def _row(one: ObservedValue) -> tuple[object, ...]:
    told_by = f"{one.told_by} {one.record}" if one.record else one.told_by
    mark = "→" if one.kept else ""
    return (
        mark,
        _short(one.value),
        one.source,
        one.weight,
        one.observed_at,
        told_by,
        _short_uuid(one.document),
        one.reason,
    )


def _trail_rows(trail: EmailTrail) -> list[tuple[str, object]]:
    return [
        ("address", trail.email),
        ("page", trail.page),
        ("method", trail.method),
        ("context", trail.context),
        ("label", " ".join(filter(None, (trail.label, trail.name)))),
        ("relation", trail.relation),
        ("because", trail.reason),
        ("primary because", trail.chosen),
        ("confidence", trail.confidence),
        ("verification", trail.verification),
        ("first seen", trail.first_seen),
        ("last seen", trail.last_seen),
        ("document", trail.document),
    ]


def _document_rows(document: DocumentView) -> list[tuple[str, object]]:
    return [
        ("document", document.uuid),
        ("uri", document.uri),
        ("fetched at", document.fetched_at),
        *(("made of", page) for page in document.made_of),
        ("digest", document.digest),
        ("kept at", document.kept_at),
        ("deleted at", document.deleted_at),
        ("show it", document.command),
    ]


def _show_rows(output: Output, rows: list[tuple[str, object]]) -> None:
    output.text("\n")
    output.table(("what", "value"), [row for row in rows if row[1] not in (None, "")])


def _talk_of_page(output: Output, written: PersonalValue) -> None:
    output.talk(f'{written.key} is written by a person in {written.file}: "{_short(written.value)}". It wins.')


def _talk_of_moves(output: Output, moved_from: str | None, merged: list[str]) -> None:
    if moved_from is not None:
        output.talk(f"{moved_from} was merged into it.")
    others = [name for name in merged if name != moved_from]
    if others:
        output.talk(f"Also known as {', '.join(others)}, which {'was' if len(others) == 1 else 'were'} merged into it.")


def _value(value: object) -> str:
    from cocli.cli.kit.output import shown

    return shown(value) or "(none)"


def _short(value: object) -> str:
    text = _value(value)
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


def _short_uuid(document: str | None) -> str:
    return document[:8] if document else ""
