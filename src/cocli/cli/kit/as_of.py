"""`--as-of`: the list and the figures of another day."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

import typer

AsOfTime = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="TIME",
        help="As it was known then: 2026-10-01 (the end of that day, UTC) or 2026-10-01T12:00:00Z.",
        show_default=False,
    ),
]
_DAY_LENGTH = len("2026-10-01")


def moment_of_option(text: str | None) -> datetime | None:
    """The time that is meant; a day means its end."""
    if text is None:
        return None
    from cocli.app.indexes.query import parse_time

    moment = parse_time(text, "--as-of")
    return moment + timedelta(days=1) - timedelta(microseconds=1) if len(text.strip()) == _DAY_LENGTH else moment
