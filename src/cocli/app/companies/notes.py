"""Notes and meetings: what a person writes down about a company, and when they meet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cocli.app.companies.companies import company
from cocli.app.workspace import location
from cocli.errors import NotFound, UnknownCampaign, UsageError
from cocli.formats.markdown import MarkdownFile
from cocli.keys.paths import MeetingKey, NoteKey
from cocli.models.note import NoteFacts
from cocli.results.companies.drafts import new_note
from cocli.results.companies.entries import add_entry, meetings, notes
from cocli.results.companies.tags import check_tag
from cocli.results.companies.times import moment, parse_when, zone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import tzinfo

    from cocli.app.workspace import Workspace
    from cocli.models.note import Meeting, Note
    from cocli.results.companies.entries import CompanyEntry
    from cocli.results.companies.pages import CompanyPage
    from cocli.store.base import Store

_SOURCE = "person"
_TITLE = 80


@dataclass(frozen=True, slots=True)
class Added:
    """A note or a meeting that was written."""

    slug: str
    title: str
    date: str
    key: str
    path: str


@dataclass(frozen=True, slots=True)
class Appointment:
    """A meeting and the moment it is at; None where its date names no moment."""

    entry: CompanyEntry[Meeting]
    at: datetime | None


def zone_of(workspace: Workspace, campaign: str | None) -> tuple[str, tzinfo]:
    """The time zone of a campaign by its name; without one, that of the user's own settings."""
    settings = workspace.campaign(campaign).settings if campaign else workspace.settings
    name = str(settings.values["campaign", "timezone"].value)
    return name, zone(name)


def zone_of_company(workspace: Workspace, campaign: str | None, page: CompanyPage) -> tzinfo:
    """The time zone in which a company's times are shown: of the campaign that was named, else of its first one."""
    named = [campaign] if campaign else list(page.facts.campaigns if page.facts else ())
    for name in named:
        try:
            return zone_of(workspace, name)[1]
        except (UnknownCampaign, NotFound):
            continue  # a campaign that was removed since
    return zone_of(workspace, None)[1]


def add_note(
    store: Store, name: str, text: str, where: tzinfo, *, title: str | None = None, tags: Sequence[str] = ()
) -> Added:
    """Write a note about a company. Its title is its first line where none is given."""
    body = text.strip()
    if not body:
        raise UsageError(reason="An empty note is not kept")
    page, now = company(store, name), store.now()
    label = _one_line(title or body.splitlines()[0])
    day = now.astimezone(where).date().isoformat()
    facts = NoteFacts(source=_SOURCE, created_at=now)
    data = new_note(label, day, body, facts, tags=_tags(tags))
    key = add_entry(store, NoteKey, page.slug, day, label, data)
    return Added(page.slug, label, day, key, location(store, key))


def change_note(store: Store, entry: CompanyEntry[Note], text: str) -> bool:
    """Put another text in place of a note's; whether it differs. `Conflict` if somebody else was quicker."""
    if not text.strip():
        raise UsageError(reason="An empty note is not kept", hint=f"Remove it: cocli note rm {entry.slug} {entry.name}")
    stored = store.get(entry.key)
    file = MarkdownFile.parse(stored.data, file=entry.key)
    if file.body.strip() == text.strip():
        return False
    store.put(entry.key, replace(file, body=f"\n{text.strip()}\n").render(), if_match=entry.etag)
    return True


def list_notes(store: Store, slug: str | None = None) -> Iterator[CompanyEntry[Note]]:
    """The notes about a company, or about all, the earliest first."""
    return notes(store, slug)


def add_meeting(
    store: Store,
    name: str,
    when: str,
    where: tuple[str, tzinfo],
    *,
    title: str | None = None,
    attendees: Sequence[str] = (),
    place: str | None = None,
    text: str = "",
) -> Added:
    """Write down a meeting. The time is kept with its offset, and with the zone where it has none of its own."""
    page = company(store, name)
    at = parse_when(when, where[1])
    label = _one_line(title or f"Meeting with {page.title}")
    date = at.isoformat(timespec="minutes")
    facts = NoteFacts(source=_SOURCE, created_at=store.now())
    more = {"timezone": where[0], "place": place and _one_line(place), "attendees": tuple(map(_one_line, attendees))}
    data = new_note(label, date, text.strip(), facts, **more)
    key = add_entry(store, MeetingKey, page.slug, at.date().isoformat(), label, data)
    return Added(page.slug, label, date, key, location(store, key))


def appointments(
    store: Store, where: tzinfo, *, slug: str | None = None, after: datetime | None = None
) -> list[Appointment]:
    """Meetings, the soonest first; those without a moment come last, and not at all after a moment."""
    found = [Appointment(entry, _at(entry, where)) for entry in meetings(store, slug)]
    if after is not None:
        found = [note for note in found if note.at is not None and note.at >= after]
    return sorted(found, key=_order)


def _order(appointment: Appointment) -> tuple[bool, datetime, str]:
    at = appointment.at
    return at is None, at or datetime.max.replace(tzinfo=UTC), appointment.entry.key


def _at(entry: CompanyEntry[Meeting], where: tzinfo) -> datetime | None:
    if entry.record and entry.record.date is not None:
        at = moment(entry.record.date, where)
        return at.astimezone(where) if at else None
    return None


def _tags(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(check_tag(tag) for tag in tags)


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= _TITLE:
        return line
    return f"{line[: _TITLE - 1]}…"
