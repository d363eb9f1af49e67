"""Notes and meetings of the CRM: a person's text, which a program may only label."""

from __future__ import annotations

from datetime import date, datetime

from pydantic import ConfigDict

from cocli.models.record import Label, Record, RecordPart, Text, UtcDatetime, WrittenList, WrittenText

WrittenDate = date | datetime | Text
"""As the person wrote it: YAML reads `2026-11-15` as a date, `next week` as a text."""


class NoteFacts(RecordPart):
    """The front-matter key `cocli:` of a note or meeting: where it came from."""

    source: Label
    source_id: Text | None = None
    created_at: UtcDatetime


class Note(Record):
    """`companies/{slug}/notes/….md`."""

    model_config = ConfigDict(extra="allow")
    schema_id = "cocli.note/1"

    title: WrittenText | None = None
    date: WrittenDate | None = None
    tags: WrittenList = ()
    cocli: NoteFacts | None = None


class Meeting(Note):
    """`companies/{slug}/meetings/….md`."""

    schema_id = "cocli.meeting/1"

    attendees: WrittenList = ()
    place: WrittenText | None = None
