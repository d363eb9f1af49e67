"""The dashboard's server in a thread, over a small campaign of its own; and callers of every role."""

from __future__ import annotations

import ssl
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import httpx2

from cocli.app.campaigns.campaign import new_campaign
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import TownHome
from cocli.index.writer import IndexWriter
from cocli.models.campaign import AuthSection, WebSection
from cocli.models.origin import Origin
from cocli.models.prospect import Prospect
from cocli.service.web.access import Principal, Role
from cocli.service.web.server import ServedWeb, WebSettings, serving_web

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cocli.app.workspace import Workspace

NAME = "plumbers"
OTHER = "roofers"
_PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Nothing here is encrypted: a context for each caller would only take time."""
SEEN = datetime(2026, 11, 1, tzinfo=UTC)


def company(number: int, **changes: Any) -> Prospect:
    """A prospect with an e-mail address, a website and an origin of each value."""
    domain = f"pipes-{number}.example"
    values: dict[str, Any] = {
        "company_hash": f"{number:03x}{number:013x}",
        "slug": f"pipes-{number}",
        "name": f"Pipes {number}",
        "domain": domain,
        "website": f"https://{domain}/",
        "primary_email": f"info@{domain}",
        "all_emails": (f"info@{domain}",),
        "phone_e164": f"+1217555{number:04d}",
        "city": "Springfield",
        "lat": 39.78,
        "lon": -89.65,
        "campaign": NAME,
        "first_seen": SEEN,
        "updated_at": SEEN,
        "sources": ("overture",),
        "origins": (Origin(fields=("name", "phone_e164", "website"), source="overture", observed_at=SEEN),),
    }
    return Prospect.checked({**values, **changes})


def fill(workspace: Workspace, count: int = 3, name: str = NAME) -> None:
    """A campaign with some prospects."""
    new_campaign(workspace, name, ["plumber"])
    indexes = campaign_indexes(workspace, name)
    writer: Any = IndexWriter(indexes.open(indexes.ref("prospects")))
    writer.append([company(number, campaign=name) for number in range(1, count + 1)])


@dataclass
class RunningWeb:
    """A server that runs, and what asks it."""

    served: ServedWeb
    home: TownHome
    log: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.served.url

    def caller(self, role: Role = Role.ADMIN, campaigns: dict[str, Role] | None = None) -> httpx2.Client:
        """A browser's session: with its cookie, and what a browser says of itself."""
        application = self.served.application
        principal = Principal(f"test {role.word}", "link", role, campaigns or {})
        cookies = (
            {} if role is Role.NOBODY and not campaigns else {application.cookie: application.sessions.open(principal)}
        )
        headers = {"Sec-Fetch-Site": "same-origin", "Origin": self.url}
        return httpx2.Client(base_url=self.url, cookies=cookies, headers=headers, timeout=60, verify=_PLAIN)

    def bearer(self, token: str) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, headers={"Authorization": f"Bearer {token}"}, timeout=60, verify=_PLAIN)


@contextmanager
def running_web(folder: Path, count: int = 3, *, filled: bool = True, **auth: Any) -> Iterator[RunningWeb]:
    """The server over a folder, until the block ends."""
    home = TownHome(folder)
    home.data.mkdir(parents=True, exist_ok=True)
    log: list[str] = []
    with open_workspace(home.environ, Flags()) as workspace:
        if filled:
            fill(workspace, count)
        web = WebSection(**{"port": 0, "webhook_networks": ("127.0.0.0/8",), **auth.pop("web", {})})
        with serving_web(workspace, WebSettings(web, AuthSection(**auth)), log.append) as served:
            yield RunningWeb(served, home, log)
