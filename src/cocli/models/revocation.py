"""A token of the services that was ended before its time."""

from __future__ import annotations

from cocli.models.record import Label, Record, Text, UtcDatetime


class TokenRevocation(Record):
    """`revocations/{token}.json`: every service of the store refuses the token of this id. It is never changed."""

    schema_id = "cocli.token-revocation/1"
    key = ("token",)

    token: Label
    """The id of the token (`jti`), never the token itself."""
    revoked_at: UtcDatetime
    """By the store's clock."""
    revoked_by: Label
    reason: Text | None = None
