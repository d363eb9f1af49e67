"""`cocli subject-access`: everything that is held about somebody, as one file."""

from __future__ import annotations

from typing import Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import JSON, QUIET, STORE, examples, shared, single_command
from cocli.cli.left_alone.options import CountryOption, KindOption, SubjectArgument

app = single_command()


@app.command(
    "subject-access",
    epilog=examples("cocli subject-access jo@firm.example --out jo.html", "cocli subject-access firm.example --json"),
)
@shared(STORE, JSON, QUIET)
def access(
    call: Call,
    subject: SubjectArgument,
    kind: KindOption = None,
    country: CountryOption = None,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The page to write; - is stdout.", show_default=False)
    ] = "-",
) -> None:
    """Show everything that is held about somebody, with sources and dates: one page to read, or JSON.

    Records of all campaigns, captured pages, notes, tasks, exports; whatever `cocli forget` would touch.
    """
    from cocli.app.left_alone.access import as_html, as_json, subject_access
    from cocli.app.left_alone.suppress import SubjectOptions
    from cocli.app.whole_file import whole_file
    from cocli.cli.kit.progress import ProgressLine

    with call.workspace() as workspace, ProgressLine(call.output, "objects") as progress:
        found = subject_access(workspace, subject, SubjectOptions(kind, country), progress)
    if call.output.as_json:
        call.output.document(as_json(found))
        return
    page = as_html(found).encode("utf-8", "replace")
    if out == "-":
        call.raw_stdout.write(page)
        call.raw_stdout.flush()
        return
    with whole_file(out) as file:
        file.write(page)
    call.output.talk(f"{len(found.records)} records and {len(found.objects)} files name them.")
