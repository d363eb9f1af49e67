"""Who asked to be left alone: one entry of the do-not-contact list."""

from __future__ import annotations

from typing import Literal

from cocli.models.record import Label, Record, Sha256, Text, UtcDatetime

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
