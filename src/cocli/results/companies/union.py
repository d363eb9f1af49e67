"""Two pages of one company, brought together: one goes on, the other one leaves a file that says where it went.

Nothing that a person wrote is lost. Keys that only the other page has are added to the one that goes on, tags of both
are one list, notes and meetings move along. What cannot stand in one page as it was (a text, a key that says something
else, a comment) is kept as it stood, in a note. Every step can be done again, so a crash between any two is mended by
the next try; the former page is replaced last, and only if nobody has changed it meanwhile.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.errors import Conflict, FormatError, NotFound, UsageError
from cocli.formats import markdown
from cocli.formats.markdown import PROGRAM_KEY, MarkdownFile
from cocli.keys.identities import company_hash
from cocli.keys.paths import CompanyKey, NoteKey
from cocli.models.company import CompanyFacts
from cocli.models.note import NoteFacts
from cocli.models.record import render_utc
from cocli.results.companies import writing
from cocli.results.companies.drafts import draft, new_note
from cocli.results.companies.facts import refreshed
from cocli.results.companies.pages import CompanyPage, file_of, read_company
from cocli.results.companies.tags import KEY as TAGS
from cocli.results.companies.tags import with_tag
from cocli.store import settled

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cocli.store.base import Store, StoredObject

SOURCE = "merge"
_TRIES = 20
_NAMES = 1000
_FENCE = "```"


@dataclass(frozen=True, slots=True)
class PageUnion:
    """Two pages that are one now."""

    kept: str
    gone: str
    files: int
    """Notes, meetings and other files that moved along."""
    note: str | None
    """The key of the note that has what could not stand in the page."""


@dataclass(frozen=True, slots=True)
class _Words:
    """What a person wrote into a page."""

    values: Mapping[str, Any]
    front: str
    """Their lines of the front matter, as they stand."""
    body: str


def unite(store: Store, kept: CompanyPage, gone: CompanyPage, *, at: datetime) -> PageUnion:
    """Bring two pages together. `FormatError` where one of them cannot be read: nothing is changed then."""
    if kept.slug == gone.slug:
        raise UsageError(reason=f"{kept.slug} is one page already")
    files, note = 0, None
    for _ in range(_TRIES):
        words = words_of(gone)
        read_company(kept.stored.data, file=kept.key)
        writing.change(store, kept.key, lambda data: _with_page(data, kept, gone, words))  # noqa: B023  called at once
        note = _keep_words(store, kept, gone, words) or note
        files += _move_files(store, gone.slug, kept.slug)
        if settled.swap(store, gone.key, _pointer(gone, kept.slug, at), gone.stored.etag) is not None:
            return PageUnion(kept.slug, gone.slug, files, note)
        there = file_of(store, gone.slug)  # somebody wrote into it meanwhile: their words come along too
        if there is None:
            return PageUnion(kept.slug, gone.slug, files, note)
        gone = there
    raise Conflict(key=gone.key)


def has_leftovers(store: Store, page: CompanyPage) -> bool:
    """Whether somebody wrote into a page after it had gone, or a file came to lie beside it: a sync may bring both."""
    if page.moved_to is None:
        return False
    return page.stored.data != _pointer_text(page) or any(_files(store, page.slug))


# --- what a person wrote


def words_of(page: CompanyPage) -> _Words:
    """A person's part of a page; of a page that has gone, what they wrote into it since."""
    file = MarkdownFile.parse(page.stored.data, file=page.key)
    read_company(page.stored.data, file=page.key)
    values = {str(name): value for name, value in file.front.items() if name != PROGRAM_KEY}
    body = "" if page.moved_to and file.body.strip() == _sentence(page.moved_to) else file.body
    return _Words(values, file.with_program(None).front_text, body)


def _with_page(data: bytes, kept: CompanyPage, gone: CompanyPage, words: _Words) -> bytes:
    """The page that goes on, with what the other one adds."""
    for name, value in words.values.items():
        data = _with_key(data, name, value, kept.key)
    known = read_company(data, file=kept.key).facts
    facts = _facts(known, gone, kept.slug)
    if facts is not None and facts != known:
        data = markdown.update(data, facts, file=kept.key)
    return data


def _with_key(data: bytes, name: str, value: Any, file: str) -> bytes:
    """With a key that it does not have. One that says something else is in the note, as it stood."""
    try:
        if name == TAGS:
            for tag in value if isinstance(value, list) else [value]:
                data = with_tag(data, str(tag), file=file) if tag else data
            return data
        page = MarkdownFile.parse(data, file=file)
        if name in page.front or value is None:
            return data
        changed = page.with_value(name, value).render()
        read_company(changed, file=file)
    except (FormatError, TypeError):
        return data  # a value that cannot be written on one line (a date, say): the note has it
    return changed


