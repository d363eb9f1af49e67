"""How worker processes are started: by a supervisor, and by `achieve-goal` for its own crew."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from cocli.fleet.process import WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.app.workspace import Workspace


def worker_spawner(
    workspace: Workspace, campaign: str, say: Callable[[str], None]
) -> Callable[[str, str], WorkerProcess]:
    """Starts a worker of a queue under a name, with the settings of this workspace. What it complains of is said."""
    flags, environ = workspace.settings.flags, workspace.settings.environ
    store = ["--store", flags.store] if flags.store else []

    def spawn(queue: str, name: str) -> WorkerProcess:
        command = [sys.executable, "-m", "cocli", "worker", queue, "--campaign", campaign, *store, "--supervised"]
        return WorkerProcess(command, environ, on_complaint=lambda line: say(f"{name}: {line}"))

    return spawn
