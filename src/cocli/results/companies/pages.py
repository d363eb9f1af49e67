"""The companies of a store: their pages, read and found. Nothing is written here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from cocli.errors import FormatError, InvalidKey, NotFound
from cocli.formats import markdown, yaml_text
from cocli.formats.markdown import MarkdownFile
from cocli.keys.paths import CompanyKey
from cocli.keys.slugs import distinct_slug, slug_of
from cocli.models.company import Company
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cocli.models.company import CompanyFacts
    from cocli.models.prospect import Prospect
    from cocli.store.base import Store

FOLDER = "companies/"
_LOT = 500
_OURS = re.compile(
    rb"(?:\xef\xbb\xbf)?(?P<begin>---[ \t]*\r?\n)(?:(?!---|\.\.\.|cocli:)[^\n]*\n)*"
    rb"(?P<block>cocli:\r?\n  company_hash: \"(?P<hash>[0-9a-f]{16})\"\r?\n)"
)
"""The program's key as this program writes it: at the beginning of a line of the front matter, the hash first."""
_LOWERED = re.compile(rb"^---[ \t]*\r?\n(?:(?!---)[^\n]*\n)*cocli:\r?\n  company_hash: ", re.MULTILINE)
"""Front matter of this program that does not stand at the beginning of its file."""
_ENDED = re.compile(rb"^  ended_at: ", re.MULTILINE)
_ALSO = re.compile(rb"^  also: ", re.MULTILINE)
_MOST_MOVES = 10
_PLACE_ID = re.compile(rb"^  place_id: \"([A-Za-z0-9_-]{27})\"\r?$", re.MULTILINE)
_HASH = re.compile(rb"^\s+[\"']?company_hash[\"']?:\s*[\"']?([0-9a-f]{16})\b", re.MULTILINE)


@dataclass(frozen=True)
class CompanyPage:
    """One company's file, taken apart when first asked: most are only asked whose they are."""

    slug: str
    stored: StoredObject

    @property
    def key(self) -> str:
        return self.stored.key

    @cached_property
    def _read(self) -> tuple[Company | None, str | None]:
        try:
            return read_company(self.stored.data, file=self.key), None
        except FormatError as error:  # a person's file need not be in order to be listed
            return None, error.message

    @property
    def company(self) -> Company | None:
        """None where the front matter cannot be read."""
        return self._read[0]

    @property
    def problem(self) -> str | None:
        """Why it cannot."""
        return self._read[1]

    @property
    def facts(self) -> CompanyFacts | None:
        if self.company:
            return self.company.facts
        return None

    @cached_property
    def company_hash(self) -> str | None:
        """Whose page this is, also where a slip of the pen made the rest unreadable: so it gets no second page."""
        as_written = _OURS.match(self.stored.data)
        if as_written:
            return as_written["hash"].decode()
        if self.company is not None:
            part = self.company.cocli
            if part:
                return part.company_hash
            return None
        found = _HASH.search(self.stored.data)
        if found:
            return found[1].decode()
        return None

    @property
    def hashes(self) -> tuple[str, ...]:
        """The company's hash, and the others under which campaigns know it."""
        if self.company_hash is None:
            return ()
        part = self.company.cocli if _ALSO.search(self.stored.data) and self.company else None
        also = part.also if part else None
        return (self.company_hash, *(other for other in also or () if other != self.company_hash))

    @property
    def place_id(self) -> str | None:
        """As the program writes it: seen without taking the file apart."""
        found = _PLACE_ID.search(self.stored.data) if _OURS.match(self.stored.data) else None
        if found:
            return found[1].decode()
        return None

    @property
    def former(self) -> CompanyFacts | None:
        """What is said of a page that is no more."""
        if _ENDED.search(self.stored.data) and self.company:
            return self.company.former
        return None

    @property
    def is_former(self) -> bool:
        return self.former is not None

    @property
    def moved_to(self) -> str | None:
        """The slug of the page that goes on in place of this one."""
        if self.former:
            return self.former.moved_to
        return None

    def says(self, facts: CompanyFacts) -> bool:
        """Whether these facts stand there already, the time aside: seen without taking the file apart."""
        as_written = _OURS.match(self.stored.data)
        if as_written is None:
            return False
        newline = "\r\n" if as_written["begin"].endswith(b"\r\n") else "\n"
        values = facts.model_dump(mode="json", exclude_none=True)
        lines = yaml_text.block(markdown.PROGRAM_KEY, values, newline).encode()
        before_time = lines[: lines.index(b"  updated_at: ") + len(b"  updated_at: ")]
        return self.stored.data.startswith(before_time, as_written.start("block"))

    @property
    def title(self) -> str:
        """What a person calls the company, else what the sources call it, else the slug."""
        name = self.company.name if self.company else None
        return name or (self.facts.name if self.facts else None) or self.slug

    @property
    def written(self) -> dict[str, str]:
        """The values that a person wrote, by their keys: they stand before what was found."""
        from cocli.results.companies.overrides import written_texts  # here: most pages are not asked

        return written_texts(self.company)

    @property
    def tags(self) -> tuple[str, ...]:
        if self.company:
            return self.company.tags
        return ()

    @property
    def body(self) -> str:
        try:
            return MarkdownFile.parse(self.stored.data, file=self.key).body
        except FormatError:  # the problem is shown beside it: a broken page is shown as it is
            return self.stored.data.decode("utf-8", "replace")


