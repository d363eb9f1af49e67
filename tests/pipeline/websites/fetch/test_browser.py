"""The browser on a leash: scripts run, and nothing goes out but through the fetcher."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from ipaddress import ip_network

import pytest

from cocli.errors import MissingExtra
from cocli.pipeline.websites.fetch import Failure, Fetched, Fetcher, FetchFailed, FetchSettings, Outcome
from cocli.pipeline.websites.fetch import browser as browsers
from cocli.pipeline.websites.fetch.browser import Browser, BrowserLimits
from cocli.pipeline.websites.fetch.limits import FetchLimits

SHELL = b"""<!doctype html><title>Shell</title><div id=app></div><img src=/logo.png>
<script src=/app.js></script>"""
APP = b"""
const part = (name) => fetch(name).then((answer) => answer.json());
const out = (url) => fetch(url, {mode: "no-cors"}).then(() => "reached", () => "refused");
navigator.sendBeacon("/beacon", "x");
new WebSocket("ws://127.0.0.1:PORT/socket");
Promise.all([part("/contact.json"), out("http://metadata.example/"), out("http://127.0.0.1:PORT/port")]).then((all) => {
  const [who, metadata, port] = all;
  const link = `<a href="mailto:${who.user}@${who.domain}">write</a>`;
  document.getElementById("app").innerHTML = `${link} ${metadata} ${port}`;
});"""
PAGES = {
    "/": (b"text/html", SHELL),
    "/app.js": (b"text/javascript", APP),
    "/contact.json": (b"application/json", b'{"user": "anna", "domain": "shell.example"}'),
    "/busy": (b"text/html", b"<script>while (true) {}</script>"),
    "/large": (b"text/html", b"<script>document.write('x'.repeat(3e6)); String.prototype.slice = () => 'no'</script>"),
    "/elsewhere": (b"text/html", b"<script>location = '/'</script>"),
}


def with_browser(run: Callable[[Fetcher, Browser], Awaitable[None]], *, seconds: float = 30) -> list[str]:
    """Runs it against a site on loopback; which paths were asked for there."""
    asked: list[str] = []

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
        asked.append(path)
        mime, body = PAGES.get(path, (b"text/plain", b""))
        body = body.replace(b"PORT", str(writer.get_extra_info("sockname")[1]).encode())
        status = b"200 OK" if path in PAGES else b"404 Not Found"
        head = b"HTTP/1.1 %b\r\nContent-Type: %b\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
        writer.write(head % (status, mime, len(body)) + body)
        await writer.drain()
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(connection, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]

        async def resolve(host: str, _: int) -> list[tuple[str, int]]:
            return [("169.254.169.254", 80) if host == "metadata.example" else ("127.0.0.1", port)]

        settings = FetchSettings(
            rate=100, allowed=(ip_network("127.0.0.0/8"),), limits=FetchLimits(page_bytes=1_000_000)
        )
        limits = BrowserLimits(seconds=seconds, settle=seconds / 3)
        async with Fetcher(settings, resolve=resolve) as fetcher, Browser(fetcher, limits=limits) as browser:
            try:
                await run(fetcher, browser)
            finally:
                server.close()

    asyncio.run(main())
    return asked


async def rendered(fetcher: Fetcher, browser: Browser, path: str) -> Outcome:
    page = await fetcher.fetch(f"http://shell.example{path}")
    assert isinstance(page, Fetched)
    return await browser.render(page)


def test_an_address_that_only_a_script_writes_is_there_and_nothing_went_elsewhere() -> None:
    async def run(fetcher: Fetcher, browser: Browser) -> None:
        page = await rendered(fetcher, browser, "/")
        assert isinstance(page, Fetched)
        assert (page.rendered, page.final_url, page.charset) == (True, "http://shell.example/", "utf-8")
        assert b"anna@" not in SHELL + APP
        assert b'href="mailto:anna@shell.example"' in page.body
        assert b"refused refused" in page.body  # a private address by its name, and a port that is not of the web
        moved = await rendered(fetcher, browser, "/elsewhere")
        assert isinstance(moved, Fetched)
        assert moved.final_url == "http://shell.example/"
        assert b"anna@shell.example" in moved.body

    asked = with_browser(run)
    assert set(asked) == {"/robots.txt", "/", "/app.js", "/contact.json", "/elsewhere"}
    assert asked.count("/") == 2  # the first page was not asked for again, only where a script led to it


def test_a_script_without_end_is_ended() -> None:
    async def run(fetcher: Fetcher, browser: Browser) -> None:
        busy = await rendered(fetcher, browser, "/busy")
        assert isinstance(busy, FetchFailed)
        assert (busy.kind, busy.retryable) == (Failure.BROWSER, True)

    with_browser(run, seconds=3)


def test_a_page_that_grows_is_cut_off_whatever_its_scripts_do_to_the_language() -> None:
    async def run(fetcher: Fetcher, browser: Browser) -> None:
        large = await rendered(fetcher, browser, "/large")
        assert isinstance(large, Fetched)
        assert (len(large.body), large.truncated) == (1_000_000, True)

    with_browser(run)


def test_what_is_missing_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(MissingExtra, match="Chromium") as no_chromium:
        browsers.find_chromium()
    assert "apt install chromium" in str(no_chromium.value.hint)
    monkeypatch.setitem(sys.modules, "playwright", None)
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)

    async def start() -> None:
        page = Fetched("http://a.example/", "http://a.example/", 200, {}, b"", None, None, datetime.now(UTC))
        async with Fetcher() as fetcher, Browser(fetcher) as browser:
            await browser.render(page)

    with pytest.raises(MissingExtra, match="playwright") as no_extra:
        asyncio.run(start())
    assert no_extra.value.hint == "Install it with: pip install 'cocli[browser]'"
