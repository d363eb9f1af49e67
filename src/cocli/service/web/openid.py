"""OpenID Connect, from the side of the one who asks: discovery, the code flow with PKCE, and the check of an ID token.

Nothing is taken on trust but what came from the issuer's own addresses. Those are found by discovery, so no provider is
named in this program.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

import httpx2
import jwt

from cocli.errors import ServiceUnavailable, TokenRefused
from cocli.service.listener import is_this_machine

if TYPE_CHECKING:
    from collections.abc import Mapping

SIGNED_BY = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""What may sign an ID token. A secret that both know may not: whoever checks could sign; and nothing is unsigned."""
_TIMEOUT_SECONDS = 10.0
_MOST_BYTES = 1 << 20
_LEEWAY_SECONDS = 60
_KNOWN_SECONDS = 3600.0
_KEYS_SECONDS = 60.0
"""For which the keys are not asked for again, whatever key a token names."""


@dataclass(frozen=True, slots=True)
class OpenIdClient:
    """Who we are at the provider."""

    issuer: str
    client_id: str
    client_secret: str | None
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """One login that somebody began."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def fresh(cls) -> LoginAttempt:
        return cls(secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48))

    @property
    def challenge(self) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


@dataclass(slots=True)
class OpenIdProvider:
    """The provider, as far as it is known. Safe to share between threads."""

    client: OpenIdClient
    _metadata: dict[str, Any] = field(default_factory=dict)
    _metadata_at: float = 0.0
    _keys: dict[str, Any] = field(default_factory=dict)
    _keys_at: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    # --- the way there

    def login_address(self, attempt: LoginAttempt, redirect: str) -> str:
        """Where the browser is sent."""
        query = {
            "response_type": "code",
            "client_id": self.client.client_id,
            "redirect_uri": redirect,
            "scope": " ".join(self.client.scopes),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        address = self._endpoint("authorization_endpoint")
        return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}"

    # --- the way back

    def claims(self, attempt: LoginAttempt, code: str, redirect: str) -> dict[str, Any]:
        """What the provider says of who came back. `TokenRefused` where anything does not fit."""
        answer = self._exchange(attempt, code, redirect)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise TokenRefused(reason="the provider sent no ID token")
        claims = self._checked(token, attempt.nonce)
        return self._with_more(claims, answer.get("access_token"))

    def _exchange(self, attempt: LoginAttempt, code: str, redirect: str) -> dict[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect,
            "code_verifier": attempt.verifier,
        }
        headers = {}
        if self.client.client_secret is None:
            form["client_id"] = self.client.client_id
        else:
            pair = f"{quote(self.client.client_id, safe='')}:{quote(self.client.client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        return _asked("POST", self._endpoint("token_endpoint"), data=form, headers=headers)

    def _checked(self, token: str, nonce: str) -> dict[str, Any]:
        try:
            head = jwt.get_unverified_header(token)
            algorithm = head.get("alg")
            if algorithm not in SIGNED_BY:
                raise TokenRefused(reason="the ID token is not signed in a way that can be trusted")
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key(str(head.get("kid") or ""), algorithm),
                algorithms=[algorithm],
                audience=self.client.client_id,
                issuer=self.client.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iat", "iss", "aud", "sub"], "strict_aud": False},
            )
        except jwt.PyJWTError as error:
            raise TokenRefused(reason=f"the ID token is wrong: {type(error).__name__}") from error
        said = claims.get("nonce")
        if not isinstance(said, str) or not hmac.compare_digest(said.encode(), nonce.encode()):
            raise TokenRefused(reason="the ID token is of another login")
        audience = claims["aud"]
        is_shared = isinstance(audience, list) and len(audience) > 1
        if (is_shared or "azp" in claims) and claims.get("azp") != self.client.client_id:
            raise TokenRefused(reason="the ID token was made for somebody else")
        return claims

    def _with_more(self, claims: dict[str, Any], access: object) -> dict[str, Any]:
        """Many providers say only by `userinfo` who a subject is."""
        address = self._metadata.get("userinfo_endpoint")
        if not isinstance(address, str) or not isinstance(access, str):
            return claims
        more = _asked("GET", _safe_address(address), headers={"Authorization": f"Bearer {access}"})
        if more.get("sub") != claims["sub"]:
            raise TokenRefused(reason="the provider tells of somebody else")
        return {**more, **claims}

    # --- what is known of the provider

    def _endpoint(self, name: str) -> str:
        address = self._discovered().get(name)
        if not isinstance(address, str):
            raise ServiceUnavailable(address=self.client.issuer, reason=f"it names no {name}")
        return _safe_address(address)

    def _discovered(self) -> Mapping[str, Any]:
        with self._lock:
            if not self._metadata or time.monotonic() - self._metadata_at > _KNOWN_SECONDS:
                place = f"{self.client.issuer.rstrip('/')}/.well-known/openid-configuration"
                found = _asked("GET", _safe_address(place))
                if found.get("issuer") != self.client.issuer:
                    raise ServiceUnavailable(address=self.client.issuer, reason="it calls itself by another name")
                self._metadata, self._metadata_at = found, time.monotonic()
            return self._metadata

    def _key(self, kid: str, algorithm: str) -> Any:
        found = self._keys.get(kid)
        if found is None:
            address = self._endpoint("jwks_uri")
            with self._lock:
                if time.monotonic() - self._keys_at > _KEYS_SECONDS or not self._keys:
                    self._keys = _keys_of(_asked("GET", address))
                    self._keys_at = time.monotonic()
                found = self._keys.get(kid)
        if found is None and not kid and len(self._keys) == 1:
            found = next(iter(self._keys.values()))
        if found is None or found.get("alg", algorithm) != algorithm:
            raise TokenRefused(reason="the ID token is signed with a key that the provider does not have")
        return jwt.PyJWK(found, algorithm).key


def _keys_of(document: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    keys = document.get("keys")
    for key in keys if isinstance(keys, list) else []:
        if isinstance(key, dict) and key.get("use", "sig") == "sig" and key.get("kty") != "oct":
            found[str(key.get("kid") or "")] = key
    return found


def _safe_address(address: str) -> str:
    """Beyond this machine only what is encrypted."""
    parts = urlsplit(address)
    if parts.scheme == "https" or (parts.scheme == "http" and is_this_machine(parts.hostname or "")):
        return address
    raise ServiceUnavailable(address=address[:200], reason="the provider is asked by https only")


def _asked(method: str, address: str, **options: Any) -> dict[str, Any]:
    """JSON of the provider: bounded, not redirected. What it says is for nobody's eyes but the log's."""
    try:
        with (
            httpx2.Client(timeout=_TIMEOUT_SECONDS, follow_redirects=False, trust_env=False) as client,
            client.stream(method, address, **options) as answer,
        ):
            data = b""
            for piece in answer.iter_bytes():
                data += piece
                if len(data) > _MOST_BYTES:
                    raise ServiceUnavailable(address=address, reason="it answers without end")
            status = answer.status_code
    except httpx2.HTTPError as error:
        raise ServiceUnavailable(address=address, reason=type(error).__name__) from error
    if status in (400, 401, 403):
        raise TokenRefused(reason="the provider refused the login")
    try:
        document = json.loads(data)
    except ValueError:
        document = None
    if status != 200 or not isinstance(document, dict):
        raise ServiceUnavailable(address=address, reason=f"it answered {status}, and no JSON object")
    return document
