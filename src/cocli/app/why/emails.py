"""How the addresses of a prospect were found: page, method, context, and the document of the page."""

from __future__ import annotations

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


def email_entries(indexes: Indexes, one: Prospect) -> dict[str, EmailEntry]:
    index = indexes.open(indexes.ref("emails"))
    found: Iterable[EmailEntry] = (
        open_reader(index, fresh=True).get_many([index.spec.key_text(email) for email in one.all_emails]).values()
    )
    return {entry.email: entry for entry in found}


def _on_website(told: Told, email: str) -> Iterator[FoundEmail]:
    return (found for found in (told.website.emails if told.website else ()) if found.email == email)


def email_trail(one: Prospect, email: str, entry: EmailEntry | None, told: Told) -> EmailTrail:
    found = next(_on_website(told, email), None)
    origin = email_origin(one, email, entry)
    return EmailTrail(
        email,
        page=(entry.source_page if entry else None) or (found.page if found else None),
        method=(entry.method if entry else None) or (found.method if found else None),
        context=found.context if found else None,
        label=(entry.label if entry else None) or (found.label if found else None),
        name=(entry.name if entry else None) or (found.name if found else None),
        relation=found.relation if found else None,
        verification=entry.verification if entry else None,
        first_seen=entry.first_seen if entry else None,
        last_seen=entry.last_seen if entry else None,
        document=(origin.document if origin else None) or (found.document if found else None),
    )


def email_observations(one: Prospect, email: str, entry: EmailEntry | None, told: Told) -> Iterator[ObservedValue]:
    origin = email_origin(one, email, entry)
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
