"""`cocli web`: everything put together, and served while a block runs."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from cocli.app.machines.refusal import eviction_gate
from cocli.app.web.basemap.map_source import map_source
from cocli.app.web.kept.journal import WebJournal
from cocli.app.web.kept.runs import RunBook
from cocli.app.web.kept.tokens import TokenBook
from cocli.app.web.kept.uploads import UploadShelf
from cocli.app.web.kept.webhooks import WebhookBook
from cocli.app.web.shell import WebShell
from cocli.app.web.site import DataSite
from cocli.app.web.webhook_caller import WebhookCaller
from cocli.app.workspace import location
from cocli.config.places import state_home
from cocli.errors import ConfigError
from cocli.models.campaign import DocumentsSection
from cocli.service.http_common import RequestLog, not_here
from cocli.service.listener import bracketed, connection_limits, is_this_machine, listening, load_tls, served
from cocli.service.request_places import RequestPlaces
from cocli.service.web.access import Principal, Role
from cocli.service.web.admin import AccessRoutes, principal_of
from cocli.service.web.commands import MachineRoutes
from cocli.service.web.companies import CompanyRoutes
from cocli.service.web.door import WebDoor
from cocli.service.web.events import EventHub
from cocli.service.web.files import WebFiles
from cocli.service.web.guard import WebGuard, WebOrigin
from cocli.service.web.login import LinkToken, WebLogin
from cocli.service.web.moments import PastRoutes
from cocli.service.web.openapi import openapi_document
from cocli.service.web.openid_login import OpenIdLogin, open_provider
from cocli.service.web.prospects import ProspectRoutes
from cocli.service.web.routes import WebRoute, answer
from cocli.service.web.runs import RunRoutes
from cocli.service.web.session_files import SessionFiles
from cocli.service.web.sessions import SessionBook
from cocli.service.web.webhooks import WebhookRoutes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from cocli.app.workspace import Workspace
    from cocli.models.campaign import AuthSection, WebSection
    from cocli.service.listener import Tls
    from cocli.service.web.routes import WebCall

AT_ONCE = 64
_BUSY = "Name another port: cocli web --port 0"


@dataclass(frozen=True, slots=True)
class WebSettings:
    """How the server is reached, and who may come in."""

    web: WebSection
    auth: AuthSection
    campaigns: tuple[str, ...] | None = None
    """Those that are shown; None for all of the store."""
    end_sessions: bool = False
    """Whether everybody has to log in anew."""


@dataclass(slots=True)
class WebApplication:
    """The parts of the server, and its routes."""

    workspace: Workspace
    settings: WebSettings
    origin: WebOrigin
    url: str
    log: Callable[[str], None]
    site: DataSite = field(init=False)
    files: WebFiles = field(init=False)
    sessions: SessionBook = field(init=False)
    login: WebLogin = field(init=False)
    hub: EventHub = field(init=False)
    tokens: TokenBook = field(init=False)
    journal: WebJournal = field(init=False)
    runs: RunBook = field(init=False)
    uploads: UploadShelf = field(init=False)
    webhooks: WebhookRoutes = field(init=False)
    cookie: str = field(init=False)

    def __post_init__(self) -> None:
        web = self.settings.web
        is_secure = self.origin.scheme == "https"
        basemap = map_source(web.basemap)
        self.site = DataSite(
            self.workspace, campaigns=self.settings.campaigns, basemap=basemap, credits=web.basemap_credits
        )
        self.files = WebFiles(self.site, WebShell.installed(basemap.origin if basemap else None))
        folder = os.path.join(state_home(self.workspace.settings.environ), "web")
        self.sessions = SessionBook(
            lambda: datetime.now(UTC), timedelta(hours=web.session_hours), self._session_files(folder)
        )
        # Cookies know no ports: two servers on one machine must not end each other's sessions.
        self.cookie = "__Host-cocli" if is_secure else f"cocli-{self.origin.port}"
        self.login = WebLogin(self.sessions, self.cookie, secure=is_secure, provider=self.settings.auth.provider)
        self.tokens = TokenBook(folder, lambda: datetime.now(UTC))
        self.journal = WebJournal(folder, lambda: datetime.now(UTC))
        self.runs = RunBook(self.workspace, folder, lambda: datetime.now(UTC))
        self.uploads = UploadShelf(folder)
        self.webhooks = WebhookRoutes(
            WebhookBook(folder),
            self.workspace,
            self.runs,
            WebhookCaller(web.webhook_networks),
            lambda: datetime.now(UTC),
            self.log,
        )
        self.hub = EventHub(self.files, self.site.now, self.log)

    def _session_files(self, folder: str) -> SessionFiles:
        auth = self.settings.auth
        files = SessionFiles(folder, location(self.workspace.store, ""), self.url, auth.provider, auth.issuer or "")
        if self.settings.end_sessions:
            files.clear()
        files.sweep(datetime.now(UTC))
        return files

    def close(self) -> None:
        """End everything that runs beside the requests."""
        self.hub.close()
        self.webhooks.close()
        self.runs.close()

    def make_link(self) -> str:
        """A link that logs whoever opens it first in as admin."""
        return self.sessions.make_link(Principal("admin", "link", Role.ADMIN))

    def routes(self) -> Sequence[WebRoute]:
        """Every route there is. Those of no campaign come first: their first word is no campaign's name."""
        files, login = self.files, self.login
        more = (
            *AccessRoutes(self.tokens, self.journal).routes(),
            *RunRoutes(
                self.runs, self.uploads, files, lambda: datetime.now(UTC), self.settings.web.max_upload_bytes
            ).routes(),
            *self.webhooks.routes(),
            *MachineRoutes(self.site, files).routes(),
            *CompanyRoutes(self.site, files).routes(),
            *ProspectRoutes(self.site).routes(),
            *PastRoutes(self.site).routes(),
        )
        if self.settings.auth.provider == "oidc":
            more = (*self._openid().routes(), *more)
        described = openapi_document(more)
        return (
            WebRoute("GET", "/", Role.NOBODY, files.index, "The page of the dashboard", answers="text/html"),
            WebRoute("GET", "/index.html", Role.NOBODY, files.index, "The same", answers="text/html"),
            WebRoute("GET", "/map.html", Role.NOBODY, files.map_page, "The same, for maps", answers="text/html"),
            WebRoute(
                "GET", "/assets/{path:path}", Role.NOBODY, files.asset, "A file of the page", ready=files.asset,
                answers="*/*",
            ),
            WebRoute("GET", "/auth", Role.NOBODY, files.auth_page, "The page behind a one-time link"),
            WebRoute("POST", "/auth", Role.NOBODY, login.enter, "Log in with a one-time link", takes=LinkToken),
            WebRoute("POST", "/auth/logout", Role.NOBODY, login.leave, "Log out"),
            WebRoute("GET", "/api/session", Role.NOBODY, login.session, "Who is logged in"),
            WebRoute(
                "GET", "/data/{path:path}", Role.VIEWER, files.data, "A data file", ready=files.ready_data,
                answers="*/*",
            ),
            WebRoute(
                "GET", "/events", Role.VIEWER, self.hub.stream, "Server-sent events of a campaign", is_async=True,
                query={"campaign": "whose"}, answers="text/event-stream",
            ),
            WebRoute("GET", "/healthz", Role.NOBODY, _health, "Whether the server answers"),
            WebRoute("GET", "/api/openapi.json", Role.NOBODY, lambda _: answer(described), "This API, for programs"),
            *more,
        )  # fmt: skip

    def _openid(self) -> OpenIdLogin:
        return OpenIdLogin(
            open_provider(self.settings.auth),
            self.workspace,
            self.sessions,
            self.login,
            url=self.url,
            cookie=self.cookie,
            secure=self.origin.scheme == "https",
        )

    def starlette(self) -> Starlette:
        door = WebDoor(
            self.sessions,
            self._by_token,
            RequestPlaces(AT_ONCE),
            cookie=self.cookie,
            noted=self._noted,
            log=self.log,
            gate=eviction_gate(self.workspace),
            veil=self.site.veil,
        )
        paths = [Route(route.path, door.endpoint(route), methods=[route.method]) for route in self.routes()]
        handlers: dict[Any, Any] = {404: _not_here, 405: _not_here}
        middleware = [Middleware(RequestLog), Middleware(WebGuard, origin=self.origin)]
        return Starlette(routes=paths, exception_handlers=handlers, middleware=middleware)

    def _by_token(self, token: str) -> Principal:
        return principal_of(self.tokens.check(token))

    def _noted(self, principal: Principal, route: WebRoute, path: str, status: int) -> None:
        self.journal.note(principal.name, principal.provider, f"{route.method} {route.path}", path, status)
        self.log(f"{principal.provider}:{principal.name} {route.method} {path} {status}")


