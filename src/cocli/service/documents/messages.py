"""Rows, references, receipts and proofs ⇄ protobuf. A document itself is `cocli.documents.codec`'s."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from cocli.documents.catalog.base import CLUSTERS, EVERY, Which
from cocli.documents.header import PurgeProof, RemovedObject
from cocli.documents.proto.generated import document_pb2, repository_pb2
from cocli.documents.receipt import Receipt
from cocli.documents.save_order import row_etag
from cocli.errors import UsageError
from cocli.models.document import DocumentReference, PipeDoc, Step
from cocli.service.statuses import status_of, told

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp

    from cocli.documents.catalog.base import Selection
    from cocli.documents.catalog.job_rows import Job
    from cocli.documents.catalog.uploads import UploadRow
    from cocli.documents.document import Blob
    from cocli.documents.graph.quarantine import QuarantineEntry
    from cocli.documents.receipt import Outcome
    from cocli.errors import CocliError
    from cocli.service.documents.backend import ServiceBackend

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SELECTIONS: dict[Which | None, int] = {
    EVERY: repository_pb2.STATE_SELECTION_EVERY,
    CLUSTERS: repository_pb2.STATE_SELECTION_CLUSTERS,
    None: repository_pb2.STATE_SELECTION_INTAKE,
}
_OUTCOMES: dict[Outcome, repository_pb2.SaveResponse.Outcome.ValueType] = {
    "created": repository_pb2.SaveResponse.OUTCOME_CREATED,
    "unchanged": repository_pb2.SaveResponse.OUTCOME_UNCHANGED,
    "updated": repository_pb2.SaveResponse.OUTCOME_UPDATED,
}


# --- references and rows


def reference_message(reference: DocumentReference | PipeDoc) -> repository_pb2.DocumentReference:
    """Without the account: that is the caller's. A row has all that a reference has."""
    return repository_pb2.DocumentReference(
        doc_id=reference.doc,
        address=reference.address,
        connector=reference.connector,
        datasource=reference.datasource,
        cluster=reference.cluster or "",
        digest=reference.digest,
    )


def read_reference(account: str, message: repository_pb2.DocumentReference) -> DocumentReference:
    return DocumentReference.checked(
        {
            "account": account,
            "connector": message.connector,
            "datasource": message.datasource,
            "doc": message.doc_id,
            "address": message.address,
            "cluster": message.cluster or None,
            "digest": message.digest,
        }
    )


def row_message(row: PipeDoc) -> repository_pb2.DocumentRow:
    return repository_pb2.DocumentRow(
        reference=reference_message(row),
        uuid=row.uuid,
        version=row.version,
        size=row.size,
        content_type=row.content_type or "",
        filename=row.filename or "",
        source_uri=row.source_uri or "",
        http_status=row.http_status or 0,
        parent_digest=row.parent_digest or "",
        steps=[_step_message(step) for step in row.steps],
        saved_at=_stamp(row.saved_at),
        deleted_at=_stamp(row.deleted_at),
        etag=row_etag(row),
    )


def read_row(account: str, message: repository_pb2.DocumentRow) -> PipeDoc:
    reference = read_reference(account, message.reference)
    return PipeDoc.checked(
        {
            **{name: getattr(reference, name) for name in ("account", "connector", "datasource", "doc", "address")},
            "cluster": reference.cluster,
            "digest": reference.digest,
            "uuid": message.uuid,
            "kind": "intake" if reference.cluster is None else "state",
            "version": message.version,
            "size": message.size,
            "content_type": message.content_type or None,
            "filename": message.filename or None,
            "source_uri": message.source_uri or None,
            "http_status": message.http_status or None,
            "parent_digest": message.parent_digest or None,
            "steps": tuple(_read_step(step) for step in message.steps),
            "saved_at": _moment(message.saved_at),
            "deleted_at": _moment(message.deleted_at) if message.HasField("deleted_at") else None,
        }
    )


def _step_message(step: Step) -> document_pb2.Step:
    return document_pb2.Step(
        node=step.node, code_digest=step.code_digest, input_digest=step.input_digest, at=_stamp(step.at)
    )


def _read_step(step: document_pb2.Step) -> Step:
    return Step(node=step.node, code_digest=step.code_digest, input_digest=step.input_digest, at=_moment(step.at))


# --- selections and receipts


def selection_fields(selection: Selection) -> dict[str, Any]:
    """The two fields of a request that say which states are meant."""
    if isinstance(selection, str):
        return {"selection": repository_pb2.STATE_SELECTION_ONE_CLUSTER, "cluster": selection}
    return {"selection": _SELECTIONS[selection], "cluster": ""}


def read_selection(selection: int, cluster: str) -> Selection:
    if selection == repository_pb2.STATE_SELECTION_ONE_CLUSTER:
        if not cluster:
            raise UsageError(reason="the request names no cluster")
        return cluster
    if cluster:
        raise UsageError(reason="a cluster is named, but the selection is not ONE_CLUSTER")
    if selection == repository_pb2.STATE_SELECTION_UNSPECIFIED:
        return EVERY
    for known, number in _SELECTIONS.items():
        if number == selection:
            return known
    raise UsageError(reason=f"{selection} is no selection of states")


