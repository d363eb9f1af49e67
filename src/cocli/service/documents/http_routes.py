"""The HTTP interface as a table: from it come the routes that are served and the OpenAPI page that describes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.app.documents.tokens import TokenScope
from cocli.config.version import __version__
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.service.documents.http_json import schema_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from google.protobuf.message import Message


@dataclass(frozen=True, slots=True)
class HttpParameter:
    name: str
    text: str
    kind: str = "string"
    where: str = "query"
    required: bool = False
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class HttpRoute:
    """`name` is the method of `HttpService` that answers; `answer` the message that it answers with."""

    method: str
    path: str
    name: str
    text: str
    scope: TokenScope | None = TokenScope.READ
    parameters: Sequence[HttpParameter] = ()
    body: str | None = None
    """The type of the request's body; None where there is none."""
    request: type[Message] | None = None
    """Of a body in JSON."""
    answer: type[Message] | None = None
    schema: Mapping[str, Any] | None = None
    """Of an answer that is no message."""
    status: int = 200
    statuses: Sequence[int] = field(default=())
    """Others, beside those of errors that any request may have."""


_DOC = HttpParameter("doc", "The id of the document.", required=True)
_PAGE = (
    HttpParameter("page_size", "Rows of a page; 100 where it is not said.", "integer", maximum=10_000),
    HttpParameter("page_token", "The next_page_token of the page before."),
)
_DELETED = HttpParameter("deleted", "Also what was deleted.", "boolean")
_MASK = HttpParameter("read_mask", "Names of fields, with commas; all where it is not said.")
_SELECTION = (
    HttpParameter("selection", "every, intake, clusters or one_cluster."),
    HttpParameter("cluster", "The edition, for one_cluster."),
)
_IF_MATCH = HttpParameter("If-Match", "The etag that the state must have.", where="header")
_IF_ABSENT = HttpParameter("If-None-Match", "* where there must be none yet.", where="header")
_UPLOAD = (
    HttpParameter("doc", "The id of the document; its address where it is not said."),
    HttpParameter("uri", "The address that it was read from."),
    HttpParameter("connector", "How it came in; upload where it is not said."),
    HttpParameter("datasource", "Where it came from; made from account and connector where it is not said."),
    HttpParameter("filename", "The name of the file."),
)
_STATE = (
    _DOC,
    HttpParameter("datasource", "Where it came from; that of uploads where nothing is said of the state."),
    HttpParameter("address", "The node, for a state of an edition."),
    HttpParameter("cluster", "The edition, for a state of one."),
    HttpParameter("blob", "The name of the blob; body where it is not said."),
)
_UPLOAD_ID = HttpParameter("upload", "The id of the upload.", where="path", required=True)
_JOB = HttpParameter("job", "The id of the replay.", where="path", required=True)
_ANY = "application/octet-stream"
_TEXT = {"type": "string"}
_REFERENCE = ("account", "connector", "datasource", "doc", "address", "digest")
_RECEIPT = {
    "type": "object",
    "required": ["outcome", "version", "uuid", "reference", "saved_at", "etag"],
    "properties": {
        "outcome": {"enum": ["created", "unchanged", "updated"]},
        "version": {"type": "integer", "minimum": 1},
        "uuid": _TEXT,
        "reference": {
            "type": "object",
            "required": list(_REFERENCE),
            "properties": {**dict.fromkeys(_REFERENCE, _TEXT), "cluster": {"type": ["string", "null"]}},
        },
        "saved_at": {"type": "string", "format": "date-time"},
        "etag": _TEXT,
    },
}

