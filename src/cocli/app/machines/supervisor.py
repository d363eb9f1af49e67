"""Running a supervisor: one per host, with its configuration watched. What goes on beside it is `upkeep`."""

from __future__ import annotations

import hashlib
import json
import os
import random
import secrets
import socket
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli import logs
from cocli.app.machines.processes import worker_spawner
from cocli.app.machines.upkeep import Upkeep
from cocli.config.places import state_home
from cocli.errors import CocliError, ConfigError, SupervisorRunning
from cocli.fleet.commands import WORKED
from cocli.fleet.heartbeat import PERIOD_SECONDS, Heart
from cocli.fleet.slot import RestartSettings
from cocli.fleet.supervisor import Supervisor, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cocli.app.workspace import Campaign, Workspace
    from cocli.fleet.drain import Drain
    from cocli.models.campaign import CampaignConfig

_LOG = logs.get_logger(__name__)

_FREE_OF_RESTART = {"queries", "locations", "locations_csv", "area", "goal"}
"""Settings of `[prospecting]` that planners read, and workers do not."""


@dataclass(frozen=True, slots=True)
class SupervisorSettings:
    host: str | None = None
    seconds: float | None = None
    period: float = PERIOD_SECONDS
    poll: float = 3.0
    """Seconds between two looks for commands and at the configuration."""
    restart: RestartSettings = field(default_factory=RestartSettings)


@dataclass(frozen=True, slots=True)
class Supervised:
    """What a supervisor saw to. `whole` is False where a worker had to be killed at the end."""

    campaign: str
    host: str
    completed: Mapping[str, int]
    restarts: int
    commands: int
    whole: bool


def run_supervisor(
    workspace: Workspace,
    campaign: Campaign,
    options: SupervisorSettings,
    drain: Drain,
    say: Callable[[str], None],
) -> Supervised:
    """Supervise until asked to stop. A second one of the same host is refused before it starts anything."""
    host = options.host or socket.gethostname()
    state = state_home(workspace.settings.environ)
    with ExitStack() as stack:
        stack.enter_context(logs.bound(campaign=campaign.name, host=host))
        stack.enter_context(_alone(state, campaign, host))
        _LOG.info("supervisor begins")
        watch = ConfigWatch(workspace, campaign, host)
        supervisor = Supervisor(
            watch.wanted,
            worker_spawner(workspace, campaign.name, say),
            rng=random.Random(secrets.randbits(64)),  # noqa: S311 - spreads waits, hides nothing
            settings=options.restart,
            say=say,
        )
        heart = Heart(
            campaign.store,
            supervisor,
            hostname=host,
            machine=machine_id(state),
            campaign=campaign.name,
            folder=state,
            period=options.period,
        )
        heart.beat()
        watch.look()
        if not watch.wanted().counts:
            say(f"[workers.{host}] of {campaign.name} asks for no workers yet")
        upkeep = Upkeep(workspace, campaign, host, watch, supervisor, heart, options.poll, drain, say)
        upkeep.start()
        stack.callback(upkeep.stop)
        whole = supervisor.run(drain, seconds=options.seconds)
        upkeep.stop()
        if upkeep.fatal is not None:
            raise upkeep.fatal
        heart.beat(stopped=True)
        _LOG.info("supervisor ended", extra={"restarts": supervisor.restarts, "whole": whole})
        return Supervised(campaign.name, host, supervisor.completed(), supervisor.restarts, upkeep.commands, whole)


class ConfigWatch:
    """What the campaign's file asks of a host. `look` reads it, `wanted` answers at once."""

    def __init__(self, workspace: Workspace, campaign: Campaign, host: str) -> None:
        self._workspace = workspace
        self._campaign = campaign.name
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

    def look(self) -> None:
        from cocli.keys.paths import CampaignConfigKey

        stored = self._workspace.store.get(str(CampaignConfigKey(self._campaign)))
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
    if unknown := [queue for queue in counts if queue not in WORKED]:
        raise ConfigError(
            reason=f"[workers.{host}] asks for workers of {unknown[0]}, of which there are none",
            hint=f"There are: {', '.join(WORKED)}.",
        )
    running = {queue: count for queue, count in counts.items() if count and queue not in config.queue.paused}
    return Wanted(running, _fingerprint(config))


def _fingerprint(config: CampaignConfig) -> str:
    """Of all that a running worker has read: it is replaced when this changes."""
    values = config.model_dump(
        mode="json", exclude={"workers": True, "queue": {"paused"}, "prospecting": _FREE_OF_RESTART}
    )
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


# --- alone on this machine


@contextmanager
def _alone(state: str, campaign: Campaign, host: str) -> Iterator[None]:
    """A lock that ends with the process, however that ends."""
    import fcntl

    folder = os.path.join(state, "supervisors")
    os.makedirs(folder, exist_ok=True)
    name = hashlib.sha256(f"{campaign.store.address}\n{host}".encode()).hexdigest()[:16]
    with open(os.path.join(folder, f"{name}.lock"), "a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise SupervisorRunning(hostname=host, reason="it runs on this machine") from error
        yield


def machine_id(state: str) -> str:
    """Made up once, and kept: names of machines are not unique."""
    path = os.path.join(state, "machine")
    for _ in range(100):
        try:
            with open(path, encoding="ascii") as file:
                found = file.read().strip()
        except FileNotFoundError:
            found = ""
            _write_once(path, secrets.token_hex(8))
        if found:
            return found
        time.sleep(0.01)  # somebody else is just writing it
    raise ConfigError(reason=f"{path} is empty", hint="Remove it.")


def _write_once(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    temporary = f"{path}.{secrets.token_hex(4)}"
    with open(temporary, "w", encoding="ascii") as file:
        file.write(text)
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass  # another process was quicker: its name is as good
    finally:
        os.unlink(temporary)
