"""Questions. They are asked on a terminal only, and each has a flag that answers it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from cocli.errors import UsageError
from cocli.formats.safe_text import safe_line

if TYPE_CHECKING:
    from cocli.cli.kit.output import Output


def confirm(output: Output, question: str, *, yes: bool, preview: str = "--dry-run") -> bool:
    """Ask; anything but a clear yes is a no. Without a terminal nothing is assumed: `--yes` has to be said.

    `preview` is the flag or the command that shows what would happen.
    """
    if yes:
        return True
    if not interactive(output):
        raise UsageError(
            reason=f"Not confirmed: {question}",
            hint=f"Repeat the command with --yes, or look first with {preview}.",
        )
    output.stderr.write(f"{safe_line(question)} [y/N] ")
    output.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def interactive(output: Output) -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and output.stderr.isatty() and not output.as_json
