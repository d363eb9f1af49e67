"""What goes on beside the workers of one campaign: its heart beats, its configuration is looked at, commands are
obeyed, and, where this supervisor is elected, the campaign is finished."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from cocli.app.machines.chores import Chores
from cocli.app.machines.command_effects import Execution
from cocli.errors import CocliError, NotFound
from cocli.fleet.command_execution import CommandExecutor
from cocli.fleet.commands import ALL
from cocli.fleet.worker_name import supervisor_name
from cocli.keys.paths import ReportKey

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.app.machines.config_watch import ConfigWatch
    from cocli.app.machines.finisher import Finisher
    from cocli.app.workspace import Campaign, Workspace
    from cocli.fleet.drain import Drain
    from cocli.fleet.heartbeat import Heart
    from cocli.fleet.supervisor import Supervisor

_STOP_SECONDS = 10.0


class Upkeep:
    def __init__(
        self,
        workspace: Workspace,
        campaign: Campaign,
        host: str,
        watch: ConfigWatch,
        supervisor: Supervisor,
        heart: Heart,
        finisher: Finisher,
        poll: float,
        drain: Drain,
        say: Callable[[str], None],
        gate: Callable[[], None],
    ) -> None:
        self._workspace = workspace
        self._campaign = campaign
        self._watch = watch
        self._supervisor = supervisor
        self._finisher = finisher
        self._report_is_old = threading.Event()
        self._chores = Chores(drain, supervisor.note)
        execution = Execution(workspace, campaign.name, host, supervisor, on_change=self._report_is_old.set)
        executors = [
            CommandExecutor(
                lambda: watch.config,
                campaign.store,
                target,
                execution,
                worker=supervisor_name(host),
                say=say,
                gate=gate,
            )
            for target in (ALL, host)
        ]
        often = min(poll, 1.0)
        self._threads = [
            self._chores.add(watch.look, poll),
            self._chores.add(heart.beat_if_due, often),
            self._chores.add(self._refresh_report, often),
            self._chores.add(finisher.step, often),
        ]
        self._listeners = {
            executor: self._chores.add(partial(self._obey, executor), poll, partial(_close, executor))
            for executor in executors
        }
        self._done = dict.fromkeys(executors, 0)

    @property
    def fatal(self) -> CocliError | None:
        return self._chores.fatal

    @property
    def commands(self) -> int:
        """How many were executed."""
        return sum(self._done.values())

    def start(self) -> None:
        self._chores.start()

    def stop(self, *, finishing: float = 0.0) -> None:
        """What is under way is waited for; who only listens for commands is not. Then the campaign is finished, for so
        many seconds at most, if this supervisor is the elected one."""
        self._chores.ask_to_stop()
        for executor in self._listeners:
            executor.stop()
        until = time.monotonic() + _STOP_SECONDS
        self._chores.wait(self._threads, until)
        if finishing:
            self._finisher.finish(finishing)
        self._finisher.close()
        for executor, thread in self._listeners.items():
            while thread.is_alive() and not executor.listening and time.monotonic() < until:
                thread.join(0.05)

    # --- commands

    def _obey(self, executor: CommandExecutor) -> None:
        while done := executor.step():
            self._done[executor] += done
            self._watch.look()
            self._supervisor.look_soon()

    # --- the report

    def _refresh_report(self) -> None:
        """After a command that changes what is counted, where a report is kept: who reads it sees what came of it."""
        if not self._report_is_old.is_set():
            return
        self._report_is_old.clear()
        try:
            self._campaign.store.head(str(ReportKey(self._campaign.name)))
        except NotFound:
            return  # nobody has asked for a report yet
        from cocli.app.results.report import make_report  # a supervisor that never needs one does not load it

        make_report(self._workspace, self._campaign.name)


def _close(executor: CommandExecutor) -> None:
    with suppress(CocliError):  # all is acknowledged: what it would tidy up, the next one does
        executor.close()
