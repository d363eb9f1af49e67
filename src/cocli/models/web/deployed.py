"""What was written by the last `cocli web deploy`: kept beside it, so that only what changed is written again."""

from __future__ import annotations

from cocli.models.record import Label, Many, Record, RecordPart, Text, UtcDatetime


class DeployedFile(RecordPart):
    """One file, as it was written."""

    path: Text
    says: Text
    """The etag of what it says: the same, if only its time is another one."""
    stored: Text
    """The etag that the place has for it."""


class DeployedSite(Record):
    """`data/deployed.json`."""

    schema_id = "cocli.web-deployed/1"

    at: UtcDatetime
    version: Label
    campaigns: Many[Label] = ()
    exclusions: Text = ""
    """A hash of what the campaigns exclude: where that changed, older files are removed at once."""
    expires_at: UtcDatetime | None = None
    whole: bool = False
    """Whether the deployment came to its end."""
    files: Many[DeployedFile] = ()
