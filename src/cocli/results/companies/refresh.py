"""Pages from prospects: made where there is none, refreshed where what is known has changed, else left alone.

Idempotent: a second run writes nothing. Excluded prospects get no page, and a page that they have is not touched. A
prospect that is known under another hash now takes its page along, and a note says so; pages are never deleted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.errors import CocliError, FormatError, NotFound, RecordError, StoreError
from cocli.formats import markdown
from cocli.keys.paths import CompanyKey, NoteKey
from cocli.pipeline.exclusions import is_excluded
from cocli.results.companies import pages, writing
from cocli.results.companies.drafts import new_company, new_moved_note
from cocli.results.companies.facts import facts_of, refreshed
from cocli.results.companies.pages import CompanyPage, page_slugs, read_company, read_page
from cocli.store import settled
from cocli.store.base import Put, StoredObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cocli.models.company import CompanyFacts
    from cocli.models.prospect import Prospect
    from cocli.pipeline.exclusions import Exclusions
    from cocli.store.base import Store

_LOT = 200
"""Pages that are created side by side."""


@dataclass
class RefreshReport:
    """What became of the prospects. With `dry_run` it is what would become of them."""

    prospects: int = 0
    created: int = 0
    changed: int = 0
    unchanged: int = 0
    excluded: int = 0
    moved: int = 0
    """Pages of prospects that are known under another hash now."""
    removed_meanwhile: int = 0
    """Pages that somebody removed while they were being refreshed."""
    beside: list[str] = field(default_factory=list)
    """New pages whose name was taken by a page without the program's key: a person's own, or one that lost it."""
    problems: list[str] = field(default_factory=list)
    """Pages that cannot be refreshed, each with the reason. They are left as they are."""


class Refresher:
    """Refreshes the pages of one store. The pages are read once, for as many campaigns as follow."""

    def __init__(self, store: Store, *, dry_run: bool = False, progress: Callable[[int], None] | None = None) -> None:
        self._store = store
        self._dry_run = dry_run
        self._progress = progress
        self._report = RefreshReport()
        self._pages: dict[str, CompanyPage] = {}
        self._taken: set[str] = set()
        self._unclaimed: set[str] = set()
        self._waiting: list[tuple[Prospect, CompanyFacts, str, StoredObject]] = []
        for page in pages.load_pages(store):
            self._taken.add(page.slug)
            if page.company_hash is None:
                self._unclaimed.add(page.slug)
            known = self._pages.setdefault(page.company_hash, page) if page.company_hash else page
            if known is not page:
                self._report.problems.append(f"{page.key}: {known.key} is about the same company; this one is left")

    def refresh(self, scan: Callable[[], Iterable[Prospect]], exclusions: Exclusions, tag: str) -> None:
        """The prospects of one campaign; new pages get the campaign's tag. They are scanned twice, and not kept."""
        self._move(
            {prospect.company_hash: prospect.merged_into for prospect in scan() if prospect.merged_into is not None}
        )
        for done, prospect in enumerate(scan(), 1):
            if prospect.merged_into is not None:
                continue
            self._report.prospects += 1
            if is_excluded(prospect, exclusions):
                self._report.excluded += 1
            else:
                self._refresh_one(prospect, tag)
            if self._progress is not None:
                self._progress(done)
        self._write_waiting()

    @property
    def report(self) -> RefreshReport:
        return self._report

    # --- one prospect

    def _refresh_one(self, prospect: Prospect, tag: str) -> None:
        page = self._pages.get(prospect.company_hash)
        facts = facts_of(prospect)
        if page is None:
            self._create(prospect, facts, tag)
            return
        if page.says(facts):
            self._report.unchanged += 1
            return
        try:
            changed = self._update(page, lambda known: refreshed(known, facts))
        except (FormatError, RecordError) as error:
            self._report.problems.append(_problem(page.key, error))  # a person's to mend; the others go on
        except NotFound:
            self._report.removed_meanwhile += 1  # a person removed it just now: not made again in this run
        else:
            if changed:
                self._report.changed += 1
            else:
                self._report.unchanged += 1

    def _update(self, page: CompanyPage, decide: Callable[[CompanyFacts | None], CompanyFacts]) -> bool:
        """Whether the page was, or would be, written. What is there now decides, not what was read at the start."""

        def edit(data: bytes) -> bytes:
            same = data == page.stored.data  # taken apart once already
            known = page.facts if same and page.company else read_company(data, file=page.key).cocli
            facts = decide(known)
            if facts == known:
                return data
            return markdown.update(data, facts, file=page.key)

        if self._dry_run:
            return edit(page.stored.data) != page.stored.data
        known = page.stored if page.stored.etag else None  # one that was made in this run is read first
        return writing.change(self._store, page.key, edit, known=known)

    def _create(self, prospect: Prospect, facts: CompanyFacts, tag: str) -> None:
        """Noted, and written with others: one by one, ten thousand pages would wait for the disk as often."""
        wanted = list(page_slugs(prospect))
        slug = next((slug for slug in wanted if slug not in self._taken), None)
        if slug is None:
            self._report.problems.append(f"{prospect.company_hash}: every name for its page is taken")
            return
        if wanted[0] in self._unclaimed:
            self._report.beside.append(f"{CompanyKey(wanted[0])} has no key cocli: and stays as it is; see {slug}")
        data = new_company(tags=(tag,), facts=facts)
        stored = StoredObject(str(CompanyKey(slug)), data, "", facts.updated_at)
        self._taken.add(slug)
        self._pages[prospect.company_hash] = read_page(stored)
        self._waiting.append((prospect, facts, tag, stored))
        if len(self._waiting) >= _LOT:
            self._write_waiting()

    def _write_waiting(self) -> None:
        while self._waiting:
            lot, self._waiting = self._waiting, []
            puts = [Put(stored.key, stored.data, if_absent=True) for _, _, _, stored in lot]
            answers = [""] * len(puts) if self._dry_run else settled.create_many(self._store, puts)
            for (prospect, facts, tag, _), answer in zip(lot, answers, strict=True):
                if isinstance(answer, StoreError):
                    raise answer
                if answer is None:  # somebody made a page of this name meanwhile: another name is found
                    self._create(prospect, facts, tag)
                else:
                    self._report.created += 1

    # --- prospects that are known under another hash now

    def _move(self, merged: dict[str, str]) -> None:
        for old in sorted(merged):
            page, new = self._pages.get(old), _end(merged, old)
            if page is None or new == old:
                continue
            other = self._pages.get(new)
            if other is None:
                self._follow(page, old, new)
            else:
                self._note(page, old, new, f"It has the page {other.slug}.")

    def _follow(self, page: CompanyPage, old: str, new: str) -> None:
        """The page goes on as the page of the company that its own has turned out to be."""

        def decide(known: CompanyFacts | None) -> CompanyFacts:
            if known is None:
                raise FormatError(file=page.key, line=1, reason="has lost its program part")
            return known.model_copy(update={"company_hash": new})

        try:
            self._update(page, decide)
        except (FormatError, NotFound) as error:
            self._report.problems.append(_problem(page.key, error))  # it can be moved in the next run
            return
        self._note(page, old, new, "This page is about it from now on.")
        del self._pages[old]
        stored = _renamed(page, decide) if self._dry_run else self._store.get(page.key)
        self._pages[new] = read_page(stored)

    def _note(self, page: CompanyPage, old: str, new: str, sentence: str) -> None:
        """Once: a note that is there already says the same."""
        key = str(NoteKey(page.slug, f"moved-{old}-{new[:6]}"))
        at = page.facts.updated_at if page.facts else page.stored.modified
        data = new_moved_note(old, new, sentence, at)
        if self._create_note(key, data):
            self._report.moved += 1

    def _create_note(self, key: str, data: bytes) -> bool:
        """Whether a file was created, or would be."""
        if self._dry_run:
            return self._is_new(key)
        return writing.create(self._store, [(key, data)]) is not None

    def _is_new(self, key: str) -> bool:
        try:
            self._store.head(key)
        except NotFound:
            return True
        return False


def _problem(key: str, error: CocliError) -> str:
    if key in error.message:
        return error.message
    return f"{key}: {error.message}"


def _renamed(page: CompanyPage, decide: Callable[[CompanyFacts | None], CompanyFacts]) -> StoredObject:
    """The page as it would be: for a dry run, in which what follows has to see it so."""
    return page.stored._replace(data=markdown.update(page.stored.data, decide(page.facts), file=page.key))


def _end(merged: dict[str, str], company: str) -> str:
    seen = {company}
    while (target := merged.get(company)) is not None and target not in seen:
        seen.add(target)
        company = target
    return company
