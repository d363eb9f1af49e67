"""How a worker or a supervisor is asked to end: once means finish what is in hand, twice means now. A supervisor can
also be asked to make room for a successor, and to hurry workers that it inherited."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Drain:
    """Plain counting, no locks: it is asked from signal handlers, which may interrupt anything."""

    def __init__(self) -> None:
        self._times = 0
        self.makes_room = False
        """For a successor, which takes the workers over."""
        self.hurries = False
        """Workers of an earlier release are to give back what they have in hand."""

    @property
    def asked(self) -> bool:
        return self._times > 0

    @property
    def now(self) -> bool:
        return self._times > 1

    def ask(self) -> None:
        """Once more than before."""
        self._times += 1

    def ask_once(self) -> None:
        """The same wish from another side, such as a supervisor that is gone: it never means `now`."""
        self._times = max(self._times, 1)

    def ask_now(self) -> None:
        """From another side as well: what is in hand is not worth finishing."""
        self._times = max(self._times, 2)


@contextmanager
def obeying_signals(drain: Drain) -> Iterator[None]:
    """SIGTERM and Ctrl-C ask, for as long as the block runs. Elsewhere than in the main thread nothing is changed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, frame: Any) -> None:  # noqa: ARG001  the signature of a handler
        drain.ask()

    before = {number: signal.signal(number, ask) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def obeying_succession(drain: Drain) -> Iterator[None]:
    """As `obeying_signals`, for what only supervisors are asked: SIGUSR2 to make room, SIGUSR1 to hurry."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, frame: Any) -> None:  # noqa: ARG001  the signature of a handler
        drain.makes_room = drain.makes_room or number == signal.SIGUSR2
        drain.hurries = drain.hurries or number == signal.SIGUSR1

    before = {number: signal.signal(number, ask) for number in (signal.SIGUSR1, signal.SIGUSR2)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def follow(stream: BinaryIO, drain: Drain) -> None:
    """Ask once when the stream ends: whoever held its other end is gone, however it died."""
    at_the_end_of(stream, drain.ask_once)


def end_with(stream: BinaryIO) -> None:
    """End this process at once when the stream ends: for work that can be left anywhere and done again."""
    at_the_end_of(stream, lambda: os._exit(1))


def at_the_end_of(stream: BinaryIO, action: Callable[[], None]) -> None:
    """Do something, once, when the stream ends."""
    number = stream.fileno()  # read by its number: a thread inside of a buffered stream keeps Python from ending

    def read() -> None:
        while os.read(number, 4096):
            pass
        action()

    threading.Thread(target=read, name="leash", daemon=True).start()
