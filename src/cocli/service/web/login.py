"""Logging in with the one-time link, logging out, and who is here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from cocli.errors import LoginRequired
from cocli.models.record import render_utc
from cocli.service.web.access import Role
from cocli.service.web.routes import answer

if TYPE_CHECKING:
    from datetime import timedelta

    from cocli.service.web.routes import WebCall
    from cocli.service.web.sessions import SessionBook


class LinkToken(BaseModel):
    """The token of a one-time link."""

    model_config = ConfigDict(extra="forbid")

    token: str = Field(min_length=1, max_length=200)


class WebLogin:
    """Sessions by cookie."""

    def __init__(self, sessions: SessionBook, cookie: str, *, secure: bool, provider: str) -> None:
        self._sessions = sessions
        self._cookie = cookie
        self._secure = secure
        self._provider = provider

    def enter(self, call: WebCall) -> Response:
        secret = self._sessions.redeem(call.body(LinkToken).token)
        return self.with_cookie(JSONResponse({"login": True}), secret)

    def leave(self, call: WebCall) -> Response:
        self._sessions.close(call.principal)
        response = answer({"login": False})
        response.delete_cookie(self._cookie, path="/", secure=self._secure, httponly=True, samesite="lax")
        return response

    def session(self, call: WebCall) -> Response:
        principal = call.principal
        if principal.best is Role.NOBODY:
            raise LoginRequired
        ends = principal.expires_at
        return answer(
            {
                "login": True,
                "name": principal.name,
                "role": principal.best.word,
                "site_role": principal.role.word,
                "campaigns": {name: role.word for name, role in principal.campaigns.items()},
                "provider": principal.provider,
                "expires_at": render_utc(ends) if ends else None,
                "login_path": "/auth/login" if self._provider == "oidc" else None,
            }
        )

    def with_cookie(self, response: Response, secret: str) -> Response:
        """The session's secret for the browser: out of reach of scripts, and of other sites."""
        age = int(self.lifetime.total_seconds())
        response.set_cookie(
            self._cookie, secret, max_age=age, path="/", secure=self._secure, httponly=True, samesite="lax"
        )
        return response

    @property
    def lifetime(self) -> timedelta:
        return self._sessions.lifetime
