"""Sessions and one-time links: kept by the server alone. A browser has a random name, and the server its hash.

Sessions outlive the server where it is given a place for them; links do not.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cocli.errors import TokenRefused

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.service.web.access import Principal
    from cocli.service.web.session_files import SessionFiles

MOST_SESSIONS = 10_000
LINK_SECONDS = 600.0
_BYTES = 32


def hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass(slots=True)
class SessionBook:
    """Safe to share between threads."""

    clock: Callable[[], datetime]
    lifetime: timedelta
    files: SessionFiles | None = None
    """Where sessions are kept beyond a restart; None: they end with the server."""
    _sessions: dict[str, Principal] = field(default_factory=dict)
    _links: dict[str, tuple[datetime, Principal]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self, principal: Principal) -> str:
        """Begin a session; its secret is for the cookie alone."""
        from dataclasses import replace

        secret = secrets.token_urlsafe(_BYTES)
        name = hashed(secret)
        ends = self.clock() + self.lifetime
        with self._lock:
            self._sweep()
            if len(self._sessions) >= MOST_SESSIONS:
                oldest = min(self._sessions, key=lambda known: self._sessions[known].expires_at or ends)
                self._drop(oldest)
            opened = self._sessions[name] = replace(principal, session=name, expires_at=ends)
        if self.files is not None:
            self.files.put(opened)
        return secret

    def find(self, secret: str) -> Principal | None:
        """Whose session it is; None where it is over, or never was."""
        name = hashed(secret)
        with self._lock:
            found = self._sessions.get(name)
            if found is None and self.files is not None:
                found = self.files.get(name)  # of a server that ran here before
                if found is not None:
                    self._sessions[name] = found
        if found is None or found.expires_at is None or found.expires_at <= self.clock():
            return None
        return found

    def close(self, principal: Principal) -> None:
        with self._lock:
            self._drop(principal.session or "")

    def __len__(self) -> int:
        return len(self._sessions)

    # --- one-time links

    def make_link(self, principal: Principal) -> str:
        """A token that opens one session, within ten minutes."""
        token = secrets.token_urlsafe(_BYTES)
        with self._lock:
            self._links[hashed(token)] = (self.clock() + timedelta(seconds=LINK_SECONDS), principal)
        return token

    def redeem(self, token: str) -> str:
        """The session that a link opens. The second time it opens nothing."""
        with self._lock:
            ends, principal = self._links.pop(hashed(token), (None, None))
        if ends is None or principal is None or ends <= self.clock():
            raise TokenRefused(
                reason="the link was used already, or it is too old", hint="Start cocli web again for a new link."
            )
        return self.open(principal)

    def _sweep(self) -> None:
        now = self.clock()
        for name, known in list(self._sessions.items()):
            if known.expires_at is not None and known.expires_at <= now:
                self._drop(name)
        self._links = {name: link for name, link in self._links.items() if link[0] > now}

    def _drop(self, session: str) -> None:
        known = self._sessions.pop(session, None)
        if known is not None and self.files is not None:
            self.files.remove(session)
