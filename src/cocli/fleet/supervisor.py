"""The supervisor: sees that a machine runs the workers that the campaign's configuration asks of it.

`tick` is called a few times a second and never waits. Workers are processes: one that dies is started again, later
each time it dies at once; one that holds too much memory, is wanted no more, or was started with a configuration that
has changed since is drained, and killed if it does not end.
"""

from __future__ import annotations

import signal
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import CocliError
from cocli.fleet.slot import Leaving, RestartSettings, Slot

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cocli.fleet.drain import Drain
    from cocli.fleet.process import SpawnedWorker
    from cocli.fleet.succession import InheritedWorker
    from cocli.models.heartbeat import ActiveTask

_LOG = logs.get_logger(__name__)

_TICK_SECONDS = 0.2
_MEASURE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the configuration asks of this machine. Workers of another fingerprint are replaced."""

    counts: Mapping[str, int] = field(default_factory=dict)
    fingerprint: str = ""


class Supervisor:
    """`wanted` reads the configuration (cheaply: it is asked every few seconds), `spawn` starts a worker of a queue."""

    def __init__(
        self,
        wanted: Callable[[], Wanted],
        spawn: Callable[[str, str], SpawnedWorker],
        *,
        rng: random.Random,
        settings: RestartSettings | None = None,
        say: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = wanted
        self._spawn = spawn
        self._random = rng
        self._settings = settings or RestartSettings()
        self._say = say
        self._clock = clock
        self._wanted = Wanted()
        self._slots: dict[tuple[str, int], Slot] = {}
        self._leaving: list[Leaving] = []
        self._finished: Counter[str] = Counter()
        """Queue → tasks that workers completed which are gone."""
        self._look_at = self._measure_at = 0.0
        self._hurried = False
        self.deaths: Counter[str] = Counter()
        """Queue → workers that ended though nobody asked them to."""
        self.unable = 0
        """Those of them that came to their end by themselves: who was killed may have been able to work."""
        self.last_error: str | None = None
        self.last_error_at = 0.0

    # --- what it looks like

    @property
    def restarts(self) -> int:
        return self.deaths.total()

    def running(self) -> dict[str, int]:
        """Queue → worker processes."""
        return dict(Counter(slot.queue for slot in list(self._slots.values()) if slot.worker is not None))

    def completed(self) -> dict[str, int]:
        """Queue → tasks completed since the start."""
        total = Counter(self._finished)
        for queue, worker in self._workers():
            if worker.report:
                total[queue] += worker.report.completed
        return dict(total)

    def active(self) -> dict[str, tuple[ActiveTask, ...]]:
        found: dict[str, tuple[ActiveTask, ...]] = {}
        for queue, worker in self._workers():
            if worker.report and worker.report.active:
                found[queue] = (*found.get(queue, ()), *worker.report.active)
        return found

    def limited_by(self) -> dict[str, str]:
        """Queue → what holds its workers up now; of several the one that most of them say."""
        said: dict[str, Counter[str]] = {}
        for queue, worker in self._workers():
            if worker.report and worker.report.limited_by:
                said.setdefault(queue, Counter())[worker.report.limited_by] += 1
        return {queue: words.most_common(1)[0][0] for queue, words in said.items()}

    def _workers(self) -> list[tuple[str, SpawnedWorker]]:
        """A copy: the heart looks from a thread of its own."""
        slots = [(slot.queue, slot.worker) for slot in list(self._slots.values())]
        return [(queue, worker) for queue, worker in slots if worker] + [
            (leaving.queue, leaving.worker) for leaving in self._leaving
        ]

    # --- what it does

    def run(self, drain: Drain, *, seconds: float | None = None, on_tick: Callable[[], None] | None = None) -> bool:
        """Supervise until asked to stop; True if every worker ended by itself."""
        return run_together(lambda: [self], drain, seconds=seconds, on_tick=on_tick, clock=self._clock)

    def tick(self) -> None:
        now = self._clock()
        if now >= self._look_at:
            self._look_at = now + self._settings.look
            self._look()
        measure = now >= self._measure_at
        if measure:
            self._measure_at = now + _MEASURE_SECONDS
        for slot in list(self._slots.values()):
            self._attend(slot, now, measure=measure)
        self._replace_next()
        self.see_off()

    def look_soon(self) -> None:
        """The configuration was changed: do not wait for the next look."""
        self._look_at = 0.0

    # --- succession

    def bequeath(self, campaign: str) -> list[InheritedWorker]:
        """All workers, for a successor of this process. They do not notice."""
        from cocli.fleet.succession import InheritedWorker

        slots = [(slot.queue, slot.number, slot.worker, False) for slot in self._slots.values()]
        leaving = [(worker.queue, worker.number, worker.worker, True) for worker in self._leaving]
        return [
            InheritedWorker(campaign, queue, number, worker.pid, worker.pipes(), goes)
            for queue, number, worker, goes in (*slots, *leaving)
            if worker is not None and worker.exit_code() is None
        ]

    def inherit(self, found: InheritedWorker, worker: SpawnedWorker) -> None:
        """A worker of the release before: it works on until its turn comes."""
        slot = Slot(found.queue, found.number)
        if found.leaving:
            self._leave(slot, worker, inherited=True)
        else:
            slot.inherits(worker, self._clock())
            self._slots[found.queue, found.number] = slot

    def _replace_next(self) -> None:
        """One goes when the one before has gone, and the one in its place has told that it works. So a release whose
        workers do not start takes no work away from the release before."""
        waiting = [slot for slot in self._slots.values() if slot.inherited]
        if not waiting or self._leaving or any(slot.is_getting_ready for slot in self._slots.values()):
            return
        self._retire(waiting[0], "a newer release takes over")

    def hurry_inherited(self) -> None:
        """Those of the release before give back what they have in hand, all at once."""
        for slot in list(self._slots.values()):
            if slot.inherited:
                self._retire(slot, "a newer release takes over")
        for leaving in self._leaving:
            if leaving.inherited:
                leaving.worker.drain()

    def restart(self, queues: Iterable[str] = ()) -> int:
        """Replace workers by new ones, those of all queues where none is named; how many."""
        names = set(queues)
        chosen = [slot for slot in list(self._slots.values()) if slot.worker and (not names or slot.queue in names)]
        for slot in chosen:
            slot.fingerprint = ""
        return len(chosen)

    def end(self, reason: str) -> None:
        """Let all workers go and wait for them, a few seconds at most: for somebody who cannot go on."""
        self.retire_all(reason)
        self._hurried = False
        self.hurry()
        while not self.is_gone:
            self.see_off()
            time.sleep(_TICK_SECONDS)

    def retire_all(self, reason: str) -> None:
        for slot in list(self._slots.values()):
            self._retire(slot, reason)
        self._slots.clear()

    # --- one step each

    def _look(self) -> None:
        try:
            self._wanted = self._read()
        except CocliError as error:
            self.note(f"the configuration cannot be read, the last one holds: {error.message}")
            return
        for (queue, number), slot in list(self._slots.items()):
            if number > self._wanted.counts.get(queue, 0):
                self._retire(slot, "it is not wanted any more")
                del self._slots[queue, number]
        for queue, count in self._wanted.counts.items():
            for number in range(1, count + 1):
                self._slots.setdefault((queue, number), Slot(queue, number))

    def _attend(self, slot: Slot, now: float, *, measure: bool) -> None:
        if slot.worker is not None and (code := slot.worker.exit_code()) is not None:
            self._died(slot, slot.worker, code, now)
        if slot.worker is not None and slot.fingerprint != self._wanted.fingerprint and not slot.inherited:
            self._retire(slot, "its configuration is not the newest")
        if measure and slot.worker is not None and self._settings.memory:
            held = slot.worker.memory()
            if held > self._settings.memory:
                self.note(
                    f"{slot.name} holds {held >> 20} MiB, more than {self._settings.memory >> 20}: it is replaced"
                )
                self._retire(slot, "too much memory")
                slot.failed(now, self._settings, self._random)
        if slot.worker is None and now >= slot.start_at:
            self._start(slot, now)

    def _start(self, slot: Slot, now: float) -> None:
        try:
            slot.started(self._spawn(slot.queue, slot.name), self._wanted.fingerprint, now)
        except OSError as error:  # no memory for a process, no more processes: later perhaps
            wait = slot.failed(now, self._settings, self._random)
            self.note(f"{slot.name} cannot be started: {error.strerror}; again in {wait:.0f} s")
            return
        self._tell(f"{slot.name} started")

    def _died(self, slot: Slot, worker: SpawnedWorker, code: int, now: float) -> None:
        self._count(slot.queue, worker)
        wait = slot.failed(now, self._settings, self._random)
        self.deaths[slot.queue] += 1
        self.unable += code != -signal.SIGKILL
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        reason = ""
        if worker.last_error:
            reason = f": {worker.last_error.rstrip('.')}"
        self.note(f"{slot.name} {how}{reason}; the next one starts in {wait:.0f} s")

    def _retire(self, slot: Slot, reason: str) -> None:
        worker = slot.worker
        if worker is None:
            return
        self._tell(f"{slot.name} is drained: {reason}")
        worker.drain()
        self._leave(slot, worker, inherited=slot.inherited)
        slot.emptied()

    def _leave(self, slot: Slot, worker: SpawnedWorker, *, inherited: bool) -> None:
        kill_at = self._clock() + self._settings.drain
        self._leaving.append(Leaving(slot.name, slot.queue, worker, kill_at, slot.number, inherited))

    @property
    def is_gone(self) -> bool:
        """Nobody who was asked to go is still there."""
        return not self._leaving

    def see_off(self) -> bool:
        """Those that left are counted, those that do not are killed: False if one had to be."""
        whole, staying = True, []
        for leaving in self._leaving:
            if leaving.worker.exit_code() is None:
                if self._clock() < leaving.kill_at:
                    staying.append(leaving)
                    continue
                self.note(f"{leaving.name} did not end in time and was killed")
                leaving.worker.kill()
                whole = False
            self._count(leaving.queue, leaving.worker)
            self._tell(f"{leaving.name} ended")
        self._leaving = staying
        return whole

    def hurry(self) -> None:
        """Ask those who are leaving once more: then they give back what they have in hand."""
        if self._hurried:
            return
        self._hurried = True
        soon = self._clock() + 5.0
        for leaving in self._leaving:
            leaving.worker.drain()
        self._leaving = [replace(leaving, kill_at=min(leaving.kill_at, soon)) for leaving in self._leaving]

    def _count(self, queue: str, worker: SpawnedWorker) -> None:
        if worker.report:
            self._finished[queue] += worker.report.completed

    def note(self, message: str) -> None:
        """Something went wrong: the next heartbeat says it."""
        _LOG.warning("%s", message)
        self.last_error, self.last_error_at = message, self._clock()
        self._say(message)

    def _tell(self, message: str) -> None:
        _LOG.info("%s", message)
        self._say(message)


def run_together(
    supervisors: Callable[[], Sequence[Supervisor]],
    drain: Drain,
    *,
    seconds: float | None = None,
    on_tick: Callable[[], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> bool:
    """Supervise until asked to stop; True if every worker ended by itself. There may be other supervisors each time.

    Asked to make room, it returns at once, and the workers go on."""
    until = None if seconds is None else clock() + seconds
    while not (drain.asked or drain.makes_room or (until is not None and clock() >= until)):
        for supervisor in supervisors():
            if drain.hurries:
                supervisor.hurry_inherited()
            supervisor.tick()
        drain.hurries = False
        if on_tick:
            on_tick()
        time.sleep(_TICK_SECONDS)
    if drain.makes_room and not drain.asked:
        return True
    leaving, whole = list(supervisors()), True
    for supervisor in leaving:
        supervisor.retire_all("the supervisor stops")
    while not all(supervisor.is_gone for supervisor in leaving):
        for supervisor in leaving:
            if drain.now:
                supervisor.hurry()
            whole = supervisor.see_off() and whole
        if on_tick:
            on_tick()
        time.sleep(_TICK_SECONDS)
    return whole
