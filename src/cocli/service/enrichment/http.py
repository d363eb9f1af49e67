"""The enrichment service: `POST /v1/enrich` reads a website and answers what was found.

    POST /v1/enrich
    Authorization: Bearer TOKEN
    {"url": "https://example.com/", "country": "US", "campaign": "plumbers"}

The answer is the document of `cocli enrich --json`; an error is `{"error": {…}}` as the command line prints it.
`GET /openapi.json` describes it, `GET /healthz` says that somebody is there.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cocli.app.websites.service import EnrichRequest, opened_service
from cocli.errors import CocliError, ServiceUnavailable, UsageError
from cocli.models.record import explain
from cocli.service.enrichment.openapi import openapi_document
from cocli.service.http_common import Callers, RequestLog, bearer, failure, not_here, read_body, refusal
from cocli.service.listener import bracketed, check_encrypted, connection_limits, listening, load_tls, served
from cocli.service.request_places import RequestPlaces

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from starlette.exceptions import HTTPException
    from starlette.requests import Request

    from cocli.app.documents.tokens import Tokens
    from cocli.app.websites.enriched_site import EnrichedSite
    from cocli.app.websites.service import EnrichmentService
    from cocli.app.workspace import Workspace
    from cocli.models.campaign import DocumentsSection
    from cocli.service.rate_limit import RateLimit

MAX_BODY = 65_536
BODY_SECONDS = 20.0
AT_ONCE = 64
"""Requests that are read or wait for a site to be read; more are refused at once, to be tried again."""
_BUSY = "Something else may listen there. Choose another one with --port N; 0 takes one that is free."


class EnrichmentHttp:
    """`open_service` opens the service in the event loop of the server."""

    def __init__(
        self,
        open_service: Callable[[], AbstractAsyncContextManager[EnrichmentService]],
        tokens: Tokens,
        limit: RateLimit,
        *,
        clock: Callable[[], datetime],
        log: Callable[[str], None],
    ) -> None:
        self._open_service = open_service
        self._callers = Callers.by_tokens(tokens, clock)
        self._limit = limit
        self._places = RequestPlaces(AT_ONCE)
        self._log = log
        self._service: EnrichmentService | None = None
        self._openapi = openapi_document()
        self.problem: CocliError | None = None

    def application(self) -> Starlette:
        routes = [
            Route("/v1/enrich", self.enrich, methods=["POST"]),
            Route("/openapi.json", self.openapi, methods=["GET"]),
            Route("/healthz", self.health, methods=["GET"]),
        ]
        handlers: dict[Any, Any] = {404: _not_here, 405: _not_here}
        middleware = [Middleware(RequestLog)]
        return Starlette(routes=routes, exception_handlers=handlers, middleware=middleware, lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, application: Starlette) -> AsyncIterator[None]:  # noqa: ARG002  the framework's signature
        try:
            async with self._open_service() as self._service:
                yield
        except CocliError as error:
            self.problem = error  # raised again by whoever starts the server, which only knows that it did not start
            raise

    async def health(self, request: Request) -> Response:  # noqa: ARG002  the framework's signature
        return JSONResponse({"status": "ok"})

    async def openapi(self, request: Request) -> Response:  # noqa: ARG002  the framework's signature
        return JSONResponse(self._openapi)

    async def enrich(self, request: Request) -> Response:
        try:
            account = await self._callers.account(request)
            self._limit.take(bearer(request))
            with self._places.taken(account):
                body = await read_body(request, limit=MAX_BODY, seconds=BODY_SECONDS, what="the request")
                found = await self._found(request, account, _wanted(body))
            if found is None:
                return Response(status_code=499)
            return JSONResponse(found.model_dump(mode="json"))
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        except CocliError as error:
            return refusal(error, self._log)
        except Exception as error:  # noqa: BLE001  whatever it is, a caller gets a status and no trace
            return failure(error, self._log)

    async def _found(self, request: Request, account: str, wanted: EnrichRequest) -> EnrichedSite | None:
        """What the site says; None where the caller left meanwhile: then the site is left too."""
        if self._service is None:
            raise RuntimeError("a request came before the service was opened")
        work = asyncio.ensure_future(self._service.enrich(account, wanted))
        leaving = asyncio.ensure_future(_has_left(request))
        try:
            await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            return None
        finally:
            for task in (work, leaving):
                task.cancel()
            await asyncio.gather(work, leaving, return_exceptions=True)


async def _has_left(request: Request) -> None:
    """Returns once the caller hangs up."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _wanted(body: bytes) -> EnrichRequest:
    try:
        return EnrichRequest.model_validate_json(body)
    except ValidationError as error:
        raise UsageError(reason=f"the request makes no sense: {explain(error)}", hint="See /openapi.json.") from error


async def _not_here(request: Request, error: HTTPException) -> Response:  # noqa: ARG001  the framework's signature
    return not_here(error, "POST /v1/enrich, GET /openapi.json and GET /healthz")


@dataclass(frozen=True, slots=True)
class EnrichRequestAddress:
    host: str = "127.0.0.1"
    port: int = 8790
    """0 takes one that is free."""
    insecure: bool = False
    """Beyond this machine without a certificate: behind a proxy that has one."""


@contextmanager
def serving_enrichment(
    workspace: Workspace,
    campaign: str | None,
    section: DocumentsSection,
    tokens: Tokens,
    limit: RateLimit,
    address: EnrichRequestAddress,
    *,
    clock: Callable[[], datetime],
    log: Callable[[str], None],
) -> Iterator[str]:
    """Serve while the block runs; gives the URL. The certificate is that of `[documents]`."""
    tls = load_tls(section)
    check_encrypted(address.host, tls, insecure=address.insecure, said="--host")
    http = EnrichmentHttp(lambda: opened_service(workspace, campaign), tokens, limit, clock=clock, log=log)
    bound = listening(address.host, address.port, _BUSY)
    url = f"{'https' if tls else 'http'}://{bracketed(address.host)}:{bound.getsockname()[1]}"
    limits = connection_limits(section)
    with ExitStack() as stack:
        try:
            stack.enter_context(served(http.application(), bound, tls, limits=limits, lifespan=True))
        except ServiceUnavailable:
            raise http.problem or ServiceUnavailable(address=url, reason="it did not start") from None
        yield url
