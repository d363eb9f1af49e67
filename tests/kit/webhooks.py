"""A server that takes what webhooks say, and patience for what happens beside the requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATIENCE = 120.0


def wait_for(what: Any) -> Any:
    until = time.monotonic() + PATIENCE
    while True:
        found = what()
        if found:
            return found
        assert time.monotonic() < until
        time.sleep(0.2)


@contextmanager
def receiver(*statuses: int) -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    """A server that is told things. It answers with `statuses`, one after the other; then it takes everything."""
    at_once = threading.Event()
    at_once.set()
    with _listening(statuses or (500,), at_once) as (url, got):
        yield url, got


@contextmanager
def holding_receiver() -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]], threading.Event]]:
    """One that takes everything, and answers nobody before the event is set."""
    may_answer = threading.Event()
    with _listening((), may_answer) as (url, got):
        try:
            yield url, got, may_answer
        finally:
            may_answer.set()


@contextmanager
def _listening(
    first: tuple[int, ...], may_answer: threading.Event
) -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    got: list[tuple[dict[str, str], bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((dict(self.headers.items()), body))
            number = len(got)
            may_answer.wait(PATIENCE)
            self.send_response(first[number - 1] if number <= len(first) else 204)
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.send_header("Content-Length", "0")
            with suppress(ConnectionError):  # whoever called may be gone by now
                self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/hook", got
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
