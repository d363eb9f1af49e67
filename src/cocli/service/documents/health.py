"""Whether store and catalogue answer. They are asked in the background: whoever asks for the health never waits."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import CocliError, NotFound
from cocli.keys.paths import RevocationKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cocli.app.documents.documents import Documents

_LOG = logs.get_logger(__name__)

OK, AWAY = "ok", "away"
_EVERY_SECONDS = 2.0
_PATIENCE_SECONDS = 5.0
"""For one answer: who takes longer is away."""
_NOBODY = "0" * 16


class HealthWatch:
    """Asks each part every two seconds, in a thread of its own."""

    def __init__(self, documents: Documents) -> None:
        self._parts = {
            "store": _Part("store", lambda: _ask_store(documents)),
            "catalog": _Part("catalog", lambda: documents.repository.catalog.fact(_NOBODY)),
        }

    def parts(self) -> dict[str, str]:
        """Which part answers, and which is away."""
        return {name: part.state for name, part in self._parts.items()}

    @property
    def is_well(self) -> bool:
        return all(state == OK for state in self.parts().values())

    @contextmanager
    def watching(self) -> Iterator[None]:
        stop = threading.Event()
        for part in self._parts.values():
            threading.Thread(target=part.watch, args=(stop,), name=f"health-{part.name}", daemon=True).start()
        try:
            yield
        finally:
            stop.set()


class _Part:
    def __init__(self, name: str, ask: Callable[[], object]) -> None:
        self.name = name
        self._ask = ask
        self._asked_at: float | None = None
        """When the question was put that nobody answered yet."""
        self._answers = True

    @property
    def state(self) -> str:
        asked_at = self._asked_at
        is_late = asked_at is not None and time.monotonic() - asked_at > _PATIENCE_SECONDS
        return OK if self._answers and not is_late else AWAY

    def watch(self, stop: threading.Event) -> None:
        while not stop.wait(_EVERY_SECONDS):
            self._asked_at = time.monotonic()
            try:
                self._ask()
            except CocliError as error:
                if self._answers:
                    _LOG.warning("the %s is away: %s", self.name, error.message)
                self._answers = False
            else:
                if not self._answers:
                    _LOG.info("the %s answers again", self.name)
                self._answers = True
            self._asked_at = None


def _ask_store(documents: Documents) -> None:
    try:
        documents.store.get(str(RevocationKey(_NOBODY)))
    except NotFound:
        return  # it has answered
