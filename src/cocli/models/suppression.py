"""Who asked to be left alone: one entry of the do-not-contact list, and the record of what was forgotten."""

from __future__ import annotations

from typing import Literal

from cocli.models.record import Count, Label, Many, Record, RecordPart, Sha256, Text, UtcDatetime

SubjectKind = Literal["email", "phone", "domain", "company", "place", "name"]


class Suppression(Record):
    """One value that no output shows. Named by the hash of its value: two machines that add it write one object."""

    schema_id = "cocli.suppression/1"
    key = ("kind", "sha256")

    kind: SubjectKind
    sha256: Sha256
    """Of the value in its normal form, with the salt before it where there is one."""
    value: Text | None = None
    """The value itself; None where only its hash is kept: it was forgotten, or it came from somebody else's list."""
    salt: Label | None = None
    calling_code: Label | None = None
    """Of a phone number: what its country is called by, so that a number without it is compared as well."""
    reason: Text | None = None
    until: UtcDatetime | None = None
    """From then on it holds no more."""
    forgotten: bool = False
    """Its data was removed: captures that are made later are redacted when they are saved."""
    removed: bool = False
    """Taken off the list again. The entry stays, so that a machine that does not know yet brings nothing back."""
    added_by: Label
    added_at: UtcDatetime
    updated_at: UtcDatetime


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
    files: Count = 0
    """Files of caches and of the state of the machine that did it."""
