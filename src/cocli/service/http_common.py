"""What the HTTP services share: who calls, a body within bounds, and errors as the one envelope."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from cocli import logs
from cocli.errors import ServiceUnavailable, TokenRefused, TooLarge, TooManyRequests, UsageError
from cocli.service.statuses import INTERNAL, logged, status_of, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from cocli.errors import CocliError

_LOG = logs.get_logger(__name__)

_DISCARD_SECONDS = 2.0
"""With who sends more than is taken."""


def bearer(request: Request) -> str:
    """The token of a request, unchecked."""
    given = request.headers.getlist("authorization")
    if len(given) != 1 or not given[0].startswith("Bearer "):
        raise TokenRefused(reason="the request has none, or more than one")
    return given[0].removeprefix("Bearer ")


async def read_body(request: Request, *, limit: int, seconds: float, what: str) -> bytes:
    """The body, piece by piece: one that is too large, or never ends, is not kept and not read to its end."""
    announced = request.headers.get("content-length", "")
    size = 0
    if announced.isdecimal() and int(announced) > limit:
        size = int(announced)
    body = bytearray()
    try:
        async with asyncio.timeout(_DISCARD_SECONDS if size > limit else seconds) as deadline:
            async for piece in request.stream():
                if size > limit:
                    continue  # who is cut off while sending may never see the answer
                body += piece
                if len(body) > limit:
                    size = len(body)
                    body.clear()
                    deadline.reschedule(asyncio.get_running_loop().time() + _DISCARD_SECONDS)
    except TimeoutError as error:
        if size <= limit:
            reason = f"{what} did not arrive within {seconds:g} seconds"
            raise ServiceUnavailable(address="this address", reason=reason) from error
    if size > limit:
        raise TooLarge(what=what, size=announced or f"more than {limit}", limit=limit)
    return bytes(body)


def refusal(error: CocliError, log: Callable[[str], None]) -> Response:
    """An error as an answer. What went wrong inside is for the log."""
    status = status_of(error)[1]
    if status >= 500:
        log(logged(error))
        _LOG.warning("a request cannot be answered: %s", error.message)
    headers = {"Connection": "close"} if isinstance(error, TooLarge) else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, TooManyRequests):
        headers["Retry-After"] = str(error.details["wait"])
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
