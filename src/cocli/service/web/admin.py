"""Tokens, webhooks, and the log of who did what."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from cocli.service.web.access import ROLES, Principal, Role
from cocli.service.web.routes import WebRoute, answer
from cocli.service.web.wishes import TokenWish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response

    from cocli.app.web.kept.journal import WebJournal
    from cocli.app.web.kept.tokens import TokenBook, WebToken
    from cocli.service.web.routes import WebCall

_MOST_LINES = 1000


class AccessRoutes:
    """Who may come in by programs, and what everybody did."""

    def __init__(self, tokens: TokenBook, journal: WebJournal) -> None:
        self._tokens = tokens
        self._journal = journal

    def routes(self) -> Sequence[WebRoute]:
        return (
            WebRoute("GET", "/api/tokens", Role.ADMIN, self.tokens, "The API tokens"),
            WebRoute("POST", "/api/tokens", Role.ADMIN, self.make_token, "Make a token", takes=TokenWish),
            WebRoute("DELETE", "/api/tokens/{id}", Role.ADMIN, self.revoke, "Revoke a token"),
            WebRoute("GET", "/api/log", Role.ADMIN, self.log, "Who did what", query={"limit": "lines, at most 1,000"}),
        )

    def tokens(self, _call: WebCall) -> Response:
        return answer({"tokens": [asdict(token) for token in self._tokens.all()]})

    def make_token(self, call: WebCall) -> Response:
        wish = call.body(TokenWish)
        token, secret = self._tokens.make(wish.name, wish.role, wish.campaigns, wish.days, call.principal.name)
        undo = {"method": "DELETE", "path": f"/api/tokens/{token.id}", "body": None}
        return answer({"token": asdict(token), "secret": secret, "command": None, "undo": undo}, 201)

    def revoke(self, call: WebCall) -> Response:
        return answer({"token": asdict(self._tokens.revoke(call.params["id"])), "command": None, "undo": None})

    def log(self, call: WebCall) -> Response:
        limit = call.number("limit", most=_MOST_LINES, what="lines")
        return answer({"lines": self._journal.last(limit)})


def principal_of(token: WebToken) -> Principal:
    """What a token may do."""
    role = ROLES.get(token.role, Role.NOBODY)
    name = f"token {token.name}"
    if token.campaigns is None:
        return Principal(name, "token", role)
    return Principal(name, "token", Role.NOBODY, dict.fromkeys(token.campaigns, role))
