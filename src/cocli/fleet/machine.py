"""A machine that works for several campaigns: a supervisor each, seen as one where the machine reports about itself."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cocli.fleet.supervisor import Supervisor
    from cocli.models.heartbeat import ActiveTask


class Reporting(Protocol):
    """Whatever a heartbeat can be about: one supervisor, or all of a machine."""

    @property
    def last_error(self) -> str | None: ...

    def running(self) -> dict[str, int]:
        """Queue → worker processes."""
        ...

    def completed(self) -> dict[str, int]:
        """Queue → tasks completed since the start."""
        ...

    def active(self) -> dict[str, tuple[ActiveTask, ...]]:
        """Queue → tasks in work."""
        ...

    def limited_by(self) -> dict[str, str]:
        """Queue → what holds its workers up now."""
        ...


class Machine:
    """Fits `Reporting`. `supervisors` gives those that it has now."""

    def __init__(self, supervisors: Callable[[], Sequence[Supervisor]]) -> None:
        self._supervisors = supervisors

    @property
    def last_error(self) -> str | None:
        """The newest of all."""
        found = [supervisor for supervisor in self._supervisors() if supervisor.last_error is not None]
        if not found:
            return None
        return max(found, key=lambda supervisor: supervisor.last_error_at).last_error

    @property
    def restarts(self) -> int:
        return sum(supervisor.restarts for supervisor in self._supervisors())

    def running(self) -> dict[str, int]:
        return _summed(supervisor.running() for supervisor in self._supervisors())

    def completed(self) -> dict[str, int]:
        return _summed(supervisor.completed() for supervisor in self._supervisors())

    def active(self) -> dict[str, tuple[ActiveTask, ...]]:
        found: dict[str, tuple[ActiveTask, ...]] = {}
        for supervisor in self._supervisors():
            for queue, tasks in supervisor.active().items():
                found[queue] = (*found.get(queue, ()), *tasks)
        return found

    def limited_by(self) -> dict[str, str]:
        """Of several campaigns the first that says it."""
        found: dict[str, str] = {}
        for supervisor in self._supervisors():
            found = supervisor.limited_by() | found
        return found


def _summed(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return dict(total)
