"""Notes and meetings of companies: made under names that sort by day, read and listed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from cocli.errors import Conflict, FormatError, InvalidKey, NotFound
from cocli.formats import markdown
from cocli.formats.markdown import MarkdownFile
from cocli.keys.paths import CompanyKey, MeetingKey, NoteKey
from cocli.keys.slugs import slug_of
from cocli.models.note import Meeting, Note
from cocli.results.companies import writing
from cocli.results.companies.pages import FOLDER
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.store.base import Store

N = TypeVar("N", Note, Meeting)
_LOT = 500
_NAMES = 1000


@dataclass(frozen=True, slots=True)
class CompanyEntry(Generic[N]):
    """One note or meeting. `record` is None where the front matter cannot be read; `problem` says why."""

    slug: str
    name: str
    key: str
    record: N | None
    body: str
    problem: str | None = None
    etag: str = ""


def add_entry(store: Store, kind: type[NoteKey | MeetingKey], slug: str, day: str, title: str, data: bytes) -> str:
    """Create a note or a meeting; the second of one day and title gets a number. Returns its key."""
    label = slug_of(title, hashlib.sha256(data).hexdigest()[:8])
    names = (f"{day}-{label}" if number == 1 else f"{day}-{label}-{number}" for number in range(1, _NAMES))
    key = writing.create(store, ((str(kind(slug, name)), data) for name in names))
    if key is None:
        raise Conflict(key=str(kind(slug, f"{day}-{label}")))
    return key


def notes(store: Store, slug: str | None = None) -> Iterator[CompanyEntry[Note]]:
    """The notes of a company, or of all, in the order of the keys."""
    return _entries(store, NoteKey, Note, slug)


def meetings(store: Store, slug: str | None = None) -> Iterator[CompanyEntry[Meeting]]:
    return _entries(store, MeetingKey, Meeting, slug)


def _entries(
    store: Store, kind: type[NoteKey | MeetingKey], model: type[N], slug: str | None
) -> Iterator[CompanyEntry[N]]:
    folder = FOLDER if slug is None else str(CompanyKey(slug)).rpartition("/")[0] + "/"
    keys = (info.key for info in store.list(folder) if kind.fits(info.key))
    while lot := list(islice(keys, _LOT)):
        for answer in store.get_many(lot):
            if isinstance(answer, StoredObject):
                entry = _read(answer, kind, model)
                if entry is not None:
                    yield entry
            elif not isinstance(answer, NotFound):  # one that is gone meanwhile is no entry any more
                raise answer


def _read(stored: StoredObject, kind: type[NoteKey | MeetingKey], model: type[N]) -> CompanyEntry[N] | None:
    try:
        key = kind.parse(stored.key)
    except InvalidKey:
        return None  # a file that somebody put there under a name that is no key
    try:
        record = markdown.read(model, stored.data, file=stored.key)
        body = MarkdownFile.parse(stored.data, file=stored.key).body.strip()
        return CompanyEntry(str(key.slug), str(key.name), stored.key, record, body, etag=stored.etag)
    except FormatError as error:  # shown with what is wrong: a person's text is never left out
        text = stored.data.decode("utf-8", "replace")
        return CompanyEntry(str(key.slug), str(key.name), stored.key, None, text, error.message, stored.etag)
