"""How companies, people, notes and meetings are shown: rows and documents, from what `cocli.app` found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cocli.app.companies.companies import CompanyView
    from cocli.app.companies.notes import Added, Appointment
    from cocli.cli.kit.output import Output
    from cocli.results.companies.entries import CompanyEntry
    from cocli.results.companies.pages import CompanyPage
    from cocli.results.companies.people import PersonPage

_SHORT = 60


def shortened(text: str | None, length: int = _SHORT) -> str:
    line = " ".join((text or "").split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


# --- companies


def page_document(page: CompanyPage) -> dict[str, Any]:
    company, facts = page.company, page.facts
    found_emails = facts.emails if facts else ()
    return {
        "slug": page.slug,
        "name": page.title,
        "website": (company and company.website) or (facts.domain if facts else None),
        "phone": (company and company.phone) or (facts.phone_e164 if facts else None),
        "email": (company and company.email) or next(iter(found_emails), None),
        "status": company.status if company else None,
        "tags": list(page.tags),
        "campaigns": list(facts.campaigns) if facts else [],
        "company_hash": page.company_hash,
        "problem": page.problem,
    }


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


def show_company(output: Output, view: CompanyView) -> None:
    said = page_document(view.page)
    rows: list[tuple[str, object]] = [(name, ", ".join(v) if isinstance(v, list) else v) for name, v in said.items()]
    facts = view.page.facts
    if facts is not None:
        rows += [("address", facts.address), ("categories", ", ".join(facts.categories))]
        rows += [("place id", facts.place_id), ("e-mails", ", ".join(facts.emails)), ("updated", facts.updated_at)]
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


def _entry_row(entry: CompanyEntry[Any]) -> tuple[object, ...]:
    title = entry.record.title if entry.record else f"broken: {entry.problem}"
    return (entry.name, shortened(title), shortened(entry.body))


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
    )


def added_document(added: Added) -> dict[str, Any]:
    return {"slug": added.slug, "title": added.title, "date": added.date, "path": added.path, "status": "created"}
