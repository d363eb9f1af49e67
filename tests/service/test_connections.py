"""Who keeps a connection and who makes room: a real server with small limits, and callers from several addresses."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPException, HTTPResponse
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from cocli.errors import QuotaExceeded, ServiceUnavailable, TooSlow
from cocli.service.connections import ConnectionLimits, network_of, note_caller
from cocli.service.http_common import read_body
from cocli.service.listener import Tls, listening, served
from cocli.service.request_places import RequestPlaces

SMALL = ConnectionLimits(total=8, of_address=6, wait_seconds=60.0)
PATIENCE = 60.0
pytestmark = pytest.mark.waits
LARGE = 50_000_000
GET = b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n"


class Server:
    """`/known` is a request with a valid token that takes until `release` is set."""

    def __init__(self) -> None:
        self.port = 0
        self.release = threading.Event()
        self.under_way = 0

    def application(self) -> Starlette:
        names = ("known", "quick", "trusted", "large", "stream", "body")
        return Starlette(routes=[Route(f"/{name}", getattr(self, name), methods=["GET", "POST"]) for name in names])

    async def known(self, request: Request) -> Response:
        note_caller(request.scope)
        self.under_way += 1
        await asyncio.to_thread(self.release.wait, PATIENCE)
        return PlainTextResponse("done")

    async def quick(self, request: Request) -> Response:
        return PlainTextResponse("quick")

    async def trusted(self, request: Request) -> Response:
        note_caller(request.scope)
        return PlainTextResponse("trusted")

    async def large(self, request: Request) -> Response:
        return PlainTextResponse("x" * LARGE)

    async def stream(self, request: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            self.under_way += 1
            try:
                for _ in range(LARGE // 100_000):
                    yield b"x" * 100_000
            finally:
                self.under_way -= 1

        return StreamingResponse(pieces())

    async def body(self, request: Request) -> Response:
        try:
            return Response(await read_body(request, limit=1000, seconds=0.5, what="it"))
        except TooSlow as error:
            return PlainTextResponse(error.message, status_code=408)

    def connect(self, source: str = "127.0.0.1", sent: bytes = b"") -> socket.socket:
        caller = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE, source_address=(source, 0))
        caller.sendall(sent)
        return caller


@contextmanager
def serving(limits: ConnectionLimits, tls: Tls | None = None) -> Iterator[Server]:
    server = Server()
    bound = listening("127.0.0.1", 0, "")
    server.port = bound.getsockname()[1]
    with served(server.application(), bound, tls, limits=limits):
        try:
            yield server
        finally:
            server.release.set()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def answer(caller: socket.socket) -> bytes:
    """The body of one answer; nothing where the connection was closed."""
    response = HTTPResponse(caller)
    try:
        response.begin()
        return response.read()
    except (ConnectionError, HTTPException):
        return b""


def answered(caller: socket.socket) -> bytes:
    with caller:
        return answer(caller)


def is_left(caller: socket.socket) -> bool:
    caller.setblocking(False)
    try:
        return caller.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_the_oldest_that_waits_makes_room() -> None:
    with serving(SMALL) as server, ExitStack() as stack:
        waiting = [stack.enter_context(server.connect()) for _ in range(6)]
        assert answered(server.connect(sent=GET % b"quick")) == b"quick"
        until(lambda: is_left(waiting[0]))
        assert [is_left(caller) for caller in waiting[1:]] == [False] * 5


def test_a_known_caller_under_way_is_never_left() -> None:
    with serving(SMALL) as server, ExitStack() as stack:
        known = stack.enter_context(server.connect(sent=GET % b"known"))
        until(lambda: server.under_way == 1)
        for _ in range(30):
            stack.enter_context(server.connect())
        assert answered(server.connect(sent=GET % b"quick")) == b"quick"
        server.release.set()
        assert answered(known) == b"done"


def test_who_showed_a_token_is_left_last() -> None:
    with serving(SMALL) as server, ExitStack() as stack:
        trusted = stack.enter_context(server.connect(sent=GET % b"trusted"))
        assert answer(trusted) == b"trusted"
        quick = stack.enter_context(server.connect(sent=GET % b"quick"))
        assert answer(quick) == b"quick"
        for _ in range(20):
            stack.enter_context(server.connect())
        until(lambda: is_left(quick))
        trusted.sendall(GET % b"trusted")
        assert answer(trusted) == b"trusted"


def test_an_address_with_many_makes_room_for_one_with_few() -> None:
    with serving(SMALL) as server, ExitStack() as stack:
        neighbour = stack.enter_context(server.connect("127.0.0.2"))
        for _ in range(20):
            stack.enter_context(server.connect())
        others = [stack.enter_context(server.connect(f"127.0.0.{last}")) for last in range(3, 6)]
        assert answered(server.connect(sent=GET % b"quick")) == b"quick"
        for caller in (neighbour, *others):
            caller.sendall(GET % b"quick")
            assert answered(caller) == b"quick"


def test_where_everybody_is_known_and_at_work_the_newest_is_left() -> None:
    with serving(SMALL) as server, ExitStack() as stack:
        known = [stack.enter_context(server.connect(sent=GET % b"known")) for _ in range(6)]
        until(lambda: server.under_way == 6)
        assert answered(server.connect(sent=GET % b"quick")) == b""
        server.release.set()
        assert all(answered(caller) == b"done" for caller in known)


def test_a_handshake_that_never_ends_counts_and_is_left(certificate: tuple[Path, Path]) -> None:
    pem, key = certificate
    tls = Tls(str(pem), str(key), pem.read_bytes(), key.read_bytes())
    with serving(ConnectionLimits(total=8, of_address=6, wait_seconds=5.0), tls) as server, ExitStack() as stack:
        silent = [stack.enter_context(server.connect()) for _ in range(12)]
        until(lambda: all(map(is_left, silent[:6])))
        trust = ssl.create_default_context(cafile=str(pem))
        with trust.wrap_socket(server.connect(), server_hostname="localhost") as caller:
            caller.sendall(GET % b"quick")
            assert answer(caller) == b"quick"
        until(lambda: all(map(is_left, silent)))


def test_who_does_not_take_an_answer_is_left() -> None:
    with serving(ConnectionLimits(wait_seconds=0.5)) as server, server.connect(sent=GET % b"large") as deaf:
        until(lambda: hears_nobody(deaf))


def test_who_does_not_take_a_part_of_an_answer_is_left() -> None:
    with serving(ConnectionLimits(send_seconds=0.5)) as server, server.connect(sent=GET % b"stream") as deaf:
        until(lambda: server.under_way == 1)
        until(lambda: server.under_way == 0)
        until(lambda: hears_nobody(deaf))


def hears_nobody(caller: socket.socket) -> bool:
    """The other side has closed: what is said to it comes back."""
    try:
        caller.sendall(b"\r\n")
    except ConnectionError:
        return True
    return False


def test_a_body_that_is_too_slow_is_answered() -> None:
    head = b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
    with serving(SMALL) as server:
        assert answered(server.connect(sent=head + b"x" * 99)).startswith(b"it did not arrive in time")
        assert answered(server.connect(sent=head + b"y" * 100)) == b"y" * 100


def test_a_stranger_who_asks_without_end_waits_for_its_answers() -> None:
    """After twenty requests without a token; those with one are not held up by it."""
    with serving(ConnectionLimits(stranger_seconds=PATIENCE)) as server, ExitStack() as stack:
        stranger = stack.enter_context(server.connect(sent=GET % b"quick" * 100))
        heard = bytearray()
        while heard.count(b"quick") < 20:
            heard += stranger.recv(65_536)
        known = stack.enter_context(server.connect())
        for _ in range(50):
            known.sendall(GET % b"trusted")
            assert answer(known) == b"trusted"
        stranger.setblocking(False)
        with suppress(BlockingIOError):
            heard += stranger.recv(65_536)
        assert heard.count(b"quick") < 30


def test_an_answer_does_not_wait_for_an_acknowledgement() -> None:
    """Nagle's algorithm is off: else a body waits forty milliseconds behind its head."""

    async def option() -> int:
        seen: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def connected(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted = writer.get_extra_info("socket")
            seen.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        bound = listening("127.0.0.1", 0, "")
        async with await asyncio.start_server(connected, sock=bound):
            _, writer = await asyncio.open_connection(*bound.getsockname())
            found = await asyncio.wait_for(seen, PATIENCE)
            writer.close()
            await writer.wait_closed()
            return found

    assert asyncio.run(option()) == 1


def test_a_network_has_one_name() -> None:
    assert network_of("192.0.2.7") == network_of("::ffff:192.0.2.7") == "192.0.2.7"
    assert network_of("2001:db8:1:2::1") == network_of("2001:db8:1:2:ffff::9") != network_of("2001:db8:1:3::1")
    assert network_of("fe80::1%eth0") == network_of("fe80::2")


def test_an_account_has_three_quarters_of_the_places() -> None:
    places = RequestPlaces(4)
    for _ in range(3):
        places.take("greedy")
    with pytest.raises(QuotaExceeded, match="3 requests under way"):
        places.take("greedy")
    with places.taken("neighbour"), pytest.raises(ServiceUnavailable, match="too much"):
        places.take("third")
    places.leave("greedy")
    places.take("greedy")
