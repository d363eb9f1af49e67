"""Callers of an HTTP service who mean harm or know no better: many at once, in a thread of their own.

A behaviour is a coroutine that talks over one connection, and returns when the service ends it.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable, Callable, Iterator, Sequence

_START_SECONDS = 60.0
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


@dataclass(frozen=True, slots=True)
class Target:
    """A service: where it is, and a request that it answers."""

    host: str
    port: int
    path: str
    token: str = ""

    def head(self, token: str, *fields: str) -> bytes:
        lines = [f"POST {self.path} HTTP/1.1", "Host: x", f"Authorization: Bearer {token}", *fields, "", ""]
        return "\r\n".join(lines).encode()


@dataclass(slots=True)
class Talk:
    """One connection of a bad caller."""

    target: Target
    rng: random.Random
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    statuses: Counter[str]

    async def trickle(self, text: bytes) -> None:
        """One byte a second, until somebody hangs up."""
        ended = asyncio.ensure_future(self.hear())
        try:
            for place in range(len(text)):
                self.writer.write(text[place : place + 1])
                if (await asyncio.wait({ended}, timeout=1.0))[0]:
                    break
            await ended
        finally:
            ended.cancel()

    async def hear(self) -> None:
        """Everything until the end; counts what was answered."""
        while line := await self.reader.readline():
            self.statuses.update(status.decode() for status in _STATUS.findall(line))


async def silent(talk: Talk) -> None:
    await talk.hear()


async def half_head(talk: Talk) -> None:
    talk.writer.write(talk.target.head("x", "Content-Length: 9")[: -talk.rng.randrange(1, 60)])
    await talk.hear()


async def slow_head(talk: Talk) -> None:
    await talk.trickle(talk.target.head("x", f"X-Slow: {'x' * 10_000}"))


async def slow_body(talk: Talk) -> None:
    """Without a token that holds."""
    talk.writer.write(talk.target.head("wrong", "Content-Length: 10000"))
    await talk.trickle(b"x" * 10_000)


async def slow_upload(talk: Talk) -> None:
    """With one that does: a careless neighbour."""
    talk.writer.write(talk.target.head(talk.target.token, "Content-Length: 10000"))
    await talk.trickle(b" " * 10_000)


async def huge_head(talk: Talk) -> None:
    talk.writer.write(talk.target.head("x", f"X-Huge: {'x' * 1_000_000}"))
    await talk.hear()


async def wrong_tokens(talk: Talk) -> None:
    """Twenty guesses, sent without waiting for the answers."""
    for _ in range(20):
        guess = talk.rng.randbytes(40).hex()
        talk.writer.write(talk.target.head(guess, "Content-Length: 2") + b"{}")
    await talk.hear()


async def deaf(talk: Talk) -> None:
    """Asks and asks, and takes no answer."""
    while True:
        talk.writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
        await talk.writer.drain()
        await asyncio.sleep(0.05)


async def nonsense(talk: Talk) -> None:
    talk.writer.write(talk.rng.randbytes(2_000) + b"\r\n\r\n")
    await talk.hear()


BEHAVIOURS = (silent, half_head, slow_head, slow_body, slow_upload, huge_head, wrong_tokens, deaf, nonsense)


@dataclass(slots=True)
class Crowd:
    """`tireless` callers come again when they are shown the door."""

    target: Target
    behaviours: Sequence[Callable[[Talk], Awaitable[None]]]
    rng: random.Random
    tireless: bool = False
    connected: int = 0
    ended: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    everybody_is_in: threading.Event = field(default_factory=threading.Event)

    async def run(self) -> None:
        await asyncio.gather(*map(self._caller, self.behaviours))

    async def _caller(self, behaviour: Callable[[Talk], Awaitable[None]]) -> None:
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, ValueError):  # that is how they are received
                await self._visit(behaviour)
            self.ended += 1
            if not self.tireless:
                return
            await asyncio.sleep(self.rng.random())

    async def _visit(self, behaviour: Callable[[Talk], Awaitable[None]]) -> None:
        reader, writer = await asyncio.open_connection(self.target.host, self.target.port)
        self.connected += 1
        if self.connected >= len(self.behaviours):
            self.everybody_is_in.set()
        try:
            await behaviour(Talk(self.target, self.rng, reader, writer, self.statuses))
        finally:
            writer.transport.abort()


@contextlib.contextmanager
def gathered(crowd: Crowd) -> Iterator[Crowd]:
    """The crowd is there while the block runs: everybody had a connection once when it begins."""
    loop = asyncio.new_event_loop()
    made: list[asyncio.Task[None]] = []

    def run() -> None:
        task = loop.create_task(crowd.run())
        made.append(task)
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.run_until_complete(asyncio.sleep(0.01))  # connections that were aborted are closed
        loop.close()

    thread = threading.Thread(target=run, name="crowd", daemon=True)
    thread.start()
    try:
        if not crowd.everybody_is_in.wait(_START_SECONDS):
            raise TimeoutError(f"only {crowd.connected} of {len(crowd.behaviours)} could connect")
        yield crowd
    finally:
        with contextlib.suppress(RuntimeError):  # everybody has left already: the loop is closed
            loop.call_soon_threadsafe(made[0].cancel)
        thread.join(_START_SECONDS)
