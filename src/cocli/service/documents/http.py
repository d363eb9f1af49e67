"""The HTTP side of the document service: what `http_routes` lists, each a method here.

    POST /v1/documents?doc=ID&uri=ADDRESS&connector=NAME&datasource=ID&filename=NAME
    Authorization: Bearer TOKEN
    Content-Type: the file's own

An answer is the message of the gRPC service as JSON; an error is `{"error": {…}}` as the command line prints it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from google.protobuf.json_format import ParseDict, ParseError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from cocli.app.documents.documents import UPLOAD
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.documents.save_order import row_etag
from cocli.errors import CocliError, UsageError
from cocli.keys.identities import datasource_id
from cocli.models.record import render_utc
from cocli.service.documents import grpc_methods as methods
from cocli.service.documents import http_ranges, messages
from cocli.service.documents.http_json import as_json
from cocli.service.documents.http_routes import ROUTES, openapi_page
from cocli.service.documents.quarantine import list_quarantine
from cocli.service.documents.transfers import BlobTransfers
from cocli.service.http_common import (
    Callers,
    RequestLog,
    body_pieces,
    failure,
    not_here,
    read_body,
    refusal,
)
from cocli.service.request_places import RequestPlaces

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from google.protobuf.message import Message
    from starlette.exceptions import HTTPException
    from starlette.requests import Request

    from cocli.app.documents.documents import Documents
    from cocli.app.documents.tokens import TokenCaller
    from cocli.documents.receipt import Receipt
    from cocli.service.connections import ConnectionLimits
    from cocli.service.documents.backend import ServiceBackend
    from cocli.service.documents.http_routes import HttpRoute

UPLOAD_SECONDS = 6 * 3600.0
"""For the body of a request: who needs longer goes on with an upload that can be resumed."""
_MAX_JSON = 65_536
_SHARE = 0.5
"""Of the bodies that are being read, for one account."""
_WAIT_SECONDS = 20.0
_SELECTIONS = {
    "": pb.STATE_SELECTION_UNSPECIFIED,
    "every": pb.STATE_SELECTION_EVERY,
    "intake": pb.STATE_SELECTION_INTAKE,
    "clusters": pb.STATE_SELECTION_CLUSTERS,
    "one_cluster": pb.STATE_SELECTION_ONE_CLUSTER,
}


class HttpService:
    def __init__(self, backend: ServiceBackend, limits: ConnectionLimits, *, seconds: float = UPLOAD_SECONDS) -> None:
        self._backend = backend
        self._callers = Callers(backend.caller)
        # A body that arrives slowly costs a connection and nothing else, so there are as many as there are connections,
        # but for some: a new caller must find one that can be closed for it.
        self._bodies = RequestPlaces(min(limits.total, limits.of_address) * 3 // 4, share=_SHARE)
        self._seconds = seconds
        self._transfers = BlobTransfers(backend)

    def application(self) -> Starlette:
        routes = [Route(route.path, self._answering(route), methods=[route.method]) for route in ROUTES]
        handlers: dict[Any, Any] = {404: _not_here, 405: _not_here}
        return Starlette(routes=routes, exception_handlers=handlers, middleware=[Middleware(RequestLog)])

    def _answering(self, route: HttpRoute) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                given = _parameters(request, route)
                if route.scope is None:
                    open_to_all: Callable[..., Awaitable[Response]] = getattr(self, route.name)
                    return await open_to_all(request)
                caller = await self._callers.caller(request)
                await self._backend.admit(caller, route.scope, 0)
                method: Callable[..., Awaitable[Response]] = getattr(self, route.name)
                return await method(request, caller, given)
            except ClientDisconnect:
                return Response(status_code=400)  # nobody is there to read it
            except CocliError as error:
                return refusal(error, self._backend.log)
            except Exception as error:  # noqa: BLE001  whatever it is, a caller gets a status and no trace
                return failure(error, self._backend.log)

        return answer

    async def health(self, request: Request) -> Response:  # noqa: ARG002  the framework's signature
        health = self._backend.health
        status = "ok" if health.is_well else "degraded"
        return JSONResponse({"status": status, **health.parts()}, status_code=200 if health.is_well else 503)

    async def openapi(self, request: Request) -> Response:  # noqa: ARG002  the framework's signature
        return JSONResponse(openapi_page())

    # --- documents

    async def list_documents(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        asked = pb.ListDocumentsRequest(
            datasource=given.get("datasource", ""),
            cluster=given.get("cluster", ""),
            kind=given.get("kind", ""),
            **_listing(given),
        )
        discretion = self._backend.discretion

        def page(documents: Documents, caller: TokenCaller, asked: pb.ListDocumentsRequest) -> Message:
            return methods.list_documents(documents, caller, asked, discretion.shown(caller))

        return await self._answered(caller, page, asked)

    async def list_states(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        asked = pb.ListStatesRequest(doc_id=given["doc"], **_selection(given), **_listing(given))
        return await self._answered(caller, methods.list_states, asked)

    async def delete(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:
        asked = pb.DeleteRequest(doc_id=given["doc"], if_match=_etag(request, "if-match"), **_selection(given))
        return await self._answered(caller, methods.delete, asked)

    async def restore(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        asked = pb.RestoreRequest(doc_id=given["doc"], **_selection(given))
        return await self._answered(caller, methods.restore, asked)

    async def purge(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        asked = pb.PurgeRequest(doc_id=given["doc"], reason=given.get("reason", ""))
        return await self._answered(caller, methods.purge, asked)

    async def _answered(
        self, caller: TokenCaller, method: Callable[[Documents, TokenCaller, Any], Message], asked: Message
    ) -> Response:
        documents = self._backend.documents.of(caller.account)

        def work() -> dict[str, Any]:
            return as_json(self._backend.discretion.marked(caller, method(documents, caller, asked)))

        return JSONResponse(await self._backend.threads.call(caller.account, work))

    async def _told(self, caller: TokenCaller, message: Message, status: int = 200) -> Response:
        """An answer that was made elsewhere, as it may be told."""
        discretion = self._backend.discretion
        if discretion.is_needed(caller):
            message = await asyncio.to_thread(discretion.marked, caller, message)
        return JSONResponse(as_json(message), status_code=status)

    # --- bytes in

    async def save(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:
        begin = _begin(request, caller, given)
        with self._bodies.taken(caller.account):
            return _saved(await self._transfers.save(caller, begin, self._pieces(request)))

    def _pieces(self, request: Request) -> AsyncIterator[bytes]:
        limit = self._backend.documents.section.max_upload_bytes
        return body_pieces(request, limit=limit, seconds=self._seconds, what="the file")

    async def begin_upload(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:
        row = await self._transfers.begin(caller, _begin(request, caller, given))
        answer = as_json(messages.upload_message(row))
        return JSONResponse(answer, status_code=201, headers={"Location": f"/v1/uploads/{row.upload}"})

    async def get_upload(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        row = await self._transfers.find(caller, given["upload"])
        return JSONResponse(as_json(messages.upload_message(row)), headers={"Upload-Offset": str(row.received)})

    async def append_upload(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:
        offset = request.headers.get("upload-offset", "")
        if not offset.isdecimal():
            raise UsageError(reason="the request has no Upload-Offset", hint="Ask where it stands: GET the upload.")
        row = await self._transfers.find(caller, given["upload"])
        with self._bodies.taken(caller.account):
            row = await self._transfers.receive(caller, row, int(offset), self._pieces(request))
        return JSONResponse(as_json(messages.upload_message(row)), headers={"Upload-Offset": str(row.received)})

    async def cancel_upload(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        row = await self._transfers.cancel(caller, given["upload"])
        return JSONResponse(as_json(messages.upload_message(row)))

    async def finish_upload(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        row = await self._transfers.find(caller, given["upload"])
        return _saved(await self._transfers.finish(caller, row))

    # --- bytes out

    async def content(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:
        found = await self._transfers.blob(caller, _wanted(caller, given))
        headers, size = http_ranges.headers_of(found), found.blob.size
        if http_ranges.is_known(request.headers, headers["ETag"]):
            return Response(status_code=304, headers={"ETag": headers["ETag"]})
        try:
            asked = http_ranges.asked(request.headers, size, headers["ETag"])
        except ValueError:
            refused = UsageError(reason=f"the blob has {size} bytes, and none of the range")
            answer = refusal(refused, self._backend.log)
            answer.status_code = 416
            answer.headers["Content-Range"] = f"bytes */{size}"
            return answer
        begin, end = asked or (0, size)
        headers["Content-Length"] = str(end - begin)
        if asked is not None:
            headers["Content-Range"] = f"bytes {begin}-{end - 1}/{size}"

        async def pieces() -> AsyncIterator[bytes]:
            with self._backend.streams.taken(caller.account):
                async for piece in self._transfers.pieces(caller.account, found, begin, end - begin):
                    yield piece

        return StreamingResponse(pieces(), 200 if asked is None else 206, headers, found.blob.mime_type)

    async def content_head(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        found = await self._transfers.blob(caller, _wanted(caller, given))
        headers = {**http_ranges.headers_of(found), "Content-Length": str(found.blob.size)}
        return Response(headers=headers, media_type=found.blob.mime_type)

    # --- replays

    async def list_replays(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        size = methods.page_size(_number(given, "page_size"))
        page = await self._backend.replays.page(caller.account, size, given.get("page_token", ""))
        return await self._told(caller, page)

    async def start_replay(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        body = await read_body(request, limit=_MAX_JSON, seconds=self._seconds, what="the request")
        asked = _from_json(body, pb.ReplayRequest())
        return await self._told(caller, await self._backend.replays.start(caller.account, asked), 202)

    async def get_replay(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        return await self._told(caller, await self._backend.replays.get(caller.account, given["job"]))

    async def pause_replay(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        return await self._told(caller, await self._backend.replays.pause(caller.account, given["job"]))

    async def resume_replay(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        return await self._told(caller, await self._backend.replays.resume(caller.account, given["job"]))

    async def cancel_replay(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        return await self._told(caller, await self._backend.replays.cancel(caller.account, given["job"]))

    # --- quarantine

    async def list_quarantine(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        asked = pb.ListQuarantineRequest(
            cluster=given.get("cluster", ""),
            datasource=given.get("datasource", ""),
            node=given.get("node", ""),
            released=_yes(given, "released"),
            page_size=_number(given, "page_size"),
            page_token=given.get("page_token", ""),
        )
        return await self._answered(caller, list_quarantine, asked)

    async def release_quarantine(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        body = await read_body(request, limit=_MAX_JSON, seconds=self._seconds, what="the request")
        asked = _from_json(body, pb.ReleaseQuarantineRequest())
        return await self._told(caller, await self._backend.replays.release(caller.account, asked, caller.who))

    # --- changes and usage

    async def changes(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        asked = pb.WatchRequest(resume_token=given.get("resume_token", ""), datasource=given.get("datasource", ""))
        with self._backend.streams.taken(caller.account):
            return await self._told(caller, await self._transfers.changes_page(caller, asked, _WAIT_SECONDS))

    async def usage(self, request: Request, caller: TokenCaller, given: dict[str, str]) -> Response:  # noqa: ARG002
        return JSONResponse(as_json(messages.usage_message(caller.account, self._backend)))


# --- what is asked


def _parameters(request: Request, route: HttpRoute) -> dict[str, str]:
    known = {parameter.name for parameter in route.parameters if parameter.where == "query"}
    given: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name not in known or name in given:
            hint = f"Known: {', '.join(sorted(known)) or 'none'}."
            raise UsageError(reason=f"the parameter {name[:40]} is not known, or given twice", hint=hint)
        given[name] = value
    for parameter in route.parameters:
        if parameter.required and parameter.where == "query" and not given.get(parameter.name):
            raise UsageError(reason=f"the request has no parameter {parameter.name}")
    return given | {name: str(value) for name, value in request.path_params.items()}


def _begin(request: Request, caller: TokenCaller, given: dict[str, str]) -> pb.BeginUploadRequest:
    doc = given.get("doc") or given.get("uri")
    if not doc:
        raise UsageError(reason="the request names no document", hint="Add ?doc=ID, or ?uri=ADDRESS.")
    mime_type = request.headers.get("content-type") or ""
    begin = pb.BeginUploadRequest(
        mime_type=mime_type, filename=given.get("filename", ""), sha256=given.get("sha256", "")
    )
    save = begin.save
    save.if_match = _etag(request, "if-match")
    save.if_absent = _absent(request)
    document = save.document
    document.doc_id = doc
    document.ownership.account_id = caller.account
    document.ownership.connector_id = given.get("connector") or UPLOAD
    document.ownership.datasource_id = given.get("datasource", "")
    document.source.uri = given.get("uri", "")
    document.source.mime_type = mime_type
    document.source.filename = given.get("filename", "")
    document.source.fetched_at.GetCurrentTime()
    return begin


def _wanted(caller: TokenCaller, given: dict[str, str]) -> pb.DownloadRequest:
    datasource = given.get("datasource") or datasource_id(caller.account, UPLOAD)
    return pb.DownloadRequest(
        doc_id=given["doc"],
        address=given.get("address") or datasource,
        cluster=given.get("cluster", ""),
        datasource=given.get("datasource", ""),
        blob_name=given.get("blob", ""),
    )


def _selection(given: dict[str, str]) -> dict[str, Any]:
    name = given.get("selection", "")
    if name not in _SELECTIONS:
        known = ", ".join(filter(None, _SELECTIONS))
        raise UsageError(reason=f"{name[:20]} is no selection of states", hint=f"There are {known}.")
    return {"selection": _SELECTIONS[name], "cluster": given.get("cluster", "")}


def _listing(given: dict[str, str]) -> dict[str, Any]:
    from google.protobuf.field_mask_pb2 import FieldMask

    mask = FieldMask(paths=[path for path in given.get("read_mask", "").split(",") if path])
    return {
        "page_size": _number(given, "page_size"),
        "page_token": given.get("page_token", ""),
        "deleted": _yes(given, "deleted"),
        "read_mask": mask,
    }


def _yes(given: dict[str, str], name: str) -> bool:
    value = given.get(name, "false")
    if value not in ("true", "false"):
        raise UsageError(reason=f"{name} is true or false")
    return value == "true"


def _number(given: dict[str, str], name: str) -> int:
    text = given.get(name, "")
    if text and not (text.isascii() and text.isdecimal() and 0 < int(text[:12]) <= methods.MAX_PAGE):
        raise UsageError(reason=f"{name} is a number from 1 to {methods.MAX_PAGE:,}")
    return int(text) if text else 0


def _etag(request: Request, header: str) -> str:
    given = request.headers.get(header, "")
    if not given or given == "*":
        return given
    return given.removeprefix("W/").strip('"')


def _absent(request: Request) -> bool:
    given = request.headers.get("if-none-match")
    if given not in (None, "*"):
        raise UsageError(reason="If-None-Match is * where something is saved")
    return given == "*"


def _from_json(body: bytes, message: Any) -> Any:
    import json

    try:
        return ParseDict(json.loads(body), message)
    except (ValueError, ParseError, RecursionError, TypeError, AttributeError) as error:
        raise UsageError(reason=f"the body is no {message.DESCRIPTOR.name}") from error


# --- answers


def _saved(receipt: Receipt) -> Response:
    row = receipt.row
    answer = {
        "outcome": receipt.outcome,
        "version": receipt.version,
        "uuid": row.uuid,
        "reference": receipt.reference.model_dump(mode="json"),
        "saved_at": render_utc(row.saved_at),
        "etag": row_etag(row),
    }
    status = 201 if receipt.outcome == "created" else 200
    return JSONResponse(answer, status_code=status, headers={"ETag": f'"{row_etag(row)}"'})


async def _not_here(request: Request, error: HTTPException) -> Response:  # noqa: ARG001  the framework's signature
    return not_here(error, "what GET /openapi.json lists")
