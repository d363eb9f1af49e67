"""The OpenAPI document of the enrichment service, made from the models that it reads and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.app.websites.enriched_site import EnrichedSite
from cocli.app.websites.service import EnrichRequest
from cocli.config.version import __version__

if TYPE_CHECKING:
    from pydantic import BaseModel

_REF = "#/components/schemas/{model}"
_ERRORS = {
    "400": "The request makes no sense.",
    "401": "No token, or a bad one.",
    "404": "No such campaign of the token's account.",
    "413": "The request is too large.",
    "429": "More requests than a token has in a minute.",
    "500": "A mistake of the service; its log says which.",
    "503": "Too much at once, or the store cannot be reached: try again.",
}


def openapi_document() -> dict[str, Any]:
    """OpenAPI 3.1, whose schemas are JSON Schema as pydantic writes it."""
    schemas: dict[str, Any] = {"Error": _error()}
    request = _schema(EnrichRequest, "validation", schemas)
    answer = _schema(EnrichedSite, "serialization", schemas)
    errors = {code: _answer(text, {"$ref": "#/components/schemas/Error"}) for code, text in _ERRORS.items()}
    errors["429"]["headers"] = {
        "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}
    }
    enrich = {
        "operationId": "enrich",
        "summary": "Read a website, and say how to reach whoever is behind it",
        "security": [{"token": []}],
        "requestBody": {"required": True, "content": {"application/json": {"schema": request}}},
        "responses": {"200": _answer("What was found; a dead or refused site is an answer too.", answer), **errors},
    }
    health = {
        "operationId": "health",
        "summary": "Say that somebody is there",
        "responses": {"200": _answer("It runs.", {"type": "object", "properties": {"status": {"const": "ok"}}})},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "cocli enrichment", "version": __version__},
        "paths": {"/v1/enrich": {"post": enrich}, "/healthz": {"get": health}},
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }


def _schema(model: type[BaseModel], mode: Any, schemas: dict[str, Any]) -> dict[str, str]:
    made = model.model_json_schema(ref_template=_REF, mode=mode)
    schemas.update(made.pop("$defs", {}))
    schemas[model.__name__] = made
    return {"$ref": _REF.format(model=model.__name__)}


def _answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def _error() -> dict[str, Any]:
    text = {"type": "string"}
    fields = {
        "code": text,
        "message": text,
        "hint": {"type": ["string", "null"]},
        "retryable": {"type": "boolean"},
        "details": {"type": "object"},
    }
    envelope = {"type": "object", "required": list(fields), "properties": fields}
    return {"type": "object", "required": ["error"], "properties": {"error": envelope}}
