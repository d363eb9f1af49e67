"""The methods of the gRPC service `DocumentRepository`: who calls, what is asked, the use case, the answer.

Requests arrive as bytes and are parsed here, so that nonsense is answered like any other mistake of a caller. Every
failure becomes a status; `statuses` says which.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from cocli import logs
from cocli.app.documents.documents import save_document
from cocli.documents import codec
from cocli.documents.catalog.base import Cursor
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import CocliError, DocumentInvalid, ServiceUnavailable, TokenRefused, TooLarge, UsageError
from cocli.service.documents import messages
from cocli.service.statuses import INTERNAL, logged, status_of, told

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
    from datetime import datetime

    from google.protobuf.message import Message

    from cocli.app.documents.documents import Documents
    from cocli.app.documents.tokens import Tokens
    from cocli.service.documents.call_threads import CallThreads

    _Context = grpc.aio.ServicerContext[bytes, bytes]

_LOG = logs.get_logger(__name__)

SERVICE = "cocli.documents.v1.DocumentRepository"
ERROR_HEADER = "cocli-error-bin"
"""Trailing metadata with the error as `--json` shows it: the client makes the same error of it."""
_DEFAULT_PAGE = 100
_KINDS = {"": None, "intake": "intake", "state": "state"}


class GrpcService:
    """`graph` names the graph that is replayed: `package.module:function`, chosen by who serves, never by who calls.

    Calls are heard in the event loop and worked on in threads: one that never sends its message, or never takes its
    answer, holds no thread.
    """

    def __init__(
        self,
        documents: Documents,
        tokens: Tokens,
        threads: CallThreads,
        *,
        clock: Callable[[], datetime],
        log: Callable[[str], None],
        graph: str | None = None,
    ) -> None:
        self._documents = documents
        self._tokens = tokens
        self._threads = threads
        self._clock = clock
        self._log = log
        self._graph = graph

    def handler(self) -> grpc.GenericRpcHandler[bytes, bytes]:
        unary: dict[str, tuple[type[Message], Callable[[Documents, Any], Message]]] = {
            "Save": (pb.SaveRequest, _save),
            "Get": (pb.GetRequest, _get),
            "GetByReference": (pb.GetByReferenceRequest, _get_by_reference),
            "ListStates": (pb.ListStatesRequest, _list_states),
            "ListDocuments": (pb.ListDocumentsRequest, _list_documents),
            "Delete": (pb.DeleteRequest, _delete),
            "Restore": (pb.RestoreRequest, _restore),
            "Purge": (pb.PurgeRequest, _purge),
            "Compare": (pb.CompareRequest, _compare),
        }
        handlers: dict[str, Any] = {
            name: grpc.unary_unary_rpc_method_handler(self._answering(name, kind, method))
            for name, (kind, method) in unary.items()
        }
        handlers["Replay"] = grpc.unary_stream_rpc_method_handler(self._replay)
        return grpc.method_handlers_generic_handler(SERVICE, handlers)

    def doorman(self) -> grpc.aio.ServerInterceptor[bytes, bytes]:
        """Turns callers without a token away before anything of their message is read."""
        return _Doorman(self)

    def end_streams(self) -> None:
        """Replays pause, and tell so; they can be gone on with."""
        self._threads.end_streams()

    # --- one call

    def _answering(
        self, name: str, kind: type[Message], method: Callable[[Documents, Any], Message]
    ) -> Callable[[bytes, _Context], Awaitable[bytes]]:
        def work(account: str, data: bytes) -> bytes:
            documents = self._documents.of(account)
            return self._sized(method(documents, _parsed(kind, data)).SerializeToString())

        async def answer(data: bytes, context: _Context) -> bytes:
            try:
                with _logged_call(name):
                    account = self._caller(context)
                    return await self._threads.call(account, lambda: work(account, data))
            except CocliError as error:
                return await self.refuse(context, error)
            except Exception as error:  # noqa: BLE001  whatever it is, a caller gets a status and no trace
                return await self._fail(context, error)

        return answer

    async def _replay(self, data: bytes, context: _Context) -> AsyncIterator[bytes]:
        from cocli.service.documents.replay import replay_messages

        try:
            with _logged_call("Replay"):
                account = self._caller(context)
                documents, request = self._documents.of(account), _parsed(pb.ReplayRequest, data)
                messages_of = partial(replay_messages, documents, self._graph, request)
                async for message in self._threads.stream(account, messages_of):
                    yield message.SerializeToString()
        except CocliError as error:
            await self.refuse(context, error)
        except Exception as error:  # noqa: BLE001  as above
            await self._fail(context, error)

    def _caller(self, context: _Context) -> str:
        left: float | None = context.time_remaining()
        if left is not None and left <= 0:
            raise ServiceUnavailable(address="this address", reason="the deadline had passed when the call arrived")
        return self.account(context.invocation_metadata() or ())

    def account(self, metadata: Iterable[tuple[str, str | bytes]]) -> str:
        """Of the caller, by its token and by nothing else."""
        given = [str(value) for name, value in metadata if name == "authorization"]
        if len(given) != 1 or not given[0].startswith("Bearer "):
            raise TokenRefused(reason="the call has none, or more than one")
        return self._tokens.account(given[0].removeprefix("Bearer "), self._clock())

    def _sized(self, data: bytes) -> bytes:
        limit = self._documents.section.max_message_bytes
        if len(data) > limit:
            raise TooLarge(what="the answer", size=len(data), limit=limit)
        return data

    # --- failures

    async def refuse(self, context: _Context, error: CocliError) -> NoReturn:
        name, http_status = status_of(error)
        if http_status >= 500:
            self._log(logged(error))
        await _abort(context, name, told(error))

    async def _fail(self, context: _Context, error: Exception) -> NoReturn:
        self._log(logged(error))
        await _abort(context, "INTERNAL", INTERNAL)


class _Doorman(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]  # generic in the stubs alone
    def __init__(self, service: GrpcService) -> None:
        self._service = service

    async def intercept_service(self, continuation: Any, details: Any) -> Any:
        if details.method.startswith(f"/{SERVICE}/"):
            try:
                # In a thread: whether the machine of a token was evicted is asked of the store.
                await asyncio.to_thread(self._service.account, details.invocation_metadata)
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
    except asyncio.CancelledError:
        outcome = "left"
        raise
    except Exception:  # noted here, answered by whoever asked
        outcome = "internal"
        _LOG.exception("a call failed by a mistake in the program")
        raise
    finally:
        fields = {"method": name, "outcome": outcome, "seconds": round(time.monotonic() - started, 3)}
        _LOG.info("call", extra=fields)


async def _abort(context: _Context, name: str, envelope: dict[str, Any]) -> NoReturn:
    metadata = ((ERROR_HEADER, json.dumps(envelope).encode()),)
    await context.abort(getattr(grpc.StatusCode, name), str(envelope["message"]), metadata)
    raise AssertionError("abort raises")


def _parsed(kind: type[Message], data: bytes) -> Any:
    try:
        return kind.FromString(data)
    except (DecodeError, ValueError, RecursionError) as error:
        raise UsageError(reason=f"the request is no {kind.DESCRIPTOR.name}") from error


# --- the methods


def _save(documents: Documents, request: pb.SaveRequest) -> Message:
    owner = request.document.ownership
    if owner.account_id not in ("", documents.account):
        raise DocumentInvalid(doc=request.document.doc_id[:80], reason="it names another account than the token")
    owner.account_id = documents.account
    document = codec.from_message(request.document)
    return messages.save_message(save_document(documents, document, tuple(request.publish)))


def _get(documents: Documents, request: pb.GetRequest) -> Message:
    document = documents.repository.current(
        documents.account, request.doc_id, request.address, request.cluster or None, blobs=request.blobs
    )
    return pb.GetResponse(document=codec.to_message(document))


def _get_by_reference(documents: Documents, request: pb.GetByReferenceRequest) -> Message:
    reference = messages.read_reference(documents.account, request.reference)
    document = documents.repository.get(documents.account, reference, blobs=request.blobs)
    return pb.GetResponse(document=codec.to_message(document))


def _list_states(documents: Documents, request: pb.ListStatesRequest) -> Message:
    selection = messages.read_selection(request.selection, request.cluster)
    rows = documents.repository.states(documents.account, request.doc_id, cluster=selection, deleted=request.deleted)
    return pb.ListStatesResponse(rows=map(messages.row_message, rows))


def _list_documents(documents: Documents, request: pb.ListDocumentsRequest) -> Message:
    if request.kind not in _KINDS:
        raise UsageError(reason=f'"{request.kind[:20]}" is no kind of state; there are intake and state')
    page = documents.repository.documents(
        documents.account,
        datasource=request.datasource or None,
        cluster=request.cluster or None,
        kind=_KINDS[request.kind],  # type: ignore[arg-type]
        after=Cursor.parse(request.page) if request.page else None,
        limit=request.limit or _DEFAULT_PAGE,
        deleted=request.deleted,
    )
    return pb.ListDocumentsResponse(
        rows=map(messages.row_message, page.items), next_page=page.next.token() if page.next else ""
    )


def _delete(documents: Documents, request: pb.DeleteRequest) -> Message:
    selection = messages.read_selection(request.selection, request.cluster)
    done = documents.repository.delete(documents.account, request.doc_id, cluster=selection, by=request.by)
    return pb.DeleteResponse(rows=[messages.row_message(change.row) for change in done])


def _restore(documents: Documents, request: pb.RestoreRequest) -> Message:
    selection = messages.read_selection(request.selection, request.cluster)
    done = documents.repository.restore(documents.account, request.doc_id, cluster=selection)
    return pb.RestoreResponse(rows=[messages.row_message(change.row) for change in done])


def _purge(documents: Documents, request: pb.PurgeRequest) -> Message:
    proofs = documents.repository.purge(documents.account, request.doc_id, by=request.by, reason=request.reason)
    return pb.PurgeResponse(proofs=map(messages.proof_message, proofs))


def _compare(documents: Documents, request: pb.CompareRequest) -> Message:
    from cocli.service.documents.comparison import compare_message

    return compare_message(documents, request)
