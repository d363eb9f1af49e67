"""`cocli store`: ls, cat, put, rm, du"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN,
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
from cocli.errors import UsageError

if TYPE_CHECKING:
    from cocli.store.base import Store

app = command_group("Look into the store: list, read, write, remove and measure objects.")

_Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="A folder or an object.", show_default=False)]
_Key = Annotated[str, typer.Argument(metavar="KEY", help="The object's key.")]


@contextmanager
def _opened(call: Call) -> Iterator[Store]:
    """The store that is configured, or that of a campaign."""
    with call.workspace() as workspace:
        name = call.campaign
        yield workspace.campaign(name).store if name else workspace.store


@app.command(epilog=examples("cocli store ls", "cocli store ls campaigns/plumbers/ -r", "cocli store ls --json"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def ls(
    call: Call,
    folder: _Folder = "",
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="Everything below, not one level.")] = False,
) -> None:
    """List a folder: keys, sizes and times."""
    from cocli.app.store.browser import list_entries
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    entries = []
    with _opened(call) as opened, ProgressLine(output, "listed") as progress:
        for entry in list_entries(opened, folder, recursive=recursive):
            entries.append(entry)
            progress(len(entries))
    if output.as_json:
        output.document({"entries": [{**asdict(entry), "folder": entry.is_folder} for entry in entries]})
        return
    rows = [(entry.key, "" if entry.size is None else size_shown(entry.size), entry.modified) for entry in entries]
    if rows:
        output.table(("key", "size", "modified"), rows, right=("size",))
    else:
        output.talk("The store is empty.")


@app.command(epilog=examples("cocli store cat campaigns/plumbers/config.toml", "cocli store cat KEY --raw > file.pb"))
@shared(CAMPAIGN, STORE)
def cat(
    call: Call,
    key: _Key,
    raw: Annotated[bool, typer.Option("--raw", help="Write the bytes as they are, to a terminal too.")] = False,
) -> None:
    """Write an object to stdout, byte for byte. On a terminal, control characters are shown as escapes."""
    from cocli.app.store.browser import read_object
    from cocli.formats.safe_text import safe_text

    with _opened(call) as opened:
        data = read_object(opened, key).data
    context = call
    if context.output.stdout.isatty() and not raw:
        context.output.stdout.write(safe_text(data.decode("utf-8", "backslashreplace")))
    else:
        context.raw_stdout.write(data)
        context.raw_stdout.flush()


@app.command(
    epilog=examples(
        "cocli store put campaigns/plumbers/exports/list.csv list.csv",
        "echo hello | cocli store put notes/hello.txt - --if-absent",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def put(
    call: Call,
    key: _Key,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to read; - is stdin.")] = "-",
    if_absent: Annotated[bool, typer.Option("--if-absent", help="Only if there is no such object.")] = False,
    if_match: Annotated[
        str | None,
        typer.Option("--if-match", metavar="ETAG", help="Only if the object still has this etag.", show_default=False),
    ] = None,
) -> None:
    """Write an object from a file or from stdin. Prints its etag."""
    from cocli.app.store.browser import write_object

    output = call.output
    data = _read_input(call, file)
    with _opened(call) as opened:
        etag = write_object(opened, key, data, if_absent=if_absent, if_match=if_match)
    if output.as_json:
        output.document({"key": key, "etag": etag, "bytes": len(data)})
        return
    output.line(etag)
    output.talk(f"Wrote {size_shown(len(data))} to {key}.")


@app.command(
    epilog=examples(
        "cocli store rm notes/hello.txt", "cocli store rm campaigns/plumbers/exports/ --recursive --dry-run"
    )
)
@shared(DRY_RUN, YES, CAMPAIGN, STORE, JSON, QUIET)
def rm(
    call: Call,
    key: Annotated[str, typer.Argument(metavar="KEY", help="An object, or with --recursive a folder.")],
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="Remove everything below a folder.")] = False,
) -> None:
    """Remove an object, or a folder with everything below it."""
    from cocli.app.store.browser import delete, plan_deletion
    from cocli.cli.kit.confirm import confirm
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    with _opened(call) as opened:
        with ProgressLine(output, "counting objects") as counting:
            deletion = plan_deletion(opened, key, recursive=recursive, progress=counting)
        much = f"{count_shown(deletion.contents.objects, 'object')}, {size_shown(deletion.contents.bytes)}"
        if not call.dry_run:
            if not confirm(output, f"Remove {deletion.key} ({much}) for good?", yes=call.yes):
                output.talk("Nothing was removed.")
                raise typer.Exit(1)
            with ProgressLine(output, "removed objects") as removing:
                delete(opened, deletion, removing)
    status = "would_remove" if call.dry_run else "removed"
    if output.as_json:
        output.document({"key": deletion.key, "status": status, **asdict(deletion.contents)})
    else:
        output.talk(f"{'Would remove' if call.dry_run else 'Removed'} {deletion.key}: {much}.")


@app.command(epilog=examples("cocli store du", "cocli store du campaigns/plumbers/ --json"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def du(call: Call, folder: _Folder = "") -> None:
    """Add up objects and bytes, folder by folder."""
    from cocli.app.store.browser import disk_usage
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    with _opened(call) as opened, ProgressLine(output, "counted") as progress:
        usage = disk_usage(opened, folder, progress)
    objects = sum(item.contents.objects for item in usage)
    size = sum(item.contents.bytes for item in usage)
    if output.as_json:
        folders = [{"key": item.key, **asdict(item.contents)} for item in usage]
        output.document({"folders": folders, "total": {"objects": objects, "bytes": size}})
        return
    rows = [
        (item.key or "(objects right here)", item.contents.objects, size_shown(item.contents.bytes)) for item in usage
    ]
    output.table(
        ("folder", "objects", "size"), [*rows, ("total", objects, size_shown(size))], right=("objects", "size")
    )


def _read_input(call: Call, file: str) -> bytes:
    if file == "-":
        if sys.stdin.isatty():
            call.output.talk("Reading from the terminal; end with Ctrl-D.")
        return call.stdin.read()
    try:
        with open(file, "rb") as source:
            return source.read()
    except OSError as error:
        raise UsageError(reason=f"{file} cannot be read: {error.strerror}") from error
