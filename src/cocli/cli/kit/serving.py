"""What commands that serve until Ctrl-C share."""

from __future__ import annotations

import signal
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cocli.formats.safe_text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.cli.kit.output import Output


def stopped_by_signals() -> threading.Event:
    """Set once somebody presses Ctrl-C, or ends the process."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop


def log_to(output: Output) -> Callable[[str], None]:
    """Writes lines with their time to stderr."""

    def log(line: str) -> None:
        output.stderr.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {safe_line(line)}\n")
        output.stderr.flush()

    return log
