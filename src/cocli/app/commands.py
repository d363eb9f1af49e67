"""Commands from afar: sending them, and what became of them. What each does is `command_effects`."""

from __future__ import annotations

import getpass
import secrets
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.app.cluster import read_beats
from cocli.app.planning_places import resolve_places
from cocli.app.queue import QueueOnStore
from cocli.app.queue_listing import Shown, list_tasks
from cocli.app.workspace import no_progress
from cocli.errors import NotFound, UsageError
from cocli.models.command import Command
from cocli.queue.places import Places
from cocli.workers.command_execution import command_task, open_command_queue
from cocli.workers.commands import ALL, USAGE, Wish, command_queue, parse_wish

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cocli.app.queue_listing import TaskRow
    from cocli.app.workspace import Campaign


@dataclass(frozen=True, slots=True)
class Sent:
    """A command on its way. `target` is the host that executes it, or `all` for whichever comes first."""

    id: str
    target: str
    text: str


@dataclass(frozen=True, slots=True)
class CommandRow:
    """What became of a command: waiting, running, done, already or failed."""

    id: str
    target: str
    text: str
    state: str
    sent_by: str | None = None
    sent_at: str | None = None
    host: str | None = None
    message: str | None = None
    at: datetime | None = None


# --- sending


def send_command(campaign: Campaign, text: str, host: str | None = None) -> list[Sent]:
    """Check a command and send it. What cannot be meant is refused here, and nothing is sent."""
    wish = _complete(parse_wish(text), campaign, host)
    targets = _hosts(campaign, host) if wish.concerns_hosts else [ALL]
    now = campaign.store.now()
    sent = []
    for target in targets:
        command = Command(
            verb=wish.verb,
            arguments=wish.arguments,
            host=target if wish.concerns_hosts else host,
            campaign=campaign.name,
            sent_by=f"{_user()}@{socket.gethostname()}",
            sent_at=now,
        )
        task = command_task(command, secrets.token_hex(3))
        queue = open_command_queue(campaign.store, campaign.name, target)
        try:
            queue.put(task)
        finally:
            queue.close()
        sent.append(Sent(task.task_id, target, str(wish)))
    return sent


def _complete(wish: Wish, campaign: Campaign, host: str | None) -> Wish:
    """What the sender knows and the executor must not have to guess."""
    if host is not None and wish.verb not in ("scale", "restart"):
        raise UsageError(reason=f"{wish.verb} does not concern a host", hint="Leave --host out.")
    if wish.verb == "add-location":
        places = resolve_places(wish.arguments[0])
        return Wish(wish.verb, tuple(f"{one.name},{one.lat!r},{one.lon!r},{one.radius_miles!r}" for one in places))
    if wish.verb == "scale" and host is None and not campaign.settings.model().workers:
        raise UsageError(
            reason=f"Campaign {campaign.name} has no [workers.HOST] yet: which host is meant?",
            hint=f'Write: cocli command send "{wish}" --host HOST',
        )
    return wish


def _hosts(campaign: Campaign, host: str | None) -> list[str]:
    if host is not None:
        return [host]
    config, now = campaign.settings.model(), campaign.store.now()
    alive = {beat.heartbeat.hostname for beat in read_beats(campaign.store).beats if beat.is_alive(now)}
    hosts = sorted({*config.workers, *config.cluster.hosts, *alive})
    if not hosts:
        raise UsageError(reason="No host is known yet", hint="Name one with --host HOST.")
    return hosts


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"  # a container may have no name for its user


# --- what became of them


def list_commands(campaign: Campaign, limit: int = 50) -> list[CommandRow]:
    """The newest first."""
    rows: list[CommandRow] = []
    for target in _targets(campaign):
        name = command_queue(target)
        place = QueueOnStore(campaign.store, Places(campaign.name, name), campaign.name, name)
        for what in (Shown.PENDING, Shown.COMPLETED, Shown.SIDELINE):
            rows += [_row(campaign, target, row) for row in list_tasks(place, what, None, 200, no_progress)]
    newest: dict[str, CommandRow] = {}
    for row in sorted(rows, key=lambda one: (one.id, one.state != "waiting")):
        newest[row.id] = row  # one that ended may still lie among those that wait
    return sorted(newest.values(), key=lambda one: one.id, reverse=True)[: limit or None]


def find_command(campaign: Campaign, command_id: str) -> CommandRow:
    found = [row for row in list_commands(campaign, 0) if row.id.startswith(command_id)]
    if len(found) != 1:
        reason = "is not unique" if found else "is no command of this campaign"
        raise NotFound(key=command_id, hint=f"It {reason}; see: cocli command ls -c {campaign.name}")
    return found[0]


def _targets(campaign: Campaign) -> list[str]:
    """Everybody that commands may have been sent to."""
    config = campaign.settings.model()
    beats = read_beats(campaign.store).beats
    return [ALL, *sorted({*config.workers, *config.cluster.hosts, *(beat.heartbeat.hostname for beat in beats)})]


def _row(campaign: Campaign, target: str, row: TaskRow) -> CommandRow:
    if row.state == "completed":
        queue = open_command_queue(campaign.store, campaign.name, target)
        view = queue.inspect(row.task_id)
        queue.close()
        result: Mapping[str, Any] = getattr(view.completion.verdict, "result", {}) if view.completion else {}
        text = str(result.get("command") or "")
        return CommandRow(
            row.task_id,
            target,
            text,
            str(result.get("outcome", "done")),
            _text(result.get("sent_by")),
            _text(result.get("sent_at")),
            _text(result.get("host")),
            _text(result.get("message")),
            row.changed,
        )
    payload = row.payload
    arguments = payload.get("arguments")
    words = tuple(str(one) for one in arguments) if isinstance(arguments, list) else ()
    text = str(Wish(payload["verb"], words)) if payload.get("verb") in USAGE else "?"  # type: ignore[arg-type]
    state = {"leased": "running", "expired": "waiting", "sidelined": "failed"}.get(row.state, "waiting")
    sent = (_text(payload.get("sent_by")), _text(payload.get("sent_at")))
    return CommandRow(row.task_id, target, text, state, *sent, row.worker, row.detail, row.changed)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
