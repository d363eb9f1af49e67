"""Sending commands from afar. What each does is `command_effects`, what became of them `command_listing`."""

from __future__ import annotations

import secrets
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.campaigns.places import resolve_places
from cocli.app.machines.cluster import read_beats
from cocli.app.machines.this_machine import user_here
from cocli.app.queues.queues import check_category, ended_on_store
from cocli.config.schema import did_you_mean
from cocli.errors import PlanningError, UsageError
from cocli.fleet.command_execution import command_task, open_command_queue
from cocli.fleet.commands import ALL, CommandRequest, grammar_of, parse_request
from cocli.fleet.eviction import evicted_hosts, read_eviction, refusal
from cocli.models.command import Command

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.app.workspace import Campaign
    from cocli.models.command import Verb


@dataclass(frozen=True, slots=True)
class Sent:
    """A command on its way. `target` is the host that executes it, or `all` for whichever comes first."""

    id: str
    target: str
    text: str


def send_command(campaign: Campaign, text: str, host: str | None = None, *, sent_by: str | None = None) -> list[Sent]:
    """Check a command and send it. What cannot be meant is refused here, and nothing is sent.

    `sent_by` is who wants it; the user of this machine where nobody else is named.
    """
    request = _complete(parse_request(text), campaign, host)
    targets = _hosts(campaign, host) if request.concerns_hosts else [ALL]
    config, now, sent = campaign.settings.model(), campaign.store.now(), []
    with ExitStack() as stack:
        # All are opened before the first is sent: one that is not there must not leave half of them sent.
        queues = [
            stack.enter_context(closing(open_command_queue(config, campaign.store, target))) for target in targets
        ]
        for target, queue in zip(targets, queues, strict=True):
            command = Command(
                verb=request.verb,
                arguments=request.arguments,
                host=target if request.concerns_hosts else host,
                campaign=campaign.name,
                sent_by=sent_by or user_here(),
                sent_at=now,
            )
            task = command_task(command, secrets.token_hex(3))
            queue.put(task)
            sent.append(Sent(task.task_id, target, str(request)))
    return sent


def _complete(request: CommandRequest, campaign: Campaign, host: str | None) -> CommandRequest:
    """What the sender knows and the executor must not have to guess."""
    if host is not None and not grammar_of(request.verb).takes_host:
        raise UsageError(reason=f"{request.verb} does not concern a host", hint="Leave --host out.")
    complete = _COMPLETIONS.get(request.verb)
    return complete(request, campaign, host) if complete else request


def _located(request: CommandRequest, _campaign: Campaign, _host: str | None) -> CommandRequest:
    try:
        places = resolve_places(request.arguments[0])
    except (PlanningError, UsageError) as error:  # they say it for another command
        raise UsageError(reason=error.message, hint=f"Write: {grammar_of(request.verb).usage}") from error
    found = (f"{place.name},{place.lat!r},{place.lon!r},{place.radius_miles!r}" for place in places)
    return CommandRequest(request.verb, tuple(found))


def _recovered(request: CommandRequest, campaign: Campaign, _host: str | None) -> CommandRequest:
    queue, *category = request.arguments
    check_category(ended_on_store(campaign, queue), category[0] if category else None)
    return request


def _scaled(request: CommandRequest, campaign: Campaign, host: str | None) -> CommandRequest:
    if host is None and not campaign.settings.model().workers:
        reported = [beat.heartbeat.hostname for beat in read_beats(campaign.store).beats]
        raise UsageError(
            reason=f"Campaign {campaign.name} has no [workers.HOST] yet: which host is meant?",
            hint=f'Write: cocli remote send "{request}" --host {reported[0] if reported else "HOST"}',
        )
    return request


_COMPLETIONS: dict[Verb, Callable[[CommandRequest, Campaign, str | None], CommandRequest]] = {
    "add-location": _located,
    "recover": _recovered,
    "scale": _scaled,
}
"""The verbs of which the sender checks or adds something that only a campaign can tell."""


def _hosts(campaign: Campaign, host: str | None) -> list[str]:
    """Who is told to restart: that host, else each that is to run workers or is alive."""
    config, now, beats = campaign.settings.model(), campaign.store.now(), read_beats(campaign.store).beats
    if host is not None:
        known = sorted({*config.workers, *config.cluster.hosts, *(beat.heartbeat.hostname for beat in beats)})
        if host in known:
            eviction = read_eviction(campaign.store, host)
            if eviction is not None and eviction.holds:
                raise refusal(eviction)
            return [host]
        reason = f'No host "{host[:100]}" has ever reported. Known hosts: {", ".join(known) or "none yet"}.'
        raise UsageError(reason=reason, hint=did_you_mean(host, known))
    alive = {beat.heartbeat.hostname for beat in beats if beat.is_alive(now)}
    evicted = evicted_hosts(campaign.store)
    hosts = sorted({*config.workers, *config.cluster.hosts, *alive} - evicted.keys())
    if not hosts:
        raise UsageError(reason="No host is known yet", hint="Start one there: cocli supervisor")
    return hosts


def listeners(campaign: Campaign) -> list[str]:
    """The hosts whose supervisors obey this campaign's commands now, as far as their heartbeats tell."""
    now, beats = campaign.store.now(), read_beats(campaign.store, campaign.name).beats
    evicted = evicted_hosts(campaign.store)
    alive = [beat.heartbeat for beat in beats if beat.is_alive(now) and beat.heartbeat.hostname not in evicted]
    return [heartbeat.hostname for heartbeat in alive if heartbeat.campaign == campaign.name]
