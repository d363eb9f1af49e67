"""`cocli person`: ls, show, new, open, rm"""

from __future__ import annotations

from cocli.cli.companies.options import (
    CompanyOption,
    EmailOption,
    LimitOption,
    NameArgument,
    OneTagOption,
    PersonArgument,
    PhoneOption,
    RoleOption,
    TagOption,
    crm_of,
    first_of,
    talk_of_more,
)
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, YES, command_group, examples, shared

app = command_group("The people you talk to: Markdown files that you edit.")


@app.command(epilog=examples("cocli person ls", "cocli person ls --company acme-roofing", "cocli person ls --json"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def ls(call: Call, company: CompanyOption = None, tag: OneTagOption = None, limit: LimitOption = 50) -> None:
    """List people: all, those of a company, or those with a tag."""
    from cocli.app.companies.people import list_people
    from cocli.cli.companies.views import person_document, person_row

    output = call.output
    with crm_of(call) as place:
        pages, truncated = first_of(list_people(place, company=company, tag=tag), limit)
    if output.as_json:
        output.document({"people": [person_document(page) for page in pages], "truncated": truncated})
        return
    if not pages:
        output.talk("There is none.")
        output.hint('cocli person new "NAME" --company SLUG')
        return
    output.table(("person", "name", "role", "company", "email", "phone"), [person_row(page) for page in pages])
    talk_of_more(output, limit, truncated=truncated)


@app.command(epilog=examples("cocli person show jo-doe", "cocli person show jo@acme.example --json"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def show(call: Call, person: PersonArgument) -> None:
    """Show a person."""
    from cocli.app.companies.people import person as find
    from cocli.app.workspace import location
    from cocli.cli.companies.views import person_document

    output = call.output
    with crm_of(call) as place:
        page = find(place, person)
        path = location(place, page.stored.key)
    said = person_document(page)
    if output.as_json:
        output.document({"person": said, "path": path, "body": page.body})
        return
    shown = [(name, ", ".join(value) if isinstance(value, list) else value) for name, value in said.items()]
    output.table(("what", "value"), [row for row in (*shown, ("file", path)) if row[1] not in (None, "")])
    if page.body:
        output.text(f"\n{page.body}\n")


@app.command(
    epilog=examples(
        'cocli person new "Jo Doe" --company acme-roofing --role owner --email jo@acme.example',
        'cocli person new "Jo Doe" --tag vip --json',
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def new(
    call: Call,
    name: NameArgument,
    company: CompanyOption = None,
    role: RoleOption = None,
    email: EmailOption = None,
    phone: PhoneOption = None,
    tag: TagOption = [],  # noqa: B006  typer copies it
) -> None:
    """Make a file for a person. Two people of one name are two files."""
    from cocli.app.companies.people import make_person

    output = call.output
    values = {"role": role, "company": company, "email": email, "phone": phone}
    with crm_of(call) as place:
        made = make_person(place, name, tag, values)
    status = "created" if made.changed else "already_there"
    if output.as_json:
        output.document({"person": {"slug": made.slug, "path": made.path, "status": status}})
        return
    output.line(made.path)
    output.talk(f"{status}: {made.slug}.")
    output.hint(f"cocli person open {made.slug}")


@app.command("open", epilog=examples("cocli person open jo-doe"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def open_(call: Call, person: PersonArgument) -> None:
    """Open a person's file in $EDITOR."""
    from cocli.app.companies.people import person as find
    from cocli.app.workspace import location
    from cocli.cli.companies.editing import edit_file

    output = call.output
    with crm_of(call) as place:
        page = find(place, person)
        changed = edit_file(output, call.environ, place, page.stored)
        path = location(place, page.stored.key)
    status = "changed" if changed else "already_so"
    if output.as_json:
        output.document({"person": {"slug": page.slug, "path": path, "status": status}})
        return
    output.line(path)
    output.talk(f"{status}.")


@app.command(epilog=examples("cocli person rm jo-doe --yes"))
@shared(YES, CAMPAIGN, STORE, JSON, QUIET)
def rm(call: Call, person: PersonArgument) -> None:
    """Remove a person's file. Asks first."""
    from cocli.app.companies.people import person as find
    from cocli.app.companies.removal import remove_person
    from cocli.app.workspace import location
    from cocli.cli.kit.confirm import confirm

    output = call.output
    with crm_of(call) as place:
        page = find(place, person)
        question = f"Remove {page.slug} ({page.title})?"
        if not confirm(output, question, yes=call.yes, preview=f"cocli person show {page.slug}"):
            output.talk("Nothing was removed.")
            return
        remove_person(place, page.slug)
        path = location(place, page.stored.key)
    if output.as_json:
        output.document({"person": {"slug": page.slug, "path": path, "status": "removed"}})
        return
    output.line(path)
    output.talk(f"Removed: {page.slug}.")
