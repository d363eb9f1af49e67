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


def test_two_pages_that_become_one_business_are_brought_together() -> None:
    store = MemoryStore()
    old, new = prospect("old.example"), prospect("new.example")
    refresh(store, old, new)
    page = store.get("companies/old/_index.md")
    store.put(page.key, page.data + b"called them\n", if_match=page.etag)
    moved = old.with_changes(merged_into=new.company_hash)
    told = refresh(store, moved, new, dry_run=True)
    report = refresh(store, moved, new)
    assert told == report
    assert (report.joined, report.created) == (1, 0)
    assert slugs(store) == ["new"]
    (kept,) = load_pages(store)
    assert set(kept.hashes) == {old.company_hash, new.company_hash}
    (note,) = store.list("companies/new/notes/")
    assert b"called them\n" in store.get(note.key).data
    assert [page.slug for page in find_pages(store, "old")] == ["new"]
    before = {info.key: store.get(info.key).data for info in store.list("")}
    again = refresh(store, moved, new)
    assert (again.joined, again.created, again.changed, again.unchanged) == (0, 0, 0, 1)
    assert {info.key: store.get(info.key).data for info in store.list("")} == before


def test_a_campaign_that_still_has_the_old_hash_makes_no_second_page() -> None:
    """One campaign knows that two are one, another does not: each refresh would make a page, the next one move it."""
    store = MemoryStore()
    old, new = prospect("old.example"), prospect("new.example")
    refresh(store, old, new)
    refresh(store, old.with_changes(merged_into=new.company_hash), new)
    theirs = old.with_changes(campaign="roofers", phone_e164="+12175550100", updated_at=NOON + timedelta(hours=1))
    report = refresh(store, theirs)
    assert (report.created, report.changed) == (0, 1)
    (page,) = load_pages(store)
    assert page.facts is not None
    assert (page.slug, page.facts.campaigns, page.facts.phone_e164) == ("new", ("plumbers", "roofers"), "+12175550100")
    for known in (theirs, new, theirs):
        assert refresh(store, known).unchanged == 1


def test_one_place_id_is_one_page() -> None:
    store = MemoryStore()
    place = "ChIJyUzh2kXqwoARUtNFG8VjnYQ"
    refresh(store, prospect("acme.example", place_id=place))
    theirs = prospect("acme-too.example", place_id=place, campaign="roofers")
    assert refresh(store, theirs).created == 0
    (page,) = load_pages(store)
    assert page.facts is not None
    assert page.facts.campaigns == ("plumbers", "roofers")
    assert theirs.company_hash in page.hashes


CONTACT = {"name": "Acme Plumbing", "domain": "acme.example", "phone_e164": "+12175550100"}


def of_a_list(**values: Any) -> Prospect:
    """The company as somebody's list has it."""
    return prospect("acme.example", **(CONTACT | {"campaign": "leads", "city": "Springfield"} | values))


def of_a_search(identity: str = "at", **values: Any) -> Prospect:
    """The company as a search of a territory finds it: under another hash."""
    found = {"slug": "acme-plumbing", "street": "12 Main St", "city": "Springfield", "postcode": "62701"}
    return prospect(f"{identity}.example", **(CONTACT | found | values))


def test_a_company_of_a_list_and_of_a_search_has_one_page() -> None:
    store = MemoryStore()
    assert refresh(store, of_a_list()).created == 1
    assert refresh(store, of_a_search()).created == 0
    (page,) = load_pages(store)
    assert page.facts is not None
    assert page.facts.campaigns == ("leads", "plumbers")
    assert set(page.hashes) == {of_a_list().company_hash, of_a_search().company_hash}
    assert page.facts.name == "Acme Plumbing"
    before = page.stored.data
    for known in (of_a_list(), of_a_search(), of_a_list()):
        refresh(store, known)
    assert store.get(page.key).data == before


def test_pages_of_one_company_that_were_doubled_are_brought_together() -> None:
    store = MemoryStore()
    refresh(store, of_a_list(phone_e164=None))
    refresh(store, of_a_search(updated_at=NOON + timedelta(hours=1)))
    assert len(slugs(store)) == 2
    edited = with_tag(store.get("companies/acme/_index.md").data, "call-again", file="x")
    store.put("companies/acme/_index.md", edited)
    report = refresh(store, of_a_list())
    assert (report.joined, report.created) == (1, 0)
    (page,) = load_pages(store)
    assert "call-again" in page.tags
    assert page.facts is not None
    assert page.facts.address == "12 Main St, Springfield, 62701", "the newer knowledge stays"
    assert set(page.hashes) == {of_a_list().company_hash, of_a_search().company_hash}
    assert refresh(store, of_a_search()).joined == 0


@pytest.mark.parametrize(
    "other",
    [
        of_a_search(name="Acme Heating"),
        of_a_search(phone_e164="+12175550199"),
        of_a_search(domain="acme-group.example"),
        of_a_search(campaign="leads"),
    ],
    ids=["another name", "another phone", "another website", "the same campaign"],
)
def test_companies_that_differ_keep_their_own_pages(other: Prospect) -> None:
    store = MemoryStore()
    refresh(store, of_a_list())
    assert refresh(store, other).created == 1


def test_branches_with_one_number_and_website_keep_their_own_pages() -> None:
    """The number of the head office stands on the website, and each branch has taken it from there."""
    store = MemoryStore()
    here = of_a_search("here")
    there = of_a_search("there", street="900 Oak Ave", city="Peoria", postcode="61602", campaign="leads")
    refresh(store, here)
    assert refresh(store, there).created == 1, "their addresses differ"
    store = MemoryStore()
    refresh(store, of_a_list())
    both = tuple(of_a_search(city, street=None, postcode=None, city=city) for city in ("springfield", "peoria"))
    assert refresh(store, *both).created == 2, "which of the two the list means is not known"
    store = MemoryStore()
    refresh(store, *both)
    assert refresh(store, of_a_list()).created == 1, "it fits two pages"


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


def test_a_copied_page_is_brought_together_with_the_first() -> None:
    store = MemoryStore()
    refresh(store, prospect("acme.example"))
    copy = store.get("companies/acme/_index.md").data + b"only here\n"
    store.put("companies/acme-copy/_index.md", copy)
    store.put("companies/acme-copy/notes/2026-11-01-x.md", b"a note")
    report = refresh(store, prospect("acme.example", phone_e164="+12175550100"))
    assert (report.problems, report.joined, report.changed) == ([], 1, 1)
    assert slugs(store) == ["acme"]
    texts = b"".join(store.get(info.key).data for info in store.list("companies/acme/notes/"))
    assert b"only here\n" in texts
    assert b"a note" in texts


def test_a_copied_page_that_cannot_be_read_is_reported_and_left() -> None:
    store = MemoryStore()
    refresh(store, prospect("acme.example"))
    broken = store.get("companies/acme/_index.md").data.replace(b"tags: [plumbers]", b"tags: [plumbers")
    store.put("companies/acme-copy/_index.md", broken)
    report = refresh(store, prospect("acme.example", phone_e164="+12175550100"))
    assert (len(report.problems), report.joined, report.changed) == (1, 0, 1)
    assert store.get("companies/acme-copy/_index.md").data == broken


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
