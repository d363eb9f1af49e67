"""What makes one kind of index: its record, its key, where its loose records lie, how two of one key become one.

`cocli.pipeline.indexes` says which kinds there are; everything else in this package works on any of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

from cocli.errors import IdentityError, InvalidKey, RecordError
from cocli.formats import csv_records, json_records, usv
from cocli.models.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.keys.paths import IndexRef

R = TypeVar("R", bound=Record)

SHARD_ROWS = 8000
"""Rows of a shard, about: some megabytes, so that a missing one is one quick request and a lookup one short search."""


FOLD_ROWS = 20_000
"""The delta is folded into the base when it has more rows than this, and more than a sixteenth of the base's."""


class LooseFormat(StrEnum):
    USV = "usv"
    CSV = "csv"
    JSON = "json"


@dataclass(frozen=True)
class IndexSpec(Generic[R]):
    """One kind of index.

    `key_text` makes the sort key of a row from the texts of the model's `key` fields. It is ASCII, one text is one
    record, and its byte order is the order of every shard. It is cheap, because a lookup computes it a dozen times.
    """

    name: str
    model: type[R]
    key_text: Callable[..., str]
    merge: Callable[[R, R], R]
    """Commutative, associative, idempotent: records may arrive in any order, and more than once."""
    loose_format: LooseFormat
    loose_key: Callable[[IndexRef, R], str]
    loose_folder: Callable[[IndexRef], str]
    is_loose: Callable[[str], bool]
    """Whether a listed key has the shape of a loose record."""
    former_key: Callable[[IndexRef, R], str] | None = None
    """Where an older version kept such a record: it is read from there, and never written there."""
    keeps_loose: bool = False
    """The loose objects belong to somebody else, are written once, and stay where they are after they were packed."""
    key_of_loose: Callable[[str], str] | None = None
    """For those: the sort key that follows from the object's key, so that what is packed need not be read again."""
    shard_rows: int = SHARD_ROWS
    fold_rows: int = FOLD_ROWS

    def key_of(self, record: R) -> str:
        """The sort key of a record."""
        return self.key_text(*[str(getattr(record, name)) for name in self.model.key])

    def render_loose(self, record: R) -> bytes:
        if self.loose_format is LooseFormat.USV:
            return usv.render(self.model, [record])
        if self.loose_format is LooseFormat.CSV:
            return csv_records.render(self.model, [record])
        return json_records.render(record)

    def read_loose(self, data: bytes, *, file: str) -> R:
        """The record of a loose object; a FormatError where it is none."""
        if self.loose_format is LooseFormat.USV:
            return usv.read_one(self.model, data, file=file)
        if self.loose_format is LooseFormat.CSV:
            return csv_records.read_one(self.model, data, file=file)
        return json_records.read(self.model, data, file=file)

    def check(self, ref: IndexRef, record: R) -> None:
        """Refuse a record that does not belong into this index: another campaign's, or one whose key does not follow.

        The campaign is what the caller says, never what some setting says: records once went into whichever campaign
        was the current one of the machine that received them.
        """
        if reason := self.misfit(ref, record):
            raise RecordError(model=self.model.__name__, reason=reason)

    def misfit(self, ref: IndexRef, record: R) -> str | None:
        """Why a record does not belong into this index; None if it does."""
        owner = owner_of(record, ref)
        if owner not in (None, ref.campaign):
            return f"it belongs to campaign {owner}, not to {ref.campaign}"
        try:
            self.loose_key(ref, record)
            key = self.key_of(record)
        except (IdentityError, InvalidKey) as error:
            return f"its key cannot be written: {error.message}"
        if not key or not key.isascii() or not key.isprintable():
            return "its key cannot be written"
        return None


def owner_of(record: object, ref: IndexRef) -> str | None:
    """The campaign that a record names. Records of an index that campaigns share belong to none."""
    if ref.campaign is None:
        return None
    owner: str | None = getattr(record, "campaign", None)
    return owner
