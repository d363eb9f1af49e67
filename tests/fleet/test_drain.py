"""How somebody is asked to stop: by signals, and by the end of whoever held the leash."""

from __future__ import annotations

import os
import signal
import time

import pytest

from cocli.fleet.drain import Drain, follow, obeying_signals


def state(drain: Drain) -> tuple[bool, bool]:
    return drain.asked, drain.now


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_once_and_twice(number: int) -> None:
    drain, before = Drain(), signal.getsignal(number)
    with obeying_signals(drain):
        assert state(drain) == (False, False)
        os.kill(os.getpid(), number)
        assert state(drain) == (True, False)
        drain.ask_once()
        assert state(drain) == (True, False), "the same wish from another side is no hurry"
        os.kill(os.getpid(), number)
        assert state(drain) == (True, True)
    assert signal.getsignal(number) is before


def test_the_end_of_the_leash() -> None:
    reading, writing = os.pipe()
    drain = Drain()
    with os.fdopen(reading, "rb") as stream:
        follow(stream, drain)
        os.write(writing, b"still here")
        time.sleep(0.05)
        assert state(drain) == (False, False)
        os.close(writing)
        until = time.monotonic() + 5
        while state(drain) == (False, False) and time.monotonic() < until:
            time.sleep(0.01)
    assert state(drain) == (True, False)
