"""One round of finishing, as a process of its own: what it takes of memory is given back, and it can be ended anywhere.

Like a worker it hangs on a pipe of its supervisor, and ends with it. What it tells at its end is one JSON document.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LAST_LINES = 4096
_MESSAGE_LENGTH = 500


@dataclass(frozen=True, slots=True)
class RoundEnd:
    """How a round ended: with what it tells, or with what went wrong."""

    told: dict[str, Any]
    problem: str | None = None


class Round:
    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  closed when the round is over
        self._complained = tempfile.TemporaryFile()  # noqa: SIM115  the same
        self._process = subprocess.Popen(  # noqa: S603 - our own program, without a shell
            command,
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=self._said,
            stderr=self._complained,
            start_new_session=True,
        )

    def ended(self) -> RoundEnd | None:
        """None while it goes on."""
        code = self._process.poll()
        if code is None:
            return None
        self._close_pipe()
        with self._said, self._complained:
            if code == 0:
                self._said.seek(0)
                return RoundEnd(_document(self._said.read()))
            return RoundEnd({}, _complaint(self._last_lines(), code))

    def kill(self) -> None:
        """Leave it where it is: the next round finds what it has done, and does the rest."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._close_pipe()
        self._said.close()
        self._complained.close()

    def _close_pipe(self) -> None:
        if self._process.stdin:
            with suppress(OSError):  # nothing was ever written to it
                self._process.stdin.close()

    def _last_lines(self) -> str:
        size = self._complained.seek(0, os.SEEK_END)
        self._complained.seek(max(0, size - _LAST_LINES))
        return self._complained.read().decode("utf-8", "replace")


def _document(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except ValueError:
        return {}  # it has done its work all the same
    return found if isinstance(found, dict) else {}


def _complaint(text: str, code: int) -> str:
    """The last error that it told, as the one line of JSON that `--json` makes of it, or the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in reversed(lines):
        error = _document(line.encode()).get("error")
        if isinstance(error, dict):
            return str(error.get("message"))[:_MESSAGE_LENGTH]
    said = lines[-1] if lines else f"it ended with code {code}"
    return said[:_MESSAGE_LENGTH]
