"""A client of the document service, with the method names of `DocumentRepository`. The account is the token's.

    with DocumentClient("127.0.0.1:8788", token) as documents:
        receipt = documents.save(Document.intake(account=documents.account, connector="web", doc="…"))
        documents.get(receipt.reference, blobs=True)

What the service refuses is raised as the error that it was there; what it does not answer is `ServiceUnavailable`.
"""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING, Any, Self, TypeVar

from cocli.documents import codec
from cocli.documents.catalog.base import EVERY, CatalogPage, Cursor
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import CocliError, MissingExtra, ServiceError, ServiceTroubled, ServiceUnavailable, TooLarge
from cocli.service.documents import messages
from cocli.service.statuses import rebuilt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import IO

    import grpc
    from google.protobuf.message import Message

    from cocli.documents.catalog.base import Kind, Selection
    from cocli.documents.document import Document
    from cocli.documents.header import PurgeProof
    from cocli.documents.receipt import Receipt
    from cocli.models.document import DocumentReference, PipeDoc

TIMEOUT_SECONDS = 30.0
_FIRST_WAIT_SECONDS = 0.1
_LONGEST_WAIT_SECONDS = 5.0
_PIECE = 256 * 1024
MAX_MESSAGE_BYTES = 536_870_912
"""What a client takes; the service has a limit of its own."""
_METHOD = "/cocli.documents.v1.DocumentRepository/"
_ERROR_HEADER = "cocli-error-bin"
M = TypeVar("M", bound="Message")


