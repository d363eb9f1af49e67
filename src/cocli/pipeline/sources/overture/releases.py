"""Which release of Overture is the newest: one small request, or a look into a folder. DuckDB is not needed for it.

Overture publishes a list of its releases; a mirror that is asked by http or https has one of its own beside `release/`.
"""

from __future__ import annotations

import json
import os
import re

from cocli.errors import SourceRefused, SourceUnreachable

OVERTURE = "s3://overturemaps-us-west-2"
CATALOG = "https://stac.overturemaps.org/catalog.json"
"""Overture's own list of releases; its field `latest` names the newest."""
_REMOTE = ("s3://", "https://", "http://")
_WEB = ("https://", "http://")
_RELEASE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[A-Za-z0-9.-]*")
_TIMEOUT_SECONDS = 20.0
_MOST_BYTES = 4 << 20


def is_remote(base: str) -> bool:
    return base.startswith(_REMOTE)


def is_release(name: str) -> bool:
    return _RELEASE.fullmatch(name) is not None


def newest_release(base: str | None = None) -> str:
    """The newest release at an address or in a folder; None: where Overture publishes."""
    base = base or OVERTURE
    if is_remote(base):
        address = f"{base.rstrip('/')}/catalog.json" if base.startswith(_WEB) else CATALOG
        names = [_listed(address)]
    else:
        parent = os.path.join(base, "release")
        names = sorted(os.listdir(parent)) if os.path.isdir(parent) else []
    releases = [name for name in names if is_release(name)]
    if not releases:
        raise SourceRefused(
            file=base,
            reason="it has no folder release/ with releases in it",
            hint="Name one with --release 2026-01-21.0",
        )
    return releases[-1]


def _listed(address: str) -> str:
    """What a list of releases calls the newest."""
    try:
        document = json.loads(_answer(address))
    except ValueError as error:
        raise SourceUnreachable(source=address, reason="its answer is no JSON") from error
    latest = document.get("latest") if isinstance(document, dict) else None
    return latest if isinstance(latest, str) else ""


def _answer(address: str) -> bytes:
    import httpx2  # here, as DuckDB in `session`: who looks for no release does not load it

    try:
        with (
            httpx2.Client(timeout=_TIMEOUT_SECONDS, follow_redirects=True) as client,
            client.stream("GET", address) as answer,
        ):
            data = b""
            for piece in answer.iter_bytes():
                data += piece
                if len(data) > _MOST_BYTES:
                    raise SourceUnreachable(source=address, reason="it answers without end")
            status = answer.status_code
    except httpx2.HTTPError as error:
        raise SourceUnreachable(source=address, reason=str(error) or type(error).__name__) from error
    if status != 200:
        raise SourceUnreachable(source=address, reason=f"it answered {status}")
    return data
