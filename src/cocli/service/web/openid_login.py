"""Logging in by a provider: the two routes of it, and which role somebody has in which campaign."""

from __future__ import annotations

import os
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import RedirectResponse, Response

from cocli.app.web.campaigns import known_campaigns
from cocli.app.web.settings import auth_section
from cocli.errors import CocliError, ConfigError, Forbidden, TokenRefused
from cocli.service.web.access import ROLES, Principal, Role
from cocli.service.web.openid import LoginAttempt, OpenIdClient, OpenIdProvider
from cocli.service.web.routes import WebRoute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.app.workspace import Workspace
    from cocli.models.campaign import AuthSection
    from cocli.service.web.login import WebLogin
    from cocli.service.web.routes import WebCall
    from cocli.service.web.sessions import SessionBook

_ATTEMPT_SECONDS = 600.0
_MOST_ATTEMPTS = 10_000
_CALLBACK = "/auth/callback"


@dataclass(frozen=True, slots=True)
class _Begun:
    attempt: LoginAttempt
    browser: str
    to: str
    at: float


@dataclass(slots=True)
class OpenIdLogin:
    """The routes."""

    provider: OpenIdProvider
    workspace: Workspace
    sessions: SessionBook
    login: WebLogin
    url: str
    cookie: str
    secure: bool
    _begun: dict[str, _Begun] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def routes(self) -> Sequence[WebRoute]:
        answers = "text/html"
        return (
            WebRoute(
                "GET", "/auth/login", Role.NOBODY, self.begin, "Log in by the provider",
                query={"next": "where to go then"}, answers=answers,
            ),
            WebRoute("GET", _CALLBACK, Role.NOBODY, self.finish, "Back from the provider", answers=answers),
        )  # fmt: skip

    def begin(self, call: WebCall) -> Response:
        attempt, browser = LoginAttempt.fresh(), secrets.token_urlsafe(32)
        begun = _Begun(attempt, browser, _own_path(call.asked("next", "/")), time.monotonic())
        address = self.provider.login_address(attempt, self.url + _CALLBACK)
        with self._lock:
            self._sweep()
            self._begun[attempt.state] = begun
        response = RedirectResponse(address, status_code=303)
        # Who comes back has to be who went: else somebody could be logged in as another without knowing.
        response.set_cookie(
            self._pending, browser, max_age=int(_ATTEMPT_SECONDS), path="/", secure=self.secure, httponly=True,
            samesite="lax",
        )  # fmt: skip
        return response

    def finish(self, call: WebCall) -> Response:
        with self._lock:
            begun = self._begun.pop(call.asked("state"), None)  # once: a state that comes again is unknown
        browser = call.request.cookies.get(self._pending, "")
        is_late = begun is None or time.monotonic() - begun.at > _ATTEMPT_SECONDS
        if begun is None or is_late or not secrets.compare_digest(begun.browser.encode(), browser.encode()):
            raise TokenRefused(reason="this login was not begun here, or it is too old", hint="Log in again.")
        if call.asked("iss", self.provider.client.issuer) != self.provider.client.issuer:
            raise TokenRefused(reason="another provider answered", hint="Log in again.")
        if call.asked("error") or not call.asked("code"):
            raise TokenRefused(reason="the provider let nobody in", hint="Log in again.")
        claims = self.provider.claims(begun.attempt, call.asked("code"), self.url + _CALLBACK)
        principal = self._principal(claims)
        response = RedirectResponse(begun.to, status_code=303)
        response.delete_cookie(self._pending, path="/", secure=self.secure, httponly=True, samesite="lax")
        return self.login.with_cookie(response, self.sessions.open(principal))

    @property
    def _pending(self) -> str:
        return f"{self.cookie}-login"

    def _principal(self, claims: dict[str, Any]) -> Principal:
        issuer = self.provider.client.issuer
        whole = role_by(auth_section(self.workspace.settings), claims, issuer, None)
        campaigns = {}
        for name in known_campaigns(self.workspace):
            role = _role_in(self.workspace, name, claims, issuer)
            if role > Role.NOBODY:
                campaigns[name] = role
        who = str(claims.get("email") or claims.get("preferred_username") or claims["sub"])[:200]
        if max([whole, *campaigns.values()]) is Role.NOBODY:
            raise Forbidden(who=who, reason="no campaign names them in [auth]")
        return Principal(who, "oidc", whole, campaigns)

    def _sweep(self) -> None:
        before = time.monotonic() - _ATTEMPT_SECONDS
        self._begun = {state: begun for state, begun in self._begun.items() if begun.at > before}
        while len(self._begun) >= _MOST_ATTEMPTS:
            del self._begun[next(iter(self._begun))]


def _role_in(workspace: Workspace, name: str, claims: dict[str, Any], issuer: str) -> Role:
    try:
        section = auth_section(workspace.campaign(name).settings)
    except CocliError:  # a campaign that cannot be read lets nobody in; its card says why
        return Role.NOBODY
    return role_by(section, claims, issuer, name)


def role_by(section: AuthSection, claims: dict[str, Any], issuer: str, campaign: str | None) -> Role:
    """What `[auth]` makes of somebody: by the claim that names roles, and by the lists."""
    if section.provider != "oidc" or section.issuer != issuer:
        return Role.NOBODY
    names = {str(claims["sub"])}
    if claims.get("email_verified") in (True, "true") and isinstance(claims.get("email"), str):
        names.add(str(claims["email"]).lower())
    found = [Role.NOBODY]
    for role, listed in ((Role.VIEWER, section.viewers), (Role.EDITOR, section.editors), (Role.ADMIN, section.admins)):
        if any(name == "*" or name in names or name.lower() in names for name in listed):
            found.append(role)
    said = claims.get(section.role_claim) if section.role_claim else None
    values = said if isinstance(said, list) else [said]
    return max([*found, *(_role_word(value, campaign) for value in values if isinstance(value, str))])


def _role_word(value: str, campaign: str | None) -> Role:
    """`editor` is over all that the section is about; `plumbers:editor` over one campaign."""
    named, separator, word = value.rpartition(":")
    if separator and named != campaign:
        return Role.NOBODY
    return ROLES.get(word.removeprefix("cocli-"), Role.NOBODY)


def _own_path(text: str) -> str:
    """Only a path of ours: nobody is led elsewhere by a login."""
    is_ours = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable()
    return text if is_ours and len(text) < 2000 else "/"


def open_provider(section: AuthSection) -> OpenIdProvider:
    """The provider that is configured."""
    if section.issuer is None or section.client_id is None:
        raise ConfigError(reason='[auth] provider "oidc" needs issuer and client_id')
    secret = None
    if section.client_secret_file is not None:
        path = os.path.expanduser(section.client_secret_file)
        try:
            with open(path, encoding="utf-8") as file:
                secret = file.read().strip()
        except OSError as error:
            reason = f"client_secret_file {path} cannot be read: {os.strerror(error.errno or 0)}"
            raise ConfigError(reason=reason) from error
    return OpenIdProvider(OpenIdClient(section.issuer, section.client_id, secret, section.scopes))
