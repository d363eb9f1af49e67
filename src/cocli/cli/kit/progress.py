"""How far a long walk is: one line on stderr that is rewritten in place, and only on a terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

    from cocli.cli.kit.output import Output

_FIRST_AFTER = 0.5
_EVERY = 0.1


class ProgressLine:
    """`with ProgressLine(output, "counting") as progress: walk(progress)`; says nothing about short walks."""

    def __init__(self, output: Output, what: str) -> None:
        self._output = output
        self._what = what
        self._wanted = output.stderr.isatty() and not (output.quiet or output.as_json)
        self._next = time.monotonic() + _FIRST_AFTER
        self._shown = False

    def __call__(self, done: int) -> None:
        if self._wanted and time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY
            self._shown = True
            self._output.stderr.write(f"\r{self._what}: {done:,}\x1b[K")
            self._output.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._output.stderr.write("\r\x1b[K")
            self._output.stderr.flush()