class DocumentClient:
    """`certificate` are the PEM bytes of the authorities to trust; without them the connection is not encrypted,
    unless `tls` says that the usual authorities hold. `patience` is for how many seconds a call is tried again when the
    service is busy or something it needs is away: every call may be made twice. Safe to share between threads."""

    def __init__(
        self,
        address: str,
        token: str,
        *,
        certificate: bytes | None = None,
        tls: bool = False,
        timeout: float = TIMEOUT_SECONDS,
        patience: float = 0.0,
    ) -> None:
        try:
            import grpc
        except ImportError as error:
            raise MissingExtra(feature="The client of the document service", package="grpcio", extra="grpc") from error
        self.account = _account_of(token)
        self._grpc = grpc
        self._address = address
        self._timeout = timeout
        self._patience = patience
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

    def save(
        self, document: Document, *, publish: Sequence[str] = (), if_match: str = "", if_absent: bool = False
    ) -> Receipt:
        """`if_match` is the etag that the state must have (`row_etag` of a row), `if_absent` that there is none."""
        request = pb.SaveRequest(
            document=codec.to_message(document), publish=publish, if_match=if_match, if_absent=if_absent
        )
        return messages.read_receipt(self.account, self._call("Save", request, pb.SaveResponse))

    def save_many(self, requests: Sequence[tuple[Document, Sequence[str]]]) -> list[Receipt | CocliError]:
        """Up to 1,000 in one call; one failure does not stop the others."""
        wanted = [pb.SaveRequest(document=codec.to_message(document), publish=to) for document, to in requests]
        answer = self._call("SaveDocuments", pb.SaveDocumentsRequest(requests=wanted), pb.SaveDocumentsResponse)
        return [
            messages.read_receipt(self.account, result.saved) if result.HasField("saved") else _item(result.error)
            for result in answer.results
        ]

    def get_many(self, references: Sequence[DocumentReference], *, blobs: bool = False) -> list[Document | CocliError]:
        """Up to 1,000 in one call; one that is not there does not stop the others."""
        request = pb.GetDocumentsRequest(references=map(messages.reference_message, references), blobs=blobs)
        answer = self._call("GetDocuments", request, pb.GetDocumentsResponse)
        return [
            codec.from_message(result.found.document) if result.HasField("found") else _item(result.error)
            for result in answer.results
        ]

    def get(self, reference: DocumentReference, *, blobs: bool = False) -> Document:
        """Exactly the state that a reference points at, also after it was replaced."""
        request = pb.GetByReferenceRequest(reference=messages.reference_message(reference), blobs=blobs)
        return codec.from_message(self._call("GetByReference", request, pb.GetResponse).document)

    def current(
        self, doc: str, address: str, cluster: str | None = None, *, datasource: str = "", blobs: bool = False
    ) -> Document:
        """The newest state at an address. `datasource`: whose, where several have a document of this id."""
        request = pb.GetRequest(doc_id=doc, address=address, cluster=cluster or "", datasource=datasource, blobs=blobs)
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
            page_token=after.token() if after else "",
            page_size=limit,
            deleted=deleted,
        )
        answer = self._call("ListDocuments", request, pb.ListDocumentsResponse)
        return CatalogPage(
            self._rows(answer.rows), Cursor.parse(answer.next_page_token) if answer.next_page_token else None
        )

    # --- deleting

    def delete(self, doc: str, *, cluster: Selection = EVERY, if_match: str = "") -> list[PipeDoc]:
        request = pb.DeleteRequest(doc_id=doc, if_match=if_match, **messages.selection_fields(cluster))
        return self._rows(self._call("Delete", request, pb.DeleteResponse).rows)

    def restore(self, doc: str, *, cluster: Selection = EVERY) -> list[PipeDoc]:
        request = pb.RestoreRequest(doc_id=doc, **messages.selection_fields(cluster))
        return self._rows(self._call("Restore", request, pb.RestoreResponse).rows)

    def purge(self, doc: str, *, reason: str = "") -> list[PurgeProof]:
        request = pb.PurgeRequest(doc_id=doc, reason=reason)
        return [messages.read_proof(proof) for proof in self._call("Purge", request, pb.PurgeResponse).proofs]

    # --- blobs of any size

    def upload(
        self,
        document: Document,
        data: IO[bytes],
        *,
        blob: str = "body",
        mime_type: str = "",
        filename: str = "",
        resume: str = "",
        timeout: float | None = None,
    ) -> Receipt:
        """Save a document with a blob that is read from a file, a piece at a time. `resume` is the id of an upload
        that was cut off: it goes on from where the service says that it stands."""
        if not resume:
            begin = pb.BeginUploadRequest(
                save=pb.SaveRequest(document=codec.to_message(document)),
                blob_name=blob,
                mime_type=mime_type,
                filename=filename,
            )
            resume = self._call("BeginUpload", begin, pb.UploadState).upload_id
        offset = self.upload_state(resume).offset
        data.seek(offset)

        def requests() -> Iterator[pb.UploadRequest]:
            yield pb.UploadRequest(upload_id=resume, offset=offset)
            while piece := data.read(_PIECE):
                yield pb.UploadRequest(data=piece)
            yield pb.UploadRequest(finish=True)

        method = self._channel.stream_unary(
            f"{_METHOD}Upload",
            request_serializer=pb.UploadRequest.SerializeToString,
            response_deserializer=pb.UploadResponse.FromString,
        )
        try:
            answer = method(requests(), timeout=timeout, metadata=self._metadata)
        except self._grpc.RpcError as error:
            raise self._mapped(error) from error
        return messages.read_receipt(self.account, answer.saved)

    def begin_upload(self, request: pb.BeginUploadRequest) -> pb.UploadState:
        return self._call("BeginUpload", request, pb.UploadState)

    def upload_state(self, upload: str) -> pb.UploadState:
        """How far an upload is."""
        return self._call("GetUpload", pb.GetUploadRequest(upload_id=upload), pb.UploadState)

    def download(
        self,
        reference: DocumentReference,
        *,
        blob: str = "body",
        offset: int = 0,
        length: int = 0,
        timeout: float | None = None,
    ) -> Iterator[bytes]:
        """The bytes of a blob, a piece at a time."""
        request = pb.DownloadRequest(
            reference=messages.reference_message(reference), blob_name=blob, offset=offset, length=length
        )
        for chunk in self._stream("Download", request, pb.DownloadChunk, timeout):
            if chunk.data:
                yield chunk.data

    def watch(
        self, resume_token: str = "", *, datasource: str = "", timeout: float | None = None
    ) -> Iterator[pb.WatchEvent]:
        """What changes from now on, or behind a token. The first event has none but the token to go on from."""
        request = pb.WatchRequest(resume_token=resume_token, datasource=datasource)
        return self._stream("Watch", request, pb.WatchEvent, timeout)

    def usage(self, account: str = "") -> pb.Usage:
        """What an account has used of the service, and may use."""
        return self._call("GetUsage", pb.GetUsageRequest(account_id=account), pb.Usage)

    # --- replay and comparison

    def replay(self, request: pb.ReplayRequest, *, timeout: float | None = None) -> Iterator[pb.ReplayProgress]:
        """How far the replay is, again and again until it ends. Leaving the loop pauses the job."""
        return self._stream("Replay", request, pb.ReplayProgress, timeout)

    def start_replay(self, request: pb.ReplayRequest) -> pb.ReplayJob:
        """A replay that goes on by itself."""
        return self._call("StartReplay", request, pb.ReplayJob)

    def replay_job(self, job: str) -> pb.ReplayJob:
        return self._call("GetReplay", pb.GetReplayRequest(job_id=job), pb.ReplayJob)

    def replays(self, *, page_size: int = 0, page_token: str = "") -> pb.ListReplaysResponse:
        request = pb.ListReplaysRequest(page_size=page_size, page_token=page_token)
        return self._call("ListReplays", request, pb.ListReplaysResponse)

    def pause_replay(self, job: str) -> pb.ReplayJob:
        return self._call("PauseReplay", pb.PauseReplayRequest(job_id=job), pb.ReplayJob)

    def resume_replay(self, job: str) -> pb.ReplayJob:
        return self._call("ResumeReplay", pb.ResumeReplayRequest(job_id=job), pb.ReplayJob)

    def cancel_replay(self, job: str) -> pb.ReplayJob:
        return self._call("CancelReplay", pb.CancelReplayRequest(job_id=job), pb.ReplayJob)

    def quarantine(self, request: pb.ListQuarantineRequest | None = None) -> pb.ListQuarantineResponse:
        """A page of what failed for good."""
        return self._call("ListQuarantine", request or pb.ListQuarantineRequest(), pb.ListQuarantineResponse)

    def release(self, request: pb.ReleaseQuarantineRequest) -> pb.ReleaseQuarantineResponse:
        """Let documents go on at the nodes where they failed. Those that fail again stay, and say why."""
        return self._call("ReleaseQuarantine", request, pb.ReleaseQuarantineResponse)

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
        until, wait = time.monotonic() + self._patience, _FIRST_WAIT_SECONDS
        while True:
            try:
                result: M = method(request, timeout=self._timeout, metadata=self._metadata)
            except self._grpc.RpcError as error:
                mapped = self._mapped(error)
                asked = mapped.details.get("wait", 0)
                pause = max(wait, float(asked) if isinstance(asked, int | float) else 0.0)
                if not mapped.retryable or time.monotonic() + pause > until:
                    raise mapped from error
                time.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311  not all at the same moment
                wait = min(2 * wait, _LONGEST_WAIT_SECONDS)
            else:
                return result

    def _stream(self, name: str, request: Message, answer: type[M], timeout: float | None) -> Iterator[M]:
        method = self._channel.unary_stream(
            f"{_METHOD}{name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=answer.FromString,
        )
        call = method(request, timeout=timeout, metadata=self._metadata)
        try:
            yield from call
        except self._grpc.RpcError as error:
            raise self._mapped(error) from error
        finally:
            call.cancel()  # type: ignore[no-untyped-call]

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
            if "larger than max" in reason:  # the library's own words, of either side
                return TooLarge(what="a message", size="too many", limit=reason)
            return ServiceTroubled(reason=reason)
        return ServiceError(reason=f"{code.name}: {reason}")


def _item(error: pb.ItemError) -> CocliError:
    told = {"code": error.code, "message": error.message, "hint": error.hint or None, "retryable": error.retryable}
    return rebuilt({**told, "details": dict(error.details)})


def _account_of(token: str) -> str:
    """Whom a token speaks for, by its own words: the service looks at the signature."""
    from cocli.app.documents.tokens import account_said

    return account_said(token)
