"""What a campaign looks for, and the commands that were sent to its machines: each with its line and its way back."""

from __future__ import annotations

import shlex
from datetime import datetime
from typing import TYPE_CHECKING

from cocli.app.machines.command_listing import list_commands
from cocli.app.machines.commands import listeners
from cocli.app.workspace import location
from cocli.errors import UsageError
from cocli.fleet.commands import GRAMMAR, WORKED, CommandRequest, parse_request
from cocli.models.web.config import WebCommand, WebConfig, WebVerb

if TYPE_CHECKING:
    from cocli.app.machines.command_listing import CommandRow
    from cocli.app.web.site import DataSite
    from cocli.app.workspace import Campaign
    from cocli.models.campaign import CampaignConfig

MOST_COMMANDS = 50
ADMIN_VERBS = frozenset(("scale", "restart", "recover", "pause", "resume"))
"""What moves machines is for admins; what is looked for, and the report, for editors."""
_OPPOSITES = {
    "add-query": "remove-query",
    "remove-query": "add-query",
    "add-location": "remove-location",
    "add-exclude": "remove-exclude",
    "remove-exclude": "add-exclude",
    "pause": "resume",
    "resume": "pause",
}


def role_of(verb: str) -> str:
    """Who may send a command."""
    return "admin" if verb in ADMIN_VERBS else "editor"


def make_config(site: DataSite, name: str) -> WebConfig:
    campaign = site.workspace.campaign(name)
    config = campaign.settings.model()
    known, heard = config.prospecting, tuple(listeners(campaign))
    given = [key for key in ("locations", "locations_csv", "area") if getattr(known, key) not in ((), None)]
    verbs = (
        WebVerb(verb=verb, usage=rule.usage, takes_host=rule.takes_host, role=role_of(verb))
        for verb, rule in GRAMMAR.items()
    )
    return WebConfig(
        campaign=name,
        at=site.now(),
        etag=campaign.etag,
        file=location(campaign.home, campaign.key),
        queries=known.queries,
        locations=known.locations,
        locations_from=given[0] if given else "locations",
        sources=tuple(known.sources),
        goal=known.goal,
        exclude=config.exclude,
        workers=_workers(config, heard),
        paused=config.queue.paused,
        timezone=config.campaign.timezone,
        listeners=heard,
        verbs=tuple(verbs),
        commands=tuple(web_command(campaign, row) for row in list_commands(campaign, MOST_COMMANDS)),
    )


def _workers(config: CampaignConfig, heard: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """Host → queue → workers. A machine that listens and was given none yet has zeros: it can be given some."""
    asked = {host: dict(counts) for host, counts in config.workers.items()}
    return {host: dict.fromkeys(WORKED, 0) | asked.get(host, {}) for host in sorted({*asked, *heard})}


def web_command(campaign: Campaign, row: CommandRow) -> WebCommand:
    return WebCommand(
        id=row.id,
        target=row.target,
        text=row.text,
        state=row.state,
        sent_by=row.sent_by,
        sent_at=row.sent_at,
        host=row.host,
        message=row.message,
        at=row.at,
        seconds=_seconds(row),
        undo=undo_of(row.text) if row.state == "done" else None,
        command=command_line(campaign.name, row.text),
    )


def command_line(campaign: str, text: str, host: str | None = None) -> str:
    """The line that sends a command from a terminal."""
    aimed = f" --host {shlex.quote(host)}" if host else ""
    return f"cocli remote send {shlex.quote(text)}{aimed} -c {campaign}"


def undo_of(text: str, config: CampaignConfig | None = None, host: str | None = None) -> str | None:
    """The command that takes another one back; None where nothing does.

    What was there before is asked of `config`, the campaign as it was when the command was sent: a location's place and
    size, the number of workers. Without it only what the command itself says can be undone.
    """
    try:
        request = parse_request(text)
    except UsageError:
        return None
    if request.verb == "scale" and config is not None:
        return _former_scale(request, config, host)
    if request.verb == "remove-location" and config is not None:
        return _former_location(request, config)
    opposite = _OPPOSITES.get(request.verb)
    if opposite is None or (request.verb in ("pause", "resume") and not request.arguments):
        return None
    arguments = request.arguments
    if request.verb == "add-location":
        arguments = (arguments[0].partition(",")[0],)
    return str(CommandRequest(opposite, arguments))


def _former_scale(request: CommandRequest, config: CampaignConfig, host: str | None) -> str | None:
    counts = config.workers.get(host) if host else None
    if counts is None:
        every = list(config.workers.values())
        counts = every[0] if len(every) == 1 else None
    if counts is None:
        return None
    queues = [argument.partition("=")[0] for argument in request.arguments]
    return str(CommandRequest("scale", tuple(f"{queue}={counts.get(queue, 0)}" for queue in queues)))


def _former_location(request: CommandRequest, config: CampaignConfig) -> str | None:
    for place in config.prospecting.locations:
        if place.name == request.arguments[0]:
            text = f"{place.name},{place.lat!r},{place.lon!r},{place.radius_miles!r}"
            return str(CommandRequest("add-location", (text,)))
    return None


def _seconds(row: CommandRow) -> float | None:
    if row.sent_at is None or row.at is None or not row.is_over:
        return None
    return max(0.0, round((row.at - datetime.fromisoformat(row.sent_at)).total_seconds(), 3))
