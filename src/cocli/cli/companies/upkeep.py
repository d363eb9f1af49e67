"""`cocli company`: edit, merge, split, rm, restore"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cocli.cli.companies.options import CompanyArgument, crm_of
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, DRY_RUN, JSON, QUIET, STORE, YES, examples, shared

app = typer.Typer()

_Settings = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Set a key of yours; FIELD= takes it away. May be repeated. Without it, $EDITOR opens.",
        show_default=False,
    ),
]
_Other = Annotated[str, typer.Argument(metavar="OTHER", help="The company whose page goes.")]
_Part = Annotated[
    str | None,
    typer.Argument(
        metavar="PART",
        help="The part: its hash, name, place id or id of its source.",
        show_default="the only one",
    ),
]
_Slug = Annotated[str, typer.Argument(metavar="SLUG", help="The slug of the page that was removed.")]
_WithNotes = Annotated[
    bool, typer.Option("--with-notes", help="Also remove its notes and meetings, and your text on the page.")
]


@app.command(
    epilog=examples(
        'cocli company edit acme-roofing --set status="offer sent"',
        'cocli company edit acme-roofing --set phone="+1 217 555 0100" --set email= --json',
        "cocli company edit acme-roofing",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def edit(call: Call, company: CompanyArgument, set_: _Settings = []) -> None:  # noqa: B006  typer copies it
    """Change what you say of a company. It wins over what was found: in lists, in exports and in the report.

    Fields are name, phone, email, website, address (or street, city, region, postcode, country), status, tags, and any
    key of your own. Everything else in the file stays byte for byte.
    """
    from cocli.app.companies.companies import Changed
    from cocli.app.companies.companies import company as find
    from cocli.app.companies.edits import set_values
    from cocli.app.workspace import location
    from cocli.cli.companies.editing import edit_file
    from cocli.cli.companies.views import report_change

    output = call.output
    with crm_of(call) as place:
        if set_:
            changed = set_values(place, company, set_)
        else:
            page = find(place, company)
            written = edit_file(output, call.environ, place, page.stored)
            changed = Changed(page.slug, location(place, page.key), written)
    report_change(output, changed, "changed", "already_so")


@app.command(epilog=examples("cocli company merge acme-roofing acme-roofing-5b0c12"))
@shared(YES, CAMPAIGN, STORE, JSON, QUIET)
def merge(call: Call, company: CompanyArgument, other: _Other) -> None:
    """Bring two pages of one company together: the first goes on, and names of the other lead to it.

    Notes and meetings move along, tags of both are kept, keys that only the other page has are added. Its text, and
    what says something else there, is kept in a note as it stood. Campaigns that know either company share the page.
    """
    from cocli.app.companies.companies import company as find
    from cocli.app.companies.union import merge_companies
    from cocli.cli.kit.confirm import confirm

    output = call.output
    with crm_of(call) as place:
        kept, gone = find(place, company), find(place, other)
        question = f"Bring {gone.slug} ({gone.title}) together with {kept.slug} ({kept.title})?"
        if kept.slug != gone.slug and not confirm(
            output, question, yes=call.yes, preview=f"cocli company show {gone.slug}"
        ):
            output.talk("Nothing was changed.")
            return
        done = merge_companies(place, kept.slug, gone.slug)
    if output.as_json:
        output.document({"status": "merged", **asdict(done)})
        return
    output.line(done.kept)
    output.talk(f"{done.gone} is {done.kept} now; {done.files} notes, meetings and other files moved along.")
    if done.note:
        output.talk(f"What stood on the page {done.gone} is in {done.note}.")
    output.hint(f"cocli company show {done.kept}")


@app.command(
    epilog=examples(
        "cocli company split grand-hotel -c hotels --dry-run",
        'cocli company split grand-hotel "Restaurant Grand" -c hotels',
        "cocli company split grand-hotel 5b0c12aa90ff0e1d -c hotels --yes --json",
    )
)
@shared(DRY_RUN, YES, CAMPAIGN, STORE, JSON, QUIET)
def split(call: Call, company: CompanyArgument, part: _Part = None) -> None:
    """Undo a wrong merge: a part of a company becomes a business of its own again.

    It stays one: matching, new observations, a sync, a replay and a promotion do not bring the two together again.
    --dry-run lists the parts.
    """
    from cocli.app.companies.splitting import parts_of, split_prospect
    from cocli.cli.companies.views import part_row, split_document
    from cocli.cli.kit.confirm import confirm

    output = call.output
    with call.workspace() as workspace:
        chosen = workspace.campaign(call.needed_campaign(workspace)).name
        if call.dry_run:
            found = parts_of(workspace, chosen, company)
            if output.as_json:
                output.document(
                    {
                        "status": "would_split",
                        "company_hash": found.whole.company_hash,
                        "name": found.whole.name,
                        "parts": [entry.told() for entry in found.parts],
                        "problems": found.problems,
                    }
                )
                return
            output.table(("part", "name", "address", "website", "phone", "why"), [part_row(row) for row in found.parts])
            output.talk("Nothing was changed.")
            return
        question = f"Make {part or 'what was merged into it'} a business of its own, apart from {company}?"
        if not confirm(output, question, yes=call.yes, preview=f"cocli company split {company} --dry-run"):
            output.talk("Nothing was changed.")
            return
        done = split_prospect(workspace, chosen, company, part)
    if output.as_json:
        output.document(split_document(done))
        return
    output.line(done.part.company_hash)
    output.talk(f"{done.part.name} is a business of its own now, apart from {done.whole.name}.")
    output.hint("cocli company refresh")


@app.command(
    epilog=examples("cocli company rm acme-roofing --dry-run", "cocli company rm acme-roofing --with-notes --yes")
)
@shared(DRY_RUN, YES, CAMPAIGN, STORE, JSON, QUIET)
def rm(call: Call, company: CompanyArgument, with_notes: _WithNotes = False) -> None:
    """Remove a company's page. It is not made again by a refresh, until: cocli company restore SLUG.

    A page with notes, meetings or a text of yours is removed with --with-notes only. What campaigns found of the
    business stays in their results; `cocli company exclude` takes it out of those.
    """
    from cocli.app.companies.removal import company_loss, remove_company
    from cocli.cli.kit.confirm import confirm

    output = call.output
    with crm_of(call) as place:
        loss = company_loss(place, company)
        slug = loss.page.slug
        document = {"slug": slug, "path": loss.path, "files": list(loss.files), "has_text": loss.has_text}
        if call.dry_run:
            if output.as_json:
                output.document({"status": "would_remove", **document})
                return
            for key in (loss.page.key, *loss.files):
                output.line(key)
            output.talk("Nothing was removed.")
            return
        if not with_notes and loss.is_written:
            remove_company(place, loss, with_notes=False)  # refuses, and says why
        if not confirm(output, f"Remove the page of {slug} ({loss.page.title})?", yes=call.yes):
            output.talk("Nothing was removed.")
            return
        remove_company(place, loss, with_notes=with_notes)
    if output.as_json:
        output.document({"status": "removed", **document})
        return
    output.line(loss.path)
    output.talk(f"Removed: {slug}.")
    if loss.page.company_hash:
        output.hint(f"cocli company restore {slug}")


@app.command(epilog=examples("cocli company restore acme-roofing"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def restore(call: Call, slug: _Slug) -> None:
    """Let a refresh write a page again that was removed. What was written on it is gone."""
    from cocli.app.companies.removal import restore_company

    output = call.output
    with crm_of(call) as place:
        restored = restore_company(place, slug)
    if output.as_json:
        output.document({"company": {"slug": restored, "status": "restored"}})
        return
    output.talk(f"{restored} may have a page again.")
    output.hint("cocli company refresh")
