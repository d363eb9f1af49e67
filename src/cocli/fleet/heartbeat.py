"""The heartbeat of a machine: measured here, written under its name, and by one supervisor only.

Every write names the version it replaces. A supervisor that finds another machine's heartbeat under its own name, and
a fresh one, has a namesake and must not go on.
"""

from __future__ import annotations

import os
import platform
import shutil
import time
from collections import deque
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cocli import logs
from cocli.config.version import __version__, build_id
from cocli.errors import AlreadyExists, Conflict, FormatError, NotFound, SupervisorRunning
from cocli.formats import json_records
from cocli.keys.paths import CampaignHeartbeatKey, HeartbeatKey
from cocli.models.heartbeat import Heartbeat, Versions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cocli.fleet.machine import Reporting
    from cocli.store.base import Store, StoredObject

_LOG = logs.get_logger(__name__)

PERIOD_SECONDS = 120.0
SOON_SECONDS = 5.0
"""After a change, but not more often."""
OVERDUE_PERIODS = 3
_RATE_SECONDS = 900.0


class Heart:
    """Beats for a machine, or for what it does for one campaign: regularly, and soon after something changed."""

    def __init__(
        self,
        store: Store,
        supervisor: Reporting,
        *,
        hostname: str,
        machine: str,
        campaign: str,
        folder: str,
        period: float = PERIOD_SECONDS,
        of_campaign: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._supervisor = supervisor
        self._hostname = hostname
        self._machine = machine
        self._campaign = campaign
        self._folder = folder
        """Whose disk is watched."""
        self._period = period
        self._clock = clock
        self._started_at = _now()
        self._build = build_id()  # read now: a later deployment may take these files away
        self._key = str(CampaignHeartbeatKey(hostname, campaign) if of_campaign else HeartbeatKey(hostname))
        self._etag: str | None = None
        self._beat_at: float | None = None
        self._shown: object = None
        self._rates = Rates(clock())
        _cpu()  # the first answer is about no time at all

    def beat_if_due(self) -> bool:
        """True if it beat."""
        now = self._clock()
        shown = (self._supervisor.running(), self._supervisor.last_error)
        age = None if self._beat_at is None else now - self._beat_at
        if age is not None and age < (self._period if shown == self._shown else min(SOON_SECONDS, self._period)):
            return False
        self.beat()
        self._shown, self._beat_at = shown, now
        return True

    def beat(self, *, stopped: bool = False) -> Heartbeat:
        heartbeat = self._measure(stopped=stopped)
        data = json_records.render(heartbeat)
        _LOG.debug("heartbeat", extra={"workers": sum(heartbeat.workers.values()), "stopped": stopped})
        if self._etag is None:
            self._etag = self._begin(data)
            return heartbeat
        try:
            self._etag = self._store.put(self._key, data, if_match=self._etag)
        except Conflict:  # our own write whose answer was lost, or a namesake
            _LOG.debug("the heartbeat in the store is not the last one that was written here")
            self._etag = self._begin(data)
        return heartbeat

    def _begin(self, data: bytes) -> str:
        """Put it in the place of whatever is there, unless that is alive and another machine's."""
        for _ in range(5):
            try:
                found = self._store.get(self._key)
            except NotFound:
                found = None
            try:
                if found is None:
                    return self._store.put(self._key, data, if_absent=True)
                self._refuse_namesake(found)
                return self._store.put(self._key, data, if_match=found.etag)
            except (Conflict, AlreadyExists):
                continue  # somebody else wrote in between: look who
        raise SupervisorRunning(hostname=self._hostname, reason=f"{self._key} is written all the time by another")

    def _refuse_namesake(self, found: StoredObject) -> None:
        try:
            other = json_records.read(Heartbeat, found.data, file=self._key)
        except FormatError:
            return  # nothing that a supervisor wrote
        age = self._store.now() - found.modified
        fresh = age < timedelta(seconds=other.period_seconds * OVERDUE_PERIODS)
        if other.machine not in (None, self._machine) and other.stopped_at is None and fresh:
            reason = f"another machine of this name reported {age.total_seconds():.0f} s ago"
            raise SupervisorRunning(hostname=self._hostname, reason=reason)

    def _measure(self, *, stopped: bool) -> Heartbeat:
        import psutil

        now, memory, completed = _now(), psutil.virtual_memory(), self._supervisor.completed()
        return Heartbeat(
            hostname=self._hostname,
            machine=self._machine,
            campaign=self._campaign,
            at=now,
            started_at=min(self._started_at, now),
            stopped_at=now if stopped else None,
            period_seconds=self._period,
            cpu_percent=_cpu(),
            ram_percent=_percent(memory.percent),
            ram_bytes=int(memory.total),
            disk_free_bytes=shutil.disk_usage(_existing(self._folder)).free,
            temperature=_temperature(),
            versions=Versions(
                cocli=__version__,
                python=platform.python_version(),
                system=f"{platform.system()} {os.uname().release}",
                build=self._build,
            ),
            workers=self._supervisor.running(),
            active=self._supervisor.active(),
            completed=completed,
            rates=self._rates.of(completed, self._clock()),
            limited_by=self._supervisor.limited_by(),
            last_error=self._supervisor.last_error,
        )


class Rates:
    """Completions per minute over the last quarter of an hour, from counts that only grow."""

    def __init__(self, started: float) -> None:
        self._seen: deque[tuple[float, Mapping[str, int]]] = deque([(started, {})])

    def of(self, completed: Mapping[str, int], now: float) -> dict[str, float]:
        self._seen.append((now, dict(completed)))
        while len(self._seen) > 2 and now - self._seen[1][0] >= _RATE_SECONDS:
            self._seen.popleft()
        since, before = self._seen[0]
        minutes = max(now - since, 1.0) / 60
        return {queue: round((count - before.get(queue, 0)) / minutes, 3) for queue, count in completed.items()}


def _now() -> datetime:
    return datetime.now(UTC)


def _percent(value: float) -> float:
    return min(max(float(value), 0.0), 100.0)


def _cpu() -> float:
    import psutil

    return _percent(psutil.cpu_percent(None))


def _temperature() -> float | None:
    import psutil

    with suppress(AttributeError, OSError):  # not every system has sensors
        found = [reading.current for sensor in psutil.sensors_temperatures().values() for reading in sensor]
        return max(found, default=None)
    return None


def _existing(folder: str) -> str:
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder) or os.sep
    return folder
