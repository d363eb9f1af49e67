"""What goes on beside a supervisor: its heart beats, the configuration is looked at, commands are obeyed.

All of it needs the store or SQS, and so has threads of its own: one that hangs must not keep dead workers from
successors, nor the other threads from their work.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from cocli import logs
from cocli.app.machines.command_effects import Execution
from cocli.errors import CocliError, NotFound, QueueUnusable, SupervisorRunning
from cocli.fleet.command_execution import CommandExecutor
from cocli.fleet.commands import ALL
from cocli.keys.paths import ReportKey

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.app.machines.supervisor import ConfigWatch
    from cocli.app.workspace import Campaign, Workspace
    from cocli.fleet.drain import Drain
    from cocli.fleet.heartbeat import Heart
    from cocli.fleet.supervisor import Supervisor

_MESSAGE_LENGTH = 500
_STOP_SECONDS = 10.0
_MISSING_SECONDS = 30.0
"""Until somebody may have created a queue that was not there."""


class Upkeep:
    def __init__(
        self,
        workspace: Workspace,
        campaign: Campaign,
        host: str,
        watch: ConfigWatch,
        supervisor: Supervisor,
        heart: Heart,
        poll: float,
        drain: Drain,
        say: Callable[[str], None],
    ) -> None:
        self._workspace = workspace
        self._campaign = campaign
        self._watch = watch
        self._supervisor = supervisor
        self._drain = drain
        self._stopped = threading.Event()
        self._report_is_old = threading.Event()
        execution = Execution(workspace, campaign.name, host, supervisor, on_change=self._report_is_old.set)
        executors = [
            CommandExecutor(
                lambda: watch.config, campaign.store, target, execution, worker=f"supervisor-{host}", say=say
            )
            for target in (ALL, host)
        ]
        often = min(poll, 1.0)
        self._threads = [
            threading.Thread(target=logs.carried(self._repeat), args=(action, seconds), daemon=True)
            for action, seconds in (
                (watch.look, poll),
                (heart.beat_if_due, often),
                (self._refresh_report, often),
            )
        ]
        self._listeners = {
            executor: threading.Thread(target=logs.carried(self._listen), args=(executor, poll), daemon=True)
            for executor in executors
        }
        self._done = dict.fromkeys(executors, 0)
        self.fatal: CocliError | None = None

    @property
    def commands(self) -> int:
        """How many were executed."""
        return sum(self._done.values())

    def start(self) -> None:
        for thread in (*self._threads, *self._listeners.values()):
            thread.start()

    def stop(self) -> None:
        """What is under way is waited for; who only listens for commands is not."""
        self._stopped.set()
        for executor in self._listeners:
            executor.stop()
        until = time.monotonic() + _STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        for executor, thread in self._listeners.items():
            while thread.is_alive() and not executor.listening and time.monotonic() < until:
                thread.join(0.05)

    def _repeat(self, action: Callable[[], object], seconds: float) -> None:
        said: str | None = None
        while not self._stopped.is_set():
            wait, problem = seconds, None
            try:
                action()
            except SupervisorRunning as error:
                self.fatal = error
                self._drain.ask_once()
                return
            except QueueUnusable as error:
                problem, wait = f"{error.message} {error.hint or ''}".strip(), max(seconds, _MISSING_SECONDS)
            except CocliError as error:
                problem = error.message
            except Exception as error:  # noqa: BLE001  a mistake here must not silence the machine: its heart tells
                problem = f"{type(error).__name__}: {error}"[:_MESSAGE_LENGTH]
            if problem is not None and problem != said:
                self._supervisor.note(problem)
            said = problem
            self._stopped.wait(wait)

    # --- commands

    def _listen(self, executor: CommandExecutor, seconds: float) -> None:
        self._repeat(partial(self._obey, executor), seconds)
        with suppress(CocliError):  # all is acknowledged: what it would tidy up, the next one does
            executor.close()

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
