"""The way from the address that was asked for to the outcome, hop by hop."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from cocli.documents.document import headers_that_matter
from cocli.pipeline.websites.fetch.outcome import Failure, Fetched, FetchFailed, Hop, NotModified, Refused
from cocli.pipeline.websites.fetch.request import mime_of
from cocli.pipeline.websites.fetch.signals import Breakdown

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.pipeline.websites.fetch.http import HttpAnswer
    from cocli.pipeline.websites.fetch.outcome import Outcome, Validators
    from cocli.pipeline.websites.fetch.request import RequestOptions
    from cocli.pipeline.websites.fetch.signals import Refusal
    from cocli.pipeline.websites.fetch.urls import Target

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NOT_MODIFIED = 304
_SUCCESS = range(200, 300)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)
_SAFE_VALIDATOR = re.compile(r"[\x20-\x7e]{1,1000}\Z")


class RequestJourney:
    """Remembers where we were, and words the outcome."""

    def __init__(self, url: str, started: datetime, validators: Validators | None = None) -> None:
        self._url = url
        self._started = started
        self._validators = validators
        self._here = url
        self._seen: set[str] = set()
        self.redirects: tuple[Hop, ...] = ()

    @property
    def headers(self) -> dict[str, str]:
        """Of a revisit. Validators come from stored pages, that is from servers: only what is safe is sent."""
        if self._validators is None:
            return {}
        pairs = (("if-none-match", self._validators.etag), ("if-modified-since", self._validators.last_modified))
        return {name: value for name, value in pairs if value and _SAFE_VALIDATOR.match(value)}

    def arrive(self, target: Target) -> None:
        self._here = target.url
        self._seen.add(target.url)

    def leave(self, target: Target, status: int) -> None:
        self.redirects = (*self.redirects, Hop(target.url, status))

    def has_seen(self, target: Target) -> bool:
        """We send no cookies, so that a page asked for again would send us on again."""
        return target.url in self._seen

    def refused(self, refusal: Refusal) -> Refused:
        return Refused(self._url, refusal.reason, refusal.detail, refusal.url or self._here, self.redirects)

    def failed(self, breakdown: Breakdown) -> FetchFailed:
        return FetchFailed(
            self._url,
            breakdown.kind,
            breakdown.detail,
            self._here,
            retry_after=breakdown.retry_after,
            redirects=self.redirects,
        )

    def outcome(self, answer: HttpAnswer, options: RequestOptions, now: datetime, retry_after: float | None) -> Outcome:
        if answer.status == _NOT_MODIFIED and self.headers:
            headers = headers_that_matter(answer.headers)
            return NotModified(self._url, self._here, now, headers, self.redirects)
        if answer.status in _SUCCESS and not options.wants(answer):
            kind = answer.headers.get("content-type", "")[:80]
            return self.failed(Breakdown(Failure.CONTENT_TYPE, f"{kind} is not text"))
        page = self._page(answer, now)
        if answer.status in _SUCCESS:
            return page
        return FetchFailed(
            self._url,
            Failure.HTTP_STATUS,
            f"status {answer.status}",
            self._here,
            status=answer.status,
            page=page,
            retry_after=retry_after,
            redirects=self.redirects,
        )

    def _page(self, answer: HttpAnswer, now: datetime) -> Fetched:
        content_type = answer.headers.get("content-type")
        return Fetched(
            url=self._url,
            final_url=self._here,
            status=answer.status,
            headers=headers_that_matter(answer.headers),
            body=answer.body,
            mime=mime_of(content_type),
            charset=charset_of(content_type),
            fetched_at=now,
            redirects=self.redirects,
            truncated=answer.truncated,
        )


def charset_of(content_type: str | None) -> str | None:
    """What a Content-Type declares, where that is a charset of text that we know."""
    match = _CHARSET.search(content_type or "")
    if match is None:
        return None
    try:
        info = codecs.lookup(match[1])
    except LookupError:  # it declares nonsense: as good as nothing
        return None
    if getattr(info, "_is_text_encoding", True):
        return info.name
    return None
