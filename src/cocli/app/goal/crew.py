"""Who does the work on the way to a goal: worker processes of this machine, or the machines of a cluster."""

from __future__ import annotations

import os
import random
import secrets
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from cocli.app.campaigns.plan import has_territory
from cocli.app.machines.cluster import read_beats
from cocli.app.machines.processes import worker_spawner
from cocli.errors import StoreError, WorkerGaveUp
from cocli.fleet.commands import WORKED
from cocli.fleet.eviction import Gate, evicted_hosts
from cocli.fleet.slot import RestartSettings
from cocli.fleet.supervisor import Supervisor, Wanted
from cocli.pipeline.sources.registry import source_named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cocli.app.workspace import Campaign, Workspace
    from cocli.fleet.drain import Drain

_LOOK_SECONDS = 0.2
_HOPELESS = 5
"""So many workers ended by themselves before any of them ended a task."""
_HALF_HOPELESS = 25
"""… or so many of one queue died, killed by somebody or not, before any of them did: the others go on all the while."""
_MOST_WEBSITE_WORKERS = 8
_RESTARTS = RestartSettings(backoff_first=0.5, backoff_longest=15.0, healthy=15.0, look=1.0)


@dataclass(frozen=True, slots=True)
class CrewSettings:
    watch: bool | None = None
    """Only watch what others do; None: if there are others."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Queue → worker processes. For queues that are not named: what the configuration asks of this machine, or one."""


class GoalCrew(Protocol):
    own: bool
    """Processes of this machine."""
    queues: tuple[str, ...]
    """The queues that somebody works on."""
    hosts: tuple[str, ...]
    """The machines that work, where they are others."""

    def run(self, drain: Drain, on_tick: Callable[[], None]) -> bool:
        """Work, or watch, until asked to stop; True if everything in hand came to its end."""
        ...

    def limited_by(self) -> Mapping[str, str]:
        """Queue → what holds its workers up now, where they are ours."""
        ...


class OwnWorkers:
    """Processes of this machine. They notice when we are gone, however we died, and end what they have in hand."""

    own = True
    hosts: tuple[str, ...] = ()

    def __init__(
        self,
        workspace: Workspace,
        campaign: str,
        counts: Mapping[str, int],
        say: Callable[[str], None],
        gate: Callable[[], None],
    ) -> None:
        self._gate = gate
        self.queues = tuple(name for name in WORKED if counts.get(name))
        wanted = Wanted(dict(counts), "goal")
        self._supervisor = Supervisor(
            lambda: wanted,
            worker_spawner(workspace, campaign, say),
            rng=random.Random(secrets.randbits(64)),  # noqa: S311 - spreads waits, hides nothing
            settings=_RESTARTS,
        )

    def run(self, drain: Drain, on_tick: Callable[[], None]) -> bool:
        def tick() -> None:
            with suppress(StoreError):  # whoever needs the store meets it, and says so
                self._gate()
            self._refuse_hopeless()
            on_tick()

        try:
            return self._supervisor.run(drain, on_tick=tick)
        except BaseException:  # whatever it was, it goes on from here; nobody may be left working
            self._supervisor.end("it failed")
            raise

    def limited_by(self) -> Mapping[str, str]:
        return self._supervisor.limited_by()

    def _refuse_hopeless(self) -> None:
        """A machine that cannot work at all says so, instead of trying for ever."""
        supervisor, completed = self._supervisor, self._supervisor.completed()
        idle = [queue for queue in self.queues if not completed.get(queue)]
        stuck = [queue for queue in idle if supervisor.deaths[queue] >= _HALF_HOPELESS]
        if supervisor.unable >= _HOPELESS and len(idle) == len(self.queues):
            stuck = idle
        if stuck:
            reason = supervisor.last_error or "its workers die"
            raise WorkerGaveUp(queue=", ".join(stuck), times=supervisor.restarts, reason=reason)


class Others:
    """The machines of a cluster: they work without us."""

    own = False
    queues: tuple[str, ...] = WORKED

    def __init__(self, hosts: tuple[str, ...]) -> None:
        self.hosts = hosts

    def run(self, drain: Drain, on_tick: Callable[[], None]) -> bool:
        while not drain.asked:
            on_tick()
            time.sleep(_LOOK_SECONDS)
        return True

    def limited_by(self) -> Mapping[str, str]:
        return {}  # `cocli cluster top` says it, host by host


def open_crew(workspace: Workspace, campaign: Campaign, settings: CrewSettings, say: Callable[[str], None]) -> GoalCrew:
    hosts = working_hosts(campaign)
    if settings.watch or (settings.watch is None and hosts):
        return Others(hosts)
    gate = Gate(campaign.store, socket.gethostname())
    gate()
    return OwnWorkers(workspace, campaign.name, {**own_counts(campaign), **settings.counts}, say, gate)


def working_hosts(campaign: Campaign) -> tuple[str, ...]:
    """The machines that reported lately that they have workers for this campaign; this one may be among them."""
    now, evicted = campaign.store.now(), evicted_hosts(campaign.store)
    alive = [beat.heartbeat for beat in read_beats(campaign.store, campaign.name).beats if beat.is_alive(now)]
    return tuple(
        heartbeat.hostname
        for heartbeat in alive
        if heartbeat.campaign == campaign.name and any(heartbeat.workers.values()) and heartbeat.hostname not in evicted
    )


def own_counts(campaign: Campaign) -> dict[str, int]:
    config = campaign.settings.model()
    asked = {name: count for name, count in config.workers.get(socket.gethostname(), {}).items() if count}
    needed = ["enrichment"]
    if has_territory(campaign):
        needed.append("gm-list")
        if any(source_named(name).gives_details for name in config.prospecting.sources):
            needed.append("gm-details")
    return {name: asked.get(name, website_workers() if name == "enrichment" else 1) for name in needed}


def website_workers() -> int:
    """Processes that read websites on this machine. Each keeps about two processors busy: one of them is the loop's,
    the other that of whoever parses pages for it."""
    return max(1, min(_MOST_WEBSITE_WORKERS, (os.cpu_count() or 1) // 2))
