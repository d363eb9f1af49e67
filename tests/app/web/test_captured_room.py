"""Pages that were made to freeze whoever shows them: they are read elsewhere, within limits, and once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from cocli.app.web.captured_page import spots_of
from cocli.app.web.captured_room import AT_ONCE, WAITING, CapturedRoom
from cocli.documents.reading.limits import ReadingLimits
from cocli.documents.reading.room import ReadingRoom
from cocli.errors import ServiceUnavailable

MEGABYTE = 1 << 20
SPOTS = spots_of({"name": "Acme & Sons"})
HOSTILE = {
    "nested": b"<div>" * (MEGABYTE // 5),
    "attributes": b"<a " + b" ".join(b"a%d=1" % number for number in range(MEGABYTE // 9)) + b">x</a>",
}
"""Each took the parser more than twenty seconds, in which no other thread ran."""


@pytest.fixture(scope="module")
def room() -> Iterator[ReadingRoom]:
    made = ReadingRoom(ReadingLimits(cpu_seconds=1, seconds=60.0))
    yield made
    made.close()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_costs_this_process_nothing(room: ReadingRoom, name: str) -> None:
    captured, before = CapturedRoom(room), time.process_time()
    shown = captured.render(HOSTILE[name], SPOTS, "page").decode()
    assert time.process_time() - before < 1.0
    assert "takes too much to show" in shown
    assert "1 s of processor time" in shown
    assert "&lt;" in shown
    assert "<div>" not in shown
    assert "<a " not in shown


def test_a_page_that_took_too_much_is_not_read_again(room: ReadingRoom) -> None:
    captured = CapturedRoom(room)
    first = captured.render(HOSTILE["nested"], SPOTS, "page")
    room.close()
    began = time.process_time()
    assert captured.render(HOSTILE["nested"], SPOTS, "page") == first
    assert time.process_time() - began < 0.5
    assert b'class="value-name"' in captured.render(b"<p>Acme &amp; Sons</p>", SPOTS, "another page")


class _HeldRoom(ReadingRoom):
    """Reads nothing until it is told to."""

    def __init__(self) -> None:
        super().__init__(ReadingLimits())
        self.go = threading.Event()
        self.inside = threading.Semaphore(0)

    def call(self, *_arguments: object, what: str) -> bytes:  # type: ignore[override]
        self.inside.release()
        self.go.wait(60)
        return what.encode()


def test_who_comes_after_many_is_asked_to_come_again() -> None:
    held = _HeldRoom()
    captured = CapturedRoom(held)
    answers: list[bytes] = []
    asked = [
        threading.Thread(target=lambda number=number: answers.append(captured.render(b"%d" % number, [], "page")))
        for number in range(AT_ONCE + WAITING)
    ]
    for thread in asked:
        thread.start()
    for _ in range(AT_ONCE):
        assert held.inside.acquire(timeout=60)
    while captured.asked < len(asked):
        time.sleep(0.01)
    with pytest.raises(ServiceUnavailable, match="many captured pages"):
        captured.render(b"one more", [], "page")
    assert not held.inside.acquire(blocking=False)
    held.go.set()
    for thread in asked:
        thread.join()
    assert len(answers) == AT_ONCE + WAITING
