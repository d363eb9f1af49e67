"""The gRPC service `DocumentRepository`: who calls, what they may, which method, the answer or the status.

Requests arrive as bytes and are parsed here, so that nonsense is answered like any other mistake of a caller. Every
failure becomes a status; `statuses` says which.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from cocli import logs
from cocli.app.documents.tokens import TokenScope
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import CocliError, ServiceUnavailable, TooLarge, UsageError
from cocli.service.documents import grpc_methods as methods
from cocli.service.documents import messages
from cocli.service.documents.callers import bearer_of, check_scope
from cocli.service.documents.quarantine import list_quarantine
from cocli.service.documents.rpc_status import DETAILS_HEADER, status_details
from cocli.service.documents.saving.save_batches import SaveBatches, batch_calls, batch_message
from cocli.service.documents.saving.save_group import SaveCall
from cocli.service.documents.saving.save_queue import SaveQueue
from cocli.service.documents.saving.save_writers import SaveWriters
from cocli.service.documents.transfers import BlobTransfers
from cocli.service.statuses import INTERNAL, logged, status_of, told

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from google.protobuf.message import Message

    from cocli.app.documents.documents import Documents
    from cocli.app.documents.tokens import TokenCaller
    from cocli.service.documents.backend import ServiceBackend

    _Context = grpc.aio.ServicerContext[bytes, bytes]

_LOG = logs.get_logger(__name__)

SERVICE = "cocli.documents.v1.DocumentRepository"
ERROR_HEADER = "cocli-error-bin"
"""Trailing metadata with the error as `--json` shows it: the client makes the same error of it."""
_SMALL = 65_536
"""Bytes of a request that is parsed in the event loop: a change of threads would take longer."""
_MISTAKE = 4
"""Requests that one counts for, in the pace of its account, if it makes no sense."""
_LONG_PAGE = 1_000
"""Rows of a page that is made in the process beside the service, if it has more."""


class _Method(NamedTuple):
    kind: type[Message]
    scope: TokenScope
    work: Callable[[Documents, TokenCaller, Any], Message]


_METHODS = {
    "Get": _Method(pb.GetRequest, TokenScope.READ, methods.get),
    "GetByReference": _Method(pb.GetByReferenceRequest, TokenScope.READ, methods.get_by_reference),
    "GetDocuments": _Method(pb.GetDocumentsRequest, TokenScope.READ, methods.get_documents),
    "ListStates": _Method(pb.ListStatesRequest, TokenScope.READ, methods.list_states),
    "ListQuarantine": _Method(pb.ListQuarantineRequest, TokenScope.READ, list_quarantine),
    "Delete": _Method(pb.DeleteRequest, TokenScope.WRITE, methods.delete),
    "Restore": _Method(pb.RestoreRequest, TokenScope.WRITE, methods.restore),
    "Purge": _Method(pb.PurgeRequest, TokenScope.PURGE, methods.purge),
}


class GrpcService:
    """Calls are heard in the event loop and worked on in threads: one that never sends its message, or never takes
    its answer, holds no thread. Made in the event loop; leaving the block waits for saves that are being written."""

    def __init__(self, backend: ServiceBackend) -> None:
        self._backend = backend
        self._replays = backend.replays
        self._transfers = BlobTransfers(backend)
        self._writers = SaveWriters(backend.documents)
        self._batches = SaveBatches(self._writers)
        self.saves = SaveQueue(self._writers, backend.threads.places)

    def handler(self) -> grpc.GenericRpcHandler[bytes, bytes]:
        unary: dict[str, Callable[[TokenCaller, bytes], Awaitable[bytes]]] = {
            name: partial(self._work, method) for name, method in _METHODS.items()
        }
        unary |= {
            "Save": self._save,
            "SaveDocuments": self._save_documents,
            "ListDocuments": self._list,
            "Compare": self._compare,
            "GetUsage": self._usage,
        }
        unary |= {
            "StartReplay": self._start_replay,
            "GetReplay": self._get_replay,
            "ListReplays": self._list_replays,
            "PauseReplay": self._pause_replay,
            "ResumeReplay": self._resume_replay,
            "CancelReplay": self._cancel_replay,
            "ReleaseQuarantine": self._release_quarantine,
            "BeginUpload": self._begin_upload,
            "GetUpload": self._get_upload,
            "CancelUpload": self._cancel_upload,
        }
        handlers: dict[str, Any] = {
            name: grpc.unary_unary_rpc_method_handler(self._answering(name, work)) for name, work in unary.items()
        }
        streams = {"Replay": self._replay, "Download": self._download, "Watch": self._watch}
        for name, stream in streams.items():
            handlers[name] = grpc.unary_stream_rpc_method_handler(self._streaming(name, stream))
        handlers["Upload"] = grpc.stream_unary_rpc_method_handler(self._uploading)
        return grpc.method_handlers_generic_handler(SERVICE, handlers)

    def doorman(self) -> grpc.aio.ServerInterceptor[bytes, bytes]:
        """Turns callers without a token away before anything of their message is read."""
        return _Doorman(self)

    def end_streams(self) -> None:
        """Replays pause, and tell so; they can be gone on with."""
        self._replays.end_streams()

    # --- one call

    def _answering(
        self, name: str, work: Callable[[TokenCaller, bytes], Awaitable[bytes]]
    ) -> Callable[[bytes, _Context], Awaitable[bytes]]:
        async def answer(data: bytes, context: _Context) -> bytes:
            account = ""
            try:
                with _logged_call(name):
                    caller = await self._caller(context)
                    account = caller.account
                    discreet = await self._backend.discretion.answer(name, caller, await work(caller, data))
                    answered = self._sized(discreet)
                    self._backend.accounts.answered(caller.account, len(answered))
                    return answered
            except CocliError as error:
                if account and isinstance(error, UsageError):
                    self._backend.pace.charge(account, _MISTAKE)
                return await self.refuse(context, error)
            except Exception as error:  # noqa: BLE001  whatever it is, a caller gets a status and no trace
                return await self._fail(context, error)

        return answer

    def _streaming(
        self, name: str, work: Callable[[TokenCaller, bytes], AsyncIterator[bytes]]
    ) -> Callable[[bytes, _Context], AsyncIterator[bytes]]:
        async def answer(data: bytes, context: _Context) -> AsyncIterator[bytes]:
            try:
                with _logged_call(name):
                    caller = await self._caller(context)
                    async for said in work(caller, data):
                        message = await self._backend.discretion.answer(name, caller, said)
                        self._backend.accounts.answered(caller.account, len(message))
                        yield message
            except CocliError as error:
                await self.refuse(context, error)
            except Exception as error:  # noqa: BLE001  as above
                await self._fail(context, error)

        return answer

    async def _caller(self, context: _Context) -> TokenCaller:
        left: float | None = context.time_remaining()
        if left is not None and left <= 0:
            raise ServiceUnavailable(address="this address", reason="the deadline had passed when the call arrived")
        return await self._backend.caller(bearer_of(context.invocation_metadata() or ()))

    async def known(self, metadata: Any) -> None:
        """Refuse a caller whose token is not good."""
        await self._backend.caller(bearer_of(metadata))

    def _sized(self, data: bytes) -> bytes:
        limit = self._backend.documents.section.max_message_bytes
        if len(data) > limit:
            raise TooLarge(what="the answer", size=len(data), limit=limit, hint="Use Download for large blobs.")
        return data

    # --- the methods

    async def _work(self, method: _Method, caller: TokenCaller, data: bytes) -> bytes:
        await self._backend.admit(caller, method.scope, len(data))
        documents = self._backend.documents.of(caller.account)

        def work() -> bytes:
            return method.work(documents, caller, _parsed(method.kind, data)).SerializeToString()

        return await self._backend.threads.call(caller.account, work)

    async def _save(self, caller: TokenCaller, data: bytes) -> bytes:
        if len(data) > _SMALL:
            return await self._work(_Method(pb.SaveRequest, TokenScope.WRITE, methods.save), caller, data)
        await self._backend.admit(caller, TokenScope.WRITE, len(data))
        request: pb.SaveRequest = _parsed(pb.SaveRequest, data)
        if all(blob.HasField("data") for blob in request.document.blobs):
            return await self.saves.save(SaveCall(caller.account, caller.who, data))
        documents = self._backend.documents.of(caller.account)
        work = partial(methods.save, documents, caller, request)
        return (await self._backend.threads.call(caller.account, work)).SerializeToString()

    async def _save_documents(self, caller: TokenCaller, data: bytes) -> bytes:
        """By the process that writes, if there is one and it has all it needs; else in a thread."""
        await self._backend.admit(caller, TokenScope.WRITE, len(data))
        account = caller.account
        call = self._backend.threads.call

        def made() -> tuple[pb.SaveDocumentsRequest, list[SaveCall] | None]:
            request: pb.SaveDocumentsRequest = _parsed(pb.SaveDocumentsRequest, data)
            methods.check_items(request.requests)
            return request, batch_calls(caller, request)

        request, calls = await call(account, made)
        if calls is None or not self._writers.can_write_batch(len(calls)):
            work = partial(methods.save_documents, self._backend.documents.of(account), caller, request)
            return (await call(account, work)).SerializeToString()
        with self._backend.threads.places.taken(account):
            answers = await self._batches.save(account, calls)
        return (await call(account, partial(batch_message, answers))).SerializeToString()

    async def _compare(self, caller: TokenCaller, data: bytes) -> bytes:
        await self._backend.admit(caller, TokenScope.READ, len(data))
        _parsed(pb.CompareRequest, data)
        return await self._elsewhere("compare", caller, data)

    async def _list(self, caller: TokenCaller, data: bytes) -> bytes:
        """A long page takes the processor for so long that others would notice."""
        await self._backend.admit(caller, TokenScope.READ, len(data))
        request: pb.ListDocumentsRequest = _parsed(pb.ListDocumentsRequest, data)
        is_long = request.page_size > _LONG_PAGE and self._backend.work.can_be_used
        if is_long and not self._backend.discretion.is_needed(caller):
            return await self._elsewhere("list", caller, data)
        documents = self._backend.documents.of(caller.account)

        def page() -> Message:
            return methods.list_documents(documents, caller, request, self._backend.discretion.shown(caller))

        return (await self._backend.threads.call(caller.account, page)).SerializeToString()

    async def _elsewhere(self, task: str, caller: TokenCaller, data: bytes) -> bytes:
        """What the process beside the service makes of a request."""
        with self._backend.threads.places.taken(caller.account):
            _, done = self._backend.work.do(task, caller.account, data)
            return bytes(await asyncio.wrap_future(done))

    async def _usage(self, caller: TokenCaller, data: bytes) -> bytes:
        await self._backend.admit(caller, TokenScope.READ, len(data))
        account = _parsed(pb.GetUsageRequest, data).account_id or caller.account
        if account != caller.account:
            check_scope(caller, TokenScope.ADMIN)
        return messages.usage_message(account, self._backend).SerializeToString()

    # --- replays

    async def _replay(self, caller: TokenCaller, data: bytes) -> AsyncIterator[bytes]:
        await self._backend.admit(caller, TokenScope.WRITE, len(data))
        async for message in self._replays.stream(caller.account, _parsed(pb.ReplayRequest, data)):
            yield message.SerializeToString()

    async def _start_replay(self, caller: TokenCaller, data: bytes) -> bytes:
        await self._backend.admit(caller, TokenScope.WRITE, len(data))
        job = await self._replays.start(caller.account, _parsed(pb.ReplayRequest, data))
        return job.SerializeToString()

    async def _get_replay(self, caller: TokenCaller, data: bytes) -> bytes:
        await self._backend.admit(caller, TokenScope.READ, len(data))
        job = await self._replays.get(caller.account, _parsed(pb.GetReplayRequest, data).job_id)
        return job.SerializeToString()

    async def _list_replays(self, caller: TokenCaller, data: bytes) -> bytes:
        await self._backend.admit(caller, TokenScope.READ, len(data))
        request = _parsed(pb.ListReplaysRequest, data)
        page = await self._replays.page(caller.account, methods.page_size(request.page_size), request.page_token)
        return page.SerializeToString()

    async def _pause_replay(self, caller: TokenCaller, data: bytes) -> bytes:
        await self._backend.admit(caller, TokenScope.WRITE, len(data))
        job = await self._replays.pause(caller.account, _parsed(pb.PauseReplayRequest, data).job_id)
        return job.SerializeToString()

    async def _resume_replay(self, caller: TokenCaller, data: bytes) -> bytes:
        await self._backend.admit(caller, TokenScope.WRITE, len(data))
        job = await self._replays.resume(caller.account, _parsed(pb.ResumeReplayRequest, data).job_id)
        return job.SerializeToString()

    async def _cancel_replay(self, caller: TokenCaller, data: bytes) -> bytes:
        await self._backend.admit(caller, TokenScope.WRITE, len(data))
        job = await self._replays.cancel(caller.account, _parsed(pb.CancelReplayRequest, data).job_id)
        return job.SerializeToString()

    async def _release_quarantine(self, caller: TokenCaller, data: bytes) -> bytes:
        await self._backend.admit(caller, TokenScope.WRITE, len(data))
        done = await self._replays.release(caller.account, _parsed(pb.ReleaseQuarantineRequest, data), caller.who)
        return done.SerializeToString()

    # --- large blobs, and those who watch

    async def _begin_upload(self, caller: TokenCaller, data: bytes) -> bytes:
        await self._backend.admit(caller, TokenScope.WRITE, len(data))
        row = await self._transfers.begin(caller, _parsed(pb.BeginUploadRequest, data))
        return messages.upload_message(row).SerializeToString()

    async def _get_upload(self, caller: TokenCaller, data: bytes) -> bytes:
        await self._backend.admit(caller, TokenScope.READ, len(data))
        row = await self._transfers.find(caller, _parsed(pb.GetUploadRequest, data).upload_id)
        return messages.upload_message(row).SerializeToString()

    async def _cancel_upload(self, caller: TokenCaller, data: bytes) -> bytes:
        await self._backend.admit(caller, TokenScope.WRITE, len(data))
        row = await self._transfers.cancel(caller, _parsed(pb.CancelUploadRequest, data).upload_id)
        return messages.upload_message(row).SerializeToString()

    async def _uploading(self, requests: AsyncIterator[bytes], context: _Context) -> bytes:
        try:
            with _logged_call("Upload"):
                caller = await self._caller(context)
                await self._backend.admit(caller, TokenScope.WRITE, 0)
                with self._backend.streams.taken(caller.account):
                    return (await self._upload(caller, requests)).SerializeToString()
        except CocliError as error:
            return await self.refuse(context, error)
        except Exception as error:  # noqa: BLE001  as above
            return await self._fail(context, error)

    async def _upload(self, caller: TokenCaller, requests: AsyncIterator[bytes]) -> pb.UploadResponse:
        first: pb.UploadRequest = _parsed(pb.UploadRequest, await _next(requests))
        if first.HasField("begin"):
            row = await self._transfers.begin(caller, first.begin)
        else:
            row = await self._transfers.find(caller, first.upload_id)
        last = first

        async def pieces() -> AsyncIterator[bytes]:
            nonlocal last
            yield first.data
            async for data in requests:
                last = _parsed(pb.UploadRequest, data)
                yield last.data

        row = await self._transfers.receive(caller, row, first.offset, pieces())
        answer = pb.UploadResponse(upload=messages.upload_message(row))
        if last.finish:
            answer.saved.CopyFrom(messages.save_message(await self._transfers.finish(caller, row)))
        return answer

    async def _download(self, caller: TokenCaller, data: bytes) -> AsyncIterator[bytes]:
        await self._backend.admit(caller, TokenScope.READ, len(data))
        request: pb.DownloadRequest = _parsed(pb.DownloadRequest, data)
        with self._backend.streams.taken(caller.account):
            found = await self._transfers.blob(caller, request)
            if request.offset > found.blob.size:
                raise UsageError(reason=f"the blob has {found.blob.size} bytes, and none at {request.offset}")
            yield pb.DownloadChunk(blob=messages.blob_message(found.name, found.blob)).SerializeToString()
            length = request.length or found.blob.size
            async for piece in self._transfers.pieces(caller.account, found, request.offset, length):
                yield pb.DownloadChunk(data=piece).SerializeToString()

    async def _watch(self, caller: TokenCaller, data: bytes) -> AsyncIterator[bytes]:
        await self._backend.admit(caller, TokenScope.READ, len(data))
        with self._backend.streams.taken(caller.account):
            async for event in self._transfers.changes(caller, _parsed(pb.WatchRequest, data)):
                yield event.SerializeToString()

    # --- failures

    async def refuse(self, context: _Context, error: CocliError) -> NoReturn:
        name, http_status = status_of(error)
        if http_status >= 500:
            self._backend.log(logged(error))
        envelope, status = told(error), getattr(grpc.StatusCode, name)
        details = status_details(error, envelope, status.value[0])
        await _abort(context, status, envelope, ((DETAILS_HEADER, details),))

    async def _fail(self, context: _Context, error: Exception) -> NoReturn:
        self._backend.log(logged(error))
        await _abort(context, grpc.StatusCode.INTERNAL, INTERNAL, ())


class _Doorman(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]  # generic in the stubs alone
    def __init__(self, service: GrpcService) -> None:
        self._service = service

    async def intercept_service(self, continuation: Any, details: Any) -> Any:
        if details.method.startswith(f"/{SERVICE}/"):
            try:
                await self._service.known(details.invocation_metadata)
            except CocliError as error:
                return self._refusing(error)
        return await continuation(details)

    def _refusing(self, error: CocliError) -> Any:
        """Of the kind that is called before there is a message: one may never come."""

        async def refusing(messages: object, context: _Context) -> None:  # noqa: ARG001  the library's signature
            await self._service.refuse(context, error)

        return grpc.stream_stream_rpc_method_handler(refusing)


@contextmanager
def _logged_call(name: str) -> Iterator[None]:
    """One record per call: its method and how it ended. Never its token or its message."""
    started, outcome = time.monotonic(), "ok"
    try:
        yield
    except CocliError as error:
        outcome = error.code
        raise
    except (asyncio.CancelledError, GeneratorExit):
        outcome = "left"
        raise
    except Exception:  # noted here, answered by whoever asked
        outcome = "internal"
        _LOG.exception("a call failed by a mistake in the program")
        raise
    finally:
        fields = {"method": name, "outcome": outcome, "seconds": round(time.monotonic() - started, 3)}
        _LOG.info("call", extra=fields)


async def _abort(
    context: _Context, status: grpc.StatusCode, envelope: dict[str, Any], more: tuple[tuple[str, bytes], ...]
) -> NoReturn:
    metadata = ((ERROR_HEADER, json.dumps(envelope).encode()), *more)
    await context.abort(status, str(envelope["message"]), metadata)
    raise AssertionError("abort raises")


async def _next(requests: AsyncIterator[bytes]) -> bytes:
    async for data in requests:
        return data
    raise UsageError(reason="the stream has no message")


def _parsed(kind: type[Message], data: bytes) -> Any:
    try:
        return kind.FromString(data)
    except (DecodeError, ValueError, RecursionError) as error:
        raise UsageError(reason=f"the request is no {kind.DESCRIPTOR.name}") from error
