"""Documents as people and scripts see them: rows, one state, receipts, proofs, findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.cli.kit.output import size_shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.cli.kit.output import Output
    from cocli.documents.care.findings import FsckReport
    from cocli.documents.document import Document
    from cocli.documents.header import PurgeProof
    from cocli.documents.receipt import Receipt
    from cocli.models.document import PipeDoc

_ROW = (
    *("doc", "cluster", "address", "connector", "datasource", "uuid", "version", "digest", "parent_digest", "size"),
    *("content_type", "filename", "source_uri", "http_status", "saved_at", "deleted_at", "purged_at"),
)
_SHORT = 12


def row_document(row: PipeDoc) -> dict[str, Any]:
    return {**{name: getattr(row, name) for name in _ROW}, "nodes": [step.node for step in row.steps]}


def receipt_document(receipt: Receipt) -> dict[str, Any]:
    return {"outcome": receipt.outcome, **row_document(receipt.row)}


def show_rows(output: Output, rows: Sequence[PipeDoc]) -> None:
    columns = ("doc", "place", "version", "digest", "size", "saved", "state")
    output.table(columns, [_row(row) for row in rows], right=("version", "size"))


def _row(row: PipeDoc) -> tuple[object, ...]:
    state = "purged" if row.purged_at else "deleted" if row.deleted_at else "ok"
    return (row.doc, place_of(row), row.version, row.digest[:_SHORT], size_shown(row.size), row.saved_at, state)


def place_of(row: PipeDoc | Document) -> str:
    """`intake/{datasource}` or `{edition}/{node}`."""
    return f"{row.cluster or 'intake'}/{row.address}"


# --- one state


def state_document(row: PipeDoc, document: Document) -> dict[str, Any]:
    """The state that was read; the row knows when it was saved only if it still is the newest."""
    source = document.source
    return {
        "doc": document.doc,
        "cluster": document.cluster,
        "address": document.address,
        "connector": document.connector,
        "datasource": document.datasource,
        "uuid": document.uuid,
        "digest": document.digest,
        "current": document.digest == row.digest,
        "parent_digest": document.parent_digest,
        "source": {
            "uri": source.uri,
            "mime_type": source.mime_type,
            "fetched_at": source.fetched_at,
            "http_status": source.http_status,
            "headers": dict(source.headers),
            "filename": source.filename,
        },
        "blobs": {
            name: {"sha256": one.sha256, "size": one.size, "mime_type": one.mime_type, "filename": one.filename}
            for name, one in document.blobs.items()
        },
        "data": {node: dict(values) for node, values in document.data.items()},
        "steps": [
            {"node": step.node, "code_digest": step.code_digest, "input_digest": step.input_digest, "at": step.at}
            for step in document.steps
        ],
        "errors": [
            {
                "node": error.node,
                "code": error.code,
                "message": error.message,
                "retryable": error.retryable,
                "at": error.at,
            }
            for error in document.errors
        ],
    }


def show_state(output: Output, row: PipeDoc, document: Document) -> None:
    source = document.source
    lines: list[tuple[str, object]] = [
        ("document", document.doc),
        ("place", place_of(document)),
        ("connector", document.connector),
        ("digest", document.digest),
        ("version", row.version if document.digest == row.digest else "an earlier one"),
        ("address", source.uri),
        ("type", source.mime_type),
        ("status", source.http_status),
        ("fetched", source.fetched_at),
        ("parent", document.parent_digest),
        *((f"blob {name}", f"{size_shown(blob.size)} {blob.mime_type}") for name, blob in document.blobs.items()),
        *((f"data {node}", dict(values)) for node, values in document.data.items()),
        *((f"step {step.node}", step.at) for step in document.steps),
        *((f"error at {error.node}", f"{error.code}: {error.message}") for error in document.errors),
    ]
    output.table(("what", "value"), [line for line in lines if line[1] is not None])


# --- proofs and findings


def proof_document(proof: PurgeProof) -> dict[str, Any]:
    return {
        "begun_at": proof.begun_at,
        "purged_at": proof.purged_at,
        "purged_by": proof.purged_by,
        "reason": proof.reason,
        "removed": [
            {
                "kind": removed.kind,
                "cluster": removed.cluster,
                "uuid": removed.uuid,
                "digest": removed.digest,
                "size": removed.size,
            }
            for removed in proof.removed
        ],
    }


def show_proofs(output: Output, proofs: Sequence[PurgeProof]) -> None:
    rows = [
        (removed.kind, removed.cluster or "intake", removed.digest[:_SHORT], size_shown(removed.size), proof.purged_at)
        for proof in proofs
        for removed in proof.removed
    ]
    output.table(("removed", "edition", "digest", "size", "at"), rows, right=("size",))


def report_document(report: FsckReport) -> dict[str, Any]:
    return {
        "documents": report.documents,
        "objects": report.objects,
        "blobs": report.blobs,
        "rows": report.rows,
        "events": report.events,
        "open": len(report.open),
        "findings": [
            {
                "problem": finding.problem,
                "account": finding.account,
                "doc": finding.doc,
                "detail": finding.detail,
                "repaired": finding.repaired,
            }
            for finding in report.findings
        ],
    }


def show_report(output: Output, report: FsckReport) -> None:
    if report.findings:
        rows = [
            (finding.problem, finding.account, finding.doc, finding.detail, finding.repaired)
            for finding in report.findings
        ]
        output.table(("problem", "account", "doc", "detail", "repaired"), rows)
    looked = f"{report.documents} documents, {report.objects} objects, {report.blobs} blobs"
    output.talk(f"Looked at {looked}, {report.rows} rows and {report.events} events: {len(report.open)} to mend.")
