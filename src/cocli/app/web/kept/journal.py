"""Who did what in the dashboard: a line for each change that was asked for, the refused ones as well."""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from cocli.config.private import make_private
from cocli.models.record import render_utc

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

_FILE = "journal-{month}.jsonl"
_READ = 3
"""Files that are looked through for the newest lines."""


class WebJournal:
    """A file of JSON lines for each month, on this machine. Bodies, tokens and cookies never get here."""

    def __init__(self, folder: str, clock: Callable[[], datetime]) -> None:
        self._folder = folder
        self._clock = clock
        self._lock = threading.Lock()
        make_private(folder)

    def note(self, who: str, provider: str, action: str, path: str, status: int) -> None:
        now = self._clock()
        line = {
            "at": render_utc(now),
            "who": who[:200],
            "provider": provider,
            "action": action,
            "path": path[:500],
            "status": status,
        }
        path = os.path.join(self._folder, _FILE.format(month=f"{now:%Y-%m}"))
        with self._lock, open(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as file:
            file.write(json.dumps(line).encode() + b"\n")

    def last(self, limit: int) -> list[dict[str, Any]]:
        """The newest first."""
        names = sorted((name for name in os.listdir(self._folder) if name.startswith("journal-")), reverse=True)
        lines: list[bytes] = []
        for name in names[:_READ]:
            if len(lines) < limit:
                with open(os.path.join(self._folder, name), "rb") as file:
                    lines += reversed(deque(file, limit - len(lines)))
        found = []
        for line in lines:
            try:
                found.append(json.loads(line))
            except ValueError:  # half a line of a server that was killed
                continue
        return found
