"""What a campaign's file asks of a host, looked at again and again: for one supervisor of one campaign."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from cocli.documents.graph.node import INTAKE, name_fault
from cocli.errors import CocliError, ConfigError
from cocli.fleet.commands import WORKED
from cocli.fleet.supervisor import Wanted

if TYPE_CHECKING:
    from cocli.app.workspace import Campaign, Workspace
    from cocli.models.campaign import CampaignConfig

_FREE_OF_RESTART = {"queries", "locations", "locations_csv", "area", "goal"}
"""Settings of `[prospecting]` that planners read, and workers do not."""
_NEVER = "never again"


class ConfigWatch:
    """What the campaign's file asks of a host. `look` reads it, `wanted` answers at once."""

    def __init__(self, workspace: Workspace, campaign: Campaign, host: str) -> None:
        self._workspace = workspace
        self._campaign = campaign.name
        self._home = campaign.home
        self._host = host
        self.config = campaign.settings.model()
        """The last that could be read."""
        self._etag: str | None = None
        self._wanted = Wanted()
        self._error: CocliError | None = None

    def wanted(self) -> Wanted:
        """The last that could be read. Why the newest could not is raised once."""
        error, self._error = self._error, None
        if error is not None:
            raise error
        return self._wanted

    def ask_for_nothing(self) -> None:
        """From now on: the campaign is not this machine's any more."""
        self._wanted, self._error, self._etag = Wanted(), None, _NEVER

    def look(self) -> None:
        if self._etag == _NEVER:
            return
        from cocli.keys.paths import CampaignConfigKey

        stored = self._home.get(str(CampaignConfigKey(self._campaign)))
        if stored.etag == self._etag:
            return
        try:
            self.config = self._workspace.campaign(self._campaign).settings.model()
            self._wanted = wanted_of(self.config, self._host)
        except ConfigError as error:  # somebody is writing it: what held before holds on
            self._error = error
        self._etag = stored.etag


def wanted_of(config: CampaignConfig, host: str) -> Wanted:
    counts = config.workers.get(host, {})
    carried = config.documents.events != "none"
    if unknown := [queue for queue in counts if queue not in WORKED and not (carried and is_node(queue))]:
        hint = f"There are: {', '.join(WORKED)}."
        if not carried:
            hint += ' For nodes of a graph, events under [documents] has to be "queue" or "kafka".'
        raise ConfigError(
            reason=f"[workers.{host}] asks for workers of {unknown[0]}, of which there are none", hint=hint
        )
    running = {queue: count for queue, count in counts.items() if count and queue not in config.queue.paused}
    return Wanted(running, _fingerprint(config))


def is_node(name: str) -> bool:
    """Whether it can be a node of a graph, or the intake."""
    return name == INTAKE or name_fault(name) is None


def _fingerprint(config: CampaignConfig) -> str:
    """Of all that a running worker has read: it is replaced when this changes."""
    values = config.model_dump(
        mode="json", exclude={"workers": True, "queue": {"paused"}, "prospecting": _FREE_OF_RESTART}
    )
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
