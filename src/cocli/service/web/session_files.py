"""Sessions on this machine's disk, so that a restart ends none: a file each, named by the hash of its secret.

Whoever reads such a file cannot log in with it: the secret is in the browser alone. The folder is its owner's, and
belongs to one server: another store, another address or another way to log in has other sessions.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from cocli.config.private import make_private, no_links
from cocli.models.record import render_utc
from cocli.service.web.access import Principal, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = re.compile(r"[0-9a-f]{64}")
_SCOPE_LETTERS = 32


class SessionFiles:
    """One may be asked by many threads: every session is a file of its own."""

    def __init__(self, home: str, *scope: str) -> None:
        name = hashlib.sha256("\n".join(scope).encode()).hexdigest()[:_SCOPE_LETTERS]
        self._folder = os.path.join(home, "sessions", name)
        make_private(self._folder)

    def put(self, principal: Principal) -> None:
        if principal.session is None or principal.expires_at is None:
            raise ValueError("only a session that ends is kept")
        document = {
            "name": principal.name,
            "provider": principal.provider,
            "role": principal.role.word,
            "campaigns": {name: role.word for name, role in principal.campaigns.items()},
            "expires_at": render_utc(principal.expires_at),
        }
        with open(self._path(principal.session), "w", encoding="utf-8", opener=no_links) as file:
            json.dump(document, file)

    def get(self, session: str) -> Principal | None:
        """Whose it is; None where there is none, or where the file says nothing."""
        try:
            with open(self._path(session), encoding="utf-8", opener=no_links) as file:
                known = json.load(file)
            return Principal(
                str(known["name"]),
                str(known["provider"]),
                Role[known["role"].upper()],
                {str(name): Role[role.upper()] for name, role in known["campaigns"].items()},
                expires_at=datetime.fromisoformat(known["expires_at"]),
                session=session,
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):  # half a file is no session
            return None

    def remove(self, session: str) -> None:
        with suppress(FileNotFoundError):
            os.remove(self._path(session))

    def sweep(self, now: datetime) -> None:
        """Remove those that are over."""
        for session in list(self._names()):
            known = self.get(session)
            if known is None or known.expires_at is None or known.expires_at <= now:
                self.remove(session)

    def clear(self) -> int:
        """End all of them; how many there were."""
        names = list(self._names())
        for session in names:
            self.remove(session)
        return len(names)

    def _names(self) -> Iterator[str]:
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if _NAME.fullmatch(entry.name):
                    yield entry.name

    def _path(self, session: str) -> str:
        if not _NAME.fullmatch(session):
            raise ValueError("a session is named by a hash")
        return os.path.join(self._folder, session)
