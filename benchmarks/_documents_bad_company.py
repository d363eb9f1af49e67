"""An account that does all it should not, with the token in BAD_TOKEN:
`python -m benchmarks._documents_bad_company GRPC HTTP limited|unlimited`.

Floods of saves without a pause, whatever is answered; replays and watchers that nobody reads; bodies that never end;
lists and comparisons of everything; messages that are none.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress

import grpc
import grpc.aio

from benchmarks._documents_service import request
from cocli.documents.proto.generated import repository_pb2 as pb

_METHOD = "/cocli.documents.v1.DocumentRepository/"
_SOME = 10
"""Saves of each client, after which an account without a limit is at it."""
_METADATA = (("authorization", f"Bearer {os.environ.get('BAD_TOKEN', '')}"),)


async def _flood(channel: grpc.aio.Channel, name: str, data: bytes) -> None:
    method = channel.unary_unary(f"{_METHOD}{name}", None, None)
    while True:
        with suppress(grpc.aio.AioRpcError):  # it is refused: at once again
            await method(data, metadata=_METADATA, timeout=60)


async def _save(channel: grpc.aio.Channel, number: int, at_it: asyncio.Event, *, limited: bool) -> None:
    """Says when it is at it: when it has used up what it may use, or, where nothing limits it, after some saves."""
    method = channel.unary_unary(f"{_METHOD}Save", None, None)
    for count in range(1_000_000):
        data = request("bad", f"flood-{os.getpid()}-{number}-{count}").SerializeToString()
        try:
            await method(data, metadata=_METADATA, timeout=60)
            if not limited and count == _SOME:
                at_it.set()
        except grpc.aio.AioRpcError as error:  # as above
            if limited and error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
                at_it.set()


async def _idle_body(http: str) -> None:
    host, _, port = http.rpartition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    token = os.environ["BAD_TOKEN"]
    head = f"POST /v1/documents?doc=slow HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
    writer.write((head + "Content-Length: 1000\r\n\r\nx").encode())
    with suppress(OSError):  # it was closed
        await writer.drain()
        await asyncio.sleep(3600)


async def main(address: str, http: str, *, limited: bool) -> None:
    unread = []
    async with grpc.aio.insecure_channel(address) as first, grpc.aio.insecure_channel(address) as second:
        save = first.unary_unary(f"{_METHOD}Save", None, None)
        await save(request("bad", "one").SerializeToString(), metadata=_METADATA)
        for number in range(8):
            replay = pb.ReplayRequest(doc_id="one", cluster=f"c{number}", rate=0.01).SerializeToString()
            unread.append(first.unary_stream(f"{_METHOD}Replay", None, None)(replay, metadata=_METADATA))
            unread.append(first.unary_stream(f"{_METHOD}Watch", None, None)(b"", metadata=_METADATA))
        await asyncio.gather(*(call.read() for call in unread[1::2]), return_exceptions=True)
        compare = pb.CompareRequest(left_cluster="c1", right_cluster="c2").SerializeToString()
        listing = pb.ListDocumentsRequest(page_size=10_000).SerializeToString()
        at_it = asyncio.Event()
        tasks = [asyncio.create_task(_save(second, number, at_it, limited=limited)) for number in range(16)]
        tasks += [asyncio.create_task(_flood(second, "ListDocuments", listing)) for _ in range(4)]
        tasks += [asyncio.create_task(_flood(second, "Compare", compare)) for _ in range(2)]
        tasks += [asyncio.create_task(_flood(second, "Save", b"\xff\xff\xff")) for _ in range(4)]
        tasks += [asyncio.create_task(_idle_body(http)) for _ in range(60)]
        await asyncio.wait_for(at_it.wait(), 300)
        print("at it", flush=True)
        await asyncio.gather(*tasks)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], limited=sys.argv[3] == "limited"))
