"""`cocli find`: find a company or a prospect by a few letters, and open it."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.confirm import interactive
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, examples, shared, single_command
from cocli.errors import UsageError
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.app.search.copy import SearchEntry
    from cocli.app.search.search import Search
    from cocli.app.workspace import Workspace
    from cocli.cli.kit.output import Output
    from cocli.store.base import Store

app = single_command()


@app.command(
    epilog=examples(
        "cocli find",
        "cocli find acme plumb",
        "cocli find springfield -c plumbers --json",
        '"$EDITOR" "$(cocli find acme --path)"',
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def find(
    call: Call,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORDS", help="What to look for; you can type more later.", show_default=False),
    ] = None,
    path: Annotated[bool, typer.Option("--path", help="Print where it is instead of opening it.")] = False,
    builtin: Annotated[
        bool, typer.Option("--builtin", help="Use the built-in picker, even if fzf is installed.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="List at most N matches.", min=1)] = 20,
) -> None:
    """Find a company or a prospect by a few letters of its name, city, domain, number or address.

    On a terminal: type to narrow the list; arrows move, Enter opens, Esc leaves. fzf is used if it is installed.
    A company opens in $EDITOR, a prospect is shown. Without a terminal, or with --json, the best matches are listed.
    What the campaign excludes is not offered; without a campaign, a company's page says in which it is excluded.
    """
    from cocli.app.search.search import open_search
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    environ = call.environ
    query = " ".join(words or [])
    with call.workspace() as workspace:
        with ProgressLine(output, "companies read") as progress:
            search = open_search(workspace, call.campaign, progress)
        companies = search.companies
        _warn(output, search)
        if not interactive(output):
            _list(output, companies, search, query, limit, path=path)
            return
        chosen = _pick(output, environ, search, query, builtin=builtin)
        if chosen is None:
            raise typer.Exit(ExitCode.INTERRUPTED)
        _open(output, environ, workspace, companies, search.copy.entry(chosen), path=path)


def _warn(output: Output, search: Search) -> None:
    for problem in search.problems:
        output.talk(f"Left out: {problem}")
    if len(search.copy) == 0 or search.unpacked:
        for name in search.unpacked:
            output.talk(f"The prospects of {name} are not packed yet.")
            output.hint(f"cocli index compact prospects -c {name}")


def _list(output: Output, store: Store, search: Search, query: str, limit: int, *, path: bool) -> None:
    numbers, more = search.copy.best(query, limit)
    entries = [search.copy.entry(number) for number in numbers]
    if output.as_json:
        matches = [{**_match(store, entry), "excluded_in": search.copy.excluded_in(entry)} for entry in entries]
        output.document({"query": query, "searched": len(search.copy), "matches": matches, "truncated": more})
    elif path:
        for entry in entries:
            output.line(_path(store, entry))
    elif entries:
        rows = [(entry.kind, entry.title, _detail(search, entry), entry.campaign, entry.id) for entry in entries]
        output.table(("kind", "name", "what", "campaign", "id"), rows)
    else:
        output.talk(f"Nothing matches; {len(search.copy):,} were searched.")
    if more:
        output.talk(f"The best {limit}; there are more: --limit {limit * 5}")


def _detail(search: Search, entry: SearchEntry) -> str:
    return " · ".join(filter(None, (entry.detail, search.copy.exclusion(entry))))


def _match(store: Store, entry: SearchEntry) -> dict[str, object]:
    document: dict[str, object] = asdict(entry)
    for ours in ("key", "stamp", "place_id", "domain", "stands_for"):
        del document[ours]
    return {**document, "campaign": entry.campaign or None, "path": _path(store, entry)}


def _path(store: Store, entry: SearchEntry) -> str:
    """The file of a company; for a prospect, which lies in a shard with others, the command that shows it."""
    from cocli.app.workspace import location

    if entry.key:
        return location(store, entry.key)
    return f"cocli index get prospects {entry.id} -c {entry.campaign}"


def _pick(output: Output, environ: Mapping[str, str], search: Search, query: str, *, builtin: bool) -> int | None:
    if len(search.copy) == 0:
        raise UsageError(
            reason="There is no company and no prospect yet", hint="Pack what there is with: cocli index compact"
        )
    fzf = None if builtin else shutil.which("fzf", path=environ.get("PATH"))
    if fzf is not None:
        from cocli.cli.find.fzf import pick_with_fzf

        return pick_with_fzf(fzf, search.copy, query, environ)
    from cocli.cli.find.picker import pick

    return pick(search.copy, query, output.stderr)


def _open(
    output: Output, environ: Mapping[str, str], workspace: Workspace, store: Store, entry: SearchEntry, *, path: bool
) -> None:
    if path:
        output.line(_path(store, entry))
    elif entry.key:
        from cocli.app.store.browser import read_object
        from cocli.cli.companies.editing import edit_file

        if edit_file(output, environ, store, read_object(store, entry.key)):
            output.talk("Changed.")
        output.line(_path(store, entry))
    else:
        from cocli.app.search.search import record_of
        from cocli.cli.index.views import show_record

        show_record(output, record_of(workspace, entry))
        output.hint(_path(store, entry))
