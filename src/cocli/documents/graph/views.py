"""What conditions see of a document: its identity, its source, what the nodes found, and which blobs it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue

    from cocli.documents.document import Document


def view_of(document: Document) -> JsonValue:
    """Values that are not known are left out, so that asking for them with `exists` says so."""
    source = document.source
    known: dict[str, JsonValue] = {
        "uri": source.uri,
        "mime_type": source.mime_type,
        "status": source.http_status,
        "filename": source.filename,
    }
    headers: dict[str, JsonValue] = dict(source.headers)
    return {
        "account": document.account,
        "connector": document.connector,
        "datasource": document.datasource,
        "doc": document.doc,
        "source": {**{name: value for name, value in known.items() if value is not None}, "headers": headers},
        "data": {node: dict(values) for node, values in document.data.items()},
        "blobs": {
            name: {"mime_type": blob.mime_type, "size": blob.size, "sha256": blob.sha256}
            for name, blob in document.blobs.items()
        },
        "errors": [{"node": fault.node, "code": fault.code} for fault in document.errors],
    }
