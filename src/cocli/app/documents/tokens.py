"""Tokens: who a caller of the document service is. A token says an account and until when, and is signed.

    cocli1.{account}.{expiry}.{signature}

The account is base64url, the expiry seconds since 1970, the signature the HMAC-SHA256 of all before it, base64url. The
secret is 32 random bytes in a file that only its owner may read. Whoever wants all tokens to end replaces the file.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cocli.documents.ids import check_parts
from cocli.errors import CocliError, ConfigError, TokenRefused, UsageError

if TYPE_CHECKING:
    from cocli.app.documents.documents import Documents

_SCHEME = "cocli1"
_TOKEN = re.compile(rf"{_SCHEME}\.([A-Za-z0-9_-]{{1,300}})\.([0-9]{{1,12}})\.([A-Za-z0-9_-]{{43}})")
_SECRET_BYTES = 32
MAX_DAYS = 3650


@dataclass(frozen=True, slots=True)
class Tokens:
    """Makes and reads tokens with one secret."""

    secret: bytes

    def __post_init__(self) -> None:
        if len(self.secret) < _SECRET_BYTES:
            raise ConfigError(reason=f"the secret of the tokens has fewer than {_SECRET_BYTES} bytes")

    def __repr__(self) -> str:
        return "Tokens(secret=…)"

    def make(self, account: str, expires: datetime) -> str:
        check_parts(account=account)
        said = f"{_SCHEME}.{_encoded(account.encode())}.{int(expires.timestamp())}"
        return f"{said}.{self._signature(said)}"

    def account(self, token: str, now: datetime) -> str:
        """The account that a token speaks for. What is wrong with a token is not told to whoever made it up."""
        found = _TOKEN.fullmatch(token)
        said, _, signature = token.rpartition(".")
        expected = self._signature(said if found else _SCHEME)
        if not hmac.compare_digest(signature.encode(errors="replace"), expected.encode()) or found is None:
            raise TokenRefused(reason="it is not signed by this service")
        if now >= datetime.fromtimestamp(int(found[2]), UTC):
            raise TokenRefused(reason="it has expired")
        try:
            account = base64.urlsafe_b64decode(found[1] + "=" * (-len(found[1]) % 4)).decode()
            check_parts(account=account)
        except (binascii.Error, UnicodeDecodeError, CocliError) as error:
            raise TokenRefused(reason="it names no account") from error
        return account

    def _signature(self, said: str) -> str:
        return _encoded(hmac.digest(self.secret, said.encode(errors="replace"), "sha256"))


def expiry(now: datetime, days: float) -> datetime:
    if not 0 < days <= MAX_DAYS:
        raise UsageError(reason=f"a token lasts up to {MAX_DAYS} days, not {days:g}")
    return now + timedelta(days=days)


def secret_path(documents: Documents) -> str:
    chosen = documents.section.secret_file
    return os.path.expanduser(chosen) if chosen else os.path.join(documents.state_folder, "token.secret")


def load_tokens(documents: Documents, *, create: bool = False) -> Tokens:
    """The secret of this installation. With `create` it is made where there is none yet."""
    path = secret_path(documents)
    if create and not os.path.lexists(path):
        _create(path)
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            secret = file.read(4096)
    except OSError as error:
        reason = f"the secret of the tokens cannot be read: {os.strerror(error.errno or 0)}: {path}"
        raise ConfigError(reason=reason, hint="Make one, and a token, with: cocli documents token") from error
    if mode & 0o077:
        raise ConfigError(reason=f"others may read {path}", hint=f"Protect it with: chmod 600 {path}")
    return Tokens(secret.strip())


def _create(path: str) -> None:
    """Two that race: the second one finds the file there, and takes it."""
    try:
        os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
        temporary = f"{path}.{os.getpid()}"
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(binascii.hexlify(os.urandom(_SECRET_BYTES)) + b"\n")
        try:
            os.link(temporary, path)  # whole or not at all
        except FileExistsError:
            pass  # somebody else was quicker: theirs is as good
        finally:
            os.unlink(temporary)
    except OSError as error:
        raise ConfigError(reason=f"{path} cannot be written: {os.strerror(error.errno or 0)}") from error


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
