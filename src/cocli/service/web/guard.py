"""What every request has to pass, and what every answer says: host names, origins, and what a browser may do with it.

A browser that was led here by another page brings our cookie along. So a name that is not ours is refused (rebinding of
DNS), and a request that changes something has to come from a page of ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SAFE = ("GET", "HEAD", "OPTIONS")
_CLOSED_POLICY = "default-src 'none'; frame-ancestors 'none'"
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "X-Robots-Tag": "noindex",
}
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_PRIVATE = ("/data/", "/api/", "/events")


@dataclass(frozen=True, slots=True)
class WebOrigin:
    """The names and the scheme under which this server is asked."""

    scheme: str
    port: int
    hosts: frozenset[str] = field(default_factory=frozenset)
    """Configured names, in lower case, without a port."""

    def is_ours(self, host: str) -> bool:
        """Whether a `Host` header names this server."""
        name, port = split_host(host)
        if name in _LOOPBACK:
            return port == self.port or name in self.hosts
        return name in self.hosts

    def is_same(self, origin: str, host: str) -> bool:
        """Whether an `Origin` is that of the page which the `Host` belongs to."""
        scheme, _, rest = origin.lower().partition("://")
        return scheme in (self.scheme, "https") and rest == host.lower() and (scheme == self.scheme or bool(self.hosts))


def split_host(host: str) -> tuple[str, int | None]:
    """`[::1]:8765` → name and port."""
    name, _, port = host.lower().rpartition(":")
    if not name or not port.isdecimal() or (host.startswith("[") and not name.endswith("]")):
        return host.lower(), None
    return name, int(port)


class WebGuard:
    """Around the application."""

    def __init__(self, app: ASGIApp, origin: WebOrigin) -> None:
        self._app = app
        self._origin = origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        problem = self._problem(scope)
        guarded = _with_headers(send, secure=self._origin.scheme == "https")
        if problem is not None:
            status, code, message = problem
            envelope: dict[str, object] = {
                "code": code,
                "message": message,
                "hint": None,
                "retryable": False,
                "details": {},
            }
            await JSONResponse({"error": envelope}, status_code=status)(scope, receive, guarded)
            return
        await self._app(scope, receive, guarded)

    def _problem(self, scope: Scope) -> tuple[int, str, str] | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._origin.is_ours(hosts[0]):
            return 421, "wrong_host", "This server is not asked for under that name."
        if scope["method"] in _SAFE:
            return _foreign_reading(scope, headers)
        if "authorization" in headers and "cookie" not in headers:
            return None  # no browser adds this by itself
        return self._foreign_change(headers, hosts[0])

    def _foreign_change(self, headers: Headers, host: str) -> tuple[int, str, str] | None:
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None and site != "same-origin":
            return 403, "cross_site", "The request comes from another page."
        if origin is not None and not self._origin.is_same(origin, host):
            return 403, "cross_site", "The request comes from another origin."
        if site is None and origin is None and "cookie" in headers:
            return 403, "cross_site", "The request does not say where it comes from."
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        if has_body and kind not in ("application/json", "application/octet-stream"):
            return 415, "not_json", "A change is asked for with application/json."
        return None


def _foreign_reading(scope: Scope, headers: Headers) -> tuple[int, str, str] | None:
    """Another site may lead somebody here, and may not read from here."""
    site = headers.get("sec-fetch-site")
    if site in (None, "same-origin", "none") or not scope["path"].startswith(_PRIVATE):
        return None
    return 403, "cross_site", "The request comes from another page."


def _with_headers(send: Send, *, secure: bool) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Content-Security-Policy", _CLOSED_POLICY)
            headers.setdefault("Cache-Control", "no-store")
            if secure:
                headers.setdefault("Strict-Transport-Security", "max-age=31536000")
        await send(message)

    return sending