def read_company(data: bytes, *, file: str) -> Company:
    """What a company's file says. `FormatError` where it cannot be read, or text stands above its front matter."""
    company = markdown.read(Company, data, file=file)
    if company.cocli is None and (lowered := _LOWERED.search(data)):
        reason = 'the front matter is not at the beginning: move what stands above it below the second "---"'
        raise FormatError(file=file, line=data.count(b"\n", 0, lowered.start()) + 1, reason=reason)
    return company


def read_page(stored: StoredObject) -> CompanyPage:
    return CompanyPage(str(CompanyKey.parse(stored.key).slug), stored)


def load_pages(store: Store, progress: Callable[[int], None] | None = None) -> Iterator[CompanyPage]:
    """Every page, in the order of the keys. Files of pages that went away are none."""
    return (page for page in load_files(store, progress) if not page.is_former)


def load_files(store: Store, progress: Callable[[int], None] | None = None) -> Iterator[CompanyPage]:
    """Every page's file, also of pages that went away; read many at once, kept by the caller or not."""
    keys = (info.key for info in store.list(FOLDER) if _is_page(info.key))
    done = 0
    while lot := list(islice(keys, _LOT)):
        for answer in store.get_many(lot):
            if isinstance(answer, StoredObject):
                yield read_page(answer)
            elif not isinstance(answer, NotFound):  # one that is gone meanwhile is no page any more
                raise answer
        done += len(lot)
        if progress is not None:
            progress(done)


def file_of(store: Store, slug: str) -> CompanyPage | None:
    """The file of a slug, also of a page that went away."""
    try:
        return read_page(store.get(str(CompanyKey(slug))))
    except (NotFound, InvalidKey):  # what cannot be a slug is the slug of nothing
        return None


def page_of(store: Store, slug: str) -> CompanyPage | None:
    """The page of a slug. Where that one was brought together with another, the other."""
    page = file_of(store, slug)
    for _ in range(_MOST_MOVES):
        if page is None or page.moved_to is None:
            break
        page = file_of(store, page.moved_to)
    if page is None or page.is_former:
        return None
    return page


def page_slugs(prospect: Prospect) -> Iterator[str]:
    """The labels that a page may get, the shortest first. Only letters, digits and dashes are left of hostile ones."""
    company = prospect.company_hash
    slug = slug_of(prospect.slug, company)
    if slug != company:
        yield slug
        yield distinct_slug(slug, company)
        yield f"{slug}-{company}"
    yield company


def page_about(store: Store, prospect: Prospect) -> CompanyPage | None:
    """The page about a prospect, under one of the names that this program gives."""
    pages = (page_of(store, slug) for slug in page_slugs(prospect))
    return next((page for page in pages if page and prospect.company_hash in page.hashes), None)


def find_pages(store: Store, name: str) -> list[CompanyPage]:
    """The pages that a person may mean: the one of this slug; else by hash, place id, domain, address or name."""
    exact = page_of(store, name)
    if exact is not None:
        return [exact]
    wanted = name.strip().casefold()
    if not wanted:
        return []
    return [page for page in load_pages(store) if wanted in _known_as(page)]


def _known_as(page: CompanyPage) -> set[str]:
    names: list[str | None] = [*page.hashes, page.title]
    if page.facts:
        names += [page.facts.name, page.facts.domain, page.facts.place_id, page.facts.phone_e164, *page.facts.emails]
    if page.company:
        names += [page.company.name, page.company.website, page.company.email, page.company.phone]
    return {name.casefold() for name in names if name}


def by_hash(pages: Iterable[CompanyPage]) -> dict[str, CompanyPage]:
    """Pages by the company they are about. Of two that claim one company, the first in the order of keys."""
    found: dict[str, CompanyPage] = {}
    for page in pages:
        for company in page.hashes:
            found.setdefault(company, page)
    return found


def _is_page(key: str) -> bool:
    if not CompanyKey.fits(key):
        return False
    try:
        CompanyKey.parse(key)
    except InvalidKey:
        return False  # a file that somebody put there under a name that is no key: not ours to read
    return True
