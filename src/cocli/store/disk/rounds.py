"""Synchronisations that several threads share.

Whoever asks while one is under way waits for the next, together with all others that came meanwhile: one of them does
it for all. Nobody is told that something is on the disk by a synchronisation that began before it was asked for.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_EVERYTHING_FROM = 4
"""From so many files and folders on, one synchronisation of the whole file system is quicker than one of each."""


class _Request:
    __slots__ = ("descriptors", "done", "error")

    def __init__(self, descriptors: Sequence[int] | None) -> None:
        self.descriptors = descriptors
        self.done = False
        self.error: OSError | None = None


class SyncRounds:
    """Brings files and folders to the disk. `sync_everything` synchronises the whole file system."""

    def __init__(self, sync_everything: Callable[[], None]) -> None:
        self._sync_everything = sync_everything
        self._owner = os.getpid()
        self._turn = threading.Condition()
        self._running = False
        self._waiting: list[_Request] = []

    def sync(self, descriptors: Sequence[int] | None) -> None:
        """Return when these are on the disk; None stands for everything that was written."""
        self._forget_after_fork()
        request = _Request(descriptors)
        with self._turn:
            self._waiting.append(request)
            while self._running and not request.done:
                self._turn.wait()
            if not request.done:
                self._running = True
                group, self._waiting = self._waiting, []
        if not request.done:
            self._lead(group)
        if request.error is not None:
            raise request.error

    def _lead(self, group: list[_Request]) -> None:
        try:
            self._run(group)
        except BaseException:
            for request in group:  # whatever ended it, nothing is known of what the others wait for
                request.error = request.error or InterruptedError("the synchronisation was interrupted")
            raise
        finally:
            with self._turn:
                self._running = False
                for request in group:
                    request.done = True
                self._turn.notify_all()

    def _run(self, group: list[_Request]) -> None:
        each = [request.descriptors for request in group if request.descriptors is not None]
        if len(each) < len(group) or sum(map(len, each)) >= _EVERYTHING_FROM:
            error = _failure(self._sync_everything)
            for request in group:
                request.error = error
            return
        for request in group:
            for descriptor in request.descriptors or ():
                request.error = request.error or _failure(os.fsync, descriptor)

    def _forget_after_fork(self) -> None:
        """A child has none of the threads that its parent's are waiting for."""
        if self._owner != os.getpid():
            self._owner, self._turn = os.getpid(), threading.Condition()
            self._running, self._waiting = False, []


def _failure(action: Callable[..., None], *arguments: int) -> OSError | None:
    try:
        action(*arguments)
    except OSError as error:
        return error
    return None
