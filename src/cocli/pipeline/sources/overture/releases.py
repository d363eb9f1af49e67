"""Which release of Overture is the newest, and which files it has: one small request, or a look into a folder.

DuckDB is not needed for it. Overture publishes a list of its releases. A mirror on the web has one of its own beside
`release/`, which names the files as well: nobody can ask a web server what lies in a folder.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

from cocli.errors import SourceRefused, SourceUnreachable

OVERTURE = "s3://overturemaps-us-west-2"
CATALOG = "https://stac.overturemaps.org/catalog.json"
"""Overture's own list of releases; its field `latest` names the newest."""
_REMOTE = ("s3://", "https://", "http://")
_WEB = ("https://", "http://")
PLACES = "theme=places/type=place"
"""Where the files lie in the folder of a release."""
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._=-]*\.parquet")
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
        latest = _catalog(_own_catalog(base) if base.startswith(_WEB) else CATALOG).get("latest")
        names = [latest] if isinstance(latest, str) else []
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


def places_files(base: str, release: str) -> list[str]:
    """What DuckDB is to read: the pattern of a folder or a bucket, or the files that a mirror on the web names."""
    folder = f"{base.rstrip('/')}/release/{release}/{PLACES}"
    if not base.startswith(_WEB):
        return [f"{folder}/*"]
    address = _own_catalog(base)
    by_release = _catalog(address).get("files")
    names = by_release.get(release) if isinstance(by_release, dict) else None
    if not isinstance(names, list) or not names:
        raise SourceRefused(
            file=address,
            reason=f"it does not say which files release {release} has",
            hint=f'A mirror on the web names them: {{"files": {{"{release}": ["part-0.parquet", …]}}}}.',
        )
    for name in names:
        if not isinstance(name, str) or not _FILE.fullmatch(name):
            raise SourceRefused(file=address, reason=f"{name!r:.80} is not the name of a Parquet file")
    return [f"{folder}/{name}" for name in names]


def _own_catalog(base: str) -> str:
    return f"{base.rstrip('/')}/catalog.json"


def _catalog(address: str) -> dict[str, Any]:
    try:
        document = json.loads(_answer(address))
    except ValueError as error:
        raise SourceUnreachable(source=address, reason="its answer is no JSON") from error
    return document if isinstance(document, dict) else {}


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