ROUTES: tuple[HttpRoute, ...] = (
    HttpRoute(
        "GET", "/v1/documents", "list_documents", "List states, page by page",
        parameters=(
            HttpParameter("datasource", "Only of this datasource."),
            HttpParameter("cluster", "Only of this edition."),
            HttpParameter("kind", "intake or state."), _DELETED, *_PAGE, _MASK,
        ),
        answer=pb.ListDocumentsResponse,
    ),
    HttpRoute(
        "POST", "/v1/documents", "save", "Save a raw file as a document", TokenScope.WRITE,
        (*_UPLOAD, _IF_MATCH, _IF_ABSENT), body=_ANY, schema=_RECEIPT, statuses=(201, 412),
    ),
    HttpRoute(
        "DELETE", "/v1/documents", "delete", "Leave tombstones; restore brings it back", TokenScope.WRITE,
        (_DOC, *_SELECTION, _IF_MATCH), answer=pb.DeleteResponse, statuses=(412,),
    ),
    HttpRoute(
        "POST", "/v1/documents/restore", "restore", "Bring back what was deleted", TokenScope.WRITE,
        (_DOC, *_SELECTION), answer=pb.RestoreResponse,
    ),
    HttpRoute(
        "POST", "/v1/documents/purge", "purge", "Remove every version for good", TokenScope.PURGE,
        (_DOC, HttpParameter("reason", "Why, for the proof.")), answer=pb.PurgeResponse,
    ),
    HttpRoute(
        "GET", "/v1/documents/states", "list_states", "List the states of a document",
        parameters=(_DOC, *_SELECTION, _DELETED, *_PAGE, _MASK), answer=pb.ListStatesResponse,
    ),
    HttpRoute(
        "GET", "/v1/documents/content", "content", "The bytes of a blob, or a range of them",
        parameters=(
            *_STATE,
            HttpParameter("Range", "bytes=FROM-TO", where="header"),
            HttpParameter("If-Range", "The etag that the range is of.", where="header"),
            HttpParameter("If-None-Match", "The etag that is known already.", where="header"),
        ),
        statuses=(206, 304, 416),
    ),
    HttpRoute(
        "HEAD", "/v1/documents/content", "content_head", "The size and the etag of a blob", parameters=_STATE,
    ),
    HttpRoute(
        "POST", "/v1/uploads", "begin_upload", "Begin an upload that can be resumed", TokenScope.WRITE,
        (*_UPLOAD, HttpParameter("sha256", "What the bytes must have in the end."), _IF_MATCH, _IF_ABSENT),
        answer=pb.UploadState, status=201,
    ),
    HttpRoute(
        "GET", "/v1/uploads/{upload}", "get_upload", "How far an upload is", parameters=(_UPLOAD_ID,),
        answer=pb.UploadState,
    ),
    HttpRoute(
        "PATCH", "/v1/uploads/{upload}", "append_upload", "Bytes of an upload, behind those that are there",
        TokenScope.WRITE,
        (
            _UPLOAD_ID,
            HttpParameter("Upload-Offset", "Where they begin.", "integer", "header", required=True),
        ),
        body=_ANY, answer=pb.UploadState,
    ),
    HttpRoute(
        "DELETE", "/v1/uploads/{upload}", "cancel_upload", "Give an upload up", TokenScope.WRITE, (_UPLOAD_ID,),
        answer=pb.UploadState,
    ),
    HttpRoute(
        "POST", "/v1/uploads/{upload}/finish", "finish_upload", "Save the document of an upload", TokenScope.WRITE,
        (_UPLOAD_ID,), schema=_RECEIPT, statuses=(201, 412),
    ),
    HttpRoute(
        "GET", "/v1/replays", "list_replays", "List the replays, the latest first", parameters=_PAGE,
        answer=pb.ListReplaysResponse,
    ),
    HttpRoute(
        "POST", "/v1/replays", "start_replay", "Begin a replay", TokenScope.WRITE, body="application/json",
        request=pb.ReplayRequest, answer=pb.ReplayJob, status=202,
    ),
    HttpRoute("GET", "/v1/replays/{job}", "get_replay", "How far it is", parameters=(_JOB,), answer=pb.ReplayJob),
    HttpRoute(
        "POST", "/v1/replays/{job}/pause", "pause_replay", "Pause it", TokenScope.WRITE, (_JOB,), answer=pb.ReplayJob
    ),
    HttpRoute(
        "POST", "/v1/replays/{job}/resume", "resume_replay", "Let it go on", TokenScope.WRITE, (_JOB,),
        answer=pb.ReplayJob,
    ),
    HttpRoute(
        "POST", "/v1/replays/{job}/cancel", "cancel_replay", "Stop it for good", TokenScope.WRITE, (_JOB,),
        answer=pb.ReplayJob,
    ),
    HttpRoute(
        "GET", "/v1/quarantine", "list_quarantine", "List what failed for good, page by page",
        parameters=(
            HttpParameter("cluster", "The edition that it failed in; that of the service where it is not said."),
            HttpParameter("datasource", "Only of this datasource."),
            HttpParameter("node", "Only what failed at this node."),
            HttpParameter("released", "Also what was let go before.", "boolean"),
            HttpParameter("page_size", "Entries to look at; 100 where it is not said.", "integer", maximum=1_000),
            _PAGE[1],
        ),
        answer=pb.ListQuarantineResponse,
    ),
    HttpRoute(
        "POST", "/v1/quarantine/release", "release_quarantine", "Let documents go on where they failed",
        TokenScope.WRITE, body="application/json", request=pb.ReleaseQuarantineRequest,
        answer=pb.ReleaseQuarantineResponse,
    ),
    HttpRoute(
        "GET", "/v1/changes", "changes", "What has changed since a token; waits up to 20 seconds for it",
        parameters=(
            HttpParameter("resume_token", "That of the answer before; begin for all there is."),
            HttpParameter("datasource", "Only of this datasource."),
        ),
        answer=pb.WatchPage,
    ),
    HttpRoute("GET", "/v1/usage", "usage", "What the account has used, and may use", answer=pb.Usage),
    HttpRoute("GET", "/healthz", "health", "Whether store and catalogue answer", None, statuses=(503,)),
    HttpRoute("GET", "/openapi.json", "openapi", "This page", None),
)  # fmt: skip

