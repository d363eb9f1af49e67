"""API tokens of the dashboard: a name, a role, an end. The secret is shown once; its hash is kept on this machine."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import threading
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cocli.app.whole_file import whole_file
from cocli.config.private import make_private
from cocli.errors import FileUnusable, NotFound, TokenRefused, UsageError
from cocli.models.record import render_utc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PREFIX = "cocliweb1."
_MOST = 1000


@dataclass(frozen=True, slots=True)
class WebToken:
    """One token, without its secret."""

    id: str
    name: str
    role: str
    campaigns: list[str] | None
    """None: all of them."""
    made_by: str
    made_at: str
    expires_at: str
    revoked_at: str | None = None


class TokenBook:
    """The tokens in one file. Safe to share between threads."""

    def __init__(self, folder: str, clock: Callable[[], datetime]) -> None:
        self._path = os.path.join(folder, "tokens.json")
        self._clock = clock
        self._lock = threading.Lock()
        make_private(folder)

    def make(
        self, name: str, role: str, campaigns: Sequence[str] | None, days: int, made_by: str
    ) -> tuple[WebToken, str]:
        """A new token, and its secret."""
        secret, now = secrets.token_urlsafe(32), self._clock()
        token = WebToken(
            id=secrets.token_hex(8),
            name=name,
            role=role,
            campaigns=list(campaigns) if campaigns is not None else None,
            made_by=made_by,
            made_at=render_utc(now),
            expires_at=render_utc(now + timedelta(days=days)),
        )
        with self._lock:
            known = self._read()
            if len(known) >= _MOST:
                raise UsageError(reason=f"There are {_MOST} tokens already", hint="Revoke some.")
            known[_hashed(secret)] = token
            self._write(known)
        return token, f"{_PREFIX}{secret}"

    def check(self, text: str) -> WebToken:
        """The token of a secret; `TokenRefused` where it is unknown, over or revoked."""
        if not text.startswith(_PREFIX):
            raise TokenRefused(reason="it is no token of the dashboard", hint="Make one on the page Access.")
        with self._lock:
            found = self._read().get(_hashed(text.removeprefix(_PREFIX)))
        if found is None:
            raise TokenRefused(reason="nobody knows it", hint="Make one on the page Access.")
        if found.revoked_at is not None:
            raise TokenRefused(reason="it was revoked", hint="Make one on the page Access.")
        if datetime.fromisoformat(found.expires_at) <= self._clock():
            raise TokenRefused(reason="it is over", hint="Make one on the page Access.")
        return found

    def all(self) -> list[WebToken]:
        with self._lock:
            return sorted(self._read().values(), key=lambda token: token.made_at, reverse=True)

    def revoke(self, name: str) -> WebToken:
        with self._lock:
            known = self._read()
            for key, token in known.items():
                if token.id == name:
                    at = token.revoked_at or render_utc(self._clock())
                    known[key] = WebToken(**{**asdict(token), "revoked_at": at})
                    self._write(known)
                    return known[key]
        raise NotFound(key=f"token {name}")

    def _read(self) -> dict[str, WebToken]:
        try:
            with open(self._path, "rb") as file:
                return {key: WebToken(**values) for key, values in json.load(file).items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise FileUnusable(
                file=self._path, done="read", reason=str(error), hint="Remove it: all tokens end."
            ) from error

    def _write(self, known: dict[str, WebToken]) -> None:
        text = json.dumps({key: asdict(token) for key, token in known.items()}, indent=1)
        with whole_file(self._path) as file:
            file.write(text.encode())
        os.chmod(self._path, 0o600)


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
