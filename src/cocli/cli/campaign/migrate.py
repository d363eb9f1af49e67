"""`cocli campaign migrate`."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import DRY_RUN, JSON, QUIET, STORE, CampaignArgument, examples, shared
from cocli.cli.kit.output import count_shown

if TYPE_CHECKING:
    from cocli.app.campaigns.older_home import HomeMigration
    from cocli.cli.kit.output import Output

app = typer.Typer()
_SHOWN = 10


@app.command(
    epilog=examples(
        "cocli campaign migrate plumbers old-data --dry-run",
        "cocli campaign migrate plumbers old-data",
    )
)
@shared(STORE, DRY_RUN, JSON, QUIET)
def migrate(
    call: Call,
    name: CampaignArgument,
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A data folder of an older version.")],
) -> None:
    """Bring a campaign of an older version here: its settings, records, company pages, notes and tasks.

    The older files are only read, and what is here already stays. The same command again does what is left.
    """
    from cocli.app.campaigns.older_home import migrate_home
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    with call.workspace() as workspace, ProgressLine(output, "rows read") as progress:
        done = migrate_home(workspace, folder, name, dry_run=call.dry_run, progress=progress)
    if output.as_json:
        output.document(_document(done))
        return
    _show(output, done, folder)


def _document(done: HomeMigration) -> dict[str, object]:
    return {
        "campaign": done.campaign,
        "dry_run": done.dry_run,
        "made_campaign": done.made_campaign,
        "not_taken": list(done.not_taken),
        "records": done.plan.records if done.plan else 0,
        "rejected": done.plan.rejected if done.plan else 0,
        "files": dict(done.files),
        "already": done.already,
        "tasks": dict(done.tasks),
        "problems": done.problems,
    }


def _show(output: Output, done: HomeMigration, folder: str) -> None:
    rows: list[tuple[str, int]] = [("records", done.plan.records if done.plan else 0)]
    rows += [*done.files.items(), *((f"tasks of {queue}", count) for queue, count in done.tasks.items())]
    output.table(("what", "taken"), rows, right=("taken",))
    if done.already:
        output.talk(f"{count_shown(done.already, 'file')} of the same name stand here already, and stay as they are.")
    if done.plan and done.plan.rejected:
        where = f", kept in {done.indexes.report.rejected_file}" if done.indexes else ""
        output.talk(f"{count_shown(done.plan.rejected, 'row')} did not fit{where}.")
    for key in done.not_taken:
        output.talk(f"Not taken: the setting {key}, which means nothing here.")
    for problem in done.problems[:_SHOWN]:
        output.talk(f"Not taken: {problem}")
    if len(done.problems) > _SHOWN:
        output.talk(f"Not taken: {len(done.problems) - _SHOWN:,} more; --json names all.")
    if done.dry_run:
        output.talk("Nothing was written.")
        output.hint(f"cocli campaign migrate {done.campaign} {quote(folder)}")
    else:
        output.hint(f"cocli run {done.campaign}")
