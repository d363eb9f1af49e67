"""Where captured pages are made harmless: beside this process, some at a time, and each within limits.

A page that was made to do harm takes the parser minutes or ends it. The parser lets no other thread run meanwhile, so
one such page would keep everybody waiting.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from html import escape
from typing import TYPE_CHECKING

from cocli.app.web.captured_page import render_captured
from cocli.documents.reading.room import SHOWN
from cocli.errors import ServiceUnavailable, TooCostly

if TYPE_CHECKING:
    from cocli.app.web.captured_page import MarkedValue
    from cocli.documents.reading.room import ReadingRoom

AT_ONCE = 2
WAITING = 8
"""Who comes after so many is asked to come again: whoever waits holds a thread of the server."""
_MOST_SOURCE = 200_000
_MOST_COSTLY = 1000
_SOURCE_PAGE = (
    '<!doctype html><html><head><meta charset="utf-8"><title>Captured page</title></head><body>'
    "<p><b>This page takes too much to show: {reason}.</b> It may be damaged, or made to do harm. "
    "This is how its source begins.</p><pre>{source}</pre></body></html>"
)


class CapturedRoom:
    """Shared by all threads of a site."""

    def __init__(self, room: ReadingRoom = SHOWN) -> None:
        self._room = room
        self._places = threading.BoundedSemaphore(AT_ONCE)
        self.asked = 0
        """How many are being read or wait for a place."""
        self._costly: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def render(self, data: bytes, spots: list[MarkedValue], what: str) -> bytes:
        """The page as it may be shown. Of one that takes too much, the source as text."""
        digest = hashlib.sha256(data).hexdigest()
        reason = self._reason(digest)
        if reason is None:
            try:
                return self._rendered(data, spots, what)
            except TooCostly as error:
                reason = str(error.details.get("reason", "too much"))
                self._note(digest, reason)
        return _source_page(data, reason)

    def _rendered(self, data: bytes, spots: list[MarkedValue], what: str) -> bytes:
        with self._lock:
            if self.asked >= AT_ONCE + WAITING:
                raise ServiceUnavailable(
                    address="this address", reason="many captured pages are being read", hint="Try again soon."
                )
            self.asked += 1
        try:
            with self._places:
                return self._room.call(render_captured, data, spots, what=what)
        finally:
            with self._lock:
                self.asked -= 1

    def _reason(self, digest: str) -> str | None:
        with self._lock:
            return self._costly.get(digest)

    def _note(self, digest: str, reason: str) -> None:
        """It is not tried again while this process runs."""
        with self._lock:
            self._costly[digest] = reason
            while len(self._costly) > _MOST_COSTLY:
                self._costly.popitem(last=False)


def _source_page(data: bytes, reason: str) -> bytes:
    source = data[:_MOST_SOURCE].decode("utf-8", "replace")
    return _SOURCE_PAGE.format(reason=escape(reason), source=escape(source)).encode()
