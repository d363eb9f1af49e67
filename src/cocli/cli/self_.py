"""`cocli self`: check."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import JSON, QUIET, command_group, examples, shared
from cocli.exit_codes import ExitCode

app = command_group("This installation of cocli: is it whole?")


@app.command(
    epilog=examples(
        "cocli self check", "cocli self check --json", "cocli self check --workers", "cocli self check --extra browser"
    )
)
@shared(JSON, QUIET)
def check(
    call: Call,
    workers: Annotated[bool, typer.Option("--workers", help="Only what supervisors and workers load.")] = False,
    extra: Annotated[
        list[str] | None,
        typer.Option("--extra", metavar="NAME", help="An extra that must be there.", show_default=False),
    ] = None,
) -> None:
    """Load every package and module that cocli needs, and name the extras that are there or missing.

    Nothing is asked of a store or of the network: `cocli doctor` does that. Exits with 1 if something is missing.
    """
    from cocli.app.program import Status, check_program, check_workers
    from cocli.cli.kit.checks import show_checks
    from cocli.config.version import __version__, build_id

    checks = check_workers() if workers else check_program(extra or ())
    failed = any(found.status is Status.FAILED for found in checks)
    if call.output.as_json:
        rows = [asdict(found) for found in checks]
        call.output.document({"ok": not failed, "version": __version__, "build": build_id(), "checks": rows})
    else:
        show_checks(call.output, checks)
    if failed:
        raise typer.Exit(int(ExitCode.FAILURE))
