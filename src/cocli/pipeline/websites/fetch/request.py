"""How something is asked for: a page, a robots.txt, or a part of a page that a browser builds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.websites.fetch.limits import KIB

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.pipeline.websites.fetch.http import Head
    from cocli.pipeline.websites.fetch.limits import FetchLimits

_READABLE = re.compile(r"text/|application/(?:[\w.-]+\+)?(?:xml|json|html)\Z|application/(?:javascript|vcard)\Z")
_REDIRECT_BYTES = 64 * KIB
_SUCCESS = range(200, 300)


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What differs between what is asked for."""

    asks_robots: bool = True
    takes_turns: bool = True
    only_text: bool = True
    """Pictures, archives and the like are left unread."""
    robots_file: bool = False

    def wants(self, head: Head) -> bool:
        return not (self.only_text and head.status in _SUCCESS and not is_text(head.headers.get("content-type")))

    def appetite(self, limits: FetchLimits) -> Callable[[Head], int | None]:
        def of(head: Head) -> int | None:
            if 300 <= head.status < 400:
                return _REDIRECT_BYTES
            if self.robots_file:
                return limits.robots_bytes
            if self.wants(head):
                return limits.of_page(head.status)
            return None

        return of


PAGE = RequestOptions()
ROBOTS = RequestOptions(asks_robots=False, only_text=False, robots_file=True)
PART = RequestOptions(takes_turns=False, only_text=False)


def mime_of(content_type: str | None) -> str | None:
    if not content_type:
        return None
    mime = content_type.partition(";")[0].strip().lower()
    if re.fullmatch(r"[\w!#$&^.+-]{1,80}/[\w!#$&^.+-]{1,80}", mime, re.ASCII):
        return mime
    return None


def is_text(content_type: str | None) -> bool:
    """Whether a body is worth reading. A server that does not say what it sends gets the benefit of the doubt."""
    mime = mime_of(content_type)
    return mime is None or _READABLE.match(mime) is not None
