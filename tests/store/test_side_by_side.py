"""What waits for the disk is done side by side, and the answers come in order."""

from __future__ import annotations

import threading
import time

from cocli.store.disk.side_by_side import do_all


def test_what_does_not_wait_is_done_here() -> None:
    assert do_all(_here, range(5)) == [threading.get_ident()] * 5
    assert do_all(_here, []) == []


def _here(_: int) -> int:
    return threading.get_ident()


def test_what_waits_is_done_side_by_side_and_answered_in_order() -> None:
    seen: set[int] = set()
    at_once, most, lock = 0, 0, threading.Lock()

    def wait(number: int) -> int:
        nonlocal at_once, most
        with lock:
            seen.add(threading.get_ident())
            at_once += 1
            most = max(most, at_once)
        time.sleep(0.01)
        with lock:
            at_once -= 1
        return number * 2

    assert do_all(wait, range(101)) == [number * 2 for number in range(101)]
    assert len(seen) > 2
    assert most > 2
