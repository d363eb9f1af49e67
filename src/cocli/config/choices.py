"""Settings whose values other rooms know. Each of them offers its names here, and configurations are checked by them.

The configuration lies below the sources and the queues, so it cannot ask them which ones there are. Where nobody has
offered anything, any text will do: whoever opens a workspace has (`cocli.app.workspace`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cocli.config.lines import Path

_OFFERED: dict[tuple[str, ...], Callable[[], Sequence[str]]] = {}


def offer(setting: tuple[str, ...], names: Callable[[], Sequence[str]]) -> None:
    """Say what a setting may be, or each element of it where it is a list. The names are asked for when needed."""
    _OFFERED[setting] = names


def choices(setting: tuple[str, ...]) -> tuple[str, ...] | None:
    """What a setting may be; None where any text will do."""
    names = _OFFERED.get(setting)
    return None if names is None else tuple(names())


def strangers(data: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Every value of a document that was not offered: where it is, and what is expected there."""
    for setting in _OFFERED:
        for path, value in _values(data, setting):
            names = choices(setting) or ()
            if value not in names:
                yield path, f"expected {_listed(names)}"


def _values(data: Any, setting: tuple[str, ...]) -> Iterator[tuple[Path, object]]:
    for part in setting:
        if not isinstance(data, dict) or part not in data:
            return
        data = data[part]
    if isinstance(data, list):
        for number, value in enumerate(data):
            yield (*setting, number), value
    elif isinstance(data, str):
        yield setting, data


def _listed(names: Sequence[str]) -> str:
    *others, last = (f"'{name}'" for name in names)
    return f"{', '.join(others)} or {last}" if others else last
