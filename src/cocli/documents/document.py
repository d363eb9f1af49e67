"""A document as the program holds it: identity, source, blobs, what each node found. Frozen: a change is a new one.

How it is written is `codec`, what makes two of them equal is `digest`, where it lies is `places`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from cocli.documents.ids import check_identity, check_parts, node_uuid
from cocli.errors import DocumentInvalid, UsageError
from cocli.keys.identities import datasource_id, origin_id
from cocli.models.document import DocumentReference, StateKey

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.models.document import Step

JsonObject = Mapping[str, Any]
"""What a JSON object is in Python."""

KEPT_HEADERS = frozenset(
    {
        *("content-type", "content-language", "content-disposition", "location", "link", "x-robots-tag"),
        *("date", "etag", "last-modified", "expires", "cache-control", "server", "retry-after"),
    }
)
"""Headers of a response that matter later. Cookies and whatever else identifies somebody are not among them."""


def headers_that_matter(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a response that are worth keeping, by their names in lower case."""
    lowered = {name.lower(): value for name, value in headers.items()}
    return {name: lowered[name] for name in sorted(KEPT_HEADERS & lowered.keys())}


_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _frozen(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(values)) if values else _NOTHING


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """Where a document came from."""

    uri: str | None = None
    mime_type: str | None = None
    fetched_at: datetime | None = None
    http_status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case; `headers_that_matter` picks them."""
    filename: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "headers", _frozen({name.lower(): text for name, text in self.headers.items()}))


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes of a document. `data` is None where they are an object of their own that was not read."""

    sha256: str
    size: int
    mime_type: str = "application/octet-stream"
    filename: str | None = None
    data: bytes | None = field(default=None, repr=False)
    home: str | None = field(default=None, repr=False, compare=False)
    """The document that has it in the store already, for the repository alone: it need not be written again there."""
    parts: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """The SHA-256 of each of its parts, where it is so large that it has some."""
    part_size: int = field(default=0, repr=False, compare=False)
    """Bytes of all parts but the last."""

    @classmethod
    def of(cls, data: bytes, mime_type: str = "application/octet-stream", *, filename: str | None = None) -> Self:
        return cls(hashlib.sha256(data).hexdigest(), len(data), mime_type, filename, bytes(data))

    @property
    def objects(self) -> tuple[str, ...]:
        """The names of the objects that it lies in, where it is not in the document's own."""
        return self.parts or (self.sha256,)

    @property
    def content(self) -> bytes:
        if self.data is None:
            hint = "Read the document with blobs=True, or call DocumentRepository.load(document)."
            raise UsageError(reason=f"the blob {self.sha256[:12]}… was not read with its document", hint=hint)
        return self.data


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that went wrong with a document, at a node."""

    node: str
    code: str
    message: str
    retryable: bool = False
    at: datetime | None = None


@dataclass(frozen=True)
class Document:
    """One state of one document: as it came in (`cluster` is None), or after the node `address` of an
    edition of the parsers. What is stored calls an edition a cluster, and so does this class."""

    account: str
    connector: str
    datasource: str
    doc: str
    address: str
    cluster: str | None = None
    source: DocumentSource = DocumentSource()
    blobs: Mapping[str, Blob] = field(default_factory=dict)
    data: Mapping[str, JsonObject] = field(default_factory=dict)
    """What each node found, by the node's id."""
    steps: tuple[Step, ...] = ()
    errors: tuple[Fault, ...] = ()
    parent_digest: str | None = None
    """Of the state that this one was made from."""

    def __post_init__(self) -> None:
        check_identity(self.account, self.connector, self.datasource, self.doc, self.address, self.cluster)
        if self.cluster == "intake":
            raise DocumentInvalid(doc=self.doc, reason="an edition may not be called intake: that is its own folder")
        if self.cluster is None and self.address != self.datasource:
            raise DocumentInvalid(doc=self.doc, reason="the address of an intake document is its datasource")
        object.__setattr__(self, "blobs", _frozen(self.blobs))
        object.__setattr__(self, "data", _frozen(self.data))

    @classmethod
    def intake(
        cls,
        *,
        account: str,
        connector: str,
        doc: str,
        datasource: str | None = None,
        source: DocumentSource | None = None,
        blobs: Mapping[str, Blob] | None = None,
    ) -> Self:
        """A document as it came in. Without a datasource, its id follows from account and connector."""
        check_parts(account=account, connector=connector)
        where = datasource if datasource is not None else datasource_id(account, connector)
        return cls(account, connector, where, doc, where, None, source or DocumentSource(), blobs or {})

    # --- what it is

    @property
    def is_intake(self) -> bool:
        return self.cluster is None

    @cached_property
    def uuid(self) -> str:
        return node_uuid(self.doc, self.address, self.account)

    @property
    def origin(self) -> str:
        """Short for connector and datasource."""
        return origin_id(self.connector, self.datasource)

    @property
    def state_key(self) -> StateKey:
        return StateKey(self.uuid, self.cluster, self.connector, self.datasource)

    @cached_property
    def digest(self) -> str:
        """Names the content: the same page fetched twice, or the same result of two clusters, has one digest."""
        from cocli.documents.digest import canonical_digest

        return canonical_digest(self)

    @cached_property
    def canonical_data(self) -> Mapping[str, str]:
        """The data of each node as canonical JSON."""
        from cocli.documents.digest import canonical_data

        return canonical_data(self.data)

    @property
    def reference(self) -> DocumentReference:
        """Points at this state, once it is saved."""
        return DocumentReference(
            account=self.account,
            connector=self.connector,
            datasource=self.datasource,
            doc=self.doc,
            address=self.address,
            cluster=self.cluster,
            digest=self.digest,
        )

    # --- other documents made from it

    def at(self, node: str, cluster: str) -> Self:
        """What a node of a cluster starts from: the same content at the node's address, and where it came from."""
        return replace(self, address=node, cluster=cluster, parent_digest=self.digest)

    def with_data(self, node: str, values: JsonObject) -> Self:
        return self._with(data=_frozen({**self.data, node: values}))

    def with_blob(self, name: str, blob: Blob) -> Self:
        return self._with(blobs=_frozen({**self.blobs, name: blob}))

    def with_source(self, source: DocumentSource) -> Self:
        return self._with(source=source)

    def with_step(self, step: Step) -> Self:
        return self._with(steps=(*self.steps, step))

    def with_fault(self, fault: Fault) -> Self:
        return self._with(errors=(*self.errors, fault))

    def with_blobs(self, blobs: Mapping[str, Blob]) -> Self:
        """The same content with blobs that are held in another way: read, not read, known to lie in the store."""
        copy = self._with(blobs=_frozen(blobs))
        copy.__dict__.update({name: self.__dict__[name] for name in _OF_CONTENT if name in self.__dict__})
        return copy

    def _with(self, **changes: object) -> Self:
        """A copy with other content. Its identity was checked before, so that it need not be checked again."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        for name in _OF_CONTENT:
            copy.__dict__.pop(name, None)
        copy.__dict__.update(changes)
        return copy


_OF_CONTENT = ("digest", "canonical_data")
"""What a document has computed of its content."""
