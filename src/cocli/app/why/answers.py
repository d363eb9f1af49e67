"""What `why` answers: a value, its observations, how an address was found."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as made_by
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.app.why.trace import DocumentView

KEPT, MERGED = "prospect", "merged"


@dataclass(frozen=True, slots=True)
class ObservedValue:
    """One time that something was said of a field."""

    value: Any
    source: str
    observed_at: datetime
    told_by: str
    """`prospect`: the value that it has; `merged`: a record that was merged into it; `listing` and `website`: the
    stored document, read again."""
    kept: bool
    """This is the observation that the value came from."""
    weight: int | None
    """How much the source counts for this field; None where the rule does not ask."""
    reason: str | None = None
    document: str | None = None
    record: str | None = None
    """The hash of the merged record."""


@dataclass(frozen=True, slots=True)
class EmailTrail:
    """How an address was found."""

    email: str
    page: str | None = None
    method: str | None = None
    context: str | None = None
    label: str | None = None
    name: str | None = None
    relation: str | None = None
    reason: str | None = None
    """Why it is delivered, or why not."""
    chosen: str | None = None
    """Why it is the one to write to."""
    confidence: float | None = None
    verification: str | None = None
    first_seen: datetime | None = None
    last_seen: datetime | None = None
    document: str | None = None


@dataclass(slots=True)
class Explanation:
    """The answer to `why`."""

    campaign: str
    company_hash: str
    name: str
    field: str
    value: Any
    rule: str
    meaning: str
    moved_from: str | None = None
    """The hash that was asked for, where the business is known under another one."""
    merged: list[str] = made_by(default_factory=list)
    """The hashes of records that were merged into it."""
    written: PersonalValue | None = None
    """What a person wrote of it on the company's page. It is shown before the value, and never changed."""
    observations: list[ObservedValue] = made_by(default_factory=list)
    emails: list[EmailTrail] = made_by(default_factory=list)
    documents: list[DocumentView] = made_by(default_factory=list)
    problems: list[str] = made_by(default_factory=list)
    left_behind: str | None = None
    """The command that brings documents here which a sync left in the bucket."""


@dataclass(frozen=True, slots=True)
class PersonalValue:
    """A key of a person's own."""

    key: str
    value: str
    file: str


@dataclass(frozen=True, slots=True)
class FieldLine:
    """A field at a glance."""

    field: str
    value: Any
    source: str | None
    observed_at: datetime | None
    document: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Overview:
    campaign: str
    company_hash: str
    name: str
    moved_from: str | None
    merged: list[str]
    fields: list[FieldLine]
    written: list[PersonalValue] = made_by(default_factory=list)
