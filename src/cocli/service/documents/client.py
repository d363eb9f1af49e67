"""A client of the document service, with the method names of `DocumentRepository`. The account is the token's.

    with DocumentClient("127.0.0.1:8788", token) as documents:
        receipt = documents.save(Document.intake(account=documents.account, connector="web", doc="…"))
        documents.get(receipt.reference, blobs=True)

What the service refuses is raised as the error that it was there; what it does not answer is `ServiceUnavailable`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Self, TypeVar

from cocli.documents import codec
from cocli.documents.catalog.base import EVERY, CatalogPage, Cursor
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import CocliError, MissingExtra, ServiceError, ServiceUnavailable, TooLarge
from cocli.service.documents import messages
from cocli.service.statuses import rebuilt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    import grpc
    from google.protobuf.message import Message

    from cocli.documents.catalog.base import Kind, Selection
    from cocli.documents.document import Document
    from cocli.documents.header import PurgeProof
    from cocli.documents.receipt import Receipt
    from cocli.models.document import DocumentReference, PipeDoc

TIMEOUT_SECONDS = 30.0
MAX_MESSAGE_BYTES = 536_870_912
"""What a client takes; the service has a limit of its own."""
_METHOD = "/cocli.documents.v1.DocumentRepository/"
_ERROR_HEADER = "cocli-error-bin"
M = TypeVar("M", bound="Message")


class DocumentClient:
    """`certificate` are the PEM bytes of the authorities to trust; without them the connection is not encrypted,
    unless `tls` says that the usual authorities hold. Safe to share between threads."""

    def __init__(
        self,
        address: str,
        token: str,
        *,
        certificate: bytes | None = None,
        tls: bool = False,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        try:
            import grpc
        except ImportError as error:
            raise MissingExtra(feature="The client of the document service", package="grpcio", extra="grpc") from error
        self.account = _account_of(token)
        self._grpc = grpc
        self._address = address
        self._timeout = timeout
        self._metadata = (("authorization", f"Bearer {token}"),)
        options = [("grpc.max_receive_message_length", MAX_MESSAGE_BYTES), ("grpc.max_send_message_length", -1)]
        if certificate is None and not tls:
            self._channel = grpc.insecure_channel(address, options=options)
        else:
            credentials = grpc.ssl_channel_credentials(root_certificates=certificate)
            self._channel = grpc.secure_channel(address, credentials, options=options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._channel.close()

    # --- saving and reading

    def save(self, document: Document, *, publish: Sequence[str] = ()) -> Receipt:
        request = pb.SaveRequest(document=codec.to_message(document), publish=publish)
        return messages.read_receipt(self.account, self._call("Save", request, pb.SaveResponse))

    def get(self, reference: DocumentReference, *, blobs: bool = False) -> Document:
        """Exactly the state that a reference points at, also after it was replaced."""
        request = pb.GetByReferenceRequest(reference=messages.reference_message(reference), blobs=blobs)
        return codec.from_message(self._call("GetByReference", request, pb.GetResponse).document)

    def current(self, doc: str, address: str, cluster: str | None = None, *, blobs: bool = False) -> Document:
        """The newest state at an address."""
        request = pb.GetRequest(doc_id=doc, address=address, cluster=cluster or "", blobs=blobs)
        return codec.from_message(self._call("Get", request, pb.GetResponse).document)

    def states(self, doc: str, *, cluster: Selection = EVERY, deleted: bool = False) -> list[PipeDoc]:
        request = pb.ListStatesRequest(doc_id=doc, deleted=deleted, **messages.selection_fields(cluster))
        return self._rows(self._call("ListStates", request, pb.ListStatesResponse).rows)

    def documents(
        self,
        *,
        datasource: str | None = None,
        cluster: str | None = None,
        kind: Kind | None = None,
        after: Cursor | None = None,
        limit: int = 100,
        deleted: bool = False,
    ) -> CatalogPage[PipeDoc]:
        request = pb.ListDocumentsRequest(
            datasource=datasource or "",
            cluster=cluster or "",
            kind=kind or "",
            page=after.token() if after else "",
            limit=limit,
            deleted=deleted,
        )
        answer = self._call("ListDocuments", request, pb.ListDocumentsResponse)
        return CatalogPage(self._rows(answer.rows), Cursor.parse(answer.next_page) if answer.next_page else None)

    # --- deleting

    def delete(self, doc: str, *, cluster: Selection = EVERY, by: str = "") -> list[PipeDoc]:
        request = pb.DeleteRequest(doc_id=doc, by=by, **messages.selection_fields(cluster))
        return self._rows(self._call("Delete", request, pb.DeleteResponse).rows)

    def restore(self, doc: str, *, cluster: Selection = EVERY) -> list[PipeDoc]:
        request = pb.RestoreRequest(doc_id=doc, **messages.selection_fields(cluster))
        return self._rows(self._call("Restore", request, pb.RestoreResponse).rows)

    def purge(self, doc: str, *, by: str = "", reason: str = "") -> list[PurgeProof]:
        request = pb.PurgeRequest(doc_id=doc, by=by, reason=reason)
        return [messages.read_proof(proof) for proof in self._call("Purge", request, pb.PurgeResponse).proofs]

    # --- replay and comparison

    def replay(self, request: pb.ReplayRequest, *, timeout: float | None = None) -> Iterator[pb.ReplayProgress]:
        """How far the replay is, again and again until it ends. Leaving the loop pauses the job."""
        method = self._channel.unary_stream(
            f"{_METHOD}Replay",
            request_serializer=pb.ReplayRequest.SerializeToString,
            response_deserializer=pb.ReplayProgress.FromString,
        )
        call = method(request, timeout=timeout, metadata=self._metadata)
        try:
            yield from call
        except self._grpc.RpcError as error:
            raise self._mapped(error) from error
        finally:
            call.cancel()  # type: ignore[no-untyped-call]

    def compare(
        self, left: str, right: str, *, datasource: str = "", doc: str = "", examples: int = 3
    ) -> pb.CompareResponse:
        """Two clusters, field by field."""
        request = pb.CompareRequest(
            left_cluster=left, right_cluster=right, datasource=datasource, doc_id=doc, examples=examples
        )
        return self._call("Compare", request, pb.CompareResponse)

    # --- plumbing

    def _rows(self, rows: Sequence[pb.DocumentRow]) -> list[PipeDoc]:
        return [messages.read_row(self.account, row) for row in rows]

    def _call(self, name: str, request: Message, answer: type[M]) -> M:
        method = self._channel.unary_unary(
            f"{_METHOD}{name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=answer.FromString,
        )
        try:
            result: M = method(request, timeout=self._timeout, metadata=self._metadata)
        except self._grpc.RpcError as error:
            raise self._mapped(error) from error
        return result

    def _mapped(self, error: grpc.RpcError) -> CocliError:
        """The error that the service told of; where it told nothing, what gRPC says."""
        status: Any = error
        for name, value in status.trailing_metadata() or ():
            if name == _ERROR_HEADER:
                try:
                    return rebuilt(json.loads(value))
                except ValueError:
                    break  # not ours: gRPC's own words have to do
        code, reason = status.code(), str(status.details())
        if code in (self._grpc.StatusCode.UNAVAILABLE, self._grpc.StatusCode.DEADLINE_EXCEEDED):
            return ServiceUnavailable(address=self._address, reason=reason)
        if code is self._grpc.StatusCode.RESOURCE_EXHAUSTED:
            return TooLarge(what="a message", size="too many", limit=reason)
        return ServiceError(reason=f"{code.name}: {reason}")


def _account_of(token: str) -> str:
    """Whom a token speaks for, by its own words: the service looks at the signature."""
    from cocli.app.documents.tokens import account_said

    return account_said(token)
