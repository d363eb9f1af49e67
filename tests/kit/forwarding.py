"""Hands connections on: `python -m tests.kit.forwarding LISTEN TO PORT`. It says when it listens."""

from __future__ import annotations

import asyncio
import contextlib
import sys


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):  # either side may hang up at any time
        while data := await source.read(1 << 16):
            target.write(data)
            await target.drain()
    with contextlib.suppress(OSError):
        target.close()


async def _serve(listen: str, to: str, port: int) -> None:
    async def hand_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            other_reader, other_writer = await asyncio.open_connection(to, port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_copy(reader, other_writer), _copy(other_reader, writer))

    server = await asyncio.start_server(hand_on, listen, port)
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], sys.argv[2], int(sys.argv[3])))
