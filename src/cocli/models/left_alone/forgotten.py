"""Whoever was forgotten: the proof of it, by hashes alone."""

from __future__ import annotations

from typing import Literal

from cocli.models.left_alone.suppression import SubjectKind
from cocli.models.record import Count, Label, Many, Record, RecordPart, Sha256, Text, UtcDatetime


class ForgottenValue(RecordPart):
    """One value of somebody who was forgotten, by its hash."""

    kind: SubjectKind
    sha256: Sha256
    calling_code: Label | None = None


class ForgottenObject(RecordPart):
    """An object that was removed, or replaced by one without the values. Nothing that was in it is said."""

    kind: Label
    """What it was: `index shard`, `document`, `export`, …"""
    sha256: Sha256
    """Of its bytes, as they were."""
    size: Count
    done: Literal["removed", "redacted"]


class ForgottenRemainder(RecordPart):
    """What could not be removed. Where it is and what it is called is not said: a name may tell who it is about."""

    kind: Label
    """`earlier version`, `message`, …"""
    count: Count
    """As many as are known of; 0 where they could not even be counted."""
    reason: Label
    """The code of the error: `denied`, `missing_extra`, …"""


class Forgotten(Record):
    """The proof that somebody was forgotten in a store, and the order to every copy of it to do the same."""

    schema_id = "cocli.forgotten/1"
    key = ("id",)

    id: Sha256
    values: Many[ForgottenValue]
    reason: Text | None = None
    notes: bool = False
    """Whether what people wrote was redacted as well."""
    by: Label
    begun_at: UtcDatetime
    finished_at: UtcDatetime | None = None
    objects: Many[ForgottenObject] = ()
    remaining: Many[ForgottenRemainder] = ()
    """What is still held, as the run that came last found it."""
    files: Count = 0
    """Files of caches and of the state of the machine that did it."""