def _health(_call: WebCall) -> Response:
    return answer({"status": "ok"})


async def _not_here(request: Request, error: Any) -> Response:  # noqa: ARG001  the framework's signature
    return not_here(error, "what docs/web-api.md lists")


def check_exposure(settings: WebSettings, tls: Tls | None) -> None:
    """Beyond this machine the dashboard wants a login, and nobody in between who can listen."""
    web = settings.web
    if is_this_machine(web.host):
        return
    if settings.auth.provider == "link":
        raise ConfigError(
            reason=f"the dashboard would listen on {web.host}, and nobody would have to log in with a name",
            hint='Set [auth] provider = "oidc", issuer and client_id; or listen on 127.0.0.1.',
        )
    if tls is None and not web.behind_proxy:
        raise ConfigError(
            reason=f"the dashboard would listen on {web.host} without a certificate: all would travel in the clear",
            hint="Set tls_certificate and tls_key in [web], or behind_proxy = true behind a proxy that has them.",
        )


@dataclass(frozen=True, slots=True)
class ServedWeb:
    """A server that runs."""

    url: str
    application: WebApplication

    def link(self) -> str:
        """The address that somebody opens first."""
        if self.application.settings.auth.provider == "link":
            return f"{self.url}/auth#{self.application.make_link()}"
        return self.url


@contextmanager
def serving_web(workspace: Workspace, settings: WebSettings, log: Callable[[str], None]) -> Iterator[ServedWeb]:
    """Serve the dashboard while the block runs."""
    web = settings.web
    tls = load_tls(DocumentsSection(tls_certificate=web.tls_certificate, tls_key=web.tls_key))
    check_exposure(settings, tls)
    bound = listening(web.host, web.port, _BUSY)
    port = int(bound.getsockname()[1])
    own = f"{'https' if tls else 'http'}://{bracketed(web.host)}:{port}"
    url = web.url or own
    named = url.partition("://")[2].rpartition(":")[0] or url.partition("://")[2]
    hosts = frozenset(name.lower() for name in (*web.allowed_hosts, bracketed(web.host), named))
    wide = hosts - {"0.0.0.0", "[::]"}  # noqa: S104  names that nobody may ask for
    origin = WebOrigin(
        url.partition("://")[0],
        port,
        wide if web.url or not is_this_machine(web.host) else frozenset(web.allowed_hosts),
    )
    application = WebApplication(workspace, settings, origin, url, log)
    with ExitStack() as stack:
        stack.enter_context(served(application.starlette(), bound, tls, limits=connection_limits(DocumentsSection())))
        stack.callback(application.close)
        yield ServedWeb(url, application)
