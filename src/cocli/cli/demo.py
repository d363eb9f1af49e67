"""`cocli demo`: runs the demo, which is no part of the product's layers, in a process of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import examples, shared, single_command

app = single_command()


@app.command(epilog=examples("cocli demo", "cocli demo my-demo", "cocli demo --maps", "cocli demo --keep"))
@shared()
def demo(
    call: Call,
    folder: Annotated[
        str | None,
        typer.Argument(
            metavar="FOLDER", help="Where to keep everything: a new or empty folder, or that of an earlier demo."
        ),
    ] = None,
    maps: Annotated[
        bool, typer.Option("--maps", help="Search on a map with Chromium (extra: browser), instead of open data.")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Without FOLDER: keep the temporary folder.")] = False,
) -> None:
    """Do the whole job on a made-up town: plan, search, read websites, write company pages and a report.

    Nothing leaves this machine. At the end, it counts how much of the town was found. Your own data and settings
    are not touched. The last line is JSON.
    """
    import subprocess
    import sys

    flags = {"--maps": maps, "--keep": keep}
    words = [folder] if folder else []
    words += [flag for flag, is_set in flags.items() if is_set]
    command = [sys.executable, "-m", "cocli.demo", *words]
    done = subprocess.run(command, env=dict(call.environ), check=False)  # noqa: S603 - our own program
    raise typer.Exit(done.returncode)
