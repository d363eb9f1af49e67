"""The commands of `cocli documents` over editions of the parsers: compare, promote."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.documents.options import DatasourceOption, show_standing
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, DRY_RUN, JSON, QUIET, STORE, examples, shared
from cocli.cli.kit.output import count_shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.app.documents.differences import EditionDifferences
    from cocli.app.documents.promotion import Promoted
    from cocli.cli.kit.output import Output
    from cocli.documents.replay.compare import Comparison
    from cocli.pipeline.editions.differences import RecordDifferences

app = typer.Typer()


@app.command(
    epilog=examples(
        "cocli documents compare main staging -c plumbers",
        "cocli documents compare main staging --doc https://example.com/ --json",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def compare(
    call: Call,
    left: Annotated[str, typer.Argument(metavar="LEFT", help="An edition.")],
    right: Annotated[str, typer.Argument(metavar="RIGHT", help="The other one.")],
    doc: Annotated[str | None, typer.Option("--doc", metavar="DOC", help="Only this one.", show_default=False)] = None,
    datasource: DatasourceOption = None,
    every: Annotated[bool, typer.Option("--all", help="Also fields that are the same everywhere.")] = False,
    most: Annotated[int, typer.Option("--examples", metavar="N", help="How many per field.", min=0, max=100)] = 3,
) -> None:
    """Compare what two editions of the parsers found: in documents field by field, in places, and in prospects.

    So that a changed parser is judged on everything that was ever fetched, before it goes live. Nothing is written.
    With --doc or --datasource, only documents are compared.
    """
    from cocli.app.documents.differences import compare_editions
    from cocli.app.documents.documents import opened_documents
    from cocli.app.documents.jobs import compare as use

    output = call.output
    with call.workspace() as workspace, opened_documents(workspace, call.campaign) as documents:
        show_standing(output, documents.standing, documents.options)
        found = use(documents, left, right, datasource=datasource, doc=doc, examples=most)
        records = None
        if doc is None and datasource is None:
            records = compare_editions(workspace, documents, left, right, examples=most)
    if output.as_json:
        output.document({"account": documents.account, **found.as_dict(), **_records_document(records)})
        return
    _show_documents(output, found, every=every)
    if records is not None:
        _show_records(output, records, {"left": left, "right": right})
        if records.prospects is not None:
            output.hint(f"cocli documents promote {right}{documents.options} --dry-run")


def _records_document(found: EditionDifferences | None) -> dict[str, object]:
    if found is None:
        return {"places": None, "prospects": None, "states_read": 0, "missing": None}
    return found.as_dict()


def _show_documents(output: Output, found: Comparison, *, every: bool) -> None:
    heading, *lines = found.table()
    wanted = {field.path for field in found.sorted_fields() if every or field.differs}
    if rows := [line for line in lines if line[0] in wanted]:
        output.table(heading, rows, right=("same", "changed", "gained", "lost"))
    said = f"{found.documents} documents in both: {found.identical} identical, {found.different} different"
    output.talk(f"{said}; {found.only_left} only in {found.left}, {found.only_right} only in {found.right}.")
    for problem in found.problems:
        output.talk(f"not compared: {problem}")


def _show_records(output: Output, found: EditionDifferences, names: Mapping[str, str]) -> None:
    kinds = {"places": found.places, "prospects": found.prospects}
    rows = [row for kind, summed in kinds.items() if summed is not None for row in _rows(kind, summed)]
    if rows:
        output.table(("what", "field", "count", "example", "left", "right"), rows, right=("count",))
    for kind, summed in kinds.items():
        if summed is not None:
            counts = f"{summed.same:,} the same, {summed.changed:,} changed, {summed.new:,} new, {summed.gone:,} gone"
            output.talk(f"{kind}: {counts}.")
    for side, count in found.missing.items():
        if count:
            output.talk(f"{count_shown(count, 'document')} of lists, places and sites have no state in {names[side]}.")
    output.talk(f"Read {count_shown(found.states_read, 'state')}; nothing was written.")


def _rows(kind: str, summed: RecordDifferences) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for name in sorted(summed.fields):
        one = summed.fields[name]
        shown = one.examples[0] if one.examples else None
        told = (shown.what, shown.left or "–", shown.right or "–") if shown else ("", "", "")
        rows.append((kind, name, one.changed, *told))
    if summed.new:
        rows.append((kind, "(new)", summed.new, "", "–", "; ".join(summed.examples_new)))
    if summed.gone:
        rows.append((kind, "(gone)", summed.gone, "", "; ".join(summed.examples_gone), "–"))
    return rows


@app.command(
    epilog=examples(
        "cocli documents promote staging -c plumbers --dry-run",
        "cocli documents promote staging -c plumbers",
        "cocli documents promote main -c plumbers",
    )
)
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def promote(
    call: Call,
    edition: Annotated[str, typer.Argument(metavar="EDITION", help="The edition to live by.")],
    force: Annotated[bool, typer.Option("--force", help="Also while workers of the campaign run.")] = False,
) -> None:
    """Make the campaign's prospects, e-mails and domains from an edition of the parsers, and live by it from now on.

    What the edition no longer finds goes. Imports, notes and exclusions stay. Killed anywhere, the same command goes
    on. To go back, promote the former edition: its records come back exactly, as long as its states did not change.
    """
    from cocli.app.documents.promotion import PromotionOptions
    from cocli.app.documents.promotion import promote as use

    output = call.output
    with call.workspace() as workspace:
        chosen = call.needed_campaign(workspace)
        done = use(workspace, chosen, edition, PromotionOptions(call.dry_run, force), output.talk)
    if output.as_json:
        output.document({"campaign": chosen, **asdict(done)})
        return
    _show_promoted(output, done, chosen)


def _show_promoted(output: Output, done: Promoted, campaign: str) -> None:
    columns = ("records", "before", "after", "added", "removed", "changed")
    output.table(columns, [(kind, *asdict(one).values()) for kind, one in done.changes.items()], right=columns[1:])
    source = "as they were put away" if done.restored else f"from {count_shown(done.states_read, 'state')}"
    if done.dry_run:
        output.talk(f"Nothing was written; the records would be made {source}.")
        output.hint(f"cocli documents promote {done.edition} -c {campaign}")
        return
    output.talk(f"{campaign} lives by the edition {done.edition} now; its records are {source}.")
    if done.former != done.edition:
        output.hint(f"cocli documents promote {done.former} -c {campaign} (to go back)")