def save_message(receipt: Receipt) -> repository_pb2.SaveResponse:
    return repository_pb2.SaveResponse(outcome=_OUTCOMES[receipt.outcome], row=row_message(receipt.row))


def read_receipt(account: str, message: repository_pb2.SaveResponse) -> Receipt:
    outcome = next(name for name, number in _OUTCOMES.items() if number == message.outcome)
    return Receipt.of(read_row(account, message.row), outcome)


def item_error(error: CocliError) -> repository_pb2.ItemError:
    """Why one item of many failed: as the whole call would have told it."""
    envelope = told(error)
    return repository_pb2.ItemError(
        code=envelope["code"],
        message=str(envelope["message"]),
        retryable=envelope["retryable"],
        status=status_of(error)[0],
        hint=str(envelope["hint"] or ""),
        details={name: str(value) for name, value in envelope["details"].items()},
    )


# --- replays


def progress_message(job: Job) -> repository_pb2.ReplayProgress:
    return repository_pb2.ReplayProgress(job_id=job.job, state=str(job.state), total=job.total, **_counts(job))


def job_message(job: Job) -> repository_pb2.ReplayJob:
    return repository_pb2.ReplayJob(
        job_id=job.job,
        state=str(job.state),
        cluster=job.cluster,
        total=job.total,
        error=job.error or "",
        planned_at=_stamp(job.planned_at),
        started_at=_stamp(job.started_at),
        finished_at=_stamp(job.finished_at),
        **_counts(job),
    )


def _counts(job: Job) -> dict[str, Any]:
    return {
        "done": job.processed,
        "changed": job.done,
        "unchanged": job.unchanged,
        "memoised": job.skipped,
        "failed": job.failed,
    }


# --- quarantine


def quarantine_message(entry: QuarantineEntry) -> repository_pb2.QuarantineItem:
    return repository_pb2.QuarantineItem(
        doc_id=entry.document.doc,
        connector=entry.document.connector,
        datasource=entry.document.datasource,
        node=entry.node,
        code=entry.code,
        message=entry.message,
        retryable=entry.retryable,
        released=entry.released,
        released_by=entry.released_by or "",
        whole=entry.whole,
        since=_stamp(entry.since),
    )


# --- large blobs


def upload_message(row: UploadRow) -> repository_pb2.UploadState:
    return repository_pb2.UploadState(upload_id=row.upload, offset=row.received, expires_at=_stamp(row.expires_at))


def blob_message(name: str, blob: Blob) -> repository_pb2.BlobInfo:
    return repository_pb2.BlobInfo(
        name=name, mime_type=blob.mime_type, filename=blob.filename or "", size=blob.size, sha256=blob.sha256
    )


def usage_message(account: str, backend: ServiceBackend) -> repository_pb2.Usage:
    usage, limits = backend.accounts.usage(account), backend.accounts.limits
    return repository_pb2.Usage(
        account_id=account,
        requests=usage.requests,
        bytes_in=usage.bytes_in,
        bytes_out=usage.bytes_out,
        refused=usage.refused,
        requests_now=backend.threads.places.of(account),
        replays_now=usage.replays,
        requests_per_minute=limits.requests_per_minute,
        bytes_per_minute=limits.bytes_per_minute,
        replays=limits.replays,
    )


# --- proofs


def proof_message(proof: PurgeProof) -> document_pb2.PurgeProof:
    return document_pb2.PurgeProof(
        begun_at=_stamp(proof.begun_at),
        purged_at=_stamp(proof.purged_at),
        purged_by=proof.purged_by,
        reason=proof.reason,
        removed=[
            document_pb2.RemovedObject(
                kind=removed.kind,
                cluster=removed.cluster or "",
                uuid=removed.uuid,
                digest=removed.digest,
                size=removed.size,
            )
            for removed in proof.removed
        ],
    )


def read_proof(message: document_pb2.PurgeProof) -> PurgeProof:
    removed = tuple(
        RemovedObject(
            removed_object.kind,
            removed_object.cluster or None,
            removed_object.uuid,
            removed_object.digest,
            removed_object.size,
        )
        for removed_object in message.removed
    )
    purged_at = None
    if message.HasField("purged_at"):
        purged_at = _moment(message.purged_at)
    return PurgeProof(_moment(message.begun_at), message.purged_by, message.reason, removed, purged_at)


def _stamp(moment: datetime | None) -> Timestamp | None:
    if moment is None:
        return None
    from google.protobuf.timestamp_pb2 import Timestamp

    since = moment - _EPOCH
    return Timestamp(seconds=since.days * 86_400 + since.seconds, nanos=since.microseconds * 1000)


def _moment(stamp: Timestamp) -> datetime:
    return _EPOCH + timedelta(seconds=stamp.seconds, microseconds=stamp.nanos // 1000)
