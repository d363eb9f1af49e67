"""What the modules of the layouts declare: the columns of its files, how a record begins, what a row becomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping

    from cocli.models.record import Record
    from cocli.pipeline.migrate.columns import Table
    from cocli.pipeline.migrate.row import Context, OldRow


@dataclass(frozen=True)
class Layout:
    """One kind of older file."""

    name: str
    index: str
    """The index that its rows go to."""
    tables: tuple[Table, ...]
    """The columns of the files without a header. A row has to fit exactly one of the tables."""
    begins: re.Pattern[bytes]
    """What every record begins with: what tells it from the rest of a record that a line break broke."""
    convert: Callable[[OldRow, Context], Record]
    """Raises a DataError with the reason where a row cannot be moved."""
    aliases: Mapping[str, str]
    """Other spellings of column names, in files with a header."""
    is_new: Callable[[frozenset[str]], bool] = lambda _names: False
    """Whether a header is that of today's format: such a file is left alone."""

    @property
    def widths(self) -> frozenset[int]:
        return frozenset(len(table) for table in self.tables)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(column.name for table in self.tables for column in table)

    def name_of(self, header: str) -> str:
        """A column name of a header, in the spelling of the tables."""
        name = header.strip().strip('"').lower().replace(" ", "_")
        return self.aliases.get(name, name)
