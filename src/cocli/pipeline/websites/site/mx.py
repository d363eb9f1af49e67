"""Does a domain take mail? One question to the name server of this machine, by UDP, with strict bounds.

    answer = await MailHosts(name_servers()).of("firm.com")

What cannot be found out is `unknown`, never an exception.
"""

from __future__ import annotations

import asyncio
import secrets
import struct
from dataclasses import dataclass
from typing import Literal

MX, IN = 15, 1
SECONDS = 3.0
MAX_HOSTS = 20
MAX_JUMPS = 20
_HEADER = struct.Struct("!6H")
_RECORD = struct.Struct("!HHIH")
_NO_SUCH_NAME = 3
_EDNS = b"\0" + struct.pack("!HHIH", 41, 1232, 0, 0)
"""The answer may have 1,232 bytes, which passes every network in one piece."""

MxState = Literal["mx", "no-mx", "null-mx", "no-domain", "unknown"]


@dataclass(frozen=True, slots=True)
class MxAnswer:
    """`null-mx`: the domain says that it takes no mail (RFC 7505). `no-mx`: it says nothing, and may take some."""

    state: MxState
    hosts: tuple[str, ...] = ()
    """The best first."""


def name_servers(path: str = "/etc/resolv.conf") -> list[tuple[str, int]]:
    """The name servers of this machine."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = [line.split() for line in file.read(65_536).splitlines()]
    except OSError:  # a machine without this file: nobody to ask
        return []
    return [(words[1].partition("%")[0], 53) for words in lines if len(words) > 1 and words[0] == "nameserver"][:3]


class MailHosts:
    """Asks the name servers, one after the other, and remembers what they said while it lives."""

    def __init__(self, servers: list[tuple[str, int]], *, seconds: float = SECONDS) -> None:
        self._servers = servers
        self._seconds = seconds
        self._known: dict[str, MxAnswer] = {}

    async def of(self, domain: str) -> MxAnswer:
        answer = self._known.get(domain)
        if answer is None:
            answer = await self._ask(domain)
            if answer.state != "unknown":
                self._known[domain] = answer
        return answer

    async def _ask(self, domain: str) -> MxAnswer:
        try:
            name = _encoded(domain)
        except ValueError:  # no name that could be asked for
            return MxAnswer("unknown")
        for server in self._servers:
            number = secrets.randbits(16)
            question = name + struct.pack("!HH", MX, IN)
            query = _HEADER.pack(number, 0x0100, 1, 0, 0, 1) + question + _EDNS
            for data in await _answers(server, query, self._seconds):
                answer = read_answer(data, number, question)
                if answer is not None:
                    return answer
        return MxAnswer("unknown")


class _Listener(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.data: asyncio.Queue[bytes] = asyncio.Queue()

    def datagram_received(self, data: bytes, addr: object) -> None:  # noqa: ARG002  the socket is connected
        self.data.put_nowait(data)

    def error_received(self, exc: Exception) -> None:  # noqa: ARG002  nobody listens there: like no answer
        self.data.put_nowait(b"")


async def _answers(server: tuple[str, int], query: bytes, seconds: float) -> list[bytes]:
    """The first datagram that answers this query, if one comes in time."""
    loop = asyncio.get_running_loop()
    try:
        transport, listener = await loop.create_datagram_endpoint(_Listener, remote_addr=server)
    except OSError:  # no way to this server: the next one is asked
        return []
    try:
        async with asyncio.timeout(seconds):
            transport.sendto(query)
            while True:
                data = await listener.data.get()
                if not data or data[:2] == query[:2]:
                    return [data]
    except TimeoutError:  # it does not answer: the next one is asked
        return []
    finally:
        transport.close()


def read_answer(data: bytes, number: int, question: bytes) -> MxAnswer | None:
    """What an answer says; None for what is none to this question, and for what cannot be read."""
    try:
        return _read(data, number, question)
    except (struct.error, IndexError, ValueError, UnicodeDecodeError):  # a broken answer is none
        return None


def _read(data: bytes, number: int, question: bytes) -> MxAnswer | None:
    given, flags, questions, answers, _, _ = _HEADER.unpack_from(data)
    at = _HEADER.size + len(question)
    if given != number or not flags & 0x8000 or questions != 1 or data[_HEADER.size : at].lower() != question.lower():
        return None
    code = flags & 0x000F
    if code == _NO_SUCH_NAME:
        return MxAnswer("no-domain")
    if code:
        return None
    found: list[tuple[int, str]] = []
    for _ in range(min(answers, MAX_HOSTS * 2)):
        _, at = _name(data, at)
        kind, _, _, length = _RECORD.unpack_from(data, at)
        at += _RECORD.size
        if kind == MX:
            found.append((struct.unpack_from("!H", data, at)[0], _name(data, at + 2)[0]))
        at += length
    hosts = tuple(dict.fromkeys(host for _, host in sorted(found) if host))[:MAX_HOSTS]
    if found and not hosts:
        return MxAnswer("null-mx")
    if hosts:
        return MxAnswer("mx", hosts)
    return MxAnswer("no-mx")


def _name(data: bytes, at: int) -> tuple[str, int]:
    """A name and where it ends. Pointers lead back only, and not for ever."""
    labels: list[str] = []
    end, limit = 0, at
    for _ in range(MAX_JUMPS * 8):
        length = data[at]
        if length >= 0xC0:
            end = end or at + 2
            at = struct.unpack_from("!H", data, at)[0] & 0x3FFF
            if at >= limit:
                raise ValueError("a pointer that does not lead back")
            limit = at
        elif length == 0:
            return ".".join(labels).lower(), end or at + 1
        else:
            labels.append(data[at + 1 : at + 1 + length].decode("ascii"))
            at += 1 + length
    raise ValueError("a name without end")


def _encoded(domain: str) -> bytes:
    labels = domain.rstrip(".").encode("ascii").split(b".")
    if any(not 0 < len(label) < 64 for label in labels) or len(domain) > 253:
        raise ValueError(domain)
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
