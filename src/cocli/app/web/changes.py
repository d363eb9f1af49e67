"""Changes that are asked for in a browser: a basket of commands, each with its line and its way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.machines.command_listing import list_commands
from cocli.app.machines.commands import listeners, send_command
from cocli.app.web.config import MOST_COMMANDS, command_line, undo_of, web_command
from cocli.errors import CocliError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from cocli.app.machines.commands import Sent
    from cocli.app.workspace import Campaign
    from cocli.models.web.config import WebCommand


@dataclass(frozen=True, slots=True)
class ChangeWish:
    """A command as somebody wrote it."""

    text: str
    host: str | None = None


@dataclass(frozen=True, slots=True)
class ChangeOutcome:
    """What became of a wish at the door: it was sent, or refused with a reason."""

    wish: ChangeWish
    state: str
    sent: tuple[Sent, ...] = ()
    reason: str | None = None
    hint: str | None = None
    command: str = ""
    undo: str | None = None


def send_changes(campaign: Campaign, wishes: Sequence[ChangeWish], sent_by: str) -> list[ChangeOutcome]:
    """Send a basket. What is refused is told, and does not stop the others."""
    return [_sent(campaign, wish, sent_by) for wish in wishes]


def _sent(campaign: Campaign, wish: ChangeWish, sent_by: str) -> ChangeOutcome:
    command = command_line(campaign.name, wish.text, wish.host)
    undo = undo_of(wish.text, campaign.settings.model(), wish.host)
    try:
        sent = send_command(campaign, wish.text, wish.host, sent_by=sent_by)
    except CocliError as error:  # told in its line: the rest of the basket goes on
        return ChangeOutcome(wish, "refused", reason=error.message, hint=error.hint, command=command)
    return ChangeOutcome(wish, "sent", tuple(sent), command=command, undo=undo)


def follow_changes(campaign: Campaign, ids: Collection[str]) -> list[WebCommand]:
    """How commands stand now, the newest first: those that are named, or the last fifty."""
    rows = list_commands(campaign, 0 if ids else MOST_COMMANDS)
    return [web_command(campaign, row) for row in rows if not ids or row.id in ids]


def who_listens(campaign: Campaign) -> list[str]:
    return listeners(campaign)
