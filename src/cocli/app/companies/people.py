"""The people of a store: list, show and make."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from cocli.app.companies.companies import Changed
from cocli.app.workspace import location
from cocli.errors import InvalidKey, NotFound, UsageError
from cocli.formats import markdown
from cocli.keys.paths import PersonKey
from cocli.keys.slugs import slug_of
from cocli.models.person import Person
from cocli.results.companies import writing
from cocli.results.companies.drafts import draft
from cocli.results.companies.people import PersonPage, people, people_of, read_person
from cocli.results.companies.tags import check_tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.store.base import Store, StoredObject


def list_people(store: Store, *, company: str | None = None, tag: str | None = None) -> Iterator[PersonPage]:
    """Every person, or those of a company, or those with a tag."""
    found = people(store) if company is None else people_of(store, company)
    return (page for page in found if tag is None or (page.person is not None and tag in page.person.tags))


def person(store: Store, name: str) -> PersonPage:
    """The person of a slug, or of a name or an address if that is one person's only."""
    try:
        page = read_person(store.get(str(PersonKey(name))))
    except (NotFound, InvalidKey):  # then it is no slug
        page = None
    if page is not None:
        return page
    wanted = name.strip().casefold()
    found = [page for page in list_people(store) if wanted in _known_as(page)]
    if not found:
        raise NotFound(key=f"person {name}", hint="See them with: cocli person ls")
    if len(found) > 1:
        known = ", ".join(page.slug for page in found[:5])
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
    there, said = read_person(stored), markdown.read(Person, data)
    if there is None or there.person is None:
        return False
    names = ("name", "company", "role", "email", "phone")
    return all(getattr(there.person, name) == getattr(said, name) for name in names)


def _known_as(page: PersonPage) -> set[str]:
    names = [page.title, *(page.person.cocli.emails if page.person and page.person.cocli else ())]
    if page.person:
        names += [text for text in (page.person.email, page.person.phone) if text]
    return {name.casefold() for name in names}
