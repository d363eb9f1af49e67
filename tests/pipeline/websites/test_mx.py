"""Does a domain take mail: asked of a real name server on loopback, and of hostile ones."""

from __future__ import annotations

import asyncio
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocli.pipeline.websites.site.mx import MAX_HOSTS, MailHosts, MxAnswer, name_servers

Answer = Callable[[bytes], list[bytes]]


@contextmanager
def name_server(answer: Answer) -> Iterator[tuple[str, int]]:
    """A socket that answers every datagram with what it is told to."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))
    server.settimeout(10)

    def serve() -> None:
        while True:
            query, client = server.recvfrom(4096)
            if query == b"stop":
                return
            for data in answer(query):
                server.sendto(data, client)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield server.getsockname()
    finally:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stopper:
            stopper.sendto(b"stop", server.getsockname())
        thread.join()
        server.close()


def name(text: str) -> bytes:
    return b"".join(bytes([len(part)]) + part.encode() for part in text.split(".") if part) + b"\0"


def question_of(query: bytes) -> bytes:
    end = query.index(b"\0", 12) + 5
    return query[12:end]


def reply(query: bytes, hosts: list[tuple[int, bytes]], code: int = 0) -> bytes:
    header = query[:2] + struct.pack("!5H", 0x8180 | code, 1, len(hosts), 0, 0)
    records = b""
    for preference, host in hosts:
        data = struct.pack("!H", preference) + host
        records += b"\xc0\x0c" + struct.pack("!HHIH", 15, 1, 300, len(data)) + data
    return header + question_of(query) + records


def ask(answer: Answer, domain: str = "firm.com", seconds: float = 0.3) -> MxAnswer:
    with name_server(answer) as server:
        return asyncio.run(MailHosts([server], seconds=seconds).of(domain))


def test_the_best_mail_host_is_first() -> None:
    hosts = [(20, name("b.mail.com")), (10, b"\x02mx\xc0\x0c")]
    assert ask(lambda query: [reply(query, hosts)]) == MxAnswer("mx", ("mx.firm.com", "b.mail.com"))


@pytest.mark.parametrize(
    ("hosts", "code", "state"),
    [([(0, b"\0")], 0, "null-mx"), ([], 0, "no-mx"), ([], 3, "no-domain"), ([], 2, "unknown"), ([], 5, "unknown")],
)
def test_no_mail_host(hosts: list[tuple[int, bytes]], code: int, state: str) -> None:
    assert ask(lambda query: [reply(query, hosts, code)]) == MxAnswer(state)  # type: ignore[arg-type]


def test_an_answer_is_asked_for_once() -> None:
    asked = []

    def answer(query: bytes) -> list[bytes]:
        asked.append(query)
        return [reply(query, [(1, name("mx.firm.com"))])]

    async def twice(server: tuple[str, int]) -> None:
        hosts = MailHosts([server])
        assert await hosts.of("firm.com") == await hosts.of("firm.com")

    with name_server(answer) as server:
        asyncio.run(twice(server))
    assert len(asked) == 1


def test_the_next_server_is_asked() -> None:
    with name_server(lambda _: []) as silent, name_server(lambda q: [reply(q, [(1, name("mx.a.com"))])]) as good:
        assert asyncio.run(MailHosts([silent, good], seconds=0.1).of("firm.com")).hosts == ("mx.a.com",)


def test_answers_to_other_questions_are_not_taken() -> None:
    def forged(query: bytes) -> list[bytes]:
        other = bytes([query[0] ^ 1, query[1]]) + query[2:]
        return [reply(other, [(1, name("evil.com"))]), reply(query, [(1, name("mx.firm.com"))])]

    assert ask(forged).hosts == ("mx.firm.com",)
    wrong = lambda q: [reply(q.replace(b"\x04firm", b"\x04evil"), [(1, name("evil.com"))])]  # noqa: E731
    assert ask(wrong) == MxAnswer("unknown")


@pytest.mark.parametrize(
    "host", [b"\xc0\x0c\xc0", b"\xc0\xff", b"\x3fab", b"\xc0" + bytes([50]), b"\x04mail\xc0\x2b", b""]
)
def test_broken_names_end(host: bytes) -> None:
    assert ask(lambda query: [reply(query, [(1, host)])]).state in ("unknown", "mx", "null-mx")


@pytest.mark.parametrize("domain", ["", "a..b", "x" * 64 + ".com", "ü.com", ".".join(["abc"] * 80)])
def test_what_is_no_name_is_not_asked(domain: str) -> None:
    assert asyncio.run(MailHosts([("127.0.0.1", 1)]).of(domain)) == MxAnswer("unknown")


def test_without_a_server_nothing_is_known(tmp_path: Path) -> None:
    assert asyncio.run(MailHosts([]).of("firm.com")) == MxAnswer("unknown")
    assert name_servers(str(tmp_path / "none")) == []
    (tmp_path / "resolv.conf").write_text("# x\nnameserver 192.0.2.1\nsearch a\nnameserver fe80::1%eth0\nnameserver\n")
    assert name_servers(str(tmp_path / "resolv.conf")) == [("192.0.2.1", 53), ("fe80::1", 53)]


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=200))
def test_no_answer_is_an_exception(data: bytes) -> None:
    """Random bytes, alone and behind a head that fits the question."""

    def answer(query: bytes) -> list[bytes]:
        header = query[:2] + struct.pack("!5H", 0x8180, 1, 3, 0, 0)
        return [data, header + question_of(query) + data]

    assert ask(answer, seconds=0.05).state in ("unknown", "mx", "null-mx", "no-mx", "no-domain")


def test_hosts_are_few_and_have_names_of_hosts() -> None:
    many = [(number, name(f"mx{number}.a.com")) for number in range(50)]
    assert len(ask(lambda query: [reply(query, many)]).hosts) == MAX_HOSTS
    odd = [(1, b"\x03a\x00b\x03com\x00"), (2, name("mx.a.com"))]
    assert ask(lambda query: [reply(query, odd)]).hosts == ("mx.a.com",)


def test_the_library_is_loaded_by_who_asks_only() -> None:
    program = "import sys, cocli.pipeline.websites.site.mx; assert 'dns' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
