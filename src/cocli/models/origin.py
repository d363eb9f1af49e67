"""Where the values of a record came from: one entry per observation that still has a value in it.

An entry names its fields, not the other way round: a record of thirty fields has two or three observations behind it.
If each field named its observation, the record would repeat each of them ten times.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field

from cocli.models.record import Label, Many, RecordPart, Text, UtcDatetime, UuidText

Stamp = tuple[datetime, str, str, str]
"""What tells observations apart, in the order in which they are compared: time, source, document, reason."""


class Origin(RecordPart):
    """One observation, and the fields whose values are its."""

    fields: Many[Text]
    """The names of the fields; one entry of a map is `socials.facebook`."""
    source: Label
    """Who said so; how much it counts is a table of the merge rules."""
    observed_at: UtcDatetime
    document: UuidText | None = None
    """The capture that the values were read from."""
    reason: Text | None = None
    """Why this observation was taken for one of this business, where that was concluded."""

    @property
    def stamp(self) -> Stamp:
        return (self.observed_at, self.source, self.document or "", self.reason or "")


def _canonical(origins: tuple[Origin, ...]) -> tuple[Origin, ...]:
    """One order for entries and for the fields of each, so that equal origins are equal records."""
    # Every reader of a file passes here: what was written by this program is only looked at.
    names: list[str] = []
    for origin in origins:
        if list(origin.fields) != sorted(origin.fields):
            origins = tuple(entry.model_copy(update={"fields": tuple(sorted(entry.fields))}) for entry in origins)
            break
    for origin in origins:
        names += origin.fields
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two origins claim the field {twice}")
    if len(origins) > 1:
        return tuple(sorted(origins, key=lambda origin: (origin.stamp, origin.fields)))
    return origins


Origins = Annotated[tuple[Origin, ...], Field(strict=False), AfterValidator(_canonical)]
"""The observations behind a record. A field has one origin at most."""


def origin_of(origins: Iterable[Origin], field: str) -> Origin | None:
    """Where the value of a field came from; none is known for values of older files."""
    return next((origin for origin in origins if field in origin.fields), None)
