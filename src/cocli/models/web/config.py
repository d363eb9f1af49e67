"""What a campaign looks for, where, with how many workers; and what was asked of its machines."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cocli.models.campaign import CampaignName, ExcludeSection, Location
from cocli.models.record import Count, Label, Many, Record, RecordPart, Text, UtcDatetime


class WebVerb(RecordPart):
    """A command that can be sent."""

    verb: Label
    usage: Text
    takes_host: bool
    role: Label
    """Who may send it."""


class WebCommand(RecordPart):
    """A command that was sent, and what became of it."""

    id: Label
    target: Label
    text: Text
    state: Label
    """waiting, running, done, already or failed."""
    sent_by: Label | None = None
    sent_at: Text | None = None
    host: Label | None = None
    """Who executed it, or does."""
    message: Text | None = None
    at: UtcDatetime | None = None
    seconds: Annotated[float, Field(ge=0)] | None = None
    """From sending to the end."""
    undo: Text | None = None
    command: Text


class WebConfig(Record):
    """`data/{campaign}/config.json`."""

    schema_id = "cocli.web-config/1"

    campaign: CampaignName
    at: UtcDatetime
    etag: Text
    file: Text
    queries: Many[Text] = ()
    locations: Many[Location] = ()
    locations_from: Label
    """Which of `locations`, `locations_csv` and `area` says where."""
    sources: Many[Label] = ()
    goal: Count | None = None
    exclude: ExcludeSection
    workers: dict[Label, dict[Label, Count]] = Field(default_factory=dict)
    paused: Many[Label] = ()
    timezone: Label
    listeners: Many[Label] = ()
    verbs: Many[WebVerb] = ()
    commands: Many[WebCommand] = ()
