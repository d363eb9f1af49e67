"""Ctrl-C twice ends the process, whatever it waits for; the first one says what that is.

The first Ctrl-C is Python's: it is noticed between two steps of the program, and a request to a server that hangs is
one step, of up to a minute. A worker and a supervisor have handlers of their own, and are left to them.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from cocli.exit_codes import ExitCode

_INSISTING_SECONDS = 1.0  # a child that shares the terminal tells of the same Ctrl-C at once
_PATIENCE_SECONDS = 0.4  # most commands have ended by then, and nothing need be said
_WAITS = "Stopping: waiting for the answer to the request that is under way. Ctrl-C again ends it at once.\n"
_DRAINS = "Stopping: waiting for the tasks in hand, then their results are kept. Ctrl-C again ends it at once.\n"


def heed_termination() -> None:
    """Let SIGTERM end the first process of a container, as it ends any other.

    The kernel spares process 1 what a signal does by default, so that a container would be stopped by force only.
    Commands that drain first set their own handler afterwards.
    """
    if os.getpid() == 1 and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(ExitCode.TERMINATED))


class Interruption:
    """Listens for Ctrl-C, from its beginning until `over`."""

    def __init__(self) -> None:
        self._over = threading.Event()

    def listen(self) -> None:
        """From now on. Killing is safe at any moment: an object is the old one or the new one."""
        told, tells = os.pipe()
        os.set_blocking(tells, False)
        signal.set_wakeup_fd(tells, warn_on_full_buffer=False)
        threading.Thread(target=self._listen, args=(told,), name="cocli-interruption", daemon=True).start()

    def over(self) -> None:
        """The command has ended: nothing is waited for any more."""
        self._over.set()

    def _listen(self, told: int) -> None:
        first: float | None = None
        while signals := os.read(told, 64):
            if signal.SIGINT not in signals:
                continue
            if first is None:
                first = time.monotonic()
                threading.Thread(target=self._say_what_it_waits_for, daemon=True).start()
            elif time.monotonic() - first > _INSISTING_SECONDS and _nobody_else_handles_it():
                os._exit(ExitCode.INTERRUPTED)

    def _say_what_it_waits_for(self) -> None:
        """To a person on a terminal; a script sees the exit code."""
        if self._over.wait(_PATIENCE_SECONDS) or not sys.stderr.isatty():
            return
        sys.stderr.write(f"\n{_WAITS if _nobody_else_handles_it() else _DRAINS}")
        sys.stderr.flush()


def _nobody_else_handles_it() -> bool:
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler
