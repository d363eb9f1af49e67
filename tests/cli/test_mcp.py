"""`cocli mcp`, asked by a real client over stdio and over HTTP."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver.exceptions import ToolError

from cocli.app.web.site import DataSite
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.errors import HostEvicted, UsageError
from cocli.service.mcp.server import READING, WRITING, _told, make_server, serving_http


@pytest.fixture
def filled(plumbers: Any, write_prospects: Callable[..., None]) -> Any:
    write_prospects("acme.example", city="Springfield", lat=39.8, lon=-89.6, primary_email="info@acme.example")
    assert plumbers("index", "compact", "prospects", "-c", "plumbers").code == 0
    write_prospects("bolt.example", city="Zürich", phone="217 555 0100", phone_e164="+12175550100")
    assert plumbers("index", "compact", "prospects", "-c", "plumbers").code == 0
    return plumbers


@asynccontextmanager
async def over_stdio(home: Path, *words: str) -> AsyncIterator[ClientSession]:
    environ = {name: os.environ[name] for name in ("HOME", "PATH", "COCLI_DATA_HOME", "COCLI_CONFIG")}
    command = StdioServerParameters(command=sys.executable, args=["-m", "cocli", "mcp", *words], env=environ)
    with (home / "mcp.log").open("w") as log:
        async with stdio_client(command, errlog=log) as (reading, writing), ClientSession(reading, writing) as session:
            await session.initialize()
            yield session


async def asked(session: ClientSession, tool: str, **given: Any) -> Any:
    answer = await session.call_tool(tool, given)
    assert not answer.is_error, answer.content
    return answer.structured_content


async def refusal(session: ClientSession, tool: str, **given: Any) -> str:
    answer = await session.call_tool(tool, given)
    assert answer.is_error
    return str(answer.content[0])


def test_an_assistant_reads_over_stdio(filled: Any, home: Path) -> None:
    async def talk() -> None:
        async with over_stdio(home) as session:
            tools = (await session.list_tools()).tools
            assert [tool.name for tool in tools] == list(READING)
            assert all(tool.annotations and tool.annotations.read_only_hint and tool.description for tool in tools)
            campaigns = await asked(session, "campaigns")
            assert [card["name"] for card in campaigns["campaigns"]] == ["plumbers"]
            found = await asked(session, "prospects", campaign="plumbers", q="zurich")
            assert (found["total"], found["prospects"][0]["phone"]) == (1, "+12175550100")
            by_mail = await asked(session, "prospects", campaign="plumbers", has=["email"])
            assert [row["name"] for row in by_mail["prospects"]] == ["Acme"]
            company = await asked(session, "company", campaign="plumbers", company="acme.example")
            assert company["company_hash"] == by_mail["prospects"][0]["id"]
            why = await asked(session, "why", campaign="plumbers", company=company["company_hash"], field="city")
            assert [(field["field"], field["value"]) for field in why["fields"]] == [("city", "Springfield")]
            changes = await asked(session, "changes", campaign="plumbers")
            assert [(change["kind"], change["name"]) for change in changes["changes"]] == [("added", "Bolt")]
            assert (await asked(session, "changes", campaign="plumbers", since=changes["now"]))["changes"] == []
            export = await asked(session, "export", campaign="plumbers", format="vcard", city=["Springfield"])
            assert "EMAIL;TYPE=work;PREF=1:info@acme.example" in export["text"]
            assert (await asked(session, "status", campaign="plumbers"))["queues"]["campaign"] == "plumbers"
            assert (await asked(session, "coverage", campaign="plumbers"))["tiles"] == 0
            assert "no campaign" in (await refusal(session, "prospects", campaign="nowhere")).lower()
            assert "rating" in await refusal(session, "prospects", campaign="plumbers", sort="size")
            assert await refusal(session, "tag", campaign="plumbers", company="acme.example", add=["hot"])

    anyio.run(talk)


def test_what_changes_something_is_there_only_if_allowed(filled: Any, home: Path) -> None:
    async def talk() -> None:
        async with over_stdio(home, "--write", "-c", "plumbers") as session:
            names = [tool.name for tool in (await session.list_tools()).tools]
            assert names == [*READING, *WRITING]
            assert (await asked(session, "tag", campaign="plumbers", company="acme.example", add=["hot"]))["changed"]
            tagged = await asked(session, "prospects", campaign="plumbers", tag=["hot"])
            assert [row["name"] for row in tagged["prospects"]] == ["Acme"]
            note = await asked(session, "note", campaign="plumbers", company="acme.example", text="Call on Monday")
            assert "Call on Monday" in await anyio.Path(note["path"]).read_text("utf-8")
            done = await asked(session, "exclude", campaign="plumbers", company="acme.example")
            assert done["changed"]
            assert (await asked(session, "prospects", campaign="plumbers"))["total"] == 1
            assert (await asked(session, "exclude", campaign="plumbers", company="acme.example", undo=True))["changed"]
            assert (await asked(session, "prospects", campaign="plumbers"))["total"] == 2
            assert "plan" in (await refusal(session, "queue", campaign="plumbers")).lower()

    anyio.run(talk)


def test_over_http_with_a_token(filled: Any, home: Path) -> None:
    environ = {"HOME": str(home), "COCLI_DATA_HOME": str(home / "data"), "COCLI_CONFIG": str(home / "user.toml")}

    async def talk(address: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers) as client,
            streamable_http_client(address, http_client=client) as streams,
            ClientSession(streams[0], streams[1]) as session,
        ):
            await session.initialize()
            found = await asked(session, "prospects", campaign="plumbers", q="acme")
            assert found["total"] == 1
            assert await refusal(session, "prospects", campaign="secret")

    with open_workspace(environ, Flags()) as workspace:
        server = make_server(DataSite(workspace, campaigns=("plumbers",)))
        with serving_http(server, "127.0.0.1", 0) as running:
            anyio.run(talk, running.address, running.token)
            ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            assert httpx2.post(running.address, json=ask).status_code == 401
            wrong = httpx2.post(running.address, json=ask, headers={"Authorization": "Bearer nonsense"})
            assert wrong.status_code == 401
            rebound = {"Authorization": f"Bearer {running.token}", "Host": "evil.example"}
            assert httpx2.post(running.address, json=ask, headers=rebound).status_code in (400, 403, 421)
        with pytest.raises(UsageError), serving_http(server, "0.0.0.0", 0):
            pass


def test_a_tool_that_changes_something_asks_the_gate_first() -> None:
    """A server that began before its machine was evicted."""
    called: list[str] = []

    class Site:
        campaigns = None

        def veil(self, _campaign: str | None) -> None:
            """Nobody is on the do-not-contact list."""

    def tool(campaign: str) -> str:
        called.append(campaign)
        return "done"

    def closed() -> None:
        raise HostEvicted(hostname="pi1", evicted_at="today", evicted_by="ann", because="")

    site = cast("DataSite", Site())
    with pytest.raises(ToolError, match="pi1 was evicted"):
        _told(site, tool, closed)(campaign="plumbers")
    assert called == []
    assert _told(site, tool)(campaign="plumbers") == "done"
