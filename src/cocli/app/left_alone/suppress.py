"""The do-not-contact list of the whole data home: adding to it, taking off it, asking it."""

from __future__ import annotations

import getpass
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.campaigns.name import campaign_names
from cocli.errors import UsageError
from cocli.keys.identities import cid_from_place_id
from cocli.models.left_alone.suppression import Suppression
from cocli.pipeline.suppression.listing import SuppressionList
from cocli.pipeline.suppression.stored import read_entries, write_entry
from cocli.pipeline.suppression.subject import Subject, place_forms, read_subject
from cocli.pipeline.websites.hosts.providers import is_freemail
from cocli.pipeline.websites.hosts.shared import own_domain
from cocli.results.companies.pages import find_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from cocli.app.workspace import Workspace
    from cocli.results.companies.pages import CompanyPage
    from cocli.store.base import Store


@dataclass(frozen=True, slots=True)
class SubjectOptions:
    """How a value that a person wrote is to be read."""

    kind: str | None = None
    country: str | None = None
    """Where a phone number without a country is from."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One value, and what the list said of it before."""

    entry: Suppression
    status: str
    """`added`, `already_listed`, `removed`, `not_listed`."""


def list_stores(workspace: Workspace) -> list[Store]:
    """Where the list lies: in the store of the data home, and in that of every campaign that is elsewhere."""
    stores = {workspace.store.address: workspace.store}
    for name in sorted(campaign_names(workspace.store)):
        store = workspace.campaign(name).store
        stores.setdefault(store.address, store)
    return list(stores.values())


def subjects_of(workspace: Workspace, text: str, options: SubjectOptions) -> list[Subject]:
    """What a person means: a value, or a company by the name of its page, with all that it alone is known by."""
    if options.kind in (None, "company"):
        pages = [page for store in list_stores(workspace) for page in _pages(store, text, options)]
        if pages:
            return _of_pages(pages)
    subject = read_subject(text, kind=options.kind, country=options.country)
    if subject.kind == "domain" and (is_freemail(subject.value) or own_domain(f"http://{subject.value}/") is None):
        raise UsageError(
            reason=f"{subject.value} is shared by many: who has an address or a page there is not all one business",
            hint=f"Name the address: cocli suppress add somebody@{subject.value}",
        )
    return with_other_forms([subject])


def with_other_forms(subjects: Iterable[Subject]) -> list[Subject]:
    """A place id together with the customer id that follows from it: sources name a place by either."""
    found: dict[Subject, None] = {}
    for subject in subjects:
        found[subject] = None
        if subject.kind == "place":
            found.update({Subject("place", form): None for form in place_forms(subject.value)})
    return list(found)


def _pages(store: Store, text: str, options: SubjectOptions) -> list[CompanyPage]:
    if (options.kind is None and any(sign in text for sign in "@+/.")) or text.startswith(("ChIJ", "GhIJ", "0x")):
        return []  # an address, a number, a domain, an id: it is meant as such, whoever has a page of that name
    found = find_pages(store, text)
    if len(found) > 1:
        names = ", ".join(page.slug for page in found[:5])
        raise UsageError(reason=f'"{text}" may be any of {names}', hint="Name the page: cocli suppress add SLUG")
    return found


def _of_pages(pages: Sequence[CompanyPage]) -> list[Subject]:
    subjects: list[Subject] = []
    for page in pages:
        subjects += [Subject("company", company) for company in page.hashes]
        facts = page.facts
        if facts and facts.place_id:
            subjects += [Subject("place", facts.place_id), Subject("place", f"cid:{cid_from_place_id(facts.place_id)}")]
        website = facts.domain if facts else None
        if website and own_domain(f"http://{website}/"):
            subjects.append(Subject("domain", website))
    if not subjects:
        raise UsageError(
            reason=f"Nothing is known of {pages[0].slug} that it could be told by",
            hint="Name what it is known by: cocli suppress add DOMAIN, or NAME --kind name",
        )
    return list(dict.fromkeys(subjects))


