"""What people wrote on pages is in the exports: it wins over what was found. So are companies made by hand."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cocli.formats.markdown import MarkdownFile


@pytest.fixture
def written(plumbers: Any, write_prospects: Callable[..., None], home: Path) -> Any:
    """Two prospects with pages, of which a person edited one, and a company that a person made."""
    found = {"phone": "(217) 555-0100", "phone_e164": "+12175550100", "primary_email": "info@acme.example"}
    write_prospects("acme.example", slug="acme", city="Springfield", **found)
    write_prospects("beta.example", slug="beta", city="Springfield")
    plumbers("company", "refresh")
    edit(home, "acme", name="Acme Brothers", phone="+1 217 555 0199", status="offer sent", email="jo@acme.example")
    plumbers("note", "add", "acme", "Called; ask again in March")
    plumbers("note", "add", "acme", "They want an offer", "--title", "Second call")
    plumbers("meeting", "add", "acme", "2026-11-20T14:30+01:00", "--title", "Offer")
    plumbers("person", "new", "Jo Doe", "--company", "acme", "--role", "owner", "--email", "jo@acme.example")
    plumbers("company", "new", "Gamma Plumbing", "--phone", "+1 217 555 0142", "--status", "knows us")
    return plumbers


def edit(home: Path, slug: str, **values: str) -> None:
    path = home / "data" / "companies" / slug / "_index.md"
    file = MarkdownFile.parse(path.read_bytes())
    for name, value in values.items():
        file = file.with_value(name, value)
    path.write_bytes(file.render())


def rows(text: str) -> dict[str, dict[str, str]]:
    return {row["slug"]: row for row in csv.DictReader(io.StringIO(text, newline=""))}


def test_what_a_person_wrote_is_exported(written: Any) -> None:
    found = rows(written("export", "plumbers", "--format", "csv-raw", "--out", "-").out)
    assert set(found) == {"acme", "beta", "gamma-plumbing"}
    acme = found["acme"]
    assert (acme["name"], acme["phone"], acme["email"]) == ("Acme Brothers", "+12175550199", "jo@acme.example")
    assert acme["emails"] == "jo@acme.example"
    assert acme["city"] == "Springfield"
    assert (acme["status"], acme["note_count"]) == ("offer sent", "2")
    assert acme["people"] == "Jo Doe, owner, jo@acme.example"
    assert "Called; ask again in March" in acme["notes"]
    assert acme["last_note"].endswith("Second call: They want an offer")
    assert acme["meetings"] == "2026-11-20T14:30+01:00 Offer"
    assert found["beta"]["status"] == found["beta"]["notes"] == ""
    gamma = found["gamma-plumbing"]
    assert (gamma["name"], gamma["phone"], gamma["status"]) == ("Gamma Plumbing", "+12175550142", "knows us")


def test_a_company_made_by_hand_is_counted_and_belongs_to_its_campaign(written: Any, home: Path) -> None:
    assert written("export", "plumbers", "--json").json["by_hand"] == 1
    path = home / "data" / "companies" / "gamma-plumbing" / "_index.md"
    path.write_bytes(path.read_bytes().replace(b"---\n", b"---\ncampaigns: [roofers]\n", 1))
    assert written("export", "plumbers", "--json").json["by_hand"] == 0


def test_a_value_that_cannot_be_one_is_named_and_the_found_one_stays(written: Any, home: Path) -> None:
    edit(home, "acme", email="ask Jo")
    report = written("export", "plumbers", "--out", str(home / "out.csv"), "--json").json
    assert report["problems"] == ["acme: email: ask Jo is no e-mail address"]
    assert rows((home / "out.csv").read_text())["acme"]["email"] == "info@acme.example"


def test_times_are_those_of_the_campaigns_zone(written: Any) -> None:
    written("campaign", "edit", "plumbers", "--set", "campaign.timezone=America/Chicago")
    acme = rows(written("export", "plumbers", "--format", "csv-raw", "--out", "-").out)["acme"]
    assert acme["updated_at"] == "2026-11-15T06:00:00-06:00"
    assert acme["timezone"] == "America/Chicago"
    page = written("report", "plumbers", "--html", "-").out
    assert "America/Chicago" in page
    assert " UTC<" not in page


def test_people_have_cards_and_contacts_of_their_own(written: Any, home: Path) -> None:
    cards = (
        written("export", "plumbers", "--format", "vcard", "--out", "-").out.replace("\r\n ", "").split("BEGIN:VCARD")
    )
    (jo,) = [card for card in cards if "KIND:individual" in card]
    for line in (
        "N:Doe;Jo;;;",
        "FN:Jo Doe",
        "ORG:Acme Brothers",
        "TITLE:owner",
        "EMAIL;TYPE=work;PREF=1:jo@acme.example",
    ):
        assert f"\r\n{line}\r\n" in jo
    assert written("export", "plumbers", "--format", "vcard3", "--out", "-").out.count("BEGIN:VCARD") == 4
    contacts = written("export", "plumbers", "--format", "hubspot-contacts", "--out", "-").out
    (row,) = csv.DictReader(io.StringIO(contacts.lstrip("\ufeff"), newline=""))
    assert (row["First name"], row["Last name"], row["Job title"]) == ("Jo", "Doe", "owner")
    assert (row["Company name"], row["Company domain name"]) == ("Acme Brothers", "acme.example")
