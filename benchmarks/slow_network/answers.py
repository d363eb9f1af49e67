"""The bytes that the server sends, made once: what a request costs is a look into a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from http import HTTPStatus

from benchmarks._enrich_pages import padded as with_filling
from benchmarks.slow_network.sites import NetworkSite
from cocli.demo.town.languages import LANGUAGES
from cocli.demo.town.websites.replies import Reply, reply_to


@dataclass(frozen=True, slots=True)
class ReadyAnswer:
    """An answer in its three forms. `packed` is None where the site packs nothing."""

    status: int
    etag: bytes
    plain: bytes
    packed: bytes | None
    unchanged: bytes

    def form(self, *, validator: bytes | None, takes_gzip: bool) -> tuple[int, bytes]:
        """What is sent to whom: status and bytes."""
        if validator == self.etag and self.status == HTTPStatus.OK:
            return int(HTTPStatus.NOT_MODIFIED), self.unchanged
        if takes_gzip and self.packed is not None:
            return self.status, self.packed
        return self.status, self.plain


NOT_HERE = Reply(404, "text/plain", b"No such site in this town\n")


class AnswerTable:
    """All answers of all sites, each made when it is first asked for, or before by `fill`."""

    def __init__(self, sites: dict[str, NetworkSite], *, padded: bool) -> None:
        self._sites = sites
        self._padded = padded
        self._made: dict[tuple[str, str], ReadyAnswer] = {}

    def answer(self, host: str, path: str) -> ReadyAnswer:
        found = self._made.get((host, path))
        if found is None:
            found = self._made[host, path] = self._make(host, path)
        return found

    def fill(self) -> None:
        """Make what visitors will ask for, so that nobody waits for it."""
        for host, listed in self._sites.items():
            pages = [LANGUAGES[listed.site.language].path(page) for page in listed.site.pages]
            for path in ("/robots.txt", "/sitemap.xml", *pages):
                self.answer(host, path)

    def _make(self, host: str, path: str) -> ReadyAnswer:
        listed = self._sites.get(host)
        reply = NOT_HERE
        if listed:
            is_alias = host == listed.alias
            reply = reply_to(listed.site, (listed.site.target or listed.site.host) if is_alias else host, path)
        if self._padded and b"</body>" in reply.body:
            reply = replace(reply, body=with_filling(reply.body))
        head = {"Server": "town", "Content-Type": reply.content_type, "ETag": reply.etag}
        if reply.location:
            head["Location"] = reply.location
        packed = _bytes(reply.status, head | {"Content-Encoding": "gzip"}, reply.compressed())
        return ReadyAnswer(
            status=reply.status,
            etag=reply.etag.encode(),
            plain=_bytes(reply.status, head, reply.body),
            packed=packed if reply.compressible else None,
            unchanged=_bytes(int(HTTPStatus.NOT_MODIFIED), head, None),
        )


def _bytes(status: int, head: dict[str, str], body: bytes | None) -> bytes:
    length = {} if body is None else {"Content-Length": str(len(body))}
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{k}: {v}" for k, v in (head | length).items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")
