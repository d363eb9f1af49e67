"""How worker processes are started: by a supervisor, and by `run` for its own crew."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from cocli.fleet.commands import WORKED
from cocli.fleet.process import WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.app.workspace import Workspace


def worker_spawner(
    workspace: Workspace,
    campaign: str,
    say: Callable[[str], None],
    host: str | None = None,
    graph: str | None = None,
    options: Sequence[str] = (),
) -> Callable[[str, str], WorkerProcess]:
    """Starts a worker of a queue, or of a node, under a name, with the settings of this workspace. What it complains of
    is said.

    `host` is what this machine is called, where that is not its host name. `graph` makes the graph of the nodes.
    `options` are more words for the worker.
    """
    flags, environ = workspace.settings.flags, workspace.settings.environ
    store = ["--store", flags.store] if flags.store else []
    name_of_host = ["--host", host] if host else []
    made_by = ["--graph", graph] if graph else []

    def spawn(queue: str, name: str) -> WorkerProcess:
        words = ["worker", queue] if queue in WORKED else ["documents", "work", queue, *made_by]
        command = [sys.executable, "-m", "cocli", *words, "--campaign", campaign, *store, *name_of_host, "--supervised"]
        command += options
        return WorkerProcess.started(command, environ, on_complaint=lambda line: say(f"{name}: {line}"))

    return spawn
