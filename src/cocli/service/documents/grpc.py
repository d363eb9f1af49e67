"""The methods of the gRPC service `DocumentRepository`: who calls, what is asked, the use case, the answer.

Requests arrive as bytes and are parsed here, so that nonsense is answered like any other mistake of a caller. Every
failure becomes a status; `statuses` says which.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import grpc
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
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from google.protobuf.message import Message

    from cocli.app.documents.documents import Documents
    from cocli.app.documents.tokens import Tokens

_LOG = logs.get_logger(__name__)

SERVICE = "cocli.documents.v1.DocumentRepository"
ERROR_HEADER = "cocli-error-bin"
"""Trailing metadata with the error as `--json` shows it: the client makes the same error of it."""
_DEFAULT_PAGE = 100
_KINDS = {"": None, "intake": "intake", "state": "state"}


class GrpcService:
    """`graph` names the graph that is replayed: `package.module:function`, chosen by who serves, never by who calls."""

    def __init__(
        self,
        documents: Documents,
        tokens: Tokens,
        *,
        clock: Callable[[], datetime],
        log: Callable[[str], None],
        graph: str | None = None,
    ) -> None:
        self._documents = documents
        self._tokens = tokens
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
        handlers = {
            name: grpc.unary_unary_rpc_method_handler(self._answering(name, kind, method))
            for name, (kind, method) in unary.items()
        }
        handlers["Replay"] = grpc.unary_stream_rpc_method_handler(self._replay)
        return grpc.method_handlers_generic_handler(SERVICE, handlers)

    # --- one call

    def _answering(
        self, name: str, kind: type[Message], method: Callable[[Documents, Any], Message]
    ) -> Callable[[bytes, grpc.ServicerContext], bytes]:
        def answer(data: bytes, context: grpc.ServicerContext) -> bytes:
            try:
                with _logged_call(name):
                    documents = self._documents.of(self._account(context))
                    return self._sized(method(documents, _parsed(kind, data)).SerializeToString())
            except CocliError as error:
                self._refuse(context, error)
            except Exception as error:  # noqa: BLE001  whatever it is, a caller gets a status and no trace
                self._fail(context, error)

        return answer

    def _replay(self, data: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        try:
            with _logged_call("Replay"):
                documents = self._documents.of(self._account(context))
                yield from self._replayed(documents, _parsed(pb.ReplayRequest, data), context)
        except CocliError as error:
            self._refuse(context, error)
        except Exception as error:  # noqa: BLE001  as above
            self._fail(context, error)

    def _replayed(self, documents: Documents, request: Any, context: grpc.ServicerContext) -> Iterator[bytes]:
        from cocli.service.documents.replay import replay_messages

        for message in replay_messages(documents, self._graph, request, stopped=lambda: not context.is_active()):
            yield message.SerializeToString()

    def _account(self, context: grpc.ServicerContext) -> str:
        """Of the caller, by its token and by nothing else."""
        left: float | None = context.time_remaining()
        if left is not None and left <= 0:
            raise ServiceUnavailable(address="this address", reason="the deadline had passed when the call arrived")
        given = [str(value) for name, value in context.invocation_metadata() if name == "authorization"]
        if len(given) != 1 or not given[0].startswith("Bearer "):
            raise TokenRefused(reason="the call has none, or more than one")
        return self._tokens.account(given[0].removeprefix("Bearer "), self._clock())

    def _sized(self, data: bytes) -> bytes:
        limit = self._documents.section.max_message_bytes
        if len(data) > limit:
            raise TooLarge(what="the answer", size=len(data), limit=limit)
        return data

    # --- failures

    def _refuse(self, context: grpc.ServicerContext, error: CocliError) -> NoReturn:
        name, http_status = status_of(error)
        if http_status >= 500:
            self._log(logged(error))
        _abort(context, name, told(error))

    def _fail(self, context: grpc.ServicerContext, error: Exception) -> NoReturn:
        self._log(logged(error))
        _abort(context, "INTERNAL", INTERNAL)


@contextmanager
def _logged_call(name: str) -> Iterator[None]:
    """One record per call: its method and how it ended. Never its token or its message."""
    started, outcome = time.monotonic(), "ok"
    try:
        yield
    except CocliError as error:
        outcome = error.code
        raise
    except Exception:  # noted here, answered by whoever asked
        outcome = "internal"
        _LOG.exception("a call failed by a mistake in the program")
        raise
    finally:
        fields = {"method": name, "outcome": outcome, "seconds": round(time.monotonic() - started, 3)}
        _LOG.info("call", extra=fields)


def _abort(context: grpc.ServicerContext, name: str, envelope: dict[str, Any]) -> NoReturn:
    context.set_trailing_metadata(((ERROR_HEADER, json.dumps(envelope).encode()),))
    context.abort(getattr(grpc.StatusCode, name), str(envelope["message"]))
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
