"""Why something cannot be done on a host."""

from __future__ import annotations

from typing import Any


class AgentRefusal(Exception):
    """`kind` is for the program on the other side, `text` for people."""

    def __init__(self, kind: Any, text: Any) -> None:
        super().__init__(text)
        self.kind = kind
