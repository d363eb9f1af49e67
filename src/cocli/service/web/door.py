"""The door: who asks, by session or token; whether they may; and an answer for everything that goes wrong behind it."""

from __future__ import annotations

import time
from inspect import isawaitable
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from cocli.errors import CocliError, Forbidden, LoginRequired, TokenRefused
from cocli.service.connections import network_of, note_caller
from cocli.service.http_common import failure, read_body, refusal
from cocli.service.rate_limit import RateLimit
from cocli.service.web.access import Principal, Role
from cocli.service.web.routes import WebCall

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from cocli.pipeline.suppression.veil import Veil
    from cocli.service.request_places import RequestPlaces
    from cocli.service.web.routes import WebRoute
    from cocli.service.web.sessions import SessionBook

NOBODY = Principal("nobody", "none", Role.NOBODY)
_BODY_SECONDS = 120.0
_GUESSES_PER_MINUTE = 30
_OF_THE_BODY = ("content-length", "content-type", "etag")


class WebDoor:
    """Makes an endpoint of every route."""

    def __init__(
        self,
        sessions: SessionBook,
        by_token: Callable[[str], Principal],
        places: RequestPlaces,
        *,
        cookie: str,
        noted: Callable[[Principal, WebRoute, str, int], None],
        log: Callable[[str], None],
        gate: Callable[[], None],
        veil: Callable[[str | None], Veil | None] = lambda _: None,
    ) -> None:
        """`gate` is asked before anything is changed: a machine that was evicted changes nothing. `veil` is what the
        answers pass through: the do-not-contact list of a campaign, or of the whole store."""
        self._sessions = sessions
        self._by_token = by_token
        self._places = places
        self.cookie = cookie
        self._noted = noted
        self._log = log
        self._gate = gate
        self._veil = veil
        self._guesses = RateLimit(_GUESSES_PER_MINUTE, time.monotonic)

    def endpoint(self, route: WebRoute) -> Callable[[Request], Awaitable[Response]]:
        async def answered(request: Request) -> Response:
            principal = NOBODY
            try:
                principal = await self._who(request)
                self._check(route, principal, request.path_params)
                note_caller(request.scope)
                if route.changes and route.role not in (Role.NOBODY, Role.VIEWER):
                    await run_in_threadpool(self._gate)
                response = await self._done(route, request, principal)
                if route.role is not Role.NOBODY:
                    response = await run_in_threadpool(self._shown, response, request.path_params)
            except ClientDisconnect:
                return Response(status_code=400)  # nobody is there to read it
            except CocliError as error:
                response = refusal(error, self._log)
            except Exception as error:  # noqa: BLE001  whatever it is, a caller gets a status and no trace
                response = failure(error, self._log)
            if route.changes:
                await run_in_threadpool(self._noted, principal, route, request.url.path, response.status_code)
            return response

        return answered

    def _shown(self, response: Response, params: dict[str, str]) -> Response:
        """The answer without what is left alone. Files below `data/` have passed the list where they were made."""
        kind = (response.media_type or "").partition(";")[0]
        if "path" in params or not (kind.startswith("text/") or kind.endswith("json")) or not hasattr(response, "body"):
            return response
        veil = self._veil(params.get("campaign"))
        if veil is not None and (body := veil.scrubber.data(bytes(response.body))) != response.body:
            headers = {name: value for name, value in response.headers.items() if name not in _OF_THE_BODY}
            return Response(body, response.status_code, headers, response.media_type)
        return response

    async def _done(self, route: WebRoute, request: Request, principal: Principal) -> Response:
        if route.is_async:
            made = route.handler(WebCall(request, principal, request.path_params))
            return await made if isawaitable(made) else made
        if route.ready is not None:
            at_once = route.ready(WebCall(request, principal, request.path_params))
            if at_once is not None:
                return at_once
        with self._places.taken(principal.session or principal.name):
            raw = b""
            if route.changes:
                raw = await read_body(request, limit=route.max_body, seconds=_BODY_SECONDS, what="the request")
            call = WebCall(request, principal, request.path_params, raw)
            response = await run_in_threadpool(route.handler, call)
        if not isinstance(response, Response):
            raise TypeError(f"{route.path} answered with {type(response).__name__}")
        return response

    async def _who(self, request: Request) -> Principal:
        given = request.headers.getlist("authorization")
        if given:
            if len(given) != 1 or not given[0].startswith("Bearer "):
                raise TokenRefused(reason="the request has no bearer token")
            try:
                return await run_in_threadpool(self._by_token, given[0].removeprefix("Bearer "))
            except TokenRefused:
                self._guesses.take(network_of(request.client.host) if request.client else "")
                raise
        secret = request.cookies.get(self.cookie)
        return (self._sessions.find(secret) if secret else None) or NOBODY

    def _check(self, route: WebRoute, principal: Principal, params: dict[str, str]) -> None:
        if route.role is Role.NOBODY:
            return
        if principal.best is Role.NOBODY:
            raise LoginRequired
        campaign = params.get("campaign")
        if campaign is not None:
            role = principal.role_in(campaign)
        else:
            role = principal.best if route.role is Role.VIEWER else principal.role
        if role < route.role:
            raise Forbidden(
                who=principal.name, reason=f"it needs the role {route.role.word}, and theirs is {role.word}"
            )
