"""A pager for what is longer than the screen. Only where stdout is a terminal; a pipe gets all of it at once."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from typing import TextIO

_STANDARD = ("less", "-FRX")


def page(text: str, stream: TextIO, environ: Mapping[str, str]) -> None:
    """Show a text: through the pager if it is longer than the screen, else as it is."""
    command = pager_command(environ) if stream.isatty() else None
    if command is None or text.count("\n") < shutil.get_terminal_size().lines:
        stream.write(text)
        return
    stream.flush()
    try:
        pager = subprocess.Popen(  # noqa: S603  the person's own choice of program
            command, stdin=subprocess.PIPE, stdout=stream.fileno(), env={**environ, "LESS": environ.get("LESS", "FRX")}
        )
    except OSError:  # it cannot be started: the text matters more
        stream.write(text)
        return
    try:
        pager.communicate(text.encode(errors="backslashreplace"))
    except BrokenPipeError:  # the person has seen enough
        pager.wait()
    except KeyboardInterrupt:  # Ctrl-C belongs to the pager
        pager.wait()


def pager_command(environ: Mapping[str, str]) -> list[str] | None:
    """COCLI_PAGER, else PAGER, else less. None where it is `cat` or empty, or nothing is there."""
    for name in ("COCLI_PAGER", "PAGER"):
        if name in environ:
            words = shlex.split(environ[name])
            return words if words and os.path.basename(words[0]) != "cat" else None
    return list(_STANDARD) if shutil.which(_STANDARD[0], path=environ.get("PATH")) else None
