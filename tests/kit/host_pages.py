"""A web server that answers for any host name with the page that it was given for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class HostPages:
    """`pages` may be changed while it serves. Of each host there is one page; robots.txt and the rest are not there."""

    port: int = 0
    pages: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, pages: HostPages) -> None:
        self.given = pages
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        host = self.headers.get("Host", "").partition(":")[0].removeprefix("www.")
        body = self.server.given.pages.get(host) if self.path == "/" else None
        if body is not None:
            self.server.given.asked.append(host)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name for it
        """Nothing: tests count what was asked for."""


@contextmanager
def served_pages() -> Iterator[HostPages]:
    """Serves for as long as the block lasts."""
    pages = HostPages()
    server = _Server(pages)
    pages.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield pages
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
