"""Encrypted connections: HTTP/2 where the server has it, the right name in the handshake, certificates checked."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.kit.async_time import HastyTime

from cocli.pipeline.websites.fetch import Failure, Fetched, Fetcher, FetchFailed, FetchSettings
from cocli.pipeline.websites.fetch.limits import FetchLimits

SETTINGS = FetchSettings(
    rate=50, robots=False, allowed=(ip_network("127.0.0.0/8"),), limits=FetchLimits(page_bytes=50_000)
)


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Of a server that is called secure.example, and of a client that trusts it."""
    folder: Path = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "secure.example")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("secure.example")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = folder / "both.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    pem.write_bytes(secret + certificate.public_bytes(serialization.Encoding.PEM))
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(pem)
    server.set_alpn_protocols(["h2"])
    return server, ssl.create_default_context(cafile=str(pem))


class Http2Server:
    """Answers every stream with a page of as many bytes as its path says."""

    def __init__(self) -> None:
        self.connections = 0
        self.asked: list[tuple[str, str]] = []
        self.names: list[str] = []
        self.resumed: list[bool] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.resumed.append(writer.get_extra_info("ssl_object").session_reused)
        state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        state.initiate_connection()
        writer.write(state.data_to_send())
        try:
            while data := await reader.read(65536):
                for event in state.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        self._answer(state, event)
                writer.write(state.data_to_send())
                await writer.drain()
        except ConnectionError:
            return  # the client hung up
        finally:
            writer.close()

    def _answer(self, state: h2.connection.H2Connection, event: h2.events.RequestReceived) -> None:
        fields = {str(name): str(value) for name, value in event.headers or ()}
        self.asked.append((fields[":authority"], fields[":path"]))
        stream = event.stream_id or 0
        headers = [(":status", "200"), ("content-type", "text/html")]
        if fields[":path"] == "/flood":
            headers += [(f"x-{number}", "y" * 100) for number in range(600)]
        state.send_headers(stream, headers)
        room = state.local_flow_control_window(stream)
        size = min(int(fields[":path"].removeprefix("/") or 5), room) if fields[":path"][1:].isdigit() else 5
        for start in range(0, size, 16_000):
            state.send_data(stream, b"x" * min(16_000, size - start))
        state.end_stream(stream)


def with_server(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
    run: Callable[[Fetcher], Awaitable[None]],
    *,
    trusted: bool = True,
) -> Http2Server:
    handler = Http2Server()

    async def main() -> None:
        server = await asyncio.start_server(handler, "127.0.0.1", 0, ssl=contexts[0])
        contexts[0].sni_callback = lambda _, name, __: handler.names.append(name)
        port = server.sockets[0].getsockname()[1]

        async def resolve(host: str, _: int) -> list[tuple[str, int]]:
            return [("127.0.0.1", port)]

        tls = contexts[1] if trusted else None
        async with Fetcher(SETTINGS, resolve=resolve, tls=tls, time=HastyTime()) as fetcher:
            await run(fetcher)
        server.close()
        await asyncio.sleep(0.01)  # closing takes some turns of the loop

    asyncio.run(main())
    return handler


def test_http2_on_one_connection_under_the_right_name(contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    async def run(fetcher: Fetcher) -> None:
        for path in ("/", "/50000", "/7"):
            page = await fetcher.fetch(f"https://secure.example{path}")
            assert isinstance(page, Fetched)
            assert len(page.body) == int(path[1:] or 5)

    server = with_server(contexts, run)
    assert server.connections == 1
    assert server.names == ["secure.example"]
    assert server.asked == [("secure.example", "/"), ("secure.example", "/50000"), ("secure.example", "/7")]


def test_a_connection_with_a_rest_of_a_page_on_it_is_not_used_again(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    async def run(fetcher: Fetcher) -> None:
        for _ in range(3):
            page = await fetcher.fetch("https://secure.example/60000")
            assert isinstance(page, Fetched)
            assert page.truncated
        assert isinstance(await fetcher.fetch("https://secure.example/"), Fetched)

    server = with_server(contexts, run)
    assert server.connections == 4
    assert server.resumed == [False, True, True, True], "a new connection goes on with the session of the last one"


def test_a_flood_of_headers_is_cut_off_here_too(contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    async def run(fetcher: Fetcher) -> None:
        flood = await fetcher.fetch("https://secure.example/flood")
        assert isinstance(flood, FetchFailed)
        assert flood.kind is Failure.PROTOCOL
        assert isinstance(await fetcher.fetch("https://secure.example/"), Fetched)

    with_server(contexts, run)


def test_a_certificate_of_somebody_else_is_refused(contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    async def run(fetcher: Fetcher) -> None:
        outcome = await fetcher.fetch("https://other.example/")
        assert isinstance(outcome, FetchFailed)
        assert (outcome.kind, outcome.retryable) == (Failure.TLS, False)

    assert with_server(contexts, run).asked == []


def test_a_certificate_that_nobody_vouches_for_is_refused(contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    async def run(fetcher: Fetcher) -> None:
        outcome = await fetcher.fetch("https://secure.example/")
        assert isinstance(outcome, FetchFailed)
        assert outcome.kind is Failure.TLS

    assert with_server(contexts, run, trusted=False).asked == []


def test_a_handshake_that_is_cancelled_leaves_no_open_socket() -> None:
    """A site's time may be over while its server is still silent; what was open then must not stay open."""

    async def scenario() -> None:
        closed = asyncio.Event()

        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while await reader.read(1000):
                pass  # the client's first words are read, and never answered
            closed.set()
            writer.close()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]

        async def resolve(host: str, asked: int) -> list[tuple[str, int]]:
            return [("127.0.0.1", port)]

        async with Fetcher(SETTINGS, resolve=resolve) as fetcher:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await fetcher.fetch("https://secure.example/")
            async with asyncio.timeout(5):
                await closed.wait()
        server.close()
        await server.wait_closed()

    asyncio.run(scenario())
