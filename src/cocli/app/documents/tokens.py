"""Tokens: who a caller of the document service is. A token says an account and until when, and is signed.

It is a JSON Web Token (RFC 7519), made and read by PyJWT: `iss` is cocli, `sub` the account, `exp` the seconds since
1970, `jti` its own id, `scope` what it allows, `who` the person or program it was made for; signed with HMAC-SHA256 and
nothing else. The secret is 32 random bytes in a file that only its owner may read. Whoever wants all tokens to end
replaces the file; a single one is ended by `revocations`.

A token may be made for one machine: then it also says `host`, and when it was made (`iat`). It ends when that machine
is evicted, and stays so when the machine is taken back: whoever stole it still has the token.
"""

from __future__ import annotations

import binascii
import os
import secrets
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from cocli.app.documents.revocations import RevocationBook
from cocli.config.private import make_private, no_links
from cocli.documents.ids import check_parts
from cocli.errors import CocliError, ConfigError, MissingExtra, TokenRefused, UsageError, disk_full
from cocli.fleet.eviction import EvictionBook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from cocli.app.documents.documents import Documents
    from cocli.models.heartbeat import Eviction

_ISSUER = "cocli"
_ALGORITHM = "HS256"
_LONGEST = 2048
"""Characters: an account has up to 200 bytes."""
_SECRET_BYTES = 32
MAX_DAYS = 3650
_WHO_CHARACTERS = 200


class TokenScope(StrEnum):
    """What a token allows. `admin` allows everything, and to see what other accounts use."""

    READ = "read"
    WRITE = "write"
    PURGE = "purge"
    RAW = "raw"
    """To read also what names somebody who asked to be left alone."""
    ADMIN = "admin"


USUAL_SCOPES = frozenset({TokenScope.READ, TokenScope.WRITE})


class TokenCaller(NamedTuple):
    """Whom a token speaks for."""

    account: str
    who: str
    """The person or program it was made for: what a document says of who saved, deleted or purged it."""
    scopes: frozenset[TokenScope]
    token: str
    """Its id; empty where it has none."""
    expires: float

    def may(self, scope: TokenScope) -> bool:
        return scope in self.scopes or TokenScope.ADMIN in self.scopes


def _never_revoked(token: str) -> bool:  # noqa: ARG001  the signature of `RevocationBook.has`
    return False


def _never_evicted(host: str) -> Eviction | None:  # noqa: ARG001  the signature of `EvictionBook.of`
    return None


class TokenMachine(NamedTuple):
    """The machine that a token is made for, and when it was made: by the store's clock, as evictions are."""

    host: str
    made_at: datetime


@dataclass(frozen=True, slots=True)
class Tokens:
    """Makes and reads tokens with one secret. `eviction_of` tells what is kept of a machine's eviction, `is_revoked`
    whether the token of an id was ended."""

    secret: bytes
    eviction_of: Callable[[str], Eviction | None] = _never_evicted
    is_revoked: Callable[[str], bool] = _never_revoked

    def __post_init__(self) -> None:
        if len(self.secret) < _SECRET_BYTES:
            raise ConfigError(reason=f"the secret of the tokens has fewer than {_SECRET_BYTES} bytes")

    def __repr__(self) -> str:
        return "Tokens(secret=…)"

    def make(
        self,
        account: str,
        expires: datetime,
        machine: TokenMachine | None = None,
        *,
        who: str = "",
        scopes: Iterable[TokenScope] = USUAL_SCOPES,
    ) -> str:
        check_parts(account=account)
        if len(who) > _WHO_CHARACTERS or not who.isprintable():
            raise UsageError(reason=f"who a token is for is a name of up to {_WHO_CHARACTERS} characters")
        claims: dict[str, object] = {"iss": _ISSUER, "sub": account, "exp": int(expires.timestamp())}
        claims |= {"jti": secrets.token_hex(8), "scope": " ".join(sorted(scopes))}
        if who:
            claims["who"] = who
        if machine is not None:
            claims |= {"host": machine.host, "iat": int(machine.made_at.timestamp())}
        return str(_library().encode(claims, self.secret, _ALGORITHM))

    def account(self, token: str, now: datetime) -> str:
        """The account that a token speaks for."""
        return self.caller(token, now).account

    def caller(self, token: str, now: datetime) -> TokenCaller:
        """Whom a token speaks for. What is wrong with a token is not told to whoever made it up."""
        claims = self._claims(token)
        expires, account = claims["exp"], claims["sub"]
        if not isinstance(expires, int) or now.timestamp() >= expires:
            raise TokenRefused(reason="it has expired")
        try:
            check_parts(account=account)
        except CocliError as error:
            raise TokenRefused(reason="it names no account") from error
        if "host" in claims:
            self._refuse_evicted(claims["host"], claims.get("iat"))
        token_id = str(claims.get("jti", ""))
        if token_id and self.is_revoked(token_id):
            raise TokenRefused(reason="it was revoked")
        return TokenCaller(str(account), str(claims.get("who") or account), _scopes(claims), token_id, expires)

    def _refuse_evicted(self, host: object, made_at: object) -> None:
        if not isinstance(host, str) or not isinstance(made_at, int):
            raise TokenRefused(reason="it does not say when it was made for which machine")
        eviction = self.eviction_of(host)
        if eviction is not None and (eviction.holds or made_at <= eviction.evicted_at.timestamp()):
            raise TokenRefused(reason="the machine that it was made for was evicted")

    def _claims(self, token: str) -> dict[str, Any]:
        jwt = _library()
        # The library would ask the machine for the time: here it is passed in.
        options = {"require": ["iss", "sub", "exp"], "verify_exp": False}
        if len(token) <= _LONGEST and token.isascii():
            try:
                claims = jwt.decode(token, self.secret, [_ALGORITHM], options, issuer=_ISSUER)
            except jwt.PyJWTError as error:
                raise TokenRefused(reason="it is not signed by this service") from error
            return dict(claims)
        raise TokenRefused(reason="it is not signed by this service")


