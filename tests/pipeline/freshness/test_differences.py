"""What counts as a change of a business, and what is only another spelling, or news of somebody else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cocli.keys.tile import Tile
from cocli.models.domain import Domain
from cocli.models.freshness.roll import ListedPlace, TileRoll
from cocli.models.freshness.standing import BusinessStanding
from cocli.models.origin import Origin
from cocli.models.prospect import Prospect
from cocli.pipeline.freshness.differences import StandingComparison
from cocli.pipeline.freshness.standings import RollBook, standing_of

BEGIN = datetime(2026, 10, 1, tzinfo=UTC)
DAY = timedelta(days=1)
SEEN, ABSENT, SITE = (f"00000000-0000-0000-0000-00000000000{number}" for number in range(3))


def prospect(**changes: Any) -> Prospect:
    values: dict[str, Any] = {
        "company_hash": "a" * 16,
        "slug": "acme",
        "name": "Acme Plumbing",
        "phone_e164": "+16205552345",
        "website": "http://www.acme.example/",
        "domain": "acme.example",
        "street": "12 Main St",
        "postcode": "67881",
        "city": "Harrowmere",
        "primary_email": "info@acme.example",
        "campaign": "plumbers",
        "first_seen": BEGIN,
        "updated_at": BEGIN,
        "sources": ("overture", "website"),
        "source_ids": ("overture:1",),
    } | changes
    said, at = ("name", "street", "phone_e164", "website"), values.pop("at", BEGIN + DAY if changes else BEGIN)
    listed = Origin(fields=said, source=values.pop("said_by", "overture"), observed_at=at, document=SEEN)
    site = Origin(fields=("primary_email",), source="website", observed_at=at, document=SITE)
    return Prospect(**values, origins=(listed, site))


def roll(missed: int = 0) -> TileRoll:
    place = ListedPlace(first=BEGIN, last=BEGIN, document=SEEN)
    if missed:
        place = place.model_copy(update={"missed": missed, "since": BEGIN + DAY, "absent": ABSENT})
    return TileRoll(
        tile=Tile(38_400, -101_200), phrase="plumber", source="overture", campaign="plumbers", begun=BEGIN,
        read_at=BEGIN + missed * DAY, places={"1": place},
    )  # fmt: skip


def standing(
    business: Prospect | None = None, missed: int = 0, site: Domain | None = None, closed_after: int = 3
) -> BusinessStanding:
    business = business or prospect()
    presence = RollBook.of([roll(missed)]).presence(business)
    return standing_of(business, presence, site, closed_after=closed_after, at=BEGIN + 9 * DAY)


def changes(
    before: BusinessStanding | None, business: Prospect, **options: Any
) -> list[tuple[str, str | None, str | None]]:
    missed = options.pop("missed", 0)
    site = options.pop("site", None)
    arrived = options.pop("arrived", False)
    now = standing(business, missed, site)
    found = StandingComparison(before, now, business, arrived, **options).changes()
    return [(change.kind, change.before, change.after) for change in found]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"name": "Zenith Pipes"}, "renamed"),
        ({"street": "99 Oak Ave", "postcode": "67884"}, "moved"),
        ({"phone_e164": "+16205559999"}, "phone"),
        ({"primary_email": "desk@acme.example"}, "email"),
        ({"website": "http://acme-plus.example/"}, "website"),
        ({"business_status": "permanently_closed"}, "closed"),
    ],
)
def test_what_a_source_says_otherwise_is_a_change(values: dict[str, Any], kind: str) -> None:
    (found,) = changes(standing(), prospect(**values))
    assert found[0] == kind
    assert found[1] != found[2]


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"name": "ACME Plumbing, LLC"},
        {"street": "12  Main  St."},
        {"website": "https://acme.example/home"},
        {"phone_e164": None, "phone": "(620) 555-2345"},
        {"business_status": "temporarily_closed"},
        {"primary_email": None},
    ],
)
def test_a_spelling_and_a_value_that_is_gone_are_none(values: dict[str, Any]) -> None:
    assert changes(standing(), prospect(**values)) == []


def test_what_was_seen_no_later_is_no_change() -> None:
    """It stood beside the other value, which is hidden now, or came to light again."""
    assert changes(standing(), prospect(primary_email="desk@acme.example", at=BEGIN)) == []


def test_what_another_source_says_is_news_and_no_change() -> None:
    assert changes(standing(), prospect(phone_e164="+16205559999", said_by="google-maps")) == []


def test_what_a_person_wrote_does_not_change_by_a_reading() -> None:
    assert changes(standing(), prospect(phone_e164="+16205559999"), written={"phone"}) == []


def test_who_is_missing_is_closed_by_readings_or_by_its_website() -> None:
    dead = Domain(domain="acme.example", status="dead", last_crawled=BEGIN + 2 * DAY)
    before_it_went = dead.with_changes(last_crawled=BEGIN)
    assert standing(missed=1).state == "missing"
    assert standing(missed=2, closed_after=2).state == "closed"
    closed = standing(missed=1, site=dead)
    assert (closed.state, closed.since, closed.document) == ("closed", BEGIN + DAY, ABSENT)
    assert "its website is dead" in (closed.reason or "")
    assert standing(missed=1, site=before_it_went).state == "missing", "it was dead while it was listed"
    assert changes(standing(), prospect(), missed=1) == [("missing", "listed", "missing")]
    assert changes(standing(missed=1), prospect(), missed=1, site=dead) == [("closed", "missing", "closed")]
    assert changes(standing(missed=1), prospect()) == [("came_back", "missing", "listed")]
    assert changes(standing(prospect(business_status="permanently_closed")), prospect()) == [
        ("came_back", "closed", "listed")
    ]


def test_a_business_is_new_only_where_somebody_had_looked_before() -> None:
    assert changes(None, prospect()) == []
    assert changes(None, prospect(), arrived=True) == [("new", None, "Acme Plumbing")]
    assert changes(None, prospect(business_status="permanently_closed"), arrived=True) == []


def test_a_change_has_both_documents_and_one_id() -> None:
    before, business = standing(), prospect(phone_e164="+16205559999")
    (found,) = StandingComparison(before, standing(business), business, arrived=False).changes()
    (again,) = StandingComparison(before, standing(business), business, arrived=False).changes()
    assert found.change_id == again.change_id
    assert (found.before_document, found.after_document, found.source) == (SEEN, SEEN, "overture")
    (gone,) = StandingComparison(before, standing(missed=1), prospect(), arrived=False).changes()
    assert (gone.before_document, gone.after_document, gone.after_at) == (SEEN, ABSENT, BEGIN + DAY)