_ERRORS = {
    400: "The request makes no sense.",
    401: "No token, or a bad one.",
    403: "The token does not allow it.",
    404: "It is not there, or another account's.",
    408: "The body comes too slowly.",
    409: "Somebody else is doing it, or the state forbids it.",
    410: "It was deleted.",
    413: "It is too large.",
    429: "The account has asked for too much.",
    500: "A mistake of the service, or damaged data.",
    503: "Too much at once, or what the service needs is away: try again.",
}
_OTHERS = {
    201: "It is new.",
    206: "The range.",
    304: "It is known already.",
    412: "Another version is there.",
    416: "There is no such range.",
    503: "Something is away.",
}
_ENVELOPE = {
    "type": "object",
    "required": ["code", "message", "hint", "retryable", "details"],
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "hint": {"type": ["string", "null"]},
        "retryable": {"type": "boolean"},
        "details": {"type": "object"},
    },
}


def openapi_page(routes: Sequence[HttpRoute] = ROUTES) -> dict[str, Any]:
    """OpenAPI 3.1, made from the table."""
    error = {"type": "object", "required": ["error"], "properties": {"error": _ENVELOPE}}
    schemas: dict[str, Any] = {"Error": error}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "cocli documents", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }


def _operation(route: HttpRoute, schemas: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {"operationId": route.name, "summary": route.text}
    if route.scope is not None:
        operation["security"] = [{"token": []}]
        operation["description"] = f"Needs the scope {route.scope}."
    if route.parameters:
        operation["parameters"] = [_parameter(parameter) for parameter in route.parameters]
    if route.body is not None:
        schema: dict[str, Any] = {}
        if route.request is not None:
            schema = _loose(schema_of(route.request.DESCRIPTOR, schemas), schemas)
        operation["requestBody"] = {"required": True, "content": {route.body: {"schema": schema}}}
    operation["responses"] = _responses(route, schemas)
    return operation


def _loose(reference: dict[str, str], schemas: dict[str, Any]) -> dict[str, Any]:
    """Of a request, no field is needed."""
    schema = schemas[reference["$ref"].rpartition("/")[2]]
    schema.pop("required", None)
    schema["additionalProperties"] = False
    return dict(reference)


def _parameter(parameter: HttpParameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": parameter.kind}
    if parameter.maximum is not None:
        schema |= {"minimum": 1, "maximum": parameter.maximum}
    return {
        "name": parameter.name,
        "in": parameter.where,
        "required": parameter.required or parameter.where == "path",
        "description": parameter.text,
        "schema": schema,
    }


def _responses(route: HttpRoute, schemas: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": {"type": "object"}}}
    if route.answer is not None:
        content = {"application/json": {"schema": schema_of(route.answer.DESCRIPTOR, schemas)}}
    elif route.schema is not None:
        content = {"application/json": {"schema": route.schema}}
    elif route.name.startswith("content"):
        content = {"*/*": {}}
    responses: dict[str, Any] = {str(route.status): {"description": "Done.", "content": content}}
    errors = {} if route.scope is None else _ERRORS
    for status in (*errors, *route.statuses):
        refused = {"description": errors.get(status) or _OTHERS[status]}
        if status in (201, 206, 304):
            responses[str(status)] = {**refused, "content": content} if status != 304 else refused
        else:
            envelope = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
            responses[str(status)] = {**refused, "content": content if route.scope is None else envelope}
    return responses
