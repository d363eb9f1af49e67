"""The people of a store: list, show and make."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from cocli.app.companies import Changed
from cocli.app.workspace import location
from cocli.crm import writing
from cocli.crm.drafts import draft
from cocli.crm.tagging import check_tag
from cocli.errors import FormatError, InvalidKey, NotFound, UsageError
from cocli.formats import markdown
from cocli.formats.markdown import MarkdownFile
from cocli.merging.slugs import slug_of
from cocli.models.person import Person
from cocli.paths import PersonKey
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.store.base import Store

_FOLDER = "people/"
_LOT = 500


@dataclass(frozen=True, slots=True)
class PersonPage:
    """One person's file. `person` is None where its front matter cannot be read; `problem` says why."""

    slug: str
    stored: StoredObject
    person: Person | None
    body: str
    problem: str | None = None

    @property
    def title(self) -> str:
        return (self.person.name if self.person else None) or self.slug


def list_people(store: Store, *, company: str | None = None, tag: str | None = None) -> Iterator[PersonPage]:
    """Every person, or those of a company, or those with a tag."""
    keys = (info.key for info in store.list(_FOLDER) if PersonKey.fits(info.key))
    while lot := list(islice(keys, _LOT)):
        for answer in store.get_many(lot):
            if not isinstance(answer, StoredObject):
                if isinstance(answer, NotFound):
                    continue  # gone meanwhile
                raise answer
            page = _read(answer)
            if page is not None and _is_wanted(page, company, tag):
                yield page


def person(store: Store, name: str) -> PersonPage:
    """The person of a slug, or of a name or an address if that is one person's only."""
    try:
        page = _read(store.get(str(PersonKey(name))))
    except (NotFound, InvalidKey):  # then it is no slug
        page = None
    if page is not None:
        return page
    wanted = name.strip().casefold()
    found = [one for one in list_people(store) if wanted in _known_as(one)]
    if not found:
        raise NotFound(key=f"person {name}", hint="See them with: cocli person ls")
    if len(found) > 1:
        known = ", ".join(one.slug for one in found[:5])
        raise UsageError(reason=f'"{name}" may be {len(found)} people: {known}', hint="Name one by the slug.")
    return found[0]


def make_person(store: Store, name: str, tags: Iterable[str], values: dict[str, str | None]) -> Changed:
    """A file for a person. Two of one name are two files; the same one again is found as it is."""
    if not name.strip():
        raise UsageError(reason="A person needs a name")
    data = draft({"name": name.strip(), **values, "tags": tuple(check_tag(tag) for tag in tags)})
    digest = hashlib.sha256(data).hexdigest()
    slug = slug_of(name, digest[:8])
    for candidate in (slug, f"{slug}-{digest[:6]}"):
        key = str(PersonKey(candidate))
        if writing.create(store, [(key, data)]) is not None:
            return Changed(candidate, location(store, key), changed=True)
        if _is_same(store.get(key), data):
            return Changed(candidate, location(store, key), changed=False)
    raise UsageError(reason=f"There is a person {slug} already", hint=f"Open it with: cocli person open {slug}")


def _is_same(stored: StoredObject, data: bytes) -> bool:
    """Whether the file says of the person what is said now; a person may have written more into it since."""
    there, said = _read(stored), markdown.read(Person, data)
    if there is None or there.person is None:
        return False
    names = ("name", "company", "role", "email", "phone")
    return all(getattr(there.person, name) == getattr(said, name) for name in names)


def _is_wanted(page: PersonPage, company: str | None, tag: str | None) -> bool:
    if tag is not None and (page.person is None or tag not in page.person.tags):
        return False
    return company is None or (page.person is not None and page.person.company == company)


def _known_as(page: PersonPage) -> set[str]:
    names = [page.title, *(page.person.cocli.emails if page.person and page.person.cocli else ())]
    if page.person:
        names += [text for text in (page.person.email, page.person.phone) if text]
    return {name.casefold() for name in names}


def _read(stored: StoredObject) -> PersonPage | None:
    try:
        slug = str(PersonKey.parse(stored.key).slug)
    except InvalidKey:
        return None  # a file under a name that is no key: not ours to read
    try:
        body = MarkdownFile.parse(stored.data, file=stored.key).body.strip()
        return PersonPage(slug, stored, markdown.read(Person, stored.data, file=stored.key), body)
    except FormatError as error:  # a person's file need not be in order to be listed
        return PersonPage(slug, stored, None, stored.data.decode("utf-8", "replace"), error.message)
