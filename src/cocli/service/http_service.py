"""The HTTP side: `POST /v1/documents` takes a raw file, `GET /healthz` says that somebody is there.

    POST /v1/documents?doc=ID&uri=ADDRESS&connector=NAME&datasource=ID&filename=NAME
    Authorization: Bearer TOKEN
    Content-Type: the file's own

The answer is the receipt as JSON; an error is `{"error": {…}}` as the command line prints it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cocli.app.documents import UPLOAD, Upload, upload
from cocli.errors import CocliError, ServiceUnavailable, TokenRefused, TooLarge, UsageError
from cocli.models.record import render_utc
from cocli.service.statuses import INTERNAL, logged, status_of, told

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from starlette.exceptions import HTTPException
    from starlette.requests import Request

    from cocli.app.documents import Documents
    from cocli.app.documents_tokens import Tokens
    from cocli.documents.receipt import Receipt

UPLOAD_SECONDS = 600.0
_PATIENCE_SECONDS = 2.0
"""With who sends more than is taken."""
_PARAMETERS = frozenset({"doc", "uri", "connector", "datasource", "filename"})


class HttpService:
    def __init__(
        self,
        documents: Documents,
        tokens: Tokens,
        *,
        clock: Callable[[], datetime],
        log: Callable[[str], None],
        seconds: float = UPLOAD_SECONDS,
    ) -> None:
        self._documents = documents
        self._tokens = tokens
        self._clock = clock
        self._log = log
        self._seconds = seconds

    def application(self) -> Starlette:
        routes = [
            Route("/v1/documents", self.save, methods=["POST"]),
            Route("/healthz", self.health, methods=["GET"]),
        ]
        handlers: dict[Any, Any] = {404: _not_here, 405: _not_here}
        return Starlette(routes=routes, exception_handlers=handlers)

    async def health(self, request: Request) -> Response:  # noqa: ARG002  the framework's signature
        return JSONResponse({"status": "ok"})

    async def save(self, request: Request) -> Response:
        try:
            account = self._account(request)
            given = _parameters(request)
            data = await self._body(request)
            receipt = await run_in_threadpool(upload, self._documents.of(account), _wish(request, given, data))
            return JSONResponse(_receipt(receipt), status_code=201 if receipt.outcome == "created" else 200)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        except CocliError as error:
            return self._refusal(error)
        except Exception as error:  # noqa: BLE001  whatever it is, a caller gets a status and no trace
            self._log(logged(error))
            return JSONResponse({"error": INTERNAL}, status_code=500)

    def _refusal(self, error: CocliError) -> Response:
        status = status_of(error)[1]
        if status >= 500:
            self._log(logged(error))
        headers = {"Connection": "close"} if isinstance(error, TooLarge) else {}
        if status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return JSONResponse({"error": told(error)}, status_code=status, headers=headers)

    def _account(self, request: Request) -> str:
        given = request.headers.getlist("authorization")
        if len(given) != 1 or not given[0].startswith("Bearer "):
            raise TokenRefused(reason="the request has none, or more than one")
        return self._tokens.account(given[0].removeprefix("Bearer "), self._clock())

    async def _body(self, request: Request) -> bytes:
        """The file, piece by piece: one that is too large, or never ends, is not kept and not read to its end."""
        limit = self._documents.section.max_upload_bytes
        announced = request.headers.get("content-length", "")
        size = int(announced) if announced.isdecimal() and int(announced) > limit else 0
        body = bytearray()
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS if size > limit else self._seconds) as patience:
                async for piece in request.stream():
                    if size > limit:
                        continue  # who is cut off while sending may never see the answer
                    body += piece
                    if len(body) > limit:
                        size = len(body)
                        body.clear()
                        patience.reschedule(asyncio.get_running_loop().time() + _PATIENCE_SECONDS)
        except TimeoutError as error:
            if size <= limit:
                reason = f"the file did not arrive within {self._seconds:g} seconds"
                raise ServiceUnavailable(address="this address", reason=reason) from error
        if size > limit:
            raise TooLarge(what="the file", size=announced or f"more than {limit}", limit=limit)
        return bytes(body)


def _parameters(request: Request) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name not in _PARAMETERS or name in given:
            known = ", ".join(sorted(_PARAMETERS))
            raise UsageError(reason=f"the parameter {name[:40]} is not known, or given twice", hint=f"Known: {known}.")
        given[name] = value
    if not (given.get("doc") or given.get("uri")):
        raise UsageError(reason="the request names no document", hint="Add ?doc=ID, or ?uri=ADDRESS.")
    return given


def _wish(request: Request, given: dict[str, str], data: bytes) -> Upload:
    return Upload(
        data,
        doc=given.get("doc") or given["uri"],
        connector=given.get("connector") or UPLOAD,
        datasource=given.get("datasource") or None,
        uri=given.get("uri") or None,
        mime_type=request.headers.get("content-type") or None,
        filename=given.get("filename") or None,
    )


def _receipt(receipt: Receipt) -> dict[str, Any]:
    row = receipt.row
    return {
        "outcome": receipt.outcome,
        "version": receipt.version,
        "uuid": row.uuid,
        "reference": receipt.reference.model_dump(mode="json"),
        "saved_at": render_utc(row.saved_at),
    }


async def _not_here(request: Request, error: HTTPException) -> Response:  # noqa: ARG001  the framework's signature
    reason = "there is POST /v1/documents and GET /healthz, and nothing else"
    return JSONResponse(
        {"error": told(UsageError(reason=reason))}, status_code=error.status_code, headers=error.headers
    )
