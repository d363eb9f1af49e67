"""Ctrl-C twice ends the process, whatever it waits for.

The first Ctrl-C is Python's: it is noticed between two steps of the program, and a request to a server that hangs is
one step, of up to a minute. A worker and a supervisor have handlers of their own, and are left to them.
"""

from __future__ import annotations

import os
import signal
import threading
import time

from cocli.exit_codes import ExitCode

_INSISTING_SECONDS = 1.0  # a child that shares the terminal tells of the same Ctrl-C at once


def end_when_asked_twice() -> None:
    """From now on. Killing is safe at any moment: an object is the old one or the new one."""
    told, tells = os.pipe()
    os.set_blocking(tells, False)
    signal.set_wakeup_fd(tells, warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(told,), name="cocli-interruption", daemon=True).start()


def _listen(told: int) -> None:
    first: float | None = None
    while signals := os.read(told, 64):
        if signal.SIGINT not in signals:
            continue
        if first is None:
            first = time.monotonic()
        elif time.monotonic() - first > _INSISTING_SECONDS and _nobody_else_handles_it():
            os._exit(ExitCode.INTERRUPTED)


def _nobody_else_handles_it() -> bool:
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler
