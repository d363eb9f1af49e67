"""A person of the CRM: a Markdown file that a person edits, with one front-matter key that belongs to programs."""

from __future__ import annotations

from pydantic import ConfigDict

from cocli.models.record import (
    E164Text,
    EmailText,
    Hash16,
    Many,
    Record,
    RecordPart,
    Text,
    UtcDatetime,
    WrittenList,
    WrittenText,
)


class PersonFacts(RecordPart):
    """The front-matter key `cocli:` of a person."""

    company_hash: Hash16 | None = None
    emails: Many[EmailText] = ()
    phones: Many[E164Text] = ()
    source_page: Text | None = None
    updated_at: UtcDatetime


class Person(Record):
    """`people/{slug}.md`."""

    model_config = ConfigDict(extra="allow")
    schema_id = "cocli.person/1"

    name: WrittenText | None = None
    role: WrittenText | None = None
    company: WrittenText | None = None
    email: WrittenText | None = None
    phone: WrittenText | None = None
    tags: WrittenList = ()
    cocli: PersonFacts | None = None
