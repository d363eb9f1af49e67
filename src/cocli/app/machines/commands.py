"""Sending commands from afar. What each does is `command_effects`, what became of them `command_listing`."""

from __future__ import annotations

import getpass
import secrets
import socket
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.campaigns.places import resolve_places
from cocli.app.machines.cluster import read_beats
from cocli.app.queues.queues import check_category, ended_on_store
from cocli.config.schema import nearest
from cocli.errors import PlanningError, UsageError
from cocli.fleet.command_execution import command_task, open_command_queue
from cocli.fleet.commands import ALL, USAGE, CommandRequest, parse_wish
from cocli.models.command import Command

if TYPE_CHECKING:
    from cocli.app.workspace import Campaign


@dataclass(frozen=True, slots=True)
class Sent:
    """A command on its way. `target` is the host that executes it, or `all` for whichever comes first."""

    id: str
    target: str
    text: str


def send_command(campaign: Campaign, text: str, host: str | None = None) -> list[Sent]:
    """Check a command and send it. What cannot be meant is refused here, and nothing is sent."""
    wish = _complete(parse_wish(text), campaign, host)
    targets = _hosts(campaign, host) if wish.concerns_hosts else [ALL]
    config, now, sent = campaign.settings.model(), campaign.store.now(), []
    with ExitStack() as stack:
        # All are opened before the first is sent: one that is not there must not leave half of them sent.
        queues = [stack.enter_context(closing(open_command_queue(config, campaign.store, one))) for one in targets]
        for target, queue in zip(targets, queues, strict=True):
            command = Command(
                verb=wish.verb,
                arguments=wish.arguments,
                host=target if wish.concerns_hosts else host,
                campaign=campaign.name,
                sent_by=f"{_user()}@{socket.gethostname()}",
                sent_at=now,
            )
            task = command_task(command, secrets.token_hex(3))
            queue.put(task)
            sent.append(Sent(task.task_id, target, str(wish)))
    return sent


def _complete(wish: CommandRequest, campaign: Campaign, host: str | None) -> CommandRequest:
    """What the sender knows and the executor must not have to guess."""
    if host is not None and wish.verb not in ("scale", "restart"):
        raise UsageError(reason=f"{wish.verb} does not concern a host", hint="Leave --host out.")
    if wish.verb == "add-location":
        return CommandRequest(wish.verb, _located(wish.arguments[0]))
    if wish.verb == "recover":
        queue, *category = wish.arguments
        check_category(ended_on_store(campaign, queue), category[0] if category else None)
    if wish.verb == "scale" and host is None and not campaign.settings.model().workers:
        reported = [beat.heartbeat.hostname for beat in read_beats(campaign.store).beats]
        raise UsageError(
            reason=f"Campaign {campaign.name} has no [workers.HOST] yet: which host is meant?",
            hint=f'Write: cocli command send "{wish}" --host {reported[0] if reported else "HOST"}',
        )
    return wish


def _located(text: str) -> tuple[str, ...]:
    try:
        places = resolve_places(text)
    except (PlanningError, UsageError) as error:  # they say it for another command
        raise UsageError(reason=error.message, hint=f"Write: {USAGE['add-location']}") from error
    return tuple(f"{one.name},{one.lat!r},{one.lon!r},{one.radius_miles!r}" for one in places)


def _hosts(campaign: Campaign, host: str | None) -> list[str]:
    """Who is told to restart: that host, else each that is to run workers or is alive."""
    config, now, beats = campaign.settings.model(), campaign.store.now(), read_beats(campaign.store).beats
    if host is not None:
        known = sorted({*config.workers, *config.cluster.hosts, *(beat.heartbeat.hostname for beat in beats)})
        if host in known:
            return [host]
        meant = nearest(host, known)
        reason = f'No host "{host[:100]}" has ever reported. Known hosts: {", ".join(known) or "none yet"}.'
        raise UsageError(reason=reason, hint=f"Did you mean: {meant}" if meant else None)
    alive = {beat.heartbeat.hostname for beat in beats if beat.is_alive(now)}
    hosts = sorted({*config.workers, *config.cluster.hosts, *alive})
    if not hosts:
        raise UsageError(reason="No host is known yet", hint="Start one there: cocli supervisor")
    return hosts


def listeners(campaign: Campaign) -> list[str]:
    """The hosts whose supervisors obey this campaign's commands now, as far as their heartbeats tell."""
    now, beats = campaign.store.now(), read_beats(campaign.store).beats
    return [one.heartbeat.hostname for one in beats if one.is_alive(now) and one.heartbeat.campaign == campaign.name]


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"  # a container may have no name for its user
