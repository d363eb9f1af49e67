"""What several threads write at the same moment becomes one transaction: its synchronisation is paid for once.

Nobody waits for company: whoever comes while a transaction is being written is part of the next one.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from cocli.documents.catalog.database import Database, DatabaseSession

T = TypeVar("T")
_MOST = 256


class CommitGroup:
    """Safe to be called from several threads. A writing is safe when the call returns, and whole or not at all."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._waiting: list[_Writing[Any]] = []

    def write(self, action: Callable[[DatabaseSession], T]) -> T:
        """Do it within a transaction, perhaps with what others write. It may be done twice: only once it counts."""
        writing = _Writing(action)
        with self._lock:
            self._waiting.append(writing)
        with self._turn:
            while not writing.is_over:
                with self._lock:
                    group, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
                self._write(group)
        return writing.answer()

    def _write(self, group: Sequence[_Writing[Any]]) -> None:
        if len(group) > 1:
            try:
                with self._database.transaction() as session:
                    answers = [writing.action(session) for writing in group]
            except Exception:  # noqa: BLE001, S110  whose mistake it was shows when each is written alone
                pass
            else:
                for writing, answer in zip(group, answers, strict=True):
                    writing.done(answer)
                return
        for writing in group:
            self._write_alone(writing)

    def _write_alone(self, writing: _Writing[Any]) -> None:
        try:
            with self._database.transaction() as session:
                answer = writing.action(session)
        except Exception as error:  # noqa: BLE001  its caller raises it, in its own thread
            writing.failed(error)
        else:
            writing.done(answer)


class _Writing(Generic[T]):
    """One caller's part of a transaction."""

    def __init__(self, action: Callable[[DatabaseSession], T]) -> None:
        self.action = action
        self.is_over = False
        self._answer: T | None = None
        self._error: Exception | None = None

    def done(self, answer: T) -> None:
        self._answer, self.is_over = answer, True

    def failed(self, error: Exception) -> None:
        self._error, self.is_over = error, True

    def answer(self) -> T:
        if self._error is not None:
            raise self._error
        return cast("T", self._answer)
