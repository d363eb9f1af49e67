"""What a person said of the columns of a file, remembered for files of the same shape: one object per shape."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from cocli.errors import NotFound
from cocli.formats import json_records
from cocli.keys.paths import ImportMappingKey
from cocli.models.record import Label, Many, Record, RecordPart, Text, UtcDatetime
from cocli.pipeline.sources.imports.fields import comparable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cocli.store.base import Store


class SaidColumn(RecordPart):
    column: Text
    field: Label
    """`-` for a column that is left out."""


class ImportShape(Record):
    """`campaigns/{campaign}/imports/{shape}.json`."""

    schema_id = "cocli.import-shape/1"
    key = ("shape",)

    shape: Label
    said: Many[SaidColumn]
    updated_at: UtcDatetime


def shape_of(columns: Sequence[str]) -> str:
    """Names the shape of a file: its columns, in whatever order and spelling."""
    names = sorted({comparable(column) or column for column in columns})
    return hashlib.sha256("\x1f".join(names).encode("utf-8", "replace")).hexdigest()[:16]


class ImportMemory:
    """The mappings of one campaign."""

    def __init__(self, store: Store, campaign: str) -> None:
        self._store = store
        self._campaign = campaign

    def recall(self, columns: Sequence[str]) -> Mapping[str, str]:
        """Column → field, as it was said last of a file of this shape."""
        try:
            data = self._store.get(self._key(columns)).data
        except NotFound:
            return {}
        known = json_records.read(ImportShape, data, file=self._key(columns))
        spelled = {comparable(column): column for column in reversed(columns)}
        named = ((entry.column, entry.field) for entry in known.said)
        return {spelled[comparable(column)]: name for column, name in named if comparable(column) in spelled}

    def remember(self, columns: Sequence[str], said: Mapping[str, str]) -> None:
        """Said again, the last word counts; columns that it does not name stay as they were said before."""
        everything = {**self.recall(columns), **said}
        record = ImportShape(
            shape=shape_of(columns),
            said=tuple(SaidColumn(column=column, field=name) for column, name in sorted(everything.items())),
            updated_at=self._store.now(),
        )
        self._store.put(self._key(columns), json_records.render(record))

    def _key(self, columns: Sequence[str]) -> str:
        return str(ImportMappingKey(self._campaign, shape_of(columns)))
