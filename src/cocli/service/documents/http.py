"""The HTTP side: `POST /v1/documents` takes a raw file, `GET /healthz` says that somebody is there.

    POST /v1/documents?doc=ID&uri=ADDRESS&connector=NAME&datasource=ID&filename=NAME
    Authorization: Bearer TOKEN
    Content-Type: the file's own

The answer is the receipt as JSON; an error is `{"error": {…}}` as the command line prints it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cocli.app.documents.documents import UPLOAD, Upload, upload
from cocli.errors import CocliError, UsageError
from cocli.models.record import render_utc
from cocli.service.http_common import Callers, RequestLog, failure, not_here, read_body, refusal
from cocli.service.request_places import RequestPlaces

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from starlette.exceptions import HTTPException
    from starlette.requests import Request

    from cocli.app.documents.documents import Documents
    from cocli.app.documents.tokens import Tokens
    from cocli.documents.receipt import Receipt

UPLOAD_SECONDS = 600.0
AT_ONCE = 80
"""Uploads that are read or saved; more are refused at once, to be tried again."""
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
        self._callers = Callers(tokens, clock)
        self._places = RequestPlaces(AT_ONCE)
        self._log = log
        self._seconds = seconds

    def application(self) -> Starlette:
        routes = [
            Route("/v1/documents", self.save, methods=["POST"]),
            Route("/healthz", self.health, methods=["GET"]),
        ]
        handlers: dict[Any, Any] = {404: _not_here, 405: _not_here}
        return Starlette(routes=routes, exception_handlers=handlers, middleware=[Middleware(RequestLog)])

    async def health(self, request: Request) -> Response:  # noqa: ARG002  the framework's signature
        return JSONResponse({"status": "ok"})

    async def save(self, request: Request) -> Response:
        try:
            account = await self._callers.account(request)
            given = _parameters(request)
            limit = self._documents.section.max_upload_bytes
            with self._places.taken(account):
                data = await read_body(request, limit=limit, seconds=self._seconds, what="the file")
                receipt = await run_in_threadpool(upload, self._documents.of(account), _upload(request, given, data))
            return JSONResponse(_receipt(receipt), status_code=201 if receipt.outcome == "created" else 200)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        except CocliError as error:
            return refusal(error, self._log)
        except Exception as error:  # noqa: BLE001  whatever it is, a caller gets a status and no trace
            return failure(error, self._log)


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


def _upload(request: Request, given: dict[str, str], data: bytes) -> Upload:
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
    return not_here(error, "POST /v1/documents and GET /healthz")
