"""What the HTTP services share: who calls, a body within bounds, and errors as the one envelope."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from cocli import logs
from cocli.errors import QuotaExceeded, TokenRefused, TooLarge, TooManyRequests, TooSlow, UsageError
from cocli.service.connections import network_of, note_caller
from cocli.service.rate_limit import RateLimit
from cocli.service.statuses import INTERNAL, logged, status_of, told

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from datetime import datetime

    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from cocli.app.documents.tokens import TokenCaller, Tokens
    from cocli.errors import CocliError

_LOG = logs.get_logger(__name__)

_DISCARD_SECONDS = 2.0
"""With who sends more than is taken."""
_FIRST_SECONDS = 20.0
_SLOWEST = 10_000
"""Bytes a second that a body has to bring, after the first seconds."""
_REFUSALS_PER_MINUTE = 60
_REFUSAL_SECONDS = 1.0
"""For which an address waits for its next refusal, when it had more than it may have in a minute."""


class Callers:
    """Who calls, by token: known before anything of the body is read. `check` finds it out."""

    def __init__(self, check: Callable[[str], Awaitable[TokenCaller]]) -> None:
        self._check = check
        self._refusals = RateLimit(_REFUSALS_PER_MINUTE, time.monotonic)

    @classmethod
    def by_tokens(cls, tokens: Tokens, clock: Callable[[], datetime]) -> Callers:
        """In a thread: whether a token was revoked, or its machine evicted, is asked of the store."""
        return cls(lambda token: run_in_threadpool(tokens.caller, token, clock()))

    async def account(self, request: Request) -> str:
        return (await self.caller(request)).account

    async def caller(self, request: Request) -> TokenCaller:
        try:
            caller = await self._check(bearer(request))
        except TokenRefused:
            await self._slow_down(request)
            raise
        note_caller(request.scope)
        return caller

    async def _slow_down(self, request: Request) -> None:
        """Waiting costs nothing here, and whoever guesses has few connections to wait with."""
        try:
            self._refusals.take(network_of(request.client.host) if request.client else "")
        except TooManyRequests:
            await asyncio.sleep(_REFUSAL_SECONDS)


def bearer(request: Request) -> str:
    """The token of a request, unchecked."""
    given = request.headers.getlist("authorization")
    if len(given) != 1 or not given[0].startswith("Bearer "):
        raise TokenRefused(reason="the request has none, or more than one")
    return given[0].removeprefix("Bearer ")


async def read_body(request: Request, *, limit: int, seconds: float, what: str) -> bytes:
    """The body: one that is too large, too slow, or never ends, is not kept and not read to its end."""
    return b"".join([piece async for piece in body_pieces(request, limit=limit, seconds=seconds, what=what)])


async def body_pieces(request: Request, *, limit: int, seconds: float, what: str) -> AsyncIterator[bytes]:
    """The body, piece by piece. Only the time counts that the caller takes, not what is done with the pieces."""
    announced = request.headers.get("content-length", "")
    stream, size, waited = aiter(request.stream()), 0, 0.0
    if announced.isdecimal() and int(announced) > limit:
        size = int(announced)
    while size <= limit:
        begun = time.monotonic()
        allowed = min(seconds, _FIRST_SECONDS + size / _SLOWEST)
        try:
            piece = await asyncio.wait_for(anext(stream), max(0.0, allowed - waited))
        except StopAsyncIteration:
            return
        except TimeoutError as error:
            waited += time.monotonic() - begun
            raise TooSlow(what=what, size=size, seconds=round(waited)) from error
        waited += time.monotonic() - begun
        size += len(piece)
        if size <= limit:
            yield piece
    await _discard(stream)
    raise TooLarge(what=what, size=announced or f"more than {limit}", limit=limit)


async def _discard(stream: AsyncIterator[bytes]) -> None:
    """Who is cut off while sending may never see the answer."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_DISCARD_SECONDS):
            async for _ in stream:
                pass


def refusal(error: CocliError, log: Callable[[str], None]) -> Response:
    """An error as an answer. What went wrong inside is for the log."""
    status = status_of(error)[1]
    if status >= 500:
        log(logged(error))
        _LOG.warning("a request cannot be answered: %s", error.message)
    headers = {"Connection": "close"} if isinstance(error, TooLarge | TooSlow) else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, TooManyRequests | QuotaExceeded):
        headers["Retry-After"] = str(error.details["wait"])
    elif status == 503:
        headers["Retry-After"] = "1"
    return JSONResponse({"error": told(error)}, status_code=status, headers=headers)


def failure(error: Exception, log: Callable[[str], None]) -> Response:
    """A mistake of ours as an answer: a caller gets a status and no trace."""
    log(logged(error))
    _LOG.error("a request failed by a mistake in the program", exc_info=error)
    return JSONResponse({"error": INTERNAL}, status_code=500)


class RequestLog:
    """Around an application: one record per request, with method, path and status. Never its query, headers or body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _LOG.isEnabledFor(logging.INFO):
            await self._app(scope, receive, send)
            return
        fields = {"method": scope["method"], "path": scope["path"], "status": None}
        started = time.monotonic()

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                fields["status"] = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            _LOG.info("request", extra=fields | {"seconds": round(time.monotonic() - started, 3)})


def not_here(error: HTTPException, there_is: str) -> Response:
    """For an address or a method that the service does not have."""
    envelope = {"error": told(UsageError(reason=f"there is {there_is}, and nothing else"))}
    return JSONResponse(envelope, status_code=error.status_code, headers=error.headers)
