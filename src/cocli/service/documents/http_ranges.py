"""Ranges and etags of what is downloaded by HTTP (RFC 9110)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.service.documents.transfers import FoundBlob

_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})\Z")


def headers_of(found: FoundBlob) -> dict[str, str]:
    """What was scraped is handed out as a file, never as a page of this service."""
    name = found.blob.filename or found.name
    headers = {
        "ETag": f'"{found.blob.sha256}"',
        "Accept-Ranges": "bytes",
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        "X-Content-Type-Options": "nosniff",
    }
    if found.etag:
        headers["X-State-Etag"] = f'"{found.etag}"'
    return headers


def is_known(given: Mapping[str, str], etag: str) -> bool:
    """Whether the caller has these bytes already."""
    known = given.get("if-none-match", "")
    return known == "*" or etag in [one.strip().removeprefix("W/") for one in known.split(",")]


def asked(given: Mapping[str, str], size: int, etag: str) -> tuple[int, int] | None:
    """Begin and end of the range that is asked for; None for everything. `ValueError` where there is no such range.

    Several ranges at once are answered with everything, as is a range of other bytes than these (If-Range)."""
    match = _RANGE.match(given.get("range", ""))
    if match is None or given.get("if-range", etag) != etag:
        return None
    first, last = match.groups()
    if not first and not last:
        return None
    if not first:
        begin, end = max(0, size - int(last)), size
    else:
        begin, end = int(first), min(size, int(last) + 1) if last else size
    if begin >= end:
        raise ValueError("no such range")
    return begin, end
