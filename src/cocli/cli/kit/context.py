"""What every command is given: its streams and the environment, and from them its workspace and its output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import typer

from cocli.cli.kit.output import Output

if TYPE_CHECKING:
    from cocli.app.workspace import Workspace
    from cocli.config.resolve import Flags


class CliContext(NamedTuple):
    """Built once per run, in `cocli.cli.root`; commands find it in `ctx.obj`."""

    environ: Mapping[str, str]
    output: Output
    stdin: BinaryIO
    raw_stdout: BinaryIO


def cli_context(ctx: typer.Context) -> CliContext:
    found = ctx.find_object(CliContext)
    if found is None:
        raise RuntimeError("a command was started without its context")
    return found


def output_of(ctx: typer.Context, *, as_json: bool = False, quiet: bool = False) -> Output:
    """The command's output, with what its own options say."""
    return replace(cli_context(ctx).output, as_json=as_json, quiet=quiet)


def flags_of(store: str | None = None, campaign: str | None = None) -> Flags:
    from cocli.config.resolve import Flags

    return Flags(store=store, campaign=campaign)


def campaign_of(ctx: typer.Context, given: str | None) -> str | None:
    """The campaign that was named, or the one that a worker's environment names."""
    return given or cli_context(ctx).environ.get("CAMPAIGN_NAME") or None


@contextmanager
def workspace_of(ctx: typer.Context, store: str | None = None) -> Iterator[Workspace]:
    """The workspace for one command."""
    from cocli.app.workspace import open_workspace

    with open_workspace(cli_context(ctx).environ, flags_of(store)) as workspace:
        yield workspace
