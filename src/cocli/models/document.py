"""A document of the repository: what its row says of it, and how a queue task points at it."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from cocli.keys.identities import origin_id
from cocli.models.record import Count, Many, Record, RecordPart, Sha256, Text, UtcDatetime, UuidText

AddressPart = Annotated[
    str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^|\x00]*[^|\s\x00][^|\x00]*$")
]
"""Not blank and without `|`: the parts are joined with it before they are hashed, and must not run into each other."""


class StateKey(NamedTuple):
    """Which state: there is one row and one object for each. The uuid alone says nothing of the cluster, and in a
    cluster nothing of the datasource."""

    uuid: str
    cluster: str | None
    connector: str
    datasource: str


def _cluster(name: str | None) -> str | None:
    if name == "intake":
        raise ValueError("a cluster may not be called intake: that is the folder of what came in")
    return name


class DocumentReference(Record):
    """Points at one state of one document, exactly: with the digest, a replay reads what the first run read."""

    schema_id = "cocli.document-reference/1"
    key = ("account", "doc", "address", "cluster", "datasource", "connector")

    account: AddressPart
    connector: AddressPart
    datasource: AddressPart
    doc: AddressPart
    address: AddressPart
    """The datasource's id at intake, the node's id in a cluster."""
    cluster: AddressPart | None = None
    """None for the document as it came in."""
    digest: Sha256

    @property
    def origin(self) -> str:
        return origin_id(self.connector, self.datasource)

    @field_validator("cluster")
    @classmethod
    def _check_edition(cls, name: str | None) -> str | None:
        return _cluster(name)

    @model_validator(mode="after")
    def _intake_lies_at_its_datasource(self) -> Self:
        if self.cluster is None and self.address != self.datasource:
            raise ValueError("the address of an intake document is its datasource")
        return self


_REFERENCE = tuple(DocumentReference.model_fields)


class Step(RecordPart):
    """One node that worked on a document, and with which code and configuration."""

    node: AddressPart
    code_digest: Sha256
    input_digest: Sha256
    at: UtcDatetime


class PipeDoc(Record):
    """What is known of a saved state without reading it: the row of the table, and the head of the object."""

    schema_id = "cocli.pipedoc/1"
    key = ("uuid", "cluster", "datasource", "connector")

    uuid: UuidText
    account: AddressPart
    connector: AddressPart
    datasource: AddressPart
    doc: AddressPart
    address: AddressPart
    cluster: AddressPart | None = None
    digest: Sha256
    """Of the canonical serialisation, volatile fields left out: the same page fetched twice has one digest."""
    size: Count
    version: Annotated[int, Field(ge=1)] = 1
    kind: Literal["intake", "state"] = "intake"
    content_type: Text | None = None
    filename: Text | None = None
    source_uri: Text | None = None
    http_status: Annotated[int, Field(ge=100, le=999)] | None = None
    etag: Text | None = None
    """Of the object, as the store calls it."""
    parent_digest: Sha256 | None = None
    """The state that this one was made from."""
    steps: Many[Step] = ()
    saved_at: UtcDatetime
    deleted_at: UtcDatetime | None = None
    """Set on a tombstone: there was such a state, and it may not come back by itself."""
    purged_at: UtcDatetime | None = None
    """Set where every version was removed for good."""
    expired_at: UtcDatetime | None = None
    """Set where the content went because it was old. It is hidden like a tombstone, and may come again."""

    @field_validator("cluster")
    @classmethod
    def _check_edition(cls, name: str | None) -> str | None:
        return _cluster(name)

    @model_validator(mode="after")
    def _intake_has_no_cluster(self) -> Self:
        if (self.kind == "intake") != (self.cluster is None):
            raise ValueError("an intake document has no cluster, every other state has one")
        if self.kind == "intake" and self.address != self.datasource:
            raise ValueError("the address of an intake document is its datasource")
        return self

    @property
    def state_key(self) -> StateKey:
        return StateKey(self.uuid, self.cluster, self.connector, self.datasource)

    @property
    def origin(self) -> str:
        return origin_id(self.connector, self.datasource)

    @property
    def reference(self) -> DocumentReference:
        """Of values that were checked with the row, by the same rules."""
        values = {name: getattr(self, name) for name in _REFERENCE}
        return DocumentReference.of_checked(values, set(values))
