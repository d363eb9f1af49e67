"""How worker processes are started: by a supervisor, and by `run` for its own crew."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from cocli.fleet.process import WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.app.workspace import Workspace


def worker_spawner(
    workspace: Workspace, campaign: str, say: Callable[[str], None], host: str | None = None
) -> Callable[[str, str], WorkerProcess]:
    """Starts a worker of a queue under a name, with the settings of this workspace. What it complains of is said.

    `host` is what this machine is called, where that is not its host name."""
    flags, environ = workspace.settings.flags, workspace.settings.environ
    store = ["--store", flags.store] if flags.store else []
    name_of_host = ["--host", host] if host else []

    def spawn(queue: str, name: str) -> WorkerProcess:
        command = [sys.executable, "-m", "cocli", "worker", queue, "--campaign", campaign, *store, *name_of_host]
        command.append("--supervised")
        return WorkerProcess.started(command, environ, on_complaint=lambda line: say(f"{name}: {line}"))

    return spawn
