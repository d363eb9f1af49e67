"""The intake documents of this source: everything that a browser received for one question, before it is parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.documents import Blob, Document, DocumentSource
from cocli.documents.document import headers_that_matter
from cocli.errors import IdentityError
from cocli.keys.tile import Tile
from cocli.pipeline.sources.google_maps.parser.sighting import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

PAGE = "page"
ANSWER = "answer-"
LIST_DOC, PLACE_DOC = "list/", "place/"
"""What the ids of documents begin with."""


def list_document(
    *,
    account: str,
    tile: Tile,
    phrase: str,
    url: str,
    html: bytes | str | None,
    answers: Sequence[bytes] = (),
    fetched_at: datetime,
    http_status: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> Document:
    """What was received for a phrase at a tile. `url` is where the browser stood in the end."""
    doc = list_identity(tile, phrase)
    return _document(account, doc, _source(url, fetched_at, http_status, headers), html, answers)


def details_document(
    *,
    account: str,
    place_id: str,
    url: str,
    html: bytes | str | None,
    answers: Sequence[bytes] = (),
    fetched_at: datetime,
    http_status: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> Document:
    """What was received for one place."""
    doc = page_identity(place_id)
    return _document(account, doc, _source(url, fetched_at, http_status, headers), html, answers)


def list_identity(tile: Tile, phrase: str) -> str:
    """The identity of the document of one list."""
    return f"{LIST_DOC}{tile}/{_escaped(phrase)}"


def page_identity(place_id: str) -> str:
    """The identity of the document of one place's page."""
    return f"{PLACE_DOC}{_escaped(place_id)}"


def _source(
    url: str, fetched_at: datetime, http_status: int | None, headers: Mapping[str, str] | None
) -> DocumentSource:
    return DocumentSource(
        uri=url,
        mime_type="text/html",
        fetched_at=fetched_at,
        http_status=http_status,
        headers=headers_that_matter(headers or {}),
    )


def _document(
    account: str, doc: str, source: DocumentSource, html: bytes | str | None, answers: Sequence[bytes]
) -> Document:
    document = Document.intake(account=account, connector=SOURCE, doc=doc, source=source)
    if html is not None:
        data = html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html
        document = document.with_blob(PAGE, Blob.of(data, "text/html"))
    for number, answer in enumerate(answers, start=1):
        document = document.with_blob(f"{ANSWER}{number:04d}", Blob.of(answer, "application/json"))
    return document


def page_of(document: Document) -> bytes:
    """The HTML of a document; nothing where it has only answers."""
    blob = document.blobs.get(PAGE)
    if blob:
        return blob.content
    return b""


def answers_of(document: Document) -> Iterator[bytes]:
    """The JSON answers of a document, in the order in which they came."""
    for name in sorted(document.blobs):
        if name.startswith(ANSWER):
            yield document.blobs[name].content


def asked_of(document: Document) -> tuple[Tile | None, str | None, str | None]:
    """Which question a document answers: a tile and a phrase, or a place id."""
    kind, _, rest = document.doc.partition("/")
    if f"{kind}/" == PLACE_DOC:
        return None, None, _unescaped(rest)
    name, _, phrase = rest.partition("/")
    lat, _, lon = name.partition("_")
    try:
        tile = Tile.parse(lat, lon) if f"{kind}/" == LIST_DOC else None
    except IdentityError:  # a document of another layout: what was asked is not known
        tile = None
    return tile, (_unescaped(phrase) or None) if tile else None, None


def _escaped(text: str) -> str:
    """The parts of a document's identity are joined with `|`, so that they cannot contain one."""
    return text.replace("%", "%25").replace("|", "%7C")


def _unescaped(text: str) -> str:
    return text.replace("%7C", "|").replace("%25", "%")