def _scopes(claims: dict[str, Any]) -> frozenset[TokenScope]:
    """What a token allows; one of before there were scopes allows the usual."""
    said = claims.get("scope")
    if said is None:
        return USUAL_SCOPES
    known = {scope.value for scope in TokenScope}
    return frozenset(TokenScope(name) for name in str(said).split() if name in known)


def scopes_named(names: Iterable[str]) -> frozenset[TokenScope]:
    """The scopes of these names; the usual ones where none is named."""
    given = [name.strip() for text in names for name in text.split(",")]
    unknown = [name for name in given if name not in {scope.value for scope in TokenScope}]
    if unknown:
        known = ", ".join(TokenScope)
        raise UsageError(reason=f'"{unknown[0][:20]}" is no scope', hint=f"There are {known}.")
    return frozenset(map(TokenScope, given)) or USUAL_SCOPES


def token_id_said(token: str) -> str:
    """The id that a token claims to have, for whoever wants to end it."""
    return str(_unchecked(token).get("jti", ""))


def account_said(token: str) -> str:
    """Whom a token claims to speak for, for those who have no secret to check it by."""
    return str(_unchecked(token)["sub"])


def _unchecked(token: str) -> dict[str, Any]:
    jwt = _library()
    try:
        claims = jwt.decode(token, options={"verify_signature": False, "require": ["sub"]})
    except (jwt.PyJWTError, UnicodeEncodeError) as error:
        raise TokenRefused(reason="it is not of the form that cocli documents token prints") from error
    return dict(claims)


def _library() -> Any:
    try:
        import jwt
    except ImportError as error:
        raise MissingExtra(feature="The tokens of services", package="pyjwt", extra="http") from error
    return jwt


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
    opener = None if documents.section.secret_file else no_links  # whoever names a file may name a link
    if create and not os.path.lexists(path):
        _create(path)
    try:
        with open(path, "rb", opener=opener) as file:
            mode = os.fstat(file.fileno()).st_mode
            secret = file.read(4096)
    except OSError as error:
        reason = f"the secret of the tokens cannot be read: {os.strerror(error.errno or 0)}: {path}"
        raise ConfigError(reason=reason, hint="Make one, and a token, with: cocli documents token") from error
    if mode & 0o077:
        raise ConfigError(reason=f"others may read {path}", hint=f"Protect it with: chmod 600 {path}")
    return Tokens(secret.strip(), EvictionBook(documents.store).of, RevocationBook(documents.store).has)


def _create(path: str) -> None:
    """Two that race: the second one finds the file there, and takes it."""
    try:
        make_private(os.path.dirname(path))
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
        refused = ConfigError(reason=f"{path} cannot be written: {os.strerror(error.errno or 0)}")
        raise disk_full(error, path) or refused from error
