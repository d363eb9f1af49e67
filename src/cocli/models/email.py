"""An e-mail address of the index: one address and the company it reaches."""

from __future__ import annotations

from typing import Literal

from cocli.models.origin import Origins
from cocli.models.record import Confidence, DomainText, EmailText, Hash16, Label, Record, Text, UtcDatetime
from cocli.models.unordered import Unordered
from cocli.models.website import ContactLabel

Verification = Literal["unknown", "syntax", "mx", "deliverable", "undeliverable", "risky"]


class EmailEntry(Record):
    """Keyed by the address itself: a slug of it once made two inboxes one."""

    schema_id = "cocli.email/1"
    key = ("email",)

    email: EmailText
    domain: DomainText
    company_hash: Hash16 | None = None
    source_page: Text | None = None
    method: Label | None = None
    label: ContactLabel | None = None
    name: Text | None = None
    """The role (`sales`) or the person."""
    first_seen: UtcDatetime
    last_seen: UtcDatetime
    verification: Verification = "unknown"
    tags: Unordered[Label] = ()
    origins: Origins = ()
    """What each value was read from; the merge rules need it to tell the better from the worse."""
    confidence: Confidence | None = None
    """How likely it is a right contact of the company and takes mail; docs/extractors.md has the table."""
