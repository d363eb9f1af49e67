"""The HTTP API as OpenAPI 3.1, made from the table of routes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cocli.config.version import __version__
from cocli.service.web.access import Role

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.service.web.routes import WebRoute

_PARAMETER = re.compile(r"\{([a-z_]+)(?::[a-z]+)?\}")
_PATTERNS = {"campaign": r"^[a-z0-9](?:[a-z0-9-]{0,50}[a-z0-9])?$", "company_hash": r"^[0-9a-f]{16}$"}
_ERROR = {
    "description": "Refused, with the reason",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}
_ERROR_SCHEMA = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "hint"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": ["string", "null"]},
                "retryable": {"type": "boolean"},
                "details": {"type": "object"},
            },
        }
    },
}


def openapi_document(routes: Iterable[WebRoute]) -> dict[str, Any]:
    """Everything under `/api/`; the pages' own routes are docs/web-data.md."""
    paths: dict[str, dict[str, Any]] = {}
    schemas: dict[str, Any] = {"Error": _ERROR_SCHEMA}
    for route in routes:
        if route.path.startswith("/api/"):
            path = _PARAMETER.sub(r"{\1}", route.path)
            paths.setdefault(path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "cocli: the dashboard's API",
            "version": __version__,
            "description": "What the pages of the dashboard use. The data files are described in docs/web-data.md.",
        },
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(route: WebRoute, schemas: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "summary": route.summary,
        "description": f"Needs the role {route.role.word}." if route.role is not Role.NOBODY else "Needs no login.",
        "operationId": route.method.lower() + _PARAMETER.sub(r"\1", route.path).replace("/", "_"),
        "parameters": [*_path_parameters(route), *_query_parameters(route)],
        "responses": {
            "200": {"description": "Done", "content": {route.answers: {}}},
            "201": {"description": "Made", "content": {route.answers: {}}},
            "202": {"description": "Begun", "content": {route.answers: {}}},
            **{str(status): _ERROR for status in _REFUSALS},
        },
    }
    if route.takes is not None:
        schema = route.takes.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(schema.pop("$defs", {}))
        schemas[route.takes.__name__] = schema
        reference = {"schema": {"$ref": f"#/components/schemas/{route.takes.__name__}"}}
        made["requestBody"] = {"required": True, "content": {"application/json": reference}}
    elif route.raw:
        made["requestBody"] = {"required": True, "content": {"application/octet-stream": {"schema": {}}}}
    return made


_REFUSALS = (400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 421, 428, 429, 500, 501, 503, 507)


def _path_parameters(route: WebRoute) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "minLength": 1, "pattern": _PATTERNS.get(name, r"^[^/]+$")},
        }
        for name in _PARAMETER.findall(route.path)
    ]


def _query_parameters(route: WebRoute) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "query", "required": False, "description": meaning, "schema": {"type": "string"}}
        for name, meaning in route.query.items()
    ]
