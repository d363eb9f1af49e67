"""Times as texts of JSON, one after the other: most of them fall into the second of the one before, and differ from it
in their last digits only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cocli.models.record import render_utc

if TYPE_CHECKING:
    from collections.abc import Callable

_SECOND = timedelta(seconds=1)
_NOTHING = timedelta(0)


def moment_texts() -> Callable[[datetime], str]:
    """Writes times as `render_utc` does, with quotes, at less than half of its price. Threads may share it."""
    second = datetime.min.replace(tzinfo=UTC), ""  # its beginning, and how all of its texts begin

    def text(at: datetime) -> str:
        nonlocal second
        start, head = second
        if not _NOTHING <= at - start < _SECOND:
            start = at.replace(microsecond=0)
            head = f'"{render_utc(start)[:-1]}'
            second = start, head
        microsecond = at.microsecond
        return f'{head}.{microsecond:06}Z"' if microsecond else f'{head}Z"'

    return text
