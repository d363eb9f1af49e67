"""Why no broker can be talked to: the library tells it beside its answers, which only say that none came in time."""

from __future__ import annotations

from typing import Any

_KINDS = ("_SSL", "_AUTHENTICATION", "_RESOLVE")
"""A certificate, a login, a name: a broker that is away for a while is none of them."""


class KafkaComplaint:
    """The last one of a client, until something goes well again. It names hosts and certificates, never a password."""

    def __init__(self, library: Any) -> None:
        self._kinds = {getattr(library.KafkaError, name) for name in _KINDS}
        self.words: str | None = None

    def hear(self, error: Any) -> None:
        """For `error_cb` of the library, which says nothing on stderr where there is one."""
        if error.code() in self._kinds:
            self.words = str(error.str())

    def explain(self, reason: str) -> str:
        return reason if self.words is None else f"{reason}: {self.words}"

    def settle(self) -> None:
        self.words = None
