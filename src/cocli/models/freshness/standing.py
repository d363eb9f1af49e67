"""How a business stood when stock was taken last: whether it is still listed, and what was known of it then."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cocli.models.campaign import CampaignName
from cocli.models.record import (
    Count,
    EmailText,
    Hash16,
    Label,
    Latitude,
    Longitude,
    Record,
    Text,
    UtcDatetime,
    UuidText,
)
from cocli.models.unordered import Unordered

StandingState = Literal["listed", "missing", "closed", "unlisted"]


class BusinessStanding(Record):
    """`standings/{shard}/{company_hash}.usv`: what the next taking of stock is compared with."""

    schema_id = "cocli.business-standing/1"
    key = ("company_hash",)

    company_hash: Hash16
    campaign: CampaignName
    taken_at: UtcDatetime
    state: StandingState
    """Unlisted: no search of the campaign ever showed it, such as a row of a file that somebody imported."""
    since: UtcDatetime | None = None
    """From when on it is missing, or closed."""
    reason: Text | None = None
    """Why it is said to be missing or closed."""
    last_seen: UtcDatetime | None = None
    """The last reading that showed it."""
    missed: Count = 0
    """Complete readings in a row that did not show it."""
    document: UuidText | None = None
    """The capture that its state was read from."""
    name: Text
    street: Text | None = None
    postcode: Text | None = None
    city: Text | None = None
    lat: Latitude | None = None
    lon: Longitude | None = None
    phone: Text | None = None
    email: EmailText | None = None
    website: Text | None = None
    documents: dict[Label, UuidText] = Field(default_factory=dict)
    """`name`, `address`, `phone`, `email`, `website` → the document that says so."""
    observed: dict[Label, UtcDatetime] = Field(default_factory=dict)
    """The same → when it was seen."""
    sources: Unordered[Label] = ()
    """Who had said something of it: what one of them says now is a change, what another says is news."""
    changed_at: UtcDatetime | None = None
    changes: Unordered[Label] = ()
    """Kinds of what changed at that time."""
