"""Large blobs on their way in and out, a part at a time, and those who watch for changes.

A caller who sends or takes slowly holds a connection and a file on the disk, never a thread or much memory: what
arrives is spooled, and only as many parts as there are threads for an account are in memory at a time.
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from cocli.app.documents.documents import BODY, saved
from cocli.app.documents.uploads import ANY_TYPE, LargeBlob
from cocli.documents.catalog.base import parts_of, token_of
from cocli.documents.document import Blob
from cocli.documents.limits import PART_BYTES
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.documents.save_order import row_etag
from cocli.errors import DocumentNotFound, UploadOffset, UsageError
from cocli.service.documents import grpc_methods as methods
from cocli.service.documents import messages

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import IO

    from cocli.app.documents.tokens import TokenCaller
    from cocli.documents.catalog.uploads import UploadRow
    from cocli.documents.places import DocumentPlace
    from cocli.documents.receipt import Receipt
    from cocli.documents.save_order import SaveOrder
    from cocli.models.document import DocumentReference, PipeDoc
    from cocli.service.documents.backend import ServiceBackend

CHUNK = 256 * 1024
"""Bytes of a message of a download."""
_IN_MEMORY = 65_536
"""Bytes of what arrives that wait in memory; more wait in a file."""
_PARTS_IN_MEMORY = 4
"""Of all uploads and downloads together: each takes about twice its size for a moment."""
_WATCH_SECONDS = 0.5
_STILL_SECONDS = 30.0
_CHANGES = 500
_ALL = "begin"
"""In the place of a resume token: all there is."""


class FoundBlob(NamedTuple):
    place: DocumentPlace
    name: str
    blob: Blob
    etag: str
    """Of the state that it is in, if the newest was asked for."""


class BlobTransfers:
    """For one event loop."""

    def __init__(self, backend: ServiceBackend) -> None:
        self._backend = backend
        self._documents = backend.documents
        self._parts = asyncio.Semaphore(_PARTS_IN_MEMORY)

    # --- in

    def begun(self, caller: TokenCaller, request: pb.BeginUploadRequest) -> tuple[SaveOrder, LargeBlob]:
        """What an upload is to become."""
        order = methods.save_order(caller.account, caller.who, request.save)
        name = request.blob_name or BODY
        if name in order.document.blobs:
            raise UsageError(reason=f"the document has a blob {name[:80]} already")
        blob = LargeBlob(name, request.mime_type or ANY_TYPE, request.filename or None, request.sha256)
        return order, blob

    async def begin(self, caller: TokenCaller, request: pb.BeginUploadRequest) -> UploadRow:
        order, _ = self.begun(caller, request)
        begin = partial(self._backend.uploads.begin, caller.account, request.SerializeToString(), order)
        return await self._backend.threads.call(caller.account, begin)

    async def find(self, caller: TokenCaller, upload: str) -> UploadRow:
        find = partial(self._backend.uploads.find, caller.account, upload)
        return await self._backend.threads.call(caller.account, find)

    async def cancel(self, caller: TokenCaller, upload: str) -> UploadRow:
        cancel = partial(self._backend.uploads.cancel, caller.account, upload)
        return await self._backend.threads.call(caller.account, cancel)

    async def save(self, caller: TokenCaller, request: pb.BeginUploadRequest, pieces: AsyncIterator[bytes]) -> Receipt:
        """Save a file that arrives in one go, of any size: nobody has an id to go on with it."""
        order, blob = self.begun(caller, request)
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
            while spool.tell() <= PART_BYTES and (piece := await anext(pieces, None)) is not None:
                self._backend.accounts.admit_bytes(caller.account, len(piece))
                spool.write(piece)
            size = spool.tell()
            spool.seek(0)
            if size <= PART_BYTES:
                return await self._save_small(caller, order, blob, spool)
            row = await self.begin(caller, request)
            try:
                row = await self.receive(caller, row, 0, _chained(spool, pieces), counted=size)
                return await self.finish(caller, row)
            except BaseException:  # whatever ended it, nobody can go on with it
                await asyncio.shield(self.cancel(caller, row.upload))
                raise

    async def _save_small(self, caller: TokenCaller, order: SaveOrder, blob: LargeBlob, spool: IO[bytes]) -> Receipt:
        documents = self._documents.of(caller.account)

        def work() -> Receipt:
            body = Blob.of(spool.read(), blob.mime_type, filename=blob.filename)
            return saved(documents, replace(order, document=order.document.with_blob(blob.name, body)))

        return await self._backend.threads.call(caller.account, work)

    async def receive(
        self, caller: TokenCaller, row: UploadRow, offset: int, pieces: AsyncIterator[bytes], *, counted: int = 0
    ) -> UploadRow:
        """Keep what arrives. What arrived before it is cut off is kept as well. `counted` bytes of it were counted
        for the account before."""
        if offset != row.received:
            raise UploadOffset(upload=row.upload, offset=row.received, given=offset)
        order, _ = self.begun(caller, _request(row))
        spool = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  closed below
        is_whole = True  # nothing is missing between what is in the store and what is spooled
        try:
            waiting = 0
            async for piece in pieces:
                self._backend.accounts.admit_bytes(caller.account, max(0, len(piece) - counted))
                counted = max(0, counted - len(piece))
                spool.write(piece)
                waiting += len(piece)
                while waiting >= PART_BYTES:
                    is_whole = False
                    row = await self._flush(caller, row, order, spool)
                    is_whole, waiting = True, waiting - PART_BYTES
        finally:
            try:
                if is_whole and spool.tell():
                    row = await asyncio.shield(self._flush(caller, row, order, spool))
            finally:
                spool.close()
        return row

    async def _flush(self, caller: TokenCaller, row: UploadRow, order: SaveOrder, spool: IO[bytes]) -> UploadRow:
        """Put the beginning of what is spooled into the store; the rest stays spooled."""
        async with self._parts:
            spool.seek(0)
            data, rest = spool.read(PART_BYTES), spool.read()
            spool.seek(0)
            spool.truncate()
            spool.write(rest)
            append = partial(self._backend.uploads.append, row, order, data)
            return await self._backend.threads.call(caller.account, append)

    async def finish(self, caller: TokenCaller, row: UploadRow) -> Receipt:
        order, blob = self.begun(caller, _request(row))
        finish = partial(self._backend.uploads.finish, row, order, blob)
        return await self._backend.threads.call(caller.account, finish)

    # --- out

    async def blob(self, caller: TokenCaller, request: pb.DownloadRequest) -> FoundBlob:
        return await self._backend.threads.call(caller.account, partial(self._blob, caller, request))

    def _blob(self, caller: TokenCaller, request: pb.DownloadRequest) -> FoundBlob:
        repository, etag = self._documents.repository, ""
        if request.HasField("reference"):
            reference: DocumentReference = messages.read_reference(caller.account, request.reference)
            document = repository.get(caller.account, reference)
        else:
            row = repository.find(
                caller.account,
                request.doc_id,
                request.address,
                request.cluster or None,
                datasource=request.datasource or None,
            )
            document = repository.current_of(row)
            etag = row_etag(row)
        name = request.blob_name or BODY
        if name not in document.blobs:
            raise DocumentNotFound(doc=document.doc, place=f"its blob {name[:80]}")
        place, blob = repository.objects.place(document), document.blobs[name]
        pieces = repository.objects.blob_pieces(place, name, blob)
        self._backend.discretion.check_blob(caller, document, blob, pieces)
        return FoundBlob(place, name, blob, etag)

    async def pieces(self, account: str, found: FoundBlob, offset: int, length: int) -> AsyncIterator[bytes]:
        """The bytes, a part in memory at a time, and of all downloads only some."""
        objects = self._documents.repository.objects
        until = min(found.blob.size, offset + length)
        while offset < until:
            step = found.blob.part_size or until
            end = min(until, (offset // step + 1) * step)

            def read(begin: int = offset, size: int = end - offset) -> bytes:
                return b"".join(objects.blob_pieces(found.place, found.name, found.blob, begin, size))

            async with self._parts:
                data = await self._backend.threads.call(account, read)
            for begin in range(0, len(data), CHUNK):
                self._backend.accounts.answered(account, min(CHUNK, len(data) - begin))
                yield data[begin : begin + CHUNK]
            offset = end

    # --- changes

    async def changes(
        self, caller: TokenCaller, request: pb.WatchRequest, still_seconds: float = _STILL_SECONDS
    ) -> AsyncIterator[pb.WatchEvent]:
        """The states that change, each with the token to go on from; without one, how far it is from time to time."""
        account = caller.account
        threads, loop = self._backend.threads, asyncio.get_running_loop()
        name, number = await threads.call(account, partial(self._watched_from, request.resume_token))
        yield pb.WatchEvent(resume_token=token_of([name, number]))
        told_at = loop.time()
        while True:
            found, is_shown = await threads.call(account, partial(self._changed_after, caller, number))
            for number, row in found:
                if request.datasource in ("", row.datasource) and is_shown(row):
                    told_at = loop.time()
                    yield pb.WatchEvent(resume_token=token_of([name, number]), row=messages.row_message(row))
            # Each is as much work for the event loop as a request, and a save has as many as there are watchers.
            if found and (seconds := self._backend.pace.charge(account, len(found))):
                await asyncio.sleep(seconds)
            if len(found) < _CHANGES:
                if loop.time() - told_at >= still_seconds:
                    told_at = loop.time()
                    yield pb.WatchEvent(resume_token=token_of([name, number]))
                await asyncio.sleep(_WATCH_SECONDS)

    async def changes_page(self, caller: TokenCaller, request: pb.WatchRequest, seconds: float) -> pb.WatchPage:
        """Some changes, as soon as there are any, or none after so many seconds."""
        page = pb.WatchPage()
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        async for event in self.changes(caller, request, still_seconds=0.0):
            page.resume_token = event.resume_token
            if event.HasField("row"):
                page.rows.append(event.row)
            elif page.rows or loop.time() > until:
                break
            if len(page.rows) >= _CHANGES:
                break
        return page

    def _changed_after(
        self, caller: TokenCaller, number: int
    ) -> tuple[list[tuple[int, PipeDoc]], Callable[[PipeDoc], bool]]:
        """What changed, and which of it this caller is told of."""
        found = self._documents.repository.catalog.changes_after(caller.account, number, _CHANGES)
        return found, self._backend.discretion.shown(caller)

    def _watched_from(self, token: str) -> tuple[str, int]:
        """The catalogue that the numbers belong to, and the number to begin behind."""
        catalog = self._documents.repository.catalog
        name = catalog.fact("watched", begin=token_of([id(self), self._documents.store.now().isoformat()]))
        if not token:
            return str(name), catalog.latest_change()
        if token == _ALL:
            return str(name), 0
        of, number = parts_of(token, 2)
        if of != name or not isinstance(number, int):
            hint = 'It is one of another catalogue. Begin anew: list what there is, or watch from "begin".'
            raise UsageError(reason="the resume token is none of this service", hint=hint)
        return str(name), number


async def _chained(begin: IO[bytes], rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    while piece := begin.read(CHUNK):
        yield piece
    async for piece in rest:
        yield piece


def _request(row: UploadRow) -> pb.BeginUploadRequest:
    return pb.BeginUploadRequest.FromString(row.request)
