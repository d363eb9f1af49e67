"""Removing pages, notes, meetings and people, because a person asks for it. Only what was read is removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.app.companies.companies import company
from cocli.app.companies.people import person
from cocli.app.workspace import location
from cocli.errors import Conflict, NotFound, UsageError
from cocli.keys.paths import CompanyKey
from cocli.models.company import CompanyFacts
from cocli.results.companies.drafts import draft
from cocli.results.companies.entries import meetings, notes
from cocli.results.companies.pages import file_of
from cocli.results.companies.union import words_of
from cocli.store import settled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.models.note import Meeting, Note
    from cocli.results.companies.entries import CompanyEntry
    from cocli.results.companies.pages import CompanyPage
    from cocli.results.companies.people import PersonPage
    from cocli.store.base import Store

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class CompanyLoss:
    """What goes with a page when it is removed."""

    page: CompanyPage
    path: str
    files: tuple[str, ...]
    """The keys of its notes, meetings and other files."""
    has_text: bool
    """Whether a person wrote something into the page itself: a text, or keys beside the tags."""

    @property
    def is_written(self) -> bool:
        return bool(self.files) or self.has_text


def company_loss(store: Store, name: str) -> CompanyLoss:
    """What `remove_company` would remove."""
    page = company(store, name)
    folder = str(CompanyKey(page.slug)).rpartition("/")[0]
    files = tuple(info.key for info in store.list(f"{folder}/") if info.key != page.key)
    words = None if page.problem else words_of(page)
    has_text = words is None or bool(words.body.strip()) or bool(set(words.values) - {"tags"})
    return CompanyLoss(page, location(store, page.key), files, has_text)


def remove_company(store: Store, loss: CompanyLoss, *, with_notes: bool) -> None:
    """Remove a company's page. What people wrote goes only where they say so.

    The file of a company that a campaign found stays, as a mark: without it the next refresh would make the page again.
    """
    if loss.is_written and not with_notes:
        raise UsageError(
            reason=f"{loss.page.slug} has {_described(loss)}",
            hint=f"Remove all of it with: cocli company rm {loss.page.slug} --with-notes",
        )
    # The page last: a crash leaves one that can be removed again.
    for key in loss.files:
        store.delete(key)
    page = loss.page
    if page.company_hash is None:
        store.delete(page.key, if_match=page.stored.etag)
    elif settled.swap(store, page.key, _mark(store, page), page.stored.etag) is None:
        raise Conflict(key=page.key)


def _described(loss: CompanyLoss) -> str:
    words = [f"{len(loss.files)} notes, meetings or other files"] if loss.files else []
    if loss.has_text:
        words.append("text of yours on its page")
    return " and ".join(words)


def _mark(store: Store, page: CompanyPage) -> bytes:
    now = store.now()
    facts = CompanyFacts(company_hash=page.hashes[0], also=page.hashes[1:] or None, ended_at=now, updated_at=now)
    return draft({}, facts=facts)


def restore_company(store: Store, slug: str) -> str:
    """Forget that a page was removed; the next refresh makes it again. Returns the slug."""
    page = file_of(store, slug.strip())
    if page is None:
        raise NotFound(key=f"company {slug}", hint="See companies with: cocli company ls")
    if page.moved_to:
        raise UsageError(reason=f"{page.slug} was brought together with {page.moved_to}; it was not removed")
    if not page.is_former:
        raise UsageError(reason=f"{page.slug} was not removed")
    store.delete(page.key, if_match=page.stored.etag)
    return page.slug


# --- notes, meetings, people


def note_of(store: Store, name: str, text: str) -> CompanyEntry[Note]:
    """The note of a company that is meant: by its name, its title, or the beginning of its name."""
    page = company(store, name)
    return _meant(notes(store, page.slug), text, f"note {text} of {page.slug}", f"cocli note ls {page.slug}")


def meeting_of(store: Store, name: str, text: str) -> CompanyEntry[Meeting]:
    page = company(store, name)
    return _meant(meetings(store, page.slug), text, f"meeting {text} of {page.slug}", f"cocli meeting ls {page.slug}")


def _meant(entries: Iterable[CompanyEntry[Any]], text: str, what: str, command: str) -> CompanyEntry[Any]:
    wanted, every = text.strip().casefold(), list(entries)
    exact = [entry for entry in every if wanted == entry.name.casefold()]
    titled = [entry for entry in every if entry.record and (entry.record.title or "").casefold() == wanted]
    begun = [entry for entry in every if wanted and entry.name.casefold().startswith(wanted)]
    found = exact or titled or begun
    if not found:
        raise NotFound(key=what, hint=f"See them with: {command}")
    if len(found) > 1:
        known = ", ".join(entry.name for entry in found[:_SHOWN])
        raise UsageError(reason=f'"{text}" may be {len(found)}: {known}', hint="Name one by its whole name.")
    return found[0]


def remove_entry(store: Store, entry: CompanyEntry[Any]) -> str:
    """Remove a note or a meeting; returns where it was."""
    store.delete(entry.key, if_match=entry.etag)
    return location(store, entry.key)


def remove_person(store: Store, name: str) -> PersonPage:
    """Remove a person's file. `Conflict` if somebody changed it since it was found."""
    page = person(store, name)
    store.delete(page.stored.key, if_match=page.stored.etag)
    return page
