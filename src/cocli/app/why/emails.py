"""How the addresses of a prospect were found: page, method, context, and the document of the page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cocli.app.why.answers import KEPT, EmailTrail, ObservedValue
from cocli.app.why.trace import email_origin
from cocli.index.reader import open_reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.why.observations import Told
    from cocli.models.email import EmailEntry
    from cocli.models.prospect import Prospect
    from cocli.models.website import FoundEmail


def email_entries(indexes: Indexes, prospect: Prospect) -> dict[str, EmailEntry]:
    index = indexes.open(indexes.ref("emails"))
    found: Iterable[EmailEntry] = (
        open_reader(index, fresh=True).get_many([index.spec.key_text(email) for email in prospect.all_emails]).values()
    )
    return {entry.email: entry for entry in found}


def _on_website(told: Told, email: str) -> Iterator[FoundEmail]:
    if told.website is not None:
        yield from (found for found in told.website.emails if found.email == email)


def email_trail(prospect: Prospect, email: str, entry: EmailEntry | None, told: Told) -> EmailTrail:
    """What the index says comes before what the stored website says; each may say what the other does not."""
    trail = EmailTrail(email)
    found = next(_on_website(told, email), None)
    if found is not None:
        trail = EmailTrail(
            email,
            page=found.page,
            method=found.method,
            context=found.context,
            label=found.label,
            name=found.name,
            relation=found.relation,
            reason=found.reason,
            chosen=_chosen(told, email),
            confidence=found.confidence,
            document=found.document,
        )
    if entry is not None:
        trail = replace(
            trail,
            page=entry.source_page or trail.page,
            method=entry.method or trail.method,
            label=entry.label or trail.label,
            name=entry.name or trail.name,
            confidence=entry.confidence if entry.confidence is not None else trail.confidence,
            verification=entry.verification,
            first_seen=entry.first_seen,
            last_seen=entry.last_seen,
        )
    origin = email_origin(prospect, email, entry)
    if origin is not None and origin.document:
        trail = replace(trail, document=origin.document)
    return trail


def _chosen(told: Told, email: str) -> str | None:
    """Why the website has it as the address to write to."""
    if told.website is None or told.website.primary_email != email:
        return None
    return told.website.primary_reason


def email_observations(prospect: Prospect, email: str, entry: EmailEntry | None, told: Told) -> Iterator[ObservedValue]:
    origin = email_origin(prospect, email, entry)
    seen: set[str | None] = set()
    if origin is not None:
        seen.add(origin.document)
        yield ObservedValue(
            entry.source_page if entry else email, origin.source, origin.observed_at, KEPT, True, None, origin.reason,
            origin.document,
        )  # fmt: skip
    for found in _on_website(told, email):
        if found.document not in seen and told.website is not None:
            seen.add(found.document)
            yield ObservedValue(
                found.page, "website", told.website.crawled_at, "website", False, None, None, found.document
            )
