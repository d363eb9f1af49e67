"""Every form and every negative of the hand-made pages in benchmarks/contacts, page by page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cocli.pipeline.websites import PageFacts, read_page
from cocli.pipeline.websites.facts.emails.address import read_address

FOLDER = Path(__file__).parents[3] / "benchmarks" / "contacts"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in (FOLDER / "truth.jsonl").read_text("utf-8").splitlines()]


def canonical(addresses: list[str]) -> set[str]:
    return {str(read_address(address) or address.lower()) for address in addresses}


def read(row: dict[str, Any]) -> PageFacts:
    return read_page((FOLDER / row["file"]).read_bytes(), row["url"], row["country"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: Path(row["file"]).stem)
def test_the_addresses_of_a_page(row: dict[str, Any]) -> None:
    facts = read(row)
    found = {email.value for email in facts.emails}
    must, others = canonical(row["emails"]), canonical(row["emails_thirdparty"])
    assert must <= found
    assert found <= must | others | canonical(row["emails_optional"])
    ours = {email.value for email in facts.emails if email.relation in ("own", "freemail")}
    assert must <= ours
    assert not others & ours


@pytest.mark.parametrize("row", ROWS, ids=lambda row: Path(row["file"]).stem)
def test_each_finding_says_where_and_how(row: dict[str, Any]) -> None:
    for email in read(row).emails:
        assert email.method
        assert email.position >= 0
        assert email.where in ("text", "link", "attribute", "script", "head", "data")
        if email.method == "text":
            assert email.value.partition("@")[0] in email.context.lower()


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["phones"] or row["phones_reject"]], ids=lambda row: row["form"]
)
def test_the_numbers_of_a_page(row: dict[str, Any]) -> None:
    found = {phone.value for phone in read(row).phones}
    assert set(row["phones"]) <= found <= set(row["phones"]) | set(row["phones_optional"])


def test_the_list_of_forms_is_complete() -> None:
    """The forms and negatives that the benchmark promises: a page that goes missing is noticed."""
    forms = {row["form"] for row in ROWS}
    assert len([form for form in forms if not form.startswith("negative")]) >= 85
    assert len([form for form in forms if form.startswith("negative")]) >= 24
    assert sorted(Path(row["file"]).name for row in ROWS) == sorted(path.name for path in FOLDER.glob("pages/*.html"))