def _is_carried(data: bytes, words: _Words, file: str) -> bool:
    """Whether the page that goes on says all that the other one said."""
    if words.body.strip() or "#" in words.front:
        return False
    front = MarkdownFile.parse(data, file=file).front
    for name, value in words.values.items():
        if name == TAGS and isinstance(value, list):
            there = front.get(TAGS)
            if not isinstance(there, list) or not all(tag in there for tag in value):
                return False
        elif front.get(name) != value:
            return False
    return True


def _keep_words(store: Store, kept: CompanyPage, gone: CompanyPage, words: _Words) -> str | None:
    """The note that has what could not stand in the page. Its name follows from its content: written once."""
    if _is_carried(store.get(kept.key).data, words, kept.key):
        return None
    said = f"{words.front}\0{words.body}".encode()
    key = str(NoteKey(kept.slug, f"from-{gone.slug[:80]}-{hashlib.sha256(said).hexdigest()[:12]}"))
    facts = NoteFacts(source=SOURCE, source_id=gone.slug, created_at=gone.stored.modified)
    head = new_note(f"From the page {gone.slug}", render_utc(gone.stored.modified)[:10], "", facts)
    writing.create(store, [(key, head + _quoted(gone.slug, words).encode())])
    return key


def _quoted(slug: str, words: _Words) -> str:
    parts = [f"\nThe page {slug} was brought together with this one. There was written:\n"]
    if words.front.strip():
        fence = _FENCE
        while fence in words.front:
            fence += "`"
        newline = "" if words.front.endswith("\n") else "\n"
        parts.append(f"\n{fence}yaml\n{words.front}{newline}{fence}\n")
    if words.body.strip():
        parts.append(f"\n{words.body}")
    return "".join(parts)


# --- what the program found


def _facts(known: CompanyFacts | None, gone: CompanyPage, slug: str) -> CompanyFacts | None:
    """The program's part: the company is known under the hashes and slugs of both."""
    other = gone.company.cocli if gone.company else None
    if known is None:
        if other is None or other.ended_at is not None:
            return None
        known = other
    elif other is not None and other.ended_at is None:
        known = refreshed(known, other)
    hashes = {*(known.also or ()), *(gone.hashes if other else ())} - {known.company_hash, _own_hash(gone.slug)}
    slugs = {*(known.formerly or ()), *((other.formerly if other else None) or ()), gone.slug} - {slug}
    campaigns = {*known.campaigns, *(other.campaigns if other else ())}
    return known.model_copy(
        update={
            "also": tuple(sorted(hashes)) or None,
            "formerly": tuple(sorted(slugs)) or None,
            "campaigns": tuple(sorted(campaigns)),
        }
    )


def _own_hash(slug: str) -> str:
    """Stands for the hash of a company that a person made: nothing but its page knows it."""
    return company_hash(f"page:{slug}")


def _pointer(gone: CompanyPage, kept: str, at: datetime) -> bytes:
    """The file that a page leaves."""
    facts = CompanyFacts(
        company_hash=gone.company_hash or _own_hash(gone.slug),
        also=gone.hashes[1:] or None,
        moved_to=kept,
        ended_at=at,
        updated_at=at,
    )
    return draft({}, _sentence(kept), facts)


def _pointer_text(page: CompanyPage) -> bytes:
    """The file as this program writes it, for a page that has gone."""
    return draft({}, _sentence(page.moved_to or ""), page.former)


def _sentence(slug: str) -> str:
    return f"This company's page is [[{slug}]]."


# --- files beside a page


def _files(store: Store, slug: str) -> list[str]:
    """Everything in a page's folder but the page."""
    index = str(CompanyKey(slug))
    return [info.key for info in store.list(f"{index.rpartition('/')[0]}/") if info.key != index]


def _move_files(store: Store, gone: str, kept: str) -> int:
    """Notes, meetings and whatever else lies there. A copy is there before the original goes."""
    source, target = (str(CompanyKey(slug)).rpartition("/")[0] for slug in (gone, kept))
    moved = 0
    for key in _files(store, gone):
        try:
            stored = store.get(key)
        except NotFound:
            continue  # somebody else moves them too
        _copy(store, stored, f"{target}{key.removeprefix(source)}")
        try:
            store.delete(key, if_match=stored.etag)
        except Conflict:
            continue  # written anew meanwhile: the next look takes that along
        moved += 1
    return moved


def _copy(store: Store, stored: StoredObject, wanted: str) -> None:
    """Under its own name, or with a number where another file has it."""
    stem, point, ending = wanted.rpartition(".")
    for number in range(1, _NAMES):
        key = wanted if number == 1 else f"{stem}-{number}{point}{ending}"
        if settled.create(store, key, stored.data) is not None or store.get(key).data == stored.data:
            return
    raise Conflict(key=wanted)
