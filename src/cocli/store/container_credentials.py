"""Credentials that a container is lent: Fargate and ECS name a path of a fixed address, EKS and others a whole address.

The client library knows the first way, and of the second only the one with a file. So both are asked for here. The
answer is one JSON object with keys that expire; the client library asks again when they are about to.
"""

from __future__ import annotations

import ipaddress
import json
import os
import random
import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cocli.errors import ConfigError, Denied, StoreError, Unavailable
from cocli.retries import Backoff, call_again

if TYPE_CHECKING:
    from collections.abc import Mapping

RELATIVE, FULL = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"
_TOKEN, _TOKEN_FILE = "AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"
_HOST = "http://169.254.170.2"
_PLAIN_HOSTS = frozenset({"169.254.170.2", "169.254.170.23", "fd00:ec2::23", "localhost"})
"""Who may be asked without TLS, besides addresses of the loopback: nobody else can listen there."""
_ATTEMPTS = 3
_TIMEOUT = 5.0
_BACKOFF = Backoff(first=0.2)


class ContainerCredentials:
    """Asks whoever lends a role to this container. Called by the client library, from a thread of its own."""

    def __init__(self, address: str, environ: Mapping[str, str]) -> None:
        self.address = address
        self._environ = environ
        self._random = random.Random(secrets.randbits(64))  # noqa: S311 - spreads waits, hides nothing

    def __call__(self) -> dict[str, Any]:
        return call_again(self._ask, retryable=_may_pass, attempts=_ATTEMPTS, wait=_BACKOFF.waits(self._random))

    def _ask(self) -> dict[str, Any]:
        import httpx2

        headers = {"Accept": "application/json"}
        if token := _token(self._environ):
            headers["Authorization"] = token
        try:  # no proxy is asked: it would see the keys
            with httpx2.Client(trust_env=False, timeout=_TIMEOUT) as client:
                response = client.get(self.address, headers=headers)
        except httpx2.HTTPError as error:
            raise Unavailable(address=self.address, reason=str(error) or type(error).__name__) from error
        if response.status_code >= 500 or response.status_code == 429:
            raise Unavailable(address=self.address, reason=f"status {response.status_code}")
        if response.status_code != 200:
            source = f"container ({self.address})"
            raise Denied(
                address=self.address, key="credentials", credentials=source, reason=f"status {response.status_code}"
            )
        return _keys(response.text, self.address)


def container_credentials(environ: Mapping[str, str] | None = None) -> ContainerCredentials | None:
    """None outside of a container that is lent a role."""
    environ = os.environ if environ is None else environ
    if relative := environ.get(RELATIVE):
        return ContainerCredentials(f"{_HOST}{relative}", environ)
    if full := environ.get(FULL):
        _check(full)
        return ContainerCredentials(full, environ)
    return None


def _check(address: str) -> None:
    """Keys travel in the answer: without TLS only to who is on this machine."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        is_good = bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and _is_near(host)))
    except ValueError:
        is_good = False
    if not is_good:
        raise ConfigError(
            reason=f"{FULL} names {address!r}, which is neither https:// nor an address of this machine",
            hint="Take the address that the container's host gives; unset it to use other credentials.",
        )


def _is_near(host: str) -> bool:
    if host in _PLAIN_HOSTS:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _token(environ: Mapping[str, str]) -> str:
    """Read anew each time: whoever lends the role writes a new one into the file."""
    token = environ.get(_TOKEN, "")
    if path := environ.get(_TOKEN_FILE):
        try:
            with open(path, encoding="utf-8") as file:
                token = file.read().rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(reason=f"the token of the container's credentials cannot be read: {error}") from error
    if "\r" in token or "\n" in token:
        raise ConfigError(reason="the token of the container's credentials has several lines")
    return token


def _keys(text: str, address: str) -> dict[str, Any]:
    try:
        said = json.loads(text)
        keys: dict[str, Any] = {"access_key_id": said["AccessKeyId"], "secret_access_key": said["SecretAccessKey"]}
        expires = said.get("Expiration")
        keys["token"] = said.get("Token")
        keys["expires_at"] = datetime.fromisoformat(expires) if expires else None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        # What it said may hold a secret: only that it is wrong is told.
        raise StoreError(
            key="credentials", reason=f"{address} answered something else than credentials ({type(error).__name__})"
        ) from None
    if keys["expires_at"] is not None and keys["expires_at"].tzinfo is None:
        keys["expires_at"] = keys["expires_at"].replace(tzinfo=UTC)
    return keys


def _may_pass(error: Exception) -> bool:
    return isinstance(error, Unavailable)
