"""Measures what the processes of a worker use: this one and those that it started."""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

from cocli.fleet.scaling.load import MachineLoad

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

MEMORY = 1 << 30
"""Bytes that a worker and its processes may hold: half of that with which a supervisor replaces it."""
_MACHINE_SHARE = 0.5
"""Of the memory that is free on the machine: others need some as well."""
_DESCRIPTORS = 8192
_LISTED_SECONDS = 3.0
"""So long the processes of a worker are taken to be the same."""


def ask_for_descriptors(wanted: int = _DESCRIPTORS) -> int:
    """Raise this process's own limit of open files as far as it may; how many there are."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return soft


@dataclass(frozen=True, slots=True)
class _Used:
    at: float
    own: float
    """Seconds of processor time."""
    others: float


class LoadMeter:
    """`read` now and then: shares of the processor are of the time since the last reading."""

    def __init__(
        self,
        *,
        memory: int = MEMORY,
        processors: int | None = None,
        without: Callable[[], Collection[int]] = tuple,
    ) -> None:
        """`without` names processes that were started here and measure themselves, with all that they start."""
        self._memory = memory
        self._processors = processors or os.cpu_count() or 1
        self._without = without
        self._process = psutil.Process()
        self._listed: list[psutil.Process] = []
        self._listed_until = 0.0
        self._before = _Used(time.monotonic(), _seconds(self._process), 0.0)

    def read(self) -> MachineLoad:
        children = self._children()
        used = _Used(time.monotonic(), _seconds(self._process), sum(map(_seconds, children)))
        before, self._before = self._before, used
        held = _memory(self._process) + sum(map(_memory, children))
        free = psutil.virtual_memory().available
        may = min(self._memory, held + int(free * _MACHINE_SHARE))
        return MachineLoad(
            processor=self._processor(before, used, len(children)),
            memory=held / max(may, 1),
            sockets=self._process.num_fds() / _most_descriptors(),
        )

    def _children(self) -> list[psutil.Process]:
        """Looked for now and then: it takes a look at every process of the machine."""
        now = time.monotonic()
        if now >= self._listed_until:
            self._listed_until = now + _LISTED_SECONDS
            self._listed = self._found_children()
        return self._listed

    def _found_children(self) -> list[psutil.Process]:
        others = set(self._without())
        children = self._process.children(recursive=True)
        if not others:
            return children
        theirs = {grandchild.pid for child in children if child.pid in others for grandchild in _below(child)}
        return [child for child in children if child.pid not in others | theirs]

    def _processor(self, before: _Used, used: _Used, children: int) -> float:
        """Of the machine, of the one processor that an event loop can use, or of those that its readers can."""
        seconds = max(used.at - before.at, 0.001)
        own, others = used.own - before.own, max(used.others - before.others, 0.0)
        readers = min(children, self._processors)
        of_readers = others / seconds / readers if readers else 0.0
        return max((own + others) / seconds / self._processors, own / seconds, of_readers)


def _most_descriptors() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 20 if soft == resource.RLIM_INFINITY else soft


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:  # it ended since it was listed
        return []


def _seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:  # it ended since it was listed
        return 0.0
    return float(times.user + times.system)


def _memory(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:  # it ended since it was listed
        return 0
