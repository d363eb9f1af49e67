"""How checks of a machine or an installation are shown: one line each, and what to do about each failure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cocli.formats.safe_text import safe_line

if TYPE_CHECKING:
    from cocli.app.program import DoctorCheck
    from cocli.cli.kit.output import Output


def show_checks(output: Output, checks: Sequence[DoctorCheck]) -> None:
    from cocli.app.program import Status

    width = max(len(check.name) for check in checks)
    for check in checks:
        output.line(f"{check.status.value:8}  {check.name.ljust(width)}  {check.detail}")
        if check.fix and check.status is not Status.OK:
            output.stdout.write(f"{'':8}  {'':{width}}  fix: {safe_line(check.fix)}\n")
