"""A program that is run and watched: how long it took, its processor time, its memory, all its processes together."""

from __future__ import annotations

import os
import resource
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks._process_family import family

_EVERY = 0.2
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Spent:
    """What it took."""

    seconds: float
    processor: float
    """Seconds of processor time, with those of processes that ended before."""
    peak_mib: float
    """The most memory at one time. What processes share counts once for each of them."""
    outputs: tuple[str, ...]

    @property
    def processor_share(self) -> float:
        """Of all processors of the machine."""
        return self.processor / self.seconds / (os.cpu_count() or 1)


def run_watched(
    commands: Sequence[Sequence[str]], inputs: Sequence[str], *, environ: Mapping[str, str], folder: Path
) -> Spent:
    """Run programs beside each other until all have ended, each with its input."""
    before, started = _children(), time.perf_counter()
    with ExitStack() as stack:
        running = [
            stack.enter_context(
                subprocess.Popen(
                    command, env=dict(environ), cwd=folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            )
            for command in commands
        ]
        peak, over = [0], threading.Event()
        watcher = threading.Thread(target=_watch, args=([process.pid for process in running], over, peak))
        watcher.start()
        try:
            readers = [_Reader(process, text) for process, text in zip(running, inputs, strict=True)]
            outputs = tuple(reader.output() for reader in readers)
        finally:
            over.set()
            watcher.join()
    seconds = time.perf_counter() - started
    for process in running:
        if process.returncode:
            raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
    return Spent(seconds, _children() - before, peak[0] / _MIB, outputs)


class _Reader:
    """Talks to one program in a thread, so that several can be talked to."""

    def __init__(self, process: subprocess.Popen[str], text: str) -> None:
        self._found = ""
        self._thread = threading.Thread(target=self._read, args=(process, text))
        self._thread.start()

    def _read(self, process: subprocess.Popen[str], text: str) -> None:
        self._found, _ = process.communicate(text)

    def output(self) -> str:
        self._thread.join()
        return self._found


def _children() -> float:
    """Processor time of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _watch(pids: list[int], over: threading.Event, peak: list[int]) -> None:
    while not over.wait(_EVERY):
        peak[0] = max(peak[0], sum(_held(process) for pid in pids for process in family(pid)))


def _held(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0  # it ended just now
