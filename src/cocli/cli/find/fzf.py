"""Picking with the `fzf` that a person has installed. No text of a record ever reaches a shell.

`fzf` runs its preview through a shell, so the preview names an entry by its number alone, and finds the text in a file.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cocli.errors import UsageError
from cocli.formats.safe_text import safe_line

if TYPE_CHECKING:
    from cocli.cli.find.picker import Choices

_PREVIEW = 'sed -n {1}p "$COCLI_FZ_LINES" | cut -f 2- | tr "\\t" "\\n"'
_NOTHING_FITS, _GIVEN_UP = 1, 130


def pick_with_fzf(fzf: str, choices: Choices, query: str, environ: Mapping[str, str]) -> int | None:
    """Let a person choose; the number of the entry, or None if they gave up."""
    lines = "".join(_line(choices, number) for number in range(len(choices)))
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="cocli-find-", suffix=".txt") as file:
        file.write(lines)
        file.flush()
        command = [
            fzf, "--delimiter=\t", "--with-nth=2..", "--no-multi", "--no-ansi", "--print0", f"--query={query}",
            f"--preview={_PREVIEW}", "--preview-window=down,3,wrap",
        ]  # fmt: skip
        done = subprocess.run(  # noqa: S603  the program that was found on the person's own PATH
            command,
            input=lines.encode(),
            stdout=subprocess.PIPE,
            check=False,
            env={**environ, "COCLI_FZ_LINES": file.name, "SHELL": _shell()},
        )
    if done.returncode in (_NOTHING_FITS, _GIVEN_UP):
        return None
    if done.returncode:
        raise UsageError(reason=f"{fzf} failed ({done.returncode})", hint="Use the built-in picker: --builtin")
    return int(done.stdout.split(b"\t", 1)[0]) - 1


def _line(choices: Choices, number: int) -> str:
    name, detail = (safe_line(text) for text in choices.label(number))
    return f"{number + 1}\t{name}\t{detail}\n"


def _shell() -> str:
    """The preview is written for a POSIX shell, whatever shell the person prefers."""
    return "/bin/sh" if os.path.exists("/bin/sh") else "sh"
