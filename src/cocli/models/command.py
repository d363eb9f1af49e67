"""A command from afar: what is to be done, and what came of it. Stored inside a task and its completion."""

from __future__ import annotations

from typing import Literal

from cocli.models.campaign import CampaignName
from cocli.models.record import Label, Many, Record, Text, UtcDatetime

Verb = Label
"""Which ones there are is known further up: how each is written in `cocli.fleet.commands`, what it does in `app`."""


class Command(Record):
    """What a supervisor is asked to do."""

    schema_id = "cocli.command/1"

    verb: Verb
    arguments: Many[Label] = ()
    """Checked and complete: whoever executes it guesses nothing."""
    host: Label | None = None
    """The host that it is about; for `restart`, the one that executes it."""
    campaign: CampaignName
    sent_by: Label
    sent_at: UtcDatetime


class Acknowledgement(Record):
    """What came of it."""

    schema_id = "cocli.acknowledgement/1"

    command: Label
    """As a person would type it."""
    sent_by: Label
    sent_at: UtcDatetime
    outcome: Literal["done", "already"]
    """`already`: there was nothing left to do."""
    message: Text
    host: Label
    """Who executed it."""
