"""A plain web server over folders, as buckets are: files by name, ranges, etags, nothing else. Counts what it sent."""

from __future__ import annotations

import hashlib
import http.server
import mimetypes
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

_RANGE = re.compile(r"bytes=(\d+)-(\d+)")
_TYPES = {".js": "text/javascript", ".geojson": "application/geo+json", ".svg": "image/svg+xml"}


@dataclass
class RangeServer:
    """`roots` is a beginning of a path → the folder behind it; the longest beginning wins."""

    roots: Mapping[str, Path]
    address: str = ""
    sent: int = 0
    asked: list[str] = field(default_factory=list)
    etags: dict[tuple[str, int, int], str] = field(default_factory=dict)

    def etag_of(self, file: Path) -> str:
        """Of the content, as buckets have it: counted once, not for every range."""
        told = file.stat()
        state = (str(file), told.st_mtime_ns, told.st_size)
        if state not in self.etags:
            self.etags[state] = f'"{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}"'
        return self.etags[state]

    def file_of(self, path: str) -> Path | None:
        for start in sorted(self.roots, key=len, reverse=True):
            if path.startswith(start):
                found = (self.roots[start] / path.removeprefix(start)).resolve()
                if found.is_relative_to(self.roots[start].resolve()) and found.is_file():
                    return found
        return None


def _part(file: Path, begin: int, end: int) -> bytes:
    with file.open("rb") as opened:
        opened.seek(begin)
        return opened.read(end - begin)


@contextmanager
def range_server(roots: Mapping[str, Path]) -> Iterator[RangeServer]:
    served = RangeServer(roots)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1  # the head and the body in one packet

        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            served.asked.append(path)
            file = served.file_of("/index.html" if path == "/" else path)
            if file is None:
                self._answer(404, b'{"error": {"code": "not_found", "message": "", "hint": null}}', "application/json")
                return
            size, etag = file.stat().st_size, served.etag_of(file)
            kind = _TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            wanted = _RANGE.fullmatch(self.headers.get("Range", ""))
            if wanted:
                begin, end = int(wanted[1]), min(int(wanted[2]) + 1, size)
                headers = {"Content-Range": f"bytes {begin}-{end - 1}/{size}", "ETag": etag}
                self._answer(206, _part(file, begin, end), kind, headers)
            elif self.headers.get("If-None-Match") == etag:
                self._answer(304, b"", kind, {"ETag": etag})
            else:
                self._answer(200, file.read_bytes(), kind, {"ETag": etag, "Cache-Control": "no-cache"})

        def _answer(self, status: int, data: bytes, kind: str, headers: Mapping[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
            self.wfile.flush()
            served.sent += len(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the library's name
            """Nothing: the test counts itself."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    served.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
