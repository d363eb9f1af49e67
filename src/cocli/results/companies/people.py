"""The people of a store: their files, read and listed. Nothing is written here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from cocli.errors import FormatError, InvalidKey, NotFound
from cocli.formats import markdown
from cocli.formats.markdown import MarkdownFile
from cocli.keys.paths import PersonKey
from cocli.models.person import Person
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.store.base import Store

_FOLDER = "people/"
_LOT = 500
_LINK = re.compile(r"\[\[(?:companies/)?([^\]|#]+?)(?:/_index(?:\.md)?)?(?:[|#][^\]]*)?\]\]")


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

    @property
    def company(self) -> str | None:
        """Whose they are, as it is written; of a link such as `[[acme-roofing]]`, what it leads to."""
        written = self.person.company if self.person else None
        link = _LINK.fullmatch(written.strip()) if written else None
        if link:
            return link[1].strip()
        return written


def people(store: Store) -> Iterator[PersonPage]:
    """Every person, in the order of the keys."""
    keys = (info.key for info in store.list(_FOLDER) if PersonKey.fits(info.key))
    while lot := list(islice(keys, _LOT)):
        for answer in store.get_many(lot):
            if isinstance(answer, StoredObject):
                page = read_person(answer)
                if page is not None:
                    yield page
            elif not isinstance(answer, NotFound):  # one that is gone meanwhile is nobody any more
                raise answer


def people_of(store: Store, *names: str) -> Iterator[PersonPage]:
    """Those whose company has one of these names: its slug, or what it is called."""
    wanted = {name.casefold() for name in names}
    return (page for page in people(store) if (page.company or "").casefold() in wanted)


def read_person(stored: StoredObject) -> PersonPage | None:
    try:
        slug = str(PersonKey.parse(stored.key).slug)
    except InvalidKey:
        return None  # a file under a name that is no key: not ours to read
    try:
        body = MarkdownFile.parse(stored.data, file=stored.key).body.strip()
        return PersonPage(slug, stored, markdown.read(Person, stored.data, file=stored.key), body)
    except FormatError as error:  # a person's file need not be in order to be listed
        return PersonPage(slug, stored, None, stored.data.decode("utf-8", "replace"), error.message)
