"""How companies, people, notes and meetings are shown: rows and documents, from what `cocli.app` found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from cocli.app.companies.companies import Changed, CompanyView
    from cocli.app.companies.notes import Added, Appointment
    from cocli.app.companies.splitting import ProspectPart, SplitDone
    from cocli.cli.kit.output import Output
    from cocli.models.company import CompanyFacts
    from cocli.results.companies.entries import CompanyEntry
    from cocli.results.companies.pages import CompanyPage
    from cocli.results.companies.people import PersonPage

_SHORT = 60


def shortened(text: str | None, length: int = _SHORT) -> str:
    line = " ".join((text or "").split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


# --- companies


def page_document(page: CompanyPage) -> dict[str, Any]:
    """A company as a person knows it: what they wrote, else what was found."""
    facts, written = page.facts, page.written
    found_emails = facts.emails if facts else ()
    return {
        "slug": page.slug,
        "name": page.title,
        "website": written.get("website") or (facts.domain if facts else None),
        "phone": written.get("phone") or (facts.any_phone if facts else None),
        "email": written.get("email") or next(iter(found_emails), None),
        "address": _address(page, written),
        "status": page.company.status if page.company else None,
        "tags": list(page.tags),
        "campaigns": list(facts.campaigns) if facts else [],
        "company_hash": page.company_hash,
        "problem": page.problem,
    }


def _address(page: CompanyPage, written: Mapping[str, str]) -> str | None:
    """The line that a person wrote, else the parts that they wrote, else what was found."""
    parts = [written[part] for part in ("street", "city", "region", "postcode", "country") if part in written]
    if "address" in written:
        return written["address"]
    if parts:
        return ", ".join(parts)
    return page.facts.address if page.facts else None


def company_row(page: CompanyPage) -> tuple[object, ...]:
    said = page_document(page)
    if page.problem:
        return (page.slug, f"broken: {page.problem}", "", "", "", "")
    columns = (shortened(said["name"]), said["website"], said["phone"], said["email"], ", ".join(page.tags))
    return (page.slug, *columns)


def view_document(view: CompanyView) -> dict[str, Any]:
    facts = view.page.facts
    return {
        "company": page_document(view.page),
        "path": view.path,
        "record": facts.model_dump(mode="json", exclude_none=True) if facts else None,
        "body": view.page.body,
        "notes": [entry_document(note) for note in view.notes],
        "meetings": [entry_document(meeting) for meeting in view.meetings],
        "people": [person_document(person) for person in view.people],
    }


def show_company(output: Output, view: CompanyView, zone: tzinfo) -> None:
    said = page_document(view.page)
    rows: list[tuple[str, object]] = [(name, ", ".join(v) if isinstance(v, list) else v) for name, v in said.items()]
    facts = view.page.facts
    if facts is not None:
        rows += [("found address", facts.address), ("categories", ", ".join(facts.categories))]
        rows += [("hours", _hours(facts)), ("found people", _found_people(facts))]
        rows += [
            ("formerly", ", ".join(facts.formerly or ())),
            ("place id", facts.place_id),
            ("e-mails", ", ".join(facts.emails)),
            ("updated", facts.updated_at.astimezone(zone).isoformat(" ", "minutes")),
        ]
    rows.append(("file", view.path))
    output.table(("what", "value"), [row for row in rows if row[1] not in (None, "")])
    if view.page.body.strip():
        output.text(f"\n{view.page.body.strip()}\n")
    if view.people:
        output.text("\n")
        columns = ("people", "name", "role", "email", "phone")
        output.table(columns, [(row[0], row[1], row[2], row[4], row[5]) for row in map(person_row, view.people)])
    for heading, entries in (("notes", view.notes), ("meetings", view.meetings)):
        if entries:
            output.text("\n")
            output.table((heading, "title", "text"), [_entry_row(entry) for entry in entries])


def _hours(facts: CompanyFacts) -> str:
    return ", ".join(f"{opening.day} {opening.opens}-{opening.closes}" for opening in facts.hours or ())


def _found_people(facts: CompanyFacts) -> str:
    found = [", ".join(filter(None, (person.name, person.role, person.email))) for person in facts.people or ()]
    return "; ".join(found)


def _entry_row(entry: CompanyEntry[Any]) -> tuple[object, ...]:
    title = entry.record.title if entry.record else f"broken: {entry.problem}"
    return (entry.name, shortened(title), shortened(entry.body))


def report_change(output: Output, changed: Changed, yes: str, no: str) -> None:
    """What became of a company's file."""
    status = yes if changed.changed else no
    if output.as_json:
        output.document({"company": {"slug": changed.slug, "path": changed.path, "status": status}})
        return
    output.line(changed.path)
    output.talk(f"{status.capitalize()}." if changed.changed else f"{no}: nothing to change.")


# --- people


def person_document(page: PersonPage) -> dict[str, Any]:
    person = page.person
    facts = person.cocli if person else None
    found_emails = facts.emails if facts else ()
    found_phones = facts.phones if facts else ()
    return {
        "slug": page.slug,
        "name": page.title,
        "role": person.role if person else None,
        "company": page.company,
        "email": (person and person.email) or next(iter(found_emails), None),
        "phone": (person and person.phone) or next(iter(found_phones), None),
        "tags": list(person.tags) if person else [],
        "problem": page.problem,
    }


def person_row(page: PersonPage) -> tuple[object, ...]:
    said = person_document(page)
    if page.problem:
        return (page.slug, f"broken: {page.problem}", "", "", "", "")
    return (page.slug, shortened(said["name"]), said["role"], said["company"], said["email"], said["phone"])


# --- notes and meetings


def entry_document(entry: CompanyEntry[Any]) -> dict[str, Any]:
    record = entry.record
    document: dict[str, Any] = {
        "slug": entry.slug,
        "name": entry.name,
        "title": record.title if record else None,
        "date": str(record.date) if record and record.date is not None else None,
        "tags": list(record.tags) if record else [],
        "text": entry.body,
        "problem": entry.problem,
    }
    if record is not None and hasattr(record, "attendees"):
        document |= {"place": record.place, "attendees": list(record.attendees)}
    return document


def appointment_document(appointment: Appointment) -> dict[str, Any]:
    return {**entry_document(appointment.entry), "at": appointment.at}


def appointment_row(appointment: Appointment) -> tuple[object, ...]:
    entry, record = appointment.entry, appointment.entry.record
    day = str(record.date) if record else ""
    when = appointment.at.isoformat(sep=" ", timespec="minutes") if appointment.at else day
    who = ", ".join(record.attendees) if record else ""
    return (
        when,
        entry.slug,
        shortened(record.title if record else f"broken: {entry.problem}"),
        who,
        record.place if record else "",
        entry.name,
    )


def added_document(added: Added) -> dict[str, Any]:
    return {"slug": added.slug, "title": added.title, "date": added.date, "path": added.path, "status": "created"}


def part_row(part: ProspectPart) -> tuple[str, ...]:
    """What a prospect was put together from, a line each."""
    record = part.record
    return (
        record.company_hash,
        record.name,
        record.address or "",
        record.website or "",
        record.phone or "",
        part.reason or "",
    )


def split_document(done: SplitDone) -> dict[str, Any]:
    return {
        "status": "split",
        "campaign": done.whole.campaign,
        "company_hash": done.whole.company_hash,
        "name": done.whole.name,
        "part": {"company_hash": done.part.company_hash, "name": done.part.name},
    }
