"""`cocli note`: add, ls, edit, rm"""

from __future__ import annotations

from cocli.cli.companies.options import (
    CompanyArgument,
    LimitOption,
    NewTextOption,
    NoteArgument,
    OptionalCompanyArgument,
    TagOption,
    TextArgument,
    TitleOption,
    crm_of,
    first_of,
    talk_of_more,
    text_from_stdin,
)
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, YES, command_group, examples, shared

app = command_group("Notes about companies, a Markdown file each.")


@app.command(
    epilog=examples(
        'cocli note add acme-roofing "Called; ask again in March"',
        "cocli note add acme-roofing",
        "cocli note add acme-roofing - --title Visit < visit.md",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def add(
    call: Call,
    company: CompanyArgument,
    text: TextArgument = None,
    title: TitleOption = None,
    tag: TagOption = [],  # noqa: B006  typer copies it
) -> None:
    """Write a note about a company. It is dated in the campaign's time zone."""
    from cocli.app.companies.companies import company as find
    from cocli.app.companies.companies import crm_store
    from cocli.app.companies.notes import add_note, zone_of
    from cocli.cli.companies.editing import written_in_editor
    from cocli.cli.companies.views import added_document

    output = call.output
    chosen = call.campaign
    with call.workspace() as workspace:
        place = crm_store(workspace, chosen)
        slug = find(place, company).slug  # before anything is typed for a company that does not exist
        given = text_from_stdin(call, text)
        if given is None:
            remedy = f'Write: cocli note add {slug} "TEXT"'
            given = written_in_editor(output, call.environ, remedy)
        added = add_note(place, slug, given, zone_of(workspace, chosen)[1], title=title, tags=tag)
    if output.as_json:
        output.document({"note": added_document(added)})
        return
    output.line(added.path)
    output.talk(f"Noted about {added.slug}.")


@app.command(epilog=examples("cocli note ls acme-roofing", "cocli note ls --limit 0 --json"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def ls(call: Call, company: OptionalCompanyArgument = None, limit: LimitOption = 50) -> None:
    """List notes: of one company, or of all."""
    from cocli.app.companies.companies import company as find
    from cocli.app.companies.companies import crm_store
    from cocli.app.companies.notes import list_notes
    from cocli.cli.companies.views import entry_document, shortened

    output = call.output
    with call.workspace() as workspace:
        place = crm_store(workspace, call.campaign)
        slug = find(place, company).slug if company else None
        found, truncated = first_of(list_notes(place, slug), limit)
    if output.as_json:
        output.document({"notes": [entry_document(entry) for entry in found], "truncated": truncated})
        return
    if not found:
        output.talk("There is none.")
        return
    rows = [
        (
            note.name,
            note.slug,
            shortened(note.record.title if note.record else f"broken: {note.problem}"),
            shortened(note.body),
        )
        for note in found
    ]
    output.table(("note", "company", "title", "text"), rows)
    talk_of_more(output, limit, truncated=truncated)


@app.command(
    epilog=examples(
        "cocli note edit acme-roofing 2026-11-16-called",
        'cocli note edit acme-roofing called --text "Called; ask again in May" --json',
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def edit(call: Call, company: CompanyArgument, note: NoteArgument, text: NewTextOption = None) -> None:
    """Change a note, in $EDITOR or by a new text. Its title, date and other keys stay as they are."""
    from cocli.app.companies.notes import change_note
    from cocli.app.companies.removal import note_of
    from cocli.app.workspace import location
    from cocli.cli.companies.editing import edit_file

    output = call.output
    given = text_from_stdin(call, text)
    with crm_of(call) as place:
        entry = note_of(place, company, note)
        if given is None:
            changed = edit_file(output, call.environ, place, place.get(entry.key))
        else:
            changed = change_note(place, entry, given)
        path = location(place, entry.key)
    status = "changed" if changed else "already_so"
    if output.as_json:
        output.document({"note": {"slug": entry.slug, "name": entry.name, "path": path, "status": status}})
        return
    output.line(path)
    output.talk(f"{status}.")


@app.command(epilog=examples("cocli note rm acme-roofing 2026-11-16-called --yes"))
@shared(YES, CAMPAIGN, STORE, JSON, QUIET)
def rm(call: Call, company: CompanyArgument, note: NoteArgument) -> None:
    """Remove a note. Asks first."""
    from cocli.app.companies.removal import note_of
    from cocli.cli.companies.entries import remove_after_asking

    with crm_of(call) as place:
        remove_after_asking(call, place, note_of(place, company, note), "note")
