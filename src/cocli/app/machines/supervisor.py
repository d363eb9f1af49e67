"""Running a supervisor: one per host, for one campaign or several. What it does for each is `served`."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli import logs
from cocli.app.machines.chores import Chores
from cocli.app.machines.finisher import POLL_SECONDS
from cocli.app.machines.roster import Roster
from cocli.app.machines.served import ServedCampaign
from cocli.app.machines.this_machine import alone, machine_id, tell_access
from cocli.config.places import state_home
from cocli.errors import HostEvicted
from cocli.fleet.eviction import Gate
from cocli.fleet.heartbeat import PERIOD_SECONDS, Heart
from cocli.fleet.machine import Machine
from cocli.fleet.slot import RestartSettings
from cocli.fleet.succession import InheritedWorker, become_successor
from cocli.fleet.supervisor import run_together

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cocli.app.workspace import Campaign, Workspace
    from cocli.fleet.drain import Drain
    from cocli.fleet.supervisor import Supervisor
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)

_ROSTER_POLLS = 4
"""Every so many looks for commands, campaigns are looked for that ask for workers of this host."""


@dataclass(frozen=True, slots=True)
class SupervisorSettings:
    host: str | None = None
    seconds: float | None = None
    period: float = PERIOD_SECONDS
    poll: float = POLL_SECONDS
    """Seconds between two looks for commands and at the configuration."""
    restart: RestartSettings = field(default_factory=RestartSettings)
    graph: str | None = None
    """What makes the graph whose nodes `[workers.HOST]` asks workers for; that of the pipeline if not said."""
    inherited: tuple[InheritedWorker, ...] = ()
    """Workers that an earlier release of this process has started."""


@dataclass(frozen=True, slots=True)
class Supervised:
    """What a supervisor saw to. `whole` is False where a worker had to be killed at the end."""

    campaigns: tuple[str, ...]
    host: str
    completed: Mapping[str, int]
    restarts: int
    commands: int
    whole: bool

    @property
    def campaign(self) -> str:
        """The only one, or the first."""
        return next(iter(self.campaigns), "")


def run_supervisor(
    workspace: Workspace,
    campaign: Campaign,
    options: SupervisorSettings,
    drain: Drain,
    say: Callable[[str], None],
) -> Supervised:
    """Supervise one campaign until asked to stop."""
    return supervise(workspace, [campaign.name], options, drain, say)


def supervise(
    workspace: Workspace,
    names: Sequence[str] | None,
    options: SupervisorSettings,
    drain: Drain,
    say: Callable[[str], None],
) -> Supervised:
    """Supervise until asked to stop. A second one of the same host is refused before it starts anything.

    `names` are the campaigns to work for; None: all that ask for workers of this host, and those that come to.
    """
    host = options.host or socket.gethostname()
    with ExitStack() as stack:
        stack.enter_context(logs.bound(host=host))
        served = _Host(workspace, host, Roster(workspace, host, names, say), options, drain, say, stack)
        served.begin()
        _LOG.info("supervisor begins")
        whole = run_together(served.supervisors, drain, seconds=options.seconds)
        if drain.makes_room and not drain.asked:
            become_successor(served.bequeath(), os.environ)
        done = served.end(finishing=not drain.asked, whole=whole)
        _LOG.info("supervisor ended", extra={"restarts": done.restarts, "whole": whole})
        return done


class _Host:
    """All that one process does on one machine."""

    def __init__(
        self,
        workspace: Workspace,
        host: str,
        roster: Roster,
        options: SupervisorSettings,
        drain: Drain,
        say: Callable[[str], None],
        stack: ExitStack,
    ) -> None:
        self._workspace = workspace
        self._host = host
        self._roster = roster
        self._options = options
        self._drain = drain
        self._say = say
        self._stack = stack
        self._state = state_home(workspace.settings.environ)
        self._machine = machine_id(self._state)
        self._lock = threading.Lock()
        self._served: dict[str, ServedCampaign] = {}
        self._gone: list[ServedCampaign] = []
        """Not this machine's any more. Their workers end what they have in hand, and what they did is counted."""
        self._hearts: dict[str, Heart] = {}
        """The address of a store → the heart that beats there for the whole machine."""
        self._gates: dict[str, Gate] = {}
        self._chores = Chores(drain, say)
        self._said_idle = False

    def supervisors(self) -> list[Supervisor]:
        with self._lock:
            return [served.supervisor for served in (*self._served.values(), *self._gone)]

    def begin(self) -> None:
        self._call_the_roll()
        self._chores.add(self._beat, min(self._options.poll, 1.0))
        if not self._roster.is_fixed:
            self._chores.add(self._call_the_roll, self._options.poll * _ROSTER_POLLS)
        self._chores.start()
        self._stack.callback(self._chores.ask_to_stop)

    def end(self, *, finishing: bool, whole: bool) -> Supervised:
        """Let go of everything. `finishing`: the time is over, and nobody is in a hurry."""
        self._chores.ask_to_stop()
        with self._lock:
            served, everyone = list(self._served.values()), [*self._served.values(), *self._gone]
        for campaign in served:
            campaign.stop(finishing=finishing)
        problems = [self._chores.fatal, *(campaign.fatal for campaign in everyone)]
        fatal = next((problem for problem in problems if problem is not None), None)
        if fatal is not None and not isinstance(fatal, HostEvicted):
            raise fatal
        for campaign in served:
            campaign.say_stopped()
        for heart in self._hearts.values():
            heart.beat(stopped=True)
        if fatal is not None:
            raise fatal
        machine = Machine(self.supervisors)
        commands = sum(campaign.commands for campaign in everyone)
        names = tuple(campaign.name for campaign in everyone)
        return Supervised(names, self._host, machine.completed(), machine.restarts, commands, whole)

    def bequeath(self) -> list[InheritedWorker]:
        """The workers of all campaigns, after everything else has stopped."""
        self._say("a successor takes over, and the workers go on")
        self._chores.ask_to_stop()
        with self._lock:
            everyone = [*self._served.values(), *self._gone]
        for campaign in everyone:
            campaign.stop(finishing=False)
        return [worker for campaign in everyone for worker in campaign.supervisor.bequeath(campaign.name)]

    def _beat(self) -> None:
        for gate in list(self._gates.values()):
            gate()
        for heart in list(self._hearts.values()):
            heart.beat_if_due()

    # --- campaigns that come and go

    def _call_the_roll(self) -> None:
        wanted = {campaign.name: campaign for campaign in self._roster.campaigns()}
        for name in self._served.keys() - wanted.keys():
            self._let_go(name)
        for name in wanted.keys() - self._served.keys():
            self._take_on(wanted[name])
        if not self._served and not self._said_idle:
            self._say(f"No campaign has a section [workers.{self._host}] yet")
        self._said_idle = not self._served

    def _take_on(self, campaign: Campaign) -> None:
        self._appear_in(campaign.store, campaign.name)
        served = ServedCampaign(
            self._workspace,
            campaign,
            self._host,
            self._machine,
            self._state,
            self._options,
            self._drain,
            self._voice(campaign.name),
        )
        served.start([worker for worker in self._options.inherited if worker.campaign == campaign.name])
        self._stack.callback(served.stop, finishing=False)
        _LOG.info("campaign taken on", extra={"campaign": campaign.name})
        with self._lock:
            self._served[campaign.name] = served

    def _let_go(self, name: str) -> None:
        _LOG.info("campaign let go", extra={"campaign": name})
        self._say(f"{name} does not ask for workers of {self._host} any more")
        with self._lock:
            served = self._served.pop(name)
            self._gone.append(served)
        served.leave()

    def _appear_in(self, store: Store, campaign: str) -> None:
        """In each store a host has one heart, and one supervisor."""
        if store.address in self._hearts:
            return
        gate = Gate(store, self._host)
        gate()
        self._stack.enter_context(alone(self._state, store.address, self._host))
        heart = Heart(
            store,
            Machine(self.supervisors),
            hostname=self._host,
            machine=self._machine,
            campaign=campaign,
            folder=self._state,
            period=self._options.period,
        )
        heart.beat()
        tell_access(store, self._host, self._machine)
        self._hearts[store.address], self._gates[store.address] = heart, gate

    def _voice(self, campaign: str) -> Callable[[str], None]:
        """Where there may be several campaigns, each line says whose it is."""
        if self._roster.is_alone:
            return self._say
        return lambda text: self._say(f"{campaign}: {text}")
