"""The checks that every backend makes before it touches anything."""

from __future__ import annotations

from cocli.errors import UsageError
from cocli.keys.parts import check_key


def check_put(key: str, *, if_absent: bool, if_match: str | None) -> None:
    check_key(key)
    if if_absent and if_match is not None:
        raise two_conditions()


def two_conditions() -> UsageError:
    return UsageError(reason="put takes if_absent or if_match, not both")
