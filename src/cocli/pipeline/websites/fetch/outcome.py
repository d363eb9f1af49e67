"""What comes of asking for a page: one of four typed verdicts, never an exception for what a site does.

    Outcome = Fetched | NotModified | Refused | FetchFailed

`Fetched` has the page. `NotModified` answers a revisit. `Refused` means that we did not ask, and why. `FetchFailed`
means that we asked and got nothing to read; `retryable` says whether another day may help.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server gave with a page, to be shown to it again: has the page changed since?"""

    etag: str | None = None
    last_modified: str | None = None

    def __bool__(self) -> bool:
        return self.etag is not None or self.last_modified is not None


@dataclass(frozen=True, slots=True)
class Hop:
    """One redirect on the way: who sent us on, with which status."""

    url: str
    status: int


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page, as it was read."""

    url: str
    """What was asked for, in its normal form."""
    final_url: str
    """Where the page was, after every redirect."""
    status: int
    headers: Mapping[str, str]
    """Those that matter (`cocli.documents.document.headers_that_matter`), names in lower case."""
    body: bytes = field(repr=False)
    """Decompressed, cut off at the limit."""
    mime: str | None
    """`text/html`, in lower case and without parameters; None where the server did not say."""
    charset: str | None
    """What the server declared. Whether that is true of the bytes is for the reader of the page to find out."""
    fetched_at: datetime
    redirects: tuple[Hop, ...] = ()
    truncated: bool = False
    """The page is longer than the limit, or the server broke off: only its beginning is here."""
    rendered: bool = False
    """The body is what a browser made of the page."""

    @property
    def validators(self) -> Validators:
        """To be passed in at the next visit."""
        return Validators(self.headers.get("etag"), self.headers.get("last-modified"))


@dataclass(frozen=True, slots=True)
class NotModified:
    """The page is what it was when the validators were given."""

    url: str
    final_url: str
    fetched_at: datetime
    headers: Mapping[str, str] = field(default_factory=dict)
    redirects: tuple[Hop, ...] = ()


class Reason(StrEnum):
    """Why a page was not asked for."""

    URL = "url"
    """It cannot be understood as an address."""
    SCHEME = "scheme"
    """Something else than http and https: file, data, javascript, ftp …"""
    CREDENTIALS = "credentials"
    """A user name or password is in the address."""
    PORT = "port"
    ADDRESS = "address"
    """The host is, or leads to, an address that is not of the public internet and not allowed by the campaign."""
    ROBOTS = "robots"
    """The site's robots.txt does not want this page read."""
    ROBOTS_UNAVAILABLE = "robots_unavailable"
    """The site's robots.txt could not be read, so that nothing of the site is read for now."""


@dataclass(frozen=True, slots=True)
class Refused:
    """We did not ask. After redirects, `refused_url` is where the last one led."""

    url: str
    reason: Reason
    detail: str = ""
    refused_url: str = ""
    redirects: tuple[Hop, ...] = ()

    @property
    def retryable(self) -> bool:
        return self.reason is Reason.ROBOTS_UNAVAILABLE


class Failure(StrEnum):
    """Why there is nothing to read."""

    NO_SUCH_HOST = "no_such_host"
    DNS = "dns"
    """The name could not be looked up just now."""
    CONNECT = "connect"
    """There is no way there just now."""
    NOBODY_LISTENS = "connection_refused"
    """The machine is there and refuses connections: there is no web server on it."""
    TLS = "tls"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    """A decompression bomb, or a declared length far beyond any page."""
    TOO_MANY_REDIRECTS = "too_many_redirects"
    PROTOCOL = "protocol"
    """What came is not HTTP, or breaks its rules."""
    CONTENT_TYPE = "content_type"
    """Not text: pictures, archives, video. The body was not read."""
    HTTP_STATUS = "http_status"
    """The server said no. `status` says how, `page` is what it sent along."""
    RESTS = "site_rests"
    """The site asked to be left alone for a while (429, 503, `Retry-After`), and that has not passed."""
    BROWSER = "browser"
    """The browser gave up on the page."""


RETRYABLE_FAILURES = frozenset(
    {Failure.DNS, Failure.CONNECT, Failure.TIMEOUT, Failure.PROTOCOL, Failure.RESTS, Failure.BROWSER}
)
"""Failures that another day may mend. An HTTP status decides for itself: `RETRYABLE_STATUSES`."""

RETRYABLE_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})


@dataclass(frozen=True, slots=True)
class FetchFailed:
    """We asked, and there is nothing to read."""

    url: str
    kind: Failure
    detail: str = ""
    final_url: str = ""
    """The hop that failed."""
    status: int | None = None
    page: Fetched | None = field(default=None, repr=False)
    """Of an HTTP status: the page that came with it, which may say who blocks and why."""
    retry_after: float | None = None
    """Seconds that the server asked us to wait, where it did."""
    redirects: tuple[Hop, ...] = ()

    @property
    def retryable(self) -> bool:
        if self.kind is Failure.HTTP_STATUS:
            return self.status in RETRYABLE_STATUSES
        return self.kind in RETRYABLE_FAILURES


Outcome = Fetched | NotModified | Refused | FetchFailed
