"""Tables for a terminal: they fit its width, and no word is broken unless it is longer than its column."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from io import StringIO

_BETWEEN = 3
"""Columns of the terminal between two columns of a table."""
_READABLE = 16
"""A column in which words had to be broken below this width is no column: then the values stand one below the other."""


def drawn_table(columns: Sequence[str], cells: list[list[str]], right: Sequence[str], *, color: bool) -> str:
    """A table as wide as the terminal lets it be."""
    terminal = shutil.get_terminal_size().columns
    widths = fitting_widths(columns, cells, terminal)
    if widths is None:
        return _one_below_the_other(columns, cells, terminal)
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    text = StringIO()
    console = Console(file=text, no_color=not color, force_terminal=color, highlight=False, width=terminal)
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold" if color else "")
    for column, width in zip(columns, widths, strict=True):
        table.add_column(column, justify="right" if column in right else "left", overflow="fold", width=width)
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)
    return text.getvalue()


def fitting_widths(columns: Sequence[str], cells: list[list[str]], terminal: int) -> list[int] | None:
    """How wide each column is; None if they do not fit beside each other without breaking words that could be whole."""
    from rich.cells import cell_len

    rows = [list(columns), *cells]
    natural = [max(cell_len(row[number]) for row in rows) for number in range(len(columns))]
    room = terminal - _BETWEEN * (len(columns) - 1)
    if sum(natural) <= room:
        return natural
    longest = [
        max((cell_len(word) for row in rows for word in row[number].split()), default=0)
        for number in range(len(columns))
    ]
    widths = _capped(longest, room)
    if widths is None:
        return None
    while (left := room - sum(widths)) > 0:
        wanting = [number for number, width in enumerate(widths) if width < natural[number]]
        if not wanting:
            break
        for number in wanting[: max(1, left)]:
            widths[number] += max(1, min(left // len(wanting), natural[number] - widths[number]))
            if sum(widths) >= room:
                break
    return widths


def _capped(longest: list[int], room: int) -> list[int] | None:
    """Each as wide as its longest word; the longest of all are cut as far as needed, but not below what is readable."""
    for cap in range(max(longest, default=0), 0, -1):
        widths = [min(length, cap) for length in longest]
        if sum(widths) <= room:
            return widths if cap >= min(_READABLE, max(longest)) else None
    return None


def _one_below_the_other(columns: Sequence[str], cells: list[list[str]], terminal: int) -> str:
    """What does not fit beside each other: a block for each row, without what is empty."""
    name_width = max(map(len, columns))
    blocks = []
    for row in cells:
        lines: list[str] = []
        for name, cell in zip(columns, row, strict=True):
            if cell:
                lines += _wrapped(f"{name.ljust(name_width)}  ", cell, terminal)
        blocks.append("".join(f"{line}\n" for line in lines))
    return "\n".join(blocks)


def _wrapped(label: str, text: str, terminal: int) -> list[str]:
    room = max(_READABLE, terminal - len(label))
    first, *rest = textwrap.wrap(text, room, break_on_hyphens=False) or [""]
    return [f"{label}{first}", *(f"{' ' * len(label)}{line}" for line in rest)]
