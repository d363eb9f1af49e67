"""Pages from prospects: made where there is none, refreshed where what is known has changed, else left alone.

Idempotent: a second run writes nothing. Excluded prospects get no page, and a page that they have is not touched. A
prospect that is known under another hash now takes its page along, and a note says so. Pages that are surely about one
company are brought together (`union`); a company whose page a person removed gets no new one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.errors import CocliError, FormatError, NotFound, RecordError, StoreError, UsageError
from cocli.formats import markdown
from cocli.keys.paths import CompanyKey, NoteKey
from cocli.pipeline.exclusions import is_excluded
from cocli.results.companies import pages, union, writing
from cocli.results.companies.drafts import new_company, new_moved_note
from cocli.results.companies.facts import facts_of, refreshed
from cocli.results.companies.likeness import Likeness
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
    joined: int = 0
    """Pages that were brought together with another one of the same company."""
    removed: int = 0
    """Prospects whose page a person removed: they get no new one."""
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
        """By every hash under which a campaign knows the company."""
        self._places: dict[str, CompanyPage] = {}
        self._likeness = Likeness()
        self._taken: set[str] = set()
        self._unclaimed: set[str] = set()
        self._removed: set[str] = set()
        self._doubles: list[tuple[str, str]] = []
        """Slugs of pages about one company: the one that stays, the one that goes."""
        self._waiting: list[tuple[Prospect, CompanyFacts, str, StoredObject]] = []
        former: list[CompanyPage] = []
        live: list[CompanyPage] = []
        for page in pages.load_files(store):
            self._taken.add(page.slug)
            (former if page.is_former else live).append(page)
        for page in sorted(live, key=_precedence):
            self._claim(page)
        for page in former:
            self._note_former(page)

    def _claim(self, page: CompanyPage) -> None:
        """Whose page it is. A second one of a company is to be brought together with the first."""
        if page.company_hash is None:
            self._unclaimed.add(page.slug)
            return
        place = page.place_id
        known = next((self._pages[company] for company in page.hashes if company in self._pages), None)
        if known is None and place is not None:
            known = self._places.get(place)
        if known is None:
            self._know(page)
        elif page.problem or known.problem:
            self._report.problems.append(f"{page.key}: {known.key} is about the same company; this one is left")
        else:
            self._doubles.append((known.slug, page.slug))
            for company in page.hashes:
                self._pages.setdefault(company, known)

    def _know(self, page: CompanyPage) -> None:
        for company in page.hashes:
            self._pages[company] = page
        if place := page.place_id:
            self._places.setdefault(place, page)
        self._likeness.know(page)

    def _note_former(self, page: CompanyPage) -> None:
        if page.moved_to is None:
            self._removed.update(page.hashes)
        elif union.has_leftovers(self._store, page) and pages.page_of(self._store, page.slug) is not None:
            self._doubles.append((page.moved_to, page.slug))

    def refresh(self, scan: Callable[[], Iterable[Prospect]], exclusions: Exclusions, tag: str) -> None:
        """The prospects of one campaign; new pages get the campaign's tag. They are scanned twice, and not kept."""
        self._join_doubles()
        self._move(self._look_through(scan()))
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

    def _look_through(self, prospects: Iterable[Prospect]) -> dict[str, str]:
        """Who is known under another hash now; and how many there are with one website and phone number."""
        merged: dict[str, str] = {}
        self._likeness.begin()
        for prospect in prospects:
            if prospect.merged_into is None:
                self._likeness.count(prospect)
            else:
                merged[prospect.company_hash] = prospect.merged_into
        return merged

    @property
    def report(self) -> RefreshReport:
        return self._report

    # --- one prospect

    def _refresh_one(self, prospect: Prospect, tag: str) -> None:
        facts = facts_of(prospect)
        page = self._shared_page(self._page_about(prospect), facts)
        if page is None:
            if prospect.company_hash in self._removed:
                self._report.removed += 1
            else:
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

    def _page_about(self, prospect: Prospect) -> CompanyPage | None:
        page = self._pages.get(prospect.company_hash)
        if page is None and prospect.place_id is not None:
            page = self._places.get(prospect.place_id)
        return page

    def _shared_page(self, own: CompanyPage | None, facts: CompanyFacts) -> CompanyPage | None:
        """The company's page; where another campaign's is surely about the same one, that, with both in it."""
        other = self._likeness.page_of(facts, own)
        if other is None:
            return own
        if own is None:
            self._pages[facts.company_hash] = other
            return other
        if own.problem or other.problem:
            return own
        kept, gone = sorted((own, other), key=_precedence)
        self._join(kept, gone)
        return self._pages[facts.company_hash]

    def _update(self, page: CompanyPage, decide: Callable[[CompanyFacts | None], CompanyFacts]) -> bool:
        """Whether the page was, or would be, written. What is there now decides, not what was read at the start."""

        def edit(data: bytes) -> bytes:
            same = data == page.stored.data  # taken apart once already
            known = page.facts if same and page.company else read_company(data, file=page.key).facts
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
                    self._likeness.know(self._pages[prospect.company_hash])

    # --- prospects that are known under another hash now

    def _move(self, merged: dict[str, str]) -> None:
        for old in sorted(merged):
            page, new = self._pages.get(old), _end(merged, old)
            if page is None or new == old:
                continue
            other = self._pages.get(new)
            if other is None:
                self._follow(page, old, new)
            elif other.slug != page.slug:
                self._join(other, page)

    # --- pages of one company

    def _join_doubles(self) -> None:
        doubles, self._doubles = self._doubles, []
        for stays, goes in doubles:
            kept, gone = pages.page_of(self._store, stays), pages.file_of(self._store, goes)
            if kept is not None and gone is not None and kept.slug != goes:
                self._join(kept, gone)

    def _join(self, kept: CompanyPage, gone: CompanyPage) -> None:
        """Bring two pages together, or say why that cannot be."""
        hashes = (*kept.hashes, *gone.hashes)
        if not self._dry_run:
            try:
                union.unite(self._store, kept, gone, at=self._store.now())
                kept = read_page(self._store.get(kept.key))
            except (FormatError, NotFound, UsageError) as error:
                self._report.problems.append(_problem(gone.key, error))  # both are as they were
                return
        self._report.joined += 1
        self._likeness.forget(gone)
        self._likeness.know(kept)
        for company in hashes:
            self._pages[company] = kept
        if place := kept.place_id or gone.place_id:
            self._places[place] = kept

    def _follow(self, page: CompanyPage, old: str, new: str) -> None:
        """The page goes on as the page of the company that its own has turned out to be."""

        def decide(known: CompanyFacts | None) -> CompanyFacts:
            if known is None:
                raise FormatError(file=page.key, line=1, reason="has lost its program part")
            also = {*(known.also or ()), old} - {new}
            return known.model_copy(update={"company_hash": new, "also": tuple(sorted(also))})

        try:
            self._update(page, decide)
        except (FormatError, NotFound) as error:
            self._report.problems.append(_problem(page.key, error))  # it can be moved in the next run
            return
        self._note(page, old, new, "This page is about it from now on.")
        stored = _renamed(page, decide) if self._dry_run else self._store.get(page.key)
        self._know(read_page(stored))

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


def _precedence(page: CompanyPage) -> tuple[object, ...]:
    """Of pages about one company the first stays: the one that others were joined with, then the shorter name."""
    return -len(page.hashes), len(page.slug), page.slug


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
