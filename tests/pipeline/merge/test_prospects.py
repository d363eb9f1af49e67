"""The gold record: which source wins, what stays, and where every value came from."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cocli.errors import MergeError
from cocli.keys.identities import company_hash, place_id_from_feature_id
from cocli.keys.tile import Tile
from cocli.models.completion import Blocked, Completion, Ok
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.origin import Origin
from cocli.models.place import OpenHours, Place
from cocli.models.prospect import Prospect
from cocli.models.website import FoundEmail, FoundPhone, Website
from cocli.models.witness import TargetTile, Witness
from cocli.pipeline.merge import (
    merge_completions,
    merge_domains,
    merge_emails,
    merge_prospects,
    merge_targets,
    merge_witnesses,
    place_to_prospect,
    website_to_domain,
    website_to_emails,
    website_to_prospect,
)
from cocli.pipeline.merge.rules import PERSON

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
PLACE_ID = place_id_from_feature_id("0x1:0x2")
DOCUMENT = "00000000-0000-3000-8000-000000000000"


def place(**values: Any) -> Place:
    given: dict[str, Any] = {"source": "google-maps", "source_id": PLACE_ID, "place_id": PLACE_ID}
    return Place(**(given | {"name": "Brass Kettle", "observed_at": NOON} | values))


def prospect(**values: Any) -> Prospect:
    return place_to_prospect(place(**values), "roofers", company="0" * 16)


def edited(field: str, value: Any, at: datetime = NOON) -> Prospect:
    origin = Origin(fields=(field,), source=PERSON, observed_at=at)
    return prospect(name="").with_changes(**{field: value}, origins=(origin,))


def website(**values: Any) -> Website:
    given: dict[str, Any] = {"domain": "kettle.example", "status": "alive", "scraper_version": "1"}
    return Website(**(given | {"crawled_at": NOON + DAY, "document": DOCUMENT} | values))


def test_company_names_overwritten_by_website_title() -> None:
    gold = prospect(source="overture", source_id="1")
    title = website_to_prospect(website(title="Home | Welcome to our page"), gold)
    merged = merge_prospects(gold, title)
    assert merged.name == "Brass Kettle"
    origin = merged.origin_of("name")
    assert origin is not None
    assert origin.source == "overture"
    nameless = prospect(name="")
    assert merge_prospects(nameless, title).name == "Home | Welcome to our page"


def test_a_person_knows_best() -> None:
    gold = merge_prospects(prospect(phone="1", website="https://a.example"), edited("phone", "2"))
    later = prospect(phone="3", observed_at=NOON + DAY)
    merged = merge_prospects(gold, later)
    assert (merged.phone, merged.website) == ("2", "https://a.example")
    assert merge_prospects(merged, edited("phone", "4", NOON + 2 * DAY)).phone == "4"


def test_a_later_worse_value_never_beats_an_earlier_better_one() -> None:
    details = prospect(rating=4.5, review_count=704)
    list_row = prospect(rating=4.4, rank=3, observed_at=NOON + DAY)
    merged = merge_prospects(details, list_row)
    assert (merged.rating, merged.review_count) == (4.5, 704)
    newer = prospect(rating=4.6, observed_at=NOON + DAY)
    assert merge_prospects(merged, newer).rating == 4.6
    assert merge_prospects(newer, prospect(rating=4.1)).rating == 4.6


def test_limited_view_review_counts_missing() -> None:
    """A page that a source had cut down once took the review counts of a whole campaign."""
    limited = prospect(observed_at=NOON + DAY)
    hours = (OpenHours(day="mo", opens="08:00", closes="17:00"),)
    merged = merge_prospects(prospect(review_count=12, hours=hours), limited)
    assert (merged.review_count, merged.hours) == (12, hours)


def test_every_gold_value_keeps_where_it_came_from() -> None:
    seen = prospect(phone="1", lat=1.0, lon=2.0, website="https://facebook.com/kettle", document=DOCUMENT)
    pages = website(
        final_url="https://kettle.example/",
        emails=(FoundEmail(email="info@kettle.example", page="/", method="mailto"),),
        primary_email="info@kettle.example",
    )
    merged = merge_prospects(seen, website_to_prospect(pages, seen))
    for field in ("name", "slug", "place_id", "phone", "lat", "lon", "socials.facebook"):
        origin = merged.origin_of(field)
        assert origin is not None, field
        assert (origin.source, origin.observed_at, origin.document) == ("google-maps", NOON, DOCUMENT)
    for field in ("website", "domain", "primary_email"):
        origin = merged.origin_of(field)
        assert origin is not None, field
        assert (origin.source, origin.observed_at) == ("website", NOON + DAY)
    assert merged.origin_of("rating") is None
    assert merged.website == "https://kettle.example/"
    assert merged.sources == ("google-maps", "website")


def test_values_of_older_files_get_the_time_of_their_record() -> None:
    older = prospect(phone="1").with_changes(origins=(), sources=("roster",))
    newer = prospect(phone="2").with_changes(origins=(), sources=("roster",), updated_at=NOON + DAY)
    merged = merge_prospects(older, newer)
    assert merged.phone == "2"
    origin = merged.origin_of("phone")
    assert origin is not None
    assert (origin.source, origin.observed_at) == ("roster", NOON + DAY)
    # Any source that says who it is beats one that does not, if its word counts more.
    assert merge_prospects(merged, prospect(phone="3")).phone == "3"


def test_half_a_position_is_none() -> None:
    half = prospect(lat=1.0, observed_at=NOON + DAY)
    assert (half.lat, half.lon) == (None, None)
    whole = prospect(source="overture", source_id="1", lat=3.0, lon=4.0)
    smuggled = half.with_changes(lat=1.0)
    merged = merge_prospects(smuggled, whole)
    assert (merged.lat, merged.lon) == (3.0, 4.0)


def test_extra_columns_of_a_newer_program_stay() -> None:
    one = prospect().with_extras({"fax": "1", "mood": None})
    other = prospect(observed_at=NOON + DAY).with_extras({"fax": None, "mood": "good"})
    assert merge_prospects(one, other).extras == {"fax": "1", "mood": "good"}
    newer = prospect(observed_at=NOON + DAY).with_extras({"fax": "0"})
    assert merge_prospects(one, newer).extras["fax"] == "0"


def test_the_label_of_a_company_does_not_change() -> None:
    first, renamed = prospect(), prospect(name="Copper Pot", observed_at=NOON + DAY)
    merged = merge_prospects(first, renamed)
    assert (merged.name, merged.slug) == ("Copper Pot", "brass-kettle")


def test_place_to_prospect() -> None:
    full = place(
        category_ids=("cafe",),
        category_labels=("Café",),
        phone_e164="+12175550100",
        website="https://www.kettle.example/menu",
        address="12 Main St, Springfield",
        phrase="coffee",
        tile=Tile(39800, -89700),
        rank=2,
        document=DOCUMENT,
    )
    result = place_to_prospect(full, "roofers", reason="same place id")
    assert result.company_hash == company_hash(PLACE_ID)
    assert (result.phone, result.domain, result.street) == ("+12175550100", "kettle.example", full.address)
    assert (result.categories, result.phrases, result.tiles) == (("cafe",), ("coffee",), ("39.8_-89.7",))
    assert (result.sources, result.source_ids) == (("google-maps-list",), ())
    (origin,) = result.origins
    assert (origin.reason, origin.document) == ("same place id", DOCUMENT)
    assert "rating" not in origin.fields
    assert {"name", "phone", "domain", "slug", "categories"} <= set(origin.fields)


def test_website_to_everything() -> None:
    gold = prospect()
    pages = website(
        title="Kettle",
        final_url="https://kettle.example/",
        emails=(
            FoundEmail(email="jane@kettle.example", page="/team", method="text", label="person", name="Jane"),
            FoundEmail(email="info@kettle.example", page="/", method="mailto", label="role", name="info"),
            FoundEmail(email="info@kettle.example", page="/late", method="text"),
            FoundEmail(email="agency@pixels.example", page="/", method="text", label="role"),
        ),
        phones=(
            FoundPhone(raw="call us", page="/", method="text"),
            FoundPhone(raw="217 555 0100", e164="+12175550100", page="/", method="tel"),
        ),
        socials={"facebook": "https://facebook.com/kettle"},
        primary_email="info@kettle.example",
    )
    contribution = website_to_prospect(pages, gold)
    assert (contribution.company_hash, contribution.campaign) == (gold.company_hash, "roofers")
    assert contribution.primary_email == "info@kettle.example"
    assert (contribution.phone, contribution.phone_e164) == ("217 555 0100", "+12175550100")
    assert len(contribution.all_emails) == 3
    emails = {entry.email: entry for entry in website_to_emails(pages, gold.company_hash)}
    assert set(emails) == set(contribution.all_emails)
    assert emails["info@kettle.example"].source_page == "/"
    assert emails["agency@pixels.example"].domain == "pixels.example"
    domain = website_to_domain(pages, gold.company_hash)
    assert (domain.status, domain.last_crawled, domain.company_hash) == ("alive", NOON + DAY, gold.company_hash)


def test_a_domain_says_when_it_was_visited_though_its_pages_are_older() -> None:
    pages = website(status="alive")
    visited = website_to_domain(pages, at=NOON + 9 * DAY)
    assert visited == website_to_domain(pages.with_changes(crawled_at=NOON + 9 * DAY))
    assert {origin.observed_at for origin in visited.origins} == {visited.last_crawled} == {NOON + 9 * DAY}


@pytest.mark.parametrize("status", ["dead", "parked", "directory", "blocked", "social-only"])
def test_a_page_that_is_not_the_companys_own_gives_no_contacts(status: str) -> None:
    pages = website(
        status=status, final_url="https://park.example", socials={"x": "https://x.com/parking"},
        emails=(FoundEmail(email="sales@park.example", page="/", method="text"),),
    )  # fmt: skip
    merged = merge_prospects(prospect(website="https://kettle.example"), website_to_prospect(pages, prospect()))
    assert (merged.website, merged.all_emails, merged.socials) == ("https://kettle.example", (), {})
    assert website_to_domain(pages).status == status


def test_verification_of_an_address() -> None:
    def entry(verification: str, days: int) -> EmailEntry:
        at = NOON + days * DAY
        values = {"email": "a@b.example", "domain": "b.example", "verification": verification}
        return EmailEntry.checked(values | {"first_seen": at, "last_seen": at})

    merged = merge_emails(entry("deliverable", 0), entry("mx", 1))
    assert merged.verification == "deliverable"
    assert merge_emails(merged, entry("undeliverable", 2)).verification == "undeliverable"
    assert merge_emails(merged, entry("unknown", 3)).verification == "deliverable"
    assert (merged.first_seen, merged.last_seen) == (NOON, NOON + DAY)


def test_a_blocked_crawl_says_nothing_about_a_domain() -> None:
    alive = Domain(domain="a.example", status="alive", last_crawled=NOON, mx=("mx.a.example",))
    blocked = Domain(domain="a.example", status="blocked", last_crawled=NOON + DAY)
    merged = merge_domains(alive, blocked)
    assert (merged.status, merged.mx, merged.last_crawled) == ("alive", ("mx.a.example",), NOON + DAY)
    assert merge_domains(merged, Domain(domain="a.example", status="dead", last_crawled=NOON + DAY)).status == "dead"


def test_a_blocked_pass_hides_no_pass_that_read_the_tile() -> None:
    def witness(**values: Any) -> Witness:
        given: dict[str, Any] = {"tile": Tile(0, 0), "phrase": "tea", "source": "google-maps", "worker": "pi"}
        return Witness(**(given | {"campaign": "roofers", "count": 5, "read_at": NOON} | values))

    exhausted = witness(outcome="exhausted")
    cut = witness(outcome="cut_short", read_at=NOON + DAY, campaign="plumbers", count=120)
    assert merge_witnesses(exhausted, cut) == cut, "the town has grown: the tile is to be split"
    again = witness(outcome="exhausted", read_at=NOON + DAY, campaign="plumbers", count=0)
    assert merge_witnesses(exhausted, again) == again
    assert merge_witnesses(cut, again) == again
    blocked = witness(outcome="blocked", read_at=NOON + 2 * DAY, count=0)
    assert merge_witnesses(exhausted, blocked) == exhausted
    assert merge_witnesses(cut, blocked) == cut
    assert merge_witnesses(blocked, witness(outcome="blocked", count=0)) == blocked
    with pytest.raises(MergeError, match="source"):
        merge_witnesses(exhausted, witness(outcome="exhausted", source="overture"))


def test_a_pass_cannot_meet_more_again_than_there_were() -> None:
    given: dict[str, Any] = {"tile": Tile(0, 0), "phrase": "tea", "source": "overture", "worker": "pi"}
    given |= {"campaign": "roofers", "count": 5, "read_at": NOON, "outcome": "exhausted"}
    assert Witness(**given, earlier=7, again=5).again == 5
    for earlier, again in ((4, 5), (7, 6), (None, 1)):
        with pytest.raises(ValueError, match="again"):
            Witness(**given, earlier=earlier, again=again)


def test_a_tile_that_was_planned_twice_was_planned_first() -> None:
    first = TargetTile(tile=Tile(0, 0), phrase="tea", campaign="roofers", planned_at=NOON)
    merged = merge_targets(first, first.with_changes(planned_at=NOON + DAY, location="Springfield"))
    assert (merged.planned_at, merged.location) == (NOON, "Springfield")


def test_the_first_completion_is_the_result() -> None:
    def completion(**values: Any) -> Completion:
        given: dict[str, Any] = {"task_id": "t", "queue": "enrichment", "campaign": "roofers", "verdict": Ok()}
        given |= {"token": 1, "attempt": 1, "worker": "pi", "claimed_at": NOON, "finished_at": NOON, "nonce": "a" * 8}
        return Completion(**(given | values))

    first = completion(verdict=Blocked(reason="captcha"))
    assert merge_completions(first, completion(finished_at=NOON + DAY)) == first
    assert merge_completions(first, completion(token=2)) == first


def test_a_merge_is_quick() -> None:
    """Below 100 µs on a quiet machine; the bound here only notices a merge that became another kind of slow."""
    one = prospect(phone="1", website="https://a.example", street="a", city="b", postcode="c", lat=1.0, lon=1.0)
    other = prospect(
        source="overture", source_id="1", phone="2", website="https://b.example", street="d", lat=1.0, lon=2.0
    )
    begin = time.process_time()
    for _ in range(1000):
        merge_prospects(one, other)
    assert time.process_time() - begin < 1.0
