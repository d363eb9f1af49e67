"""What makes two documents the same: a digest of their content in one canonical spelling.

Left out: who and where (account, document, address, cluster: the same result of two clusters is the same), how it came
about (steps, the parent), and whatever differs although nothing changed (times, headers that a server makes up).
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cocli.errors import DocumentInvalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cocli.documents.document import Blob, Document, DocumentSource, Fault, JsonObject

_NAME = b"cocli.pipedoc-digest/1\n"
STABLE_HEADERS = frozenset(
    {"content-type", "content-language", "content-disposition", "location", "link", "x-robots-tag"}
)
"""Headers that say something of the content. All others change with the hour, the server or the visitor."""


def canonical_digest(document: Document) -> str:
    try:
        return content_digest(document.source, document.blobs, document.canonical_data, document.errors)
    except DocumentInvalid as error:
        raise DocumentInvalid(doc=document.doc, reason=error.details["reason"]) from error


def content_digest(
    source: DocumentSource, blobs: Mapping[str, Blob], data: Mapping[str, str], errors: Iterable[Fault]
) -> str:
    """SHA-256 of one JSON object with sorted keys. `data` is canonical JSON already."""
    nodes = ",".join(f"{_canonical_name(node)}:{data[node]}" for node in sorted(data))
    files = canonical_json({name: _blob(blob) for name, blob in blobs.items()}) if blobs else "{}"
    faults = canonical_json([[fault.node, fault.code, fault.message, fault.retryable] for fault in errors])
    whence = canonical_json(_source(source))
    text = f'{{"blobs":{files},"data":{{{nodes}}},"errors":{faults},"source":{whence}}}'
    return hashlib.sha256(_NAME + text.encode()).hexdigest()


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode
"""Kept: `json.dumps` makes an encoder for each value."""


def canonical_json(value: Any) -> str:
    """One spelling per value: sorted keys, no spaces, nothing that JSON does not have."""
    try:
        text = _encode(value)
        text.encode()
    except UnicodeEncodeError as error:
        raise DocumentInvalid(doc="?", reason="a text contains a lone surrogate, which is no Unicode") from error
    except RecursionError as error:
        raise DocumentInvalid(doc="?", reason="its data is nested too deeply, or contains itself") from error
    except (TypeError, ValueError) as error:
        raise DocumentInvalid(doc="?", reason=f"its data is not JSON: {error}") from error
    return text


@lru_cache(maxsize=256)
def _canonical_name(node: str) -> str:
    """Kept: there are few nodes, and every document names some of them."""
    return canonical_json(node)


def canonical_data(data: Mapping[str, JsonObject]) -> dict[str, str]:
    for node, values in data.items():
        if not hasattr(values, "keys"):
            raise DocumentInvalid(doc="?", reason=f"the data of node {node} is not a JSON object")
    return {node: canonical_json(dict(values)) for node, values in data.items()}


def _source(source: DocumentSource) -> dict[str, Any]:
    return {
        "uri": source.uri,
        "mime_type": source.mime_type,
        "http_status": source.http_status,
        "filename": source.filename,
        "headers": {name: text for name, text in source.headers.items() if name in STABLE_HEADERS},
    }


def _blob(blob: Blob) -> list[Any]:
    return [blob.sha256, blob.size, blob.mime_type, blob.filename]
