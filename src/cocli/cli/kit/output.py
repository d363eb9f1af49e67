"""Data on stdout, talk on stderr. Tables are drawn for a terminal and aligned for everything else.

With `--json` stdout holds exactly one JSON document, and the talk is left out. Whatever is shown passes through
`safe_text`; the JSON is ASCII, so that it is harmless by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Protocol, TextIO

from cocli.formats.safe_text import safe_line, safe_text

Row = Sequence[object]


class TextVeil(Protocol):
    """Takes out of a text what nobody is to see."""

    def text(self, text: str) -> str: ...

    def plain(self, value: Any) -> Any: ...

    def data(self, data: bytes) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Output:
    """Where a command writes. Built once, in `cocli.cli.root`."""

    stdout: TextIO
    stderr: TextIO
    as_json: bool = False
    quiet: bool = False
    color: bool = False
    environ: Mapping[str, str] = field(default_factory=dict)
    """Says which pager is wanted."""
    veils: list[TextVeil] = field(default_factory=list)
    """What every text passes through: the do-not-contact lists of the stores that the command has opened."""

    # --- data

    def document(self, data: dict[str, Any]) -> None:
        """The JSON document of a command."""
        if self.veils:
            plain = json.loads(json.dumps(data, default=_json_value))
            for veil in self.veils:
                plain = veil.plain(plain)
            data = plain
        self.stdout.write(json.dumps(data, default=_json_value, indent=2) + "\n")

    def line(self, text: str) -> None:
        """One line of data."""
        self.stdout.write(safe_line(self._veiled(text)) + "\n")

    def text(self, text: str) -> None:
        """Several lines of data."""
        self.stdout.write(safe_text(self._veiled(text)))

    def table(self, columns: Sequence[str], rows: Sequence[Row], *, right: Sequence[str] = ()) -> None:
        """Rows under headings; the columns named in `right` are aligned to the right."""
        cells = [[safe_line(self._veiled(shown(value))) for value in row] for row in rows]
        if self.stdout.isatty():
            self._draw(columns, cells, right)
        else:
            self.stdout.write(_aligned(columns, cells, right))

    # --- talk

    def talk(self, text: str) -> None:
        """Say what was done. Not with --json or --quiet."""
        if not (self.as_json or self.quiet):
            self.stderr.write(safe_line(self._veiled(text)) + "\n")

    def hint(self, command: str) -> None:
        """Suggest the next step."""
        self.talk(f"hint: {command}")

    def paged(self, text: str) -> None:
        """A long text, through the pager of a terminal."""
        from cocli.cli.kit.pager import page

        page(self._veiled(text), self.stdout, self.environ)

    def shown_data(self, data: bytes) -> bytes:
        """Bytes for stdout: texts without what nobody is to see."""
        for veil in self.veils:
            data = veil.data(data)
        return data

    def _veiled(self, text: str) -> str:
        for veil in self.veils:
            text = veil.text(text)
        return text

    def _draw(self, columns: Sequence[str], cells: list[list[str]], right: Sequence[str]) -> None:
        from cocli.cli.kit.tables import drawn_table

        self.paged(drawn_table(columns, cells, right, color=self.color))


def shown(value: object) -> str:
    """A value for people."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, default=_json_value)
    return str(value)


def size_shown(size: int) -> str:
    """Bytes for people: 17 B, 1.2 KiB, 3.4 GiB."""
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{size} B" if unit == "B" else f"{amount:.1f} {unit}"


def count_shown(count: int, noun: str) -> str:
    """`1 object`, `1,234 objects`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _json_value(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, Enum):
        return value.value
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _aligned(columns: Sequence[str], cells: list[list[str]], right: Sequence[str]) -> str:
    rows = [list(columns), *cells]
    widths = [max(len(row[column]) for row in rows) for column in range(len(columns))]
    return "".join(
        "  ".join(
            cell.rjust(width) if name in right else cell.ljust(width)
            for name, cell, width in zip(columns, row, widths, strict=True)
        ).rstrip()
        + "\n"
        for row in rows
    )
