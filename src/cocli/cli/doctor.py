"""`cocli doctor`"""

from __future__ import annotations

from dataclasses import asdict

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, examples, shared, single_command

app = single_command()


@app.command(epilog=examples("cocli doctor", "cocli doctor --store s3://bucket?endpoint=http://nas:8333 --json"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def doctor(call: Call) -> None:
    """Check configuration, store, clock, disk, browser and extras: one line each, and a fix for each failure.

    Several writers race for one object, because some servers ignore conditional writes. Exits with 1 if a check failed,
    with 9 if the store is unsafe.
    """
    from cocli.app.doctor import diagnose
    from cocli.cli.kit.checks import show_checks

    output = call.output
    output.talk("Checking …")
    diagnosis = diagnose(call.environ, call.flags)
    if output.as_json:
        checks = [asdict(check) for check in diagnosis.checks]
        output.document({"ok": diagnosis.exit_code == 0, "store_safe": diagnosis.store_safe, "checks": checks})
    else:
        show_checks(output, diagnosis.checks)
    if diagnosis.exit_code:
        raise typer.Exit(int(diagnosis.exit_code))
