"""One campaign on one machine: its workers, its heart, its commands, and its part in the election."""

from __future__ import annotations

import random
import secrets
from typing import TYPE_CHECKING

from cocli import logs
from cocli.app.machines.config_watch import ConfigWatch
from cocli.app.machines.finisher import Finisher, FinishTiming
from cocli.app.machines.processes import worker_spawner
from cocli.app.machines.upkeep import Upkeep
from cocli.errors import NotFound
from cocli.fleet.election import Election
from cocli.fleet.eviction import Gate
from cocli.fleet.heartbeat import Heart
from cocli.fleet.process import WorkerProcess
from cocli.fleet.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.app.machines.supervisor import SupervisorSettings
    from cocli.app.workspace import Campaign, Workspace
    from cocli.errors import CocliError
    from cocli.fleet.drain import Drain
    from cocli.fleet.succession import InheritedWorker

_FINISH_SECONDS = 60.0
"""For what is still to be finished when the time of a supervisor is over."""


class ServedCampaign:
    """`start` it, have `supervisor` tick, `stop` it."""

    def __init__(
        self,
        workspace: Workspace,
        campaign: Campaign,
        host: str,
        machine: str,
        state: str,
        options: SupervisorSettings,
        drain: Drain,
        say: Callable[[str], None],
    ) -> None:
        self.campaign = campaign
        self._host = host
        self._say = say
        self._watch = ConfigWatch(workspace, campaign, host)
        self.supervisor = Supervisor(
            self._watch.wanted,
            worker_spawner(workspace, campaign.name, say, host, options.graph),
            rng=random.Random(secrets.randbits(64)),  # noqa: S311 - spreads waits, hides nothing
            settings=options.restart,
            say=say,
        )
        self._heart = Heart(
            campaign.store,
            self.supervisor,
            hostname=host,
            machine=machine,
            campaign=campaign.name,
            folder=state,
            period=options.period,
            of_campaign=True,
        )
        gate = Gate(campaign.store, host)
        election = Election(campaign.store, campaign.name, host, exists=lambda: _exists(campaign), gate=gate)
        timing = FinishTiming.of_poll(options.poll)
        finisher = Finisher(workspace, campaign.name, host, election, note=self.supervisor.note, timing=timing)
        with logs.bound(campaign=campaign.name, host=host):
            self._upkeep = Upkeep(
                workspace,
                campaign,
                host,
                self._watch,
                self.supervisor,
                self._heart,
                finisher,
                options.poll,
                drain,
                say,
                gate,
            )

    @property
    def name(self) -> str:
        return self.campaign.name

    @property
    def commands(self) -> int:
        return self._upkeep.commands

    @property
    def fatal(self) -> CocliError | None:
        return self._upkeep.fatal

    def start(self, inherited: Sequence[InheritedWorker] = ()) -> None:
        """`inherited` are workers that run already: they are replaced one by one."""
        self._heart.beat()
        for worker in inherited:
            self.supervisor.inherit(worker, self._adopt(worker))
        self._watch.look()
        if not self._watch.wanted().counts:
            self._say(f"[workers.{self._host}] of {self.name} asks for no workers yet")
        self._upkeep.start()

    def _adopt(self, worker: InheritedWorker) -> WorkerProcess:
        name = f"{worker.queue}#{worker.number}"
        return WorkerProcess.inherited(worker, on_complaint=lambda line: self._say(f"{name}: {line}"))

    def leave(self) -> None:
        """The campaign is not this machine's any more: its workers end what they have in hand."""
        self._watch.ask_for_nothing()
        self.supervisor.look_soon()
        self.stop(finishing=False)
        self.say_stopped()

    def stop(self, *, finishing: bool) -> None:
        self._upkeep.stop(finishing=_FINISH_SECONDS if finishing else 0.0)

    def say_stopped(self) -> None:
        self._heart.beat(stopped=True)


def _exists(campaign: Campaign) -> bool:
    try:
        campaign.home.head(campaign.key)
    except NotFound:
        return False
    return True
