"""Pages from prospects: each company one, under a name of its own; exclusions hold; nothing is written without need."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cocli.errors import FormatError
from cocli.formats import markdown
from cocli.keys.identities import company_hash
from cocli.models.campaign import ExcludeSection
from cocli.models.company import Company
from cocli.models.prospect import Prospect
from cocli.pipeline.exclusions import Exclusions
from cocli.results.companies.drafts import new_company
from cocli.results.companies.facts import facts_of
from cocli.results.companies.pages import by_hash, find_pages, load_pages
from cocli.results.companies.refresh import Refresher, RefreshReport
from cocli.results.companies.tags import with_tag
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore
from cocli.store.wrapper import WrappedStore

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
NOBODY = Exclusions.of(ExcludeSection())


def prospect(identity: str, **values: Any) -> Prospect:
    given: dict[str, Any] = {
        "company_hash": company_hash(f"domain:{identity}"),
        "slug": identity.partition(".")[0],
        "name": identity,
        "campaign": "plumbers",
        "first_seen": NOON,
        "updated_at": NOON,
    }
    return Prospect(**(given | values))


def refresh(store: Any, *prospects: Prospect, exclusions: Exclusions = NOBODY, dry_run: bool = False) -> RefreshReport:
    refresher = Refresher(store, dry_run=dry_run)
    refresher.refresh(lambda: iter(prospects), exclusions, "plumbers")
    return refresher.report


def slugs(store: Any) -> list[str]:
    return sorted(page.slug for page in load_pages(store))


def test_eleven_branches_stay_eleven() -> None:
    """Once eleven AutoZones were one file, because a slug was an identity."""
    store = MemoryStore()
    branches = [prospect(f"branch{number}.example", slug="autozone", name="AutoZone") for number in range(11)]
    assert refresh(store, *branches).created == 11
    pages = by_hash(load_pages(store))
    assert set(pages) == {branch.company_hash for branch in branches}
    assert sorted(page.slug for page in pages.values()) == sorted(
        ["autozone", *(f"autozone-{branch.company_hash[:6]}" for branch in branches[1:])]
    )
    again = refresh(store, *reversed(branches))
    assert (again.created, again.changed, again.unchanged) == (0, 0, 11)


def test_a_page_of_a_person_is_not_taken_over() -> None:
    store = MemoryStore()
    store.put("companies/acme/_index.md", b"---\nname: My Acme\n---\nmine\n")
    one = prospect("acme.example")
    refresh(store, one)
    assert store.get("companies/acme/_index.md").data == b"---\nname: My Acme\n---\nmine\n"
    assert slugs(store) == ["acme", f"acme-{one.company_hash[:6]}"]


def test_a_second_run_writes_nothing() -> None:
    store = CountingStore(MemoryStore())
    some = [prospect(f"c{number}.example") for number in range(5)]
    assert refresh(store, *some).created == 5
    before = {info.key: store.get(info.key) for info in store.list("")}
    later = [one.with_changes(updated_at=NOON + timedelta(days=1)) for one in some]  # seen again, nothing new
    report = refresh(store, *later)
    assert (report.created, report.changed, report.unchanged) == (0, 0, 5)
    assert {info.key: store.get(info.key) for info in store.list("")} == before
    changed = refresh(store, later[0].with_changes(phone_e164="+12175550100"), *later[1:])
    assert (changed.changed, changed.unchanged) == (1, 4)


def test_a_dry_run_tells_what_a_run_does() -> None:
    store = MemoryStore()
    refresh(store, prospect("a.example"))
    some = [prospect("a.example", domain="a.example"), prospect("b.example"), prospect("c.example", slug="b")]
    told = refresh(store, *some, dry_run=True)
    assert slugs(store) == ["a"]
    assert told == refresh(store, *some)
    assert (told.created, told.changed) == (2, 1)


def test_exclusions_hold() -> None:
    store = MemoryStore()
    there = prospect("there.example", domain="there.example")
    refresh(store, there)
    before = store.get("companies/there/_index.md").data
    exclusions = Exclusions.of(ExcludeSection(domains=("there.example",), names=("Rival, Inc.",)))
    changed = there.with_changes(phone_e164="+12175550100")
    report = refresh(store, changed, prospect("rival.example", name="RIVAL"), exclusions=exclusions)
    assert (report.excluded, report.created, report.changed) == (2, 0, 0)
    assert slugs(store) == ["there"]
    assert store.get("companies/there/_index.md").data == before


def test_a_moved_prospect_takes_its_page_along_and_it_is_noted() -> None:
    store = MemoryStore()
    old, new = prospect("old.example", name="Acme"), prospect("new.example", slug="old", name="Acme")
    refresh(store, old)
    page = store.get("companies/old/_index.md")
    store.put(page.key, page.data + b"called them\n", if_match=page.etag)
    moved = old.with_changes(merged_into=new.company_hash)
    told = refresh(store, moved, new, dry_run=True)
    report = refresh(store, moved, new)
    assert told == report
    assert (report.moved, report.created) == (1, 0)
    (only,) = load_pages(store)
    assert only.company_hash == new.company_hash
    assert only.stored.data.endswith(b"called them\n")
    (note,) = [info.key for info in store.list("companies/old/notes/")]
    assert old.company_hash in store.get(note).data.decode()
    again = refresh(store, moved, new)
    assert (again.moved, again.created, again.changed, again.unchanged) == (0, 0, 0, 1)


def test_two_pages_that_become_one_business_are_both_kept() -> None:
    store = MemoryStore()
    old, new = prospect("old.example"), prospect("new.example")
    refresh(store, old, new)
    before = store.get("companies/old/_index.md").data
    report = refresh(store, old.with_changes(merged_into=new.company_hash), new)
    assert (report.moved, report.created) == (1, 0)
    assert slugs(store) == ["new", "old"]
    assert store.get("companies/old/_index.md").data == before
    (note,) = store.list("companies/old/notes/")
    assert b"the page new" in store.get(note.key).data


class Squatted(WrappedStore):
    """A store in which somebody makes a page of the same name just before the program does."""

    def put_many(self, puts: Any) -> Any:
        wanted = list(puts)
        if wanted and not list(self.inner.list("companies/")):
            self.inner.put(wanted[0].key, b"mine")
        return super().put_many(wanted)


def test_a_name_that_is_taken_meanwhile_is_not_taken_over() -> None:
    store = MemoryStore()
    one = prospect("acme.example")
    assert refresh(Squatted(store), one, prospect("beta.example")).created == 2
    assert store.get("companies/acme/_index.md").data == b"mine"
    assert slugs(store) == sorted(["acme", f"acme-{one.company_hash[:6]}", "beta"])


def test_a_new_page_is_what_an_update_would_write() -> None:
    facts = facts_of(prospect("acme.example", name="\u2028 =x\n---\n\x85 'q'", all_emails=("a@b.example",)))
    assert new_company(tags=("t",), facts=facts) == markdown.update(new_company(tags=("t",)), facts)
    assert markdown.read(Company, new_company(tags=("t",), facts=facts)).cocli == facts


def test_a_broken_page_is_reported_left_and_gets_no_double() -> None:
    store = MemoryStore()
    one = prospect("acme.example")
    refresh(store, one)
    page = store.get("companies/acme/_index.md")
    broken = page.data.replace(b"tags: [plumbers]", b"tags: [plumbers")
    store.put(page.key, broken)
    report = refresh(store, one.with_changes(phone_e164="+12175550100"))
    assert [problem.partition(", line ")[0] for problem in report.problems] == [page.key]
    assert report.problems[0].count(page.key) == 1
    assert store.get(page.key).data == broken
    assert slugs(store) == ["acme"]


@pytest.mark.parametrize("above", [b"\n\n", b"\r\n", b"# Acme\n\n", b"\xef\xbb\xbf \n", b"---\nmine: 1\n---\n"])
def test_a_page_with_text_above_its_front_matter_is_reported_left_and_gets_no_double(above: bytes) -> None:
    """Once the company got a second page, and tagging put a second front matter above the first."""
    store = MemoryStore()
    one = prospect("acme.example")
    refresh(store, one)
    page = store.get("companies/acme/_index.md")
    store.put(page.key, above + page.data)
    for found in (one, one.with_changes(phone_e164="+12175550100")):
        report = refresh(store, found)
        assert ["front matter is not at the beginning" in problem for problem in report.problems] == [True]
    with pytest.raises(FormatError):
        with_tag(above + page.data, "vip", file=page.key)
    assert store.get(page.key).data == above + page.data
    assert slugs(store) == ["acme"]


def test_a_page_that_lost_its_key_stays_and_the_new_one_is_named() -> None:
    store = MemoryStore()
    one = prospect("acme.example")
    store.put("companies/acme/_index.md", b"My own words.\n")
    report = refresh(store, one)
    assert report.beside == [
        f"companies/acme/_index.md has no key cocli: and stays as it is; see acme-{one.company_hash[:6]}"
    ]
    assert store.get("companies/acme/_index.md").data == b"My own words.\n"
    assert refresh(store, one) == RefreshReport(prospects=1, unchanged=1)


def test_a_page_says_where_a_company_is_and_what_it_does() -> None:
    store = MemoryStore()
    values = {"street": "1 Main St", "city": "Springfield", "region": "IL", "postcode": "62701", "country": "US"}
    refresh(store, prospect("acme.example", website="https://acme.example/", categories=("roofing",), **values))
    page = store.get("companies/acme/_index.md").data
    assert b'\n  website: "https://acme.example/"\n' in page
    assert b'\n  address: "1 Main St, Springfield, IL 62701, US"\n  categories: ["roofing"]\n' in page


def test_a_copied_page_is_reported_and_left() -> None:
    store = MemoryStore()
    refresh(store, prospect("acme.example"))
    store.put("companies/copy/_index.md", store.get("companies/acme/_index.md").data)
    report = refresh(store, prospect("acme.example", phone_e164="+12175550100"))
    assert len(report.problems) == 1
    assert report.changed == 1
    assert b"+1217" not in store.get("companies/copy/_index.md").data


def test_a_company_of_two_campaigns_settles() -> None:
    store = MemoryStore()
    mine = prospect("acme.example", phone_e164="+12175550100")
    theirs = mine.with_changes(campaign="roofers", phone_e164="+12175550199", updated_at=NOON + timedelta(hours=1))
    for one in (mine, theirs):
        refresh(store, one)
    settled = store.get("companies/acme/_index.md").data
    assert b"+12175550199" in settled
    assert b'["plumbers", "roofers"]' in settled
    for one in (mine, theirs, mine):
        assert refresh(store, one).unchanged == 1
    assert store.get("companies/acme/_index.md").data == settled


@pytest.mark.parametrize("slug", ["../../etc/passwd", "..", "a/b", "CON", "💈", "x" * 500, "\u202egnp.exe"])
def test_hostile_slugs_stay_below_their_folder(slug: str) -> None:
    store = MemoryStore()
    one = prospect("acme.example", slug=slug)
    assert refresh(store, one).created == 1
    (info,) = store.list("")
    assert info.key.startswith("companies/")
    assert info.key.count("/") == 2
    assert len(info.key) < 250
    assert refresh(store, one).unchanged == 1


def test_a_company_is_found_by_what_a_person_knows() -> None:
    store = MemoryStore()
    one = prospect("acme.example", name="Acme Roofing", domain="acme.example", primary_email="info@acme.example")
    refresh(store, one, prospect("other.example"))
    for name in ("acme", one.company_hash, "ACME roofing", "acme.example", "info@acme.example"):
        assert [page.slug for page in find_pages(store, name)] == ["acme"], name
    for name in ("nobody", "", "../acme", "a/b", "\x00"):
        assert find_pages(store, name) == []
