"""The table of routes: method, path, who may use it, what it takes. The application, the documentation and the tests of
who may do what are made from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.responses import JSONResponse, Response

from cocli.errors import UsageError
from cocli.models.record import explain

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.requests import Request

    from cocli.service.web.access import Principal, Role

MAX_BODY = 1 << 20
_M = TypeVar("_M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class WebCall:
    """A request that passed the door."""

    request: Request
    principal: Principal
    params: Mapping[str, str]
    raw: bytes = b""

    @property
    def campaign(self) -> str:
        return self.params["campaign"]

    @property
    def etag(self) -> str | None:
        """The version that the caller means to change."""
        given = self.request.headers.get("if-match")
        return given.strip().strip('"') if given else None

    def body(self, model: type[_M]) -> _M:
        return parsed(model, self.raw)

    def asked(self, name: str, default: str = "") -> str:
        return self.request.query_params.get(name, default)

    def number(self, name: str, default: str = "100", *, most: int, what: str) -> int:
        """A number from 1 on that is asked for."""
        text = self.asked(name) or default
        if not (text.isascii() and text.isdecimal() and 1 <= int(text[:20]) <= most):
            raise UsageError(reason=f'"{text[:20]}" is no number of {what}', hint=f"Write {name}=1 to {most}.")
        return int(text)


def parsed(model: type[_M], raw: bytes) -> _M:
    try:
        return model.model_validate_json(raw or b"{}")
    except ValidationError as error:
        raise UsageError(
            reason=f"the request makes no sense: {explain(error)}", hint="See /api/openapi.json."
        ) from error


@dataclass(frozen=True, slots=True)
class WebRoute:
    """One thing that can be asked for."""

    method: str
    path: str
    role: Role
    """The least that somebody has to be: in the campaign that the path names, else anywhere for a viewer, and over the
    whole site for all others. NOBODY: without a login."""
    handler: Callable[[WebCall], Response] | Callable[[WebCall], Awaitable[Response]]
    summary: str
    takes: type[BaseModel] | None = None
    is_async: bool = False
    ready: Callable[[WebCall], Response | None] | None = None
    """Answers from memory, at once, or not at all: what it answers needs no thread."""
    max_body: int = MAX_BODY
    query: Mapping[str, str] = field(default_factory=dict)
    """Parameter → what it means."""
    answers: str = "application/json"
    raw: bool = False
    """Whether it takes bytes, not JSON."""

    @property
    def changes(self) -> bool:
        return self.method not in ("GET", "HEAD")


def answer(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse(document, status_code=status, headers=dict(headers or {}))