def add(
    workspace: Workspace, subjects: Sequence[Subject], *, reason: str | None = None, until: datetime | None = None
) -> list[Listed]:
    """Put values on the list, in every store that has one."""
    now = workspace.store.now()
    entries = [entry_of(subject, now, reason=reason, until=until) for subject in subjects]
    return write_entries(workspace, entries)


def entry_of(
    subject: Subject,
    now: datetime,
    *,
    reason: str | None = None,
    until: datetime | None = None,
    forgotten: bool = False,
) -> Suppression:
    return Suppression(
        kind=subject.kind,
        sha256=subject.digest(),
        value=None if forgotten else subject.value,
        calling_code=subject.calling_code,
        reason=reason,
        until=until,
        forgotten=forgotten,
        added_by=who(),
        added_at=now,
        updated_at=now,
    )


def write_entries(workspace: Workspace, entries: Sequence[Suppression]) -> list[Listed]:
    """Write entries into every store. A value that was forgotten stays so: its hash is all that is kept."""
    stores = list_stores(workspace)
    known = {(entry.kind, entry.sha256): entry for store in stores for entry in read_entries(store)}
    done: list[Listed] = []
    for entry in entries:
        before = known.get((entry.kind, entry.sha256))
        if before is not None and before.forgotten and not before.removed and not entry.removed:
            entry = entry.with_changes(value=None, forgotten=True)  # noqa: PLW2901  what was forgotten is not told again
        written = [write_entry(store, entry) for store in stores]
        done.append(Listed(entry, "added" if any(written) else "already_listed"))
    workspace.forget_lists()
    return done


def remove(workspace: Workspace, subjects: Sequence[Subject]) -> list[Listed]:
    """Take values off the list. The entry stays and says so, for machines that do not know it yet."""
    now, done = workspace.store.now(), list[Listed]()
    for subject in subjects:
        digests = {entry.sha256: entry for entry in entries_of(workspace) if _is(entry, subject)}
        if not digests:
            done.append(Listed(entry_of(subject, now), "not_listed"))
        for entry in digests.values():
            gone = entry.with_changes(removed=True, value=None, reason=None, forgotten=False, updated_at=now)
            for store in list_stores(workspace):
                write_entry(store, gone)
            done.append(Listed(entry, "removed"))
    workspace.forget_lists()
    return done


def entries_of(workspace: Workspace, *, all_of_them: bool = False) -> list[Suppression]:
    """What is on the list, the youngest last; with `all_of_them` also what holds no more."""
    found: dict[tuple[str, str], Suppression] = {}
    for store in list_stores(workspace):
        for entry in read_entries(store):
            known = found.get((entry.kind, entry.sha256))
            if known is None or known.updated_at < entry.updated_at:
                found[entry.kind, entry.sha256] = entry
    entries = sorted(found.values(), key=lambda entry: (entry.added_at, entry.kind, entry.sha256))
    if all_of_them:
        return entries
    return list(SuppressionList(entries, now=workspace.store.now()).entries)


def check(workspace: Workspace, subjects: Sequence[Subject]) -> list[Suppression]:
    """The entries because of which a value is left alone: its own, or that of its domain."""
    entries = entries_of(workspace)
    found = [entry for entry in entries if any(_is(entry, subject) for subject in subjects)]
    for subject in subjects:
        if subject.kind in ("email", "domain"):
            host = subject.value.rpartition("@")[2]
            found += [entry for entry in entries if entry.kind == "domain" and SuppressionList([entry]).host(host)]
    return list(dict.fromkeys(found))


def _is(entry: Suppression, subject: Subject) -> bool:
    return entry.kind == subject.kind and entry.sha256 == subject.digest(entry.salt)


def who() -> str:
    """Who did it, for people: name and machine."""
    try:
        name = getpass.getuser()
    except OSError:  # a process without a name, as in a container
        name = "somebody"
    return f"{name}@{socket.gethostname()}"
