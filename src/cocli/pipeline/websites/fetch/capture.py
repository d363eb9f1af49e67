"""A page and the document that keeps it, in both directions. Saving is the caller's.

repository.save(page_document(fetched, account="acme"))
page_of(repository.current("acme", url, …, blobs=True))     # for a parser that is run again, without a request
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from cocli.documents.document import Blob, Document, DocumentSource
from cocli.errors import DocumentInvalid
from cocli.pipeline.websites.fetch.journey import charset_of
from cocli.pipeline.websites.fetch.outcome import Fetched, Validators
from cocli.pipeline.websites.fetch.request import mime_of

CONNECTOR = "web"
BODY = "body"
_RENDERED = "#rendered"
_LONGEST_ID = 1600
_TRUNCATED = "x-cocli-truncated"


def document_id(url: str, *, rendered: bool = False) -> str:
    """A page has one document, what a browser made of it another. Of a very long address the end is hashed."""
    if len(url) > _LONGEST_ID:
        url = f"{url[:_LONGEST_ID]}~{hashlib.sha256(url.encode()).hexdigest()[:32]}"
    if rendered:
        return url + _RENDERED
    return url


def page_document(page: Fetched, *, account: str) -> Document:
    """The intake document of a page: named by where the page really was."""
    source = DocumentSource(
        uri=page.final_url,
        mime_type=page.mime,
        fetched_at=page.fetched_at,
        http_status=page.status,
        headers={**page.headers, **({_TRUNCATED: "true"} if page.truncated else {})},
    )
    doc = document_id(page.final_url, rendered=page.rendered)
    document = Document.intake(account=account, connector=CONNECTOR, doc=doc, source=source)
    return document.with_blob(BODY, Blob.of(page.body, page.mime or "application/octet-stream"))


def page_of(document: Document) -> Fetched:
    """The page again, from its intake document with its blobs."""
    source = document.source
    if source.uri is None or BODY not in document.blobs:
        raise DocumentInvalid(doc=document.doc, reason="it is not a page: no address, or no body")
    headers = dict(source.headers)
    truncated = headers.pop(_TRUNCATED, "") == "true"
    content_type = headers.get("content-type")
    return Fetched(
        url=source.uri,
        final_url=source.uri,
        status=source.http_status or 200,
        headers=headers,
        body=document.blobs[BODY].content,
        mime=mime_of(content_type) or source.mime_type,
        charset=charset_of(content_type),
        fetched_at=source.fetched_at or datetime.min.replace(tzinfo=UTC),
        truncated=truncated,
        rendered=document.doc.endswith(_RENDERED),
    )


def validators_of(document: Document) -> Validators:
    """To ask whether a stored page changed. A page of which only a part was stored is read anew."""
    headers = document.source.headers
    if headers.get(_TRUNCATED) == "true" or document.doc.endswith(_RENDERED):
        return Validators()
    return Validators(headers.get("etag"), headers.get("last-modified"))
