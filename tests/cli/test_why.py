"""`cocli why` on records whose story is known: merged prospects, values without origins, hostile texts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cocli.index.cache import MemoryCache
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash
from cocli.keys.paths import IndexRef
from cocli.models.origin import Origin
from cocli.models.prospect import Prospect
from cocli.pipeline.indexes import open_index
from cocli.pipeline.merge import merge_prospects, move_prospect
from cocli.store import open_store

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
PLACE = "ChIJyUzh2kXqwoARUtNFG8VjnYQ"
HOSTILE = "Acme \x1b[31m\u202eRoofing"


def seen(source: str, *fields: str, hours: int = 0, reason: str | None = None) -> Origin:
    return Origin(fields=fields, source=source, observed_at=NOON + timedelta(hours=hours), reason=reason)


def a_prospect(identity: str, **values: Any) -> Prospect:
    given: dict[str, Any] = {
        "company_hash": company_hash(identity),
        "slug": "acme-roofing",
        "name": "Acme Roofing",
        "campaign": "plumbers",
        "first_seen": NOON,
        "updated_at": NOON,
    }
    return Prospect(**(given | values))


@pytest.fixture
def moved(plumbers: Any, home: Path) -> tuple[Prospect, Prospect]:
    """A business that open data had first; the map gave it its place id later."""
    old = a_prospect(
        "at:acme|1 main|62701",
        phone="0217 555 0100",
        sources=("overture",),
        origins=(seen("overture", "name", "phone", "slug"),),
    )
    pointing, contribution = move_prospect(old, company_hash(PLACE), reason="same name and address", at=NOON)
    found = a_prospect(
        PLACE,
        place_id=PLACE,
        name="ACME Roofing Inc.",
        phone="+1 217 555 0199",
        sources=("google-maps",),
        origins=(seen("google-maps", "name", "phone", "place_id", hours=1, reason="same place id"),),
    )
    index = open_index(open_store(str(home / "data")), IndexRef("prospects", "plumbers"), MemoryCache())
    IndexWriter(index).append([pointing, contribution, found])
    return old, merge_prospects(contribution, found)


def test_what_was_merged_into_it_is_an_observation_too(plumbers: Any, moved: tuple[Prospect, Prospect]) -> None:
    old, now = moved
    found = plumbers("why", PLACE, "phone", "-c", "plumbers", "--json").json
    assert found["value"] == now.phone == "+1 217 555 0199"
    assert found["merged"] == [old.company_hash]
    kept, lost = found["observations"]
    assert (kept["source"], kept["kept"], kept["reason"], kept["weight"]) == ("google-maps", True, "same place id", 70)
    assert (lost["source"], lost["kept"], lost["record"]) == ("overture", False, old.company_hash)
    assert (lost["reason"], lost["weight"], lost["value"]) == ("same name and address", 40, "0217 555 0100")


def test_the_old_hash_leads_to_the_new_one(plumbers: Any, moved: tuple[Prospect, Prospect]) -> None:
    old, now = moved
    result = plumbers("why", old.company_hash, "name", "-c", "plumbers")
    assert f"[{now.company_hash}]" in result.out
    assert f"{old.company_hash} was merged into it" in result.err
    assert "rule: best" in result.out


def test_a_value_without_an_origin_says_so(plumbers: Any, write_prospects: Any) -> None:
    write_prospects("acme.example", city="Springfield", sources=("import",))
    found = plumbers("why", "acme.example", "city", "-c", "plumbers", "--json").json
    (seen_once,) = found["observations"]
    assert (seen_once["source"], seen_once["document"]) == ("import", None)
    assert found["documents"] == []


def test_a_document_that_is_not_there_is_named(plumbers: Any, write_prospects: Any) -> None:
    uuid = "2e8b2a89-e5a4-3c0f-b1fe-ad41d5c4c124"
    write_prospects("acme.example", origins=(seen("overture", "name").model_copy(update={"document": uuid}),))
    result = plumbers("why", "acme.example", "name", "-c", "plumbers")
    assert result.code == 0
    assert f"document {uuid} is not in the repository" in result.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("acme.example", "phnoe"), 2, "Did you mean: phone"),
        (("acme.example", "xyzzy"), 2, "It has: company_hash"),
        (("acme.example", "nobody@acme.example"), 2, "has no field"),
        (("acne",), 4, "Did you mean: Acme"),
        (("zzzzzz",), 4, "cocli find"),
        (("0123456789abcdef",), 4, "hint:"),
        (("",), 4, "hint:"),
        (("it's; drop table",), 4, "hint:"),
    ],
)
def test_who_asks_for_something_unknown_gets_candidates(
    plumbers: Any, write_prospects: Any, words: tuple[str, ...], code: int, said: str
) -> None:
    write_prospects("acme.example", phone="1")
    result = plumbers("why", *words, "-c", "plumbers")
    assert result.code == code
    assert said in result.err
    assert result.out == ""


def test_a_name_that_two_have_is_not_guessed(plumbers: Any, write_prospects: Any) -> None:
    write_prospects("one.example", "two.example", name="Acme")
    result = plumbers("why", "acme", "-c", "plumbers")
    assert result.code == 2
    assert "may be 2 prospects" in result.err
    hashes = [company_hash(f"domain:{name}.example") for name in ("one", "two")]
    assert all(company_hash in result.err for company_hash in hashes)


def test_a_page_an_address_and_a_number_name_one_branch_of_a_chain(plumbers: Any, write_prospects: Any) -> None:
    """Once the slugs that `company ls` shows were known to nobody, or were those of all branches."""
    for number in range(3):
        contacts = {"phone_e164": f"+1217555010{number}", "all_emails": (f"shop{number}@acme.example",)}
        write_prospects(f"shop{number}.example", name="Acme", slug="acme", **contacts)
    assert plumbers("company", "refresh", "-c", "plumbers").code == 0
    pages = {
        company["slug"]: company["company_hash"] for company in plumbers("company", "ls", "--json").json["companies"]
    }
    assert len(pages) == 3
    for slug, company in pages.items():
        assert plumbers("why", slug, "-c", "plumbers", "--json").json["company_hash"] == company
    by_number = plumbers("why", "+12175550101", "-c", "plumbers", "--json").json["company_hash"]
    assert plumbers("why", "Shop1@acme.example", "-c", "plumbers", "--json").json["company_hash"] == by_number
    assert plumbers("why", "Acme", "-c", "plumbers").code == 2


def test_what_a_person_wrote_is_said(plumbers: Any, write_prospects: Any, home: Path) -> None:
    write_prospects("acme.example", slug="acme", phone_e164="+12175550100")
    assert plumbers("company", "refresh", "-c", "plumbers").code == 0
    page = home / "data" / "companies" / "acme" / "_index.md"
    page.write_text(page.read_text().replace("tags:", 'phone: "0800 1\\u202e2"\ntags:'))
    found = plumbers("why", "acme.example", "phone", "-c", "plumbers", "--json").json
    assert found["value"] is None
    assert found["written"] == {"key": "phone", "value": "0800 1\u202e2", "file": str(page)}
    assert [value["key"] for value in plumbers("why", "acme", "-c", "plumbers", "--json").json["written"]] == ["phone"]
    shown = plumbers("why", "acme", "phone_e164", "-c", "plumbers")
    assert f"phone is written by a person in {page}" in shown.err
    assert "\u202e" not in shown.err
    unknown = plumbers("why", "acme", "rating", "-c", "plumbers")
    assert "No source has said anything about this field" in unknown.err
    assert "written by a person" not in unknown.err


def test_hostile_texts_are_harmless(plumbers: Any, write_prospects: Any) -> None:
    write_prospects("acme.example", name=HOSTILE, street=HOSTILE)
    for words in (("acme.example",), ("acme.example", "street"), ("acme.example", "address")):
        result = plumbers("why", *words, "-c", "plumbers")
        assert result.code == 0
        assert "Acme \\x1b[31m\\u202eRoofing" in result.out
        assert not set(result.out + result.err) & set("\x1b\u202e")
