"""Where the values of a migrated record came from: `legacy`, at the time that the older row gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from cocli.models.origin import Origin
from cocli.models.record import Record
from cocli.pipeline.merge.transformations import origin_fields

if TYPE_CHECKING:
    from datetime import datetime

SOURCE = "legacy"
"""Counts as much as any import: whatever a source of today says is better known."""

R = TypeVar("R", bound=Record)


def recorded(model: type[R], values: dict[str, Any], observed_at: datetime) -> R:
    """The record, with the origin of every value whose source matters when records are merged."""
    fields = origin_fields(model, values)
    origins = (Origin(fields=tuple(fields), source=SOURCE, observed_at=observed_at),) if fields else ()
    return model.checked({**values, "origins": origins})
