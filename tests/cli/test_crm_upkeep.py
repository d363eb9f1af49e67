"""`company edit|merge|rm|restore`, `note edit|rm`, `meeting rm`, `person rm`, as a person uses them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def pages(plumbers: Any, write_prospects: Callable[..., None]) -> Any:
    write_prospects("acme.example", slug="acme", phone_e164="+12175550100")
    write_prospects("acme-roofing.example", slug="acme-roofing", name="Acme Roofing")
    assert plumbers("company", "refresh").code == 0
    return plumbers


def index(home: Path, slug: str) -> Path:
    return home / "data" / "companies" / slug / "_index.md"


def test_values_are_set_and_taken_away_and_the_rest_stays(pages: Any, home: Path) -> None:
    path = index(home, "acme")
    path.write_text(path.read_text().replace("---\n", "---\nmine: 1   # why\n", 1) + "my words\n")
    told = pages("company", "edit", "acme", "--set", "status=offer sent", "--set", "phone=+1 217 555 0199", "--json")
    assert told.json["company"]["status"] == "changed"
    text = path.read_text()
    assert text.startswith("---\nmine: 1   # why\n")
    assert text.endswith("my words\n")
    shown = pages("company", "show", "acme", "--json").json["company"]
    assert (shown["status"], shown["phone"]) == ("offer sent", "+1 217 555 0199")
    assert (
        pages("company", "edit", "acme", "--set", "status=offer sent", "--json").json["company"]["status"]
        == "already_so"
    )
    pages("company", "edit", "acme", "--set", "phone=", "--set", "tags=vip, called")
    shown = pages("company", "show", "acme", "--json").json["company"]
    assert (shown["phone"], shown["tags"]) == ("+12175550100", ["vip", "called"])


@pytest.mark.parametrize("setting", ["cocli=x", "status", "=x", "tags=a\tb"])
def test_what_cannot_be_set_is_refused(pages: Any, home: Path, setting: str) -> None:
    before = index(home, "acme").read_bytes()
    assert pages("company", "edit", "acme", "--set", setting).code == 2
    assert index(home, "acme").read_bytes() == before


def test_without_a_terminal_an_edit_needs_a_setting(pages: Any) -> None:
    assert "no terminal" in pages("company", "edit", "acme").err


def test_two_pages_become_one(pages: Any, home: Path) -> None:
    index(home, "acme-roofing").write_text(index(home, "acme-roofing").read_text() + "their roof leaks\n")
    pages("note", "add", "acme-roofing", "Called them")
    pages("person", "new", "Jo Doe", "--company", "acme-roofing")
    assert pages("company", "merge", "acme", "acme-roofing").code == 2  # nobody was asked
    told = pages("company", "merge", "acme", "acme-roofing", "--yes", "--json").json
    assert (told["kept"], told["gone"], told["files"]) == ("acme", "acme-roofing", 1)
    shown = pages("company", "show", "acme-roofing", "--json").json
    assert shown["company"]["slug"] == "acme"
    assert {note["text"].splitlines()[-1] for note in shown["notes"]} == {"Called them", "their roof leaks"}
    assert [person["name"] for person in shown["people"]] == ["Jo Doe"]
    assert len(pages("note", "ls", "acme-roofing", "--json").json["notes"]) == 2
    assert [company["slug"] for company in pages("company", "ls", "--json").json["companies"]] == ["acme"]
    assert pages("why", "acme-roofing", "-c", "plumbers", "--json").json["name"] == "Acme"
    counts = pages("company", "refresh", "--json").json["counts"]
    assert (counts["created"], counts["joined"]) == (0, 0)
    exported = pages("export", "plumbers", "--json").json
    assert (exported["rows"], exported["merged"]) == (1, 1)
    assert pages("company", "merge", "acme", "acme-roofing", "--yes").code == 2


def test_a_removed_page_does_not_come_back_before_it_is_restored(pages: Any, home: Path) -> None:
    assert pages("company", "rm", "acme").code == 2  # nobody was asked
    looked = pages("company", "rm", "acme", "--dry-run", "--json").json
    assert (looked["status"], looked["files"], looked["has_text"]) == ("would_remove", [], False)
    assert pages("company", "rm", "acme", "--yes", "--json").json["status"] == "removed"
    assert "restore acme" in pages("company", "show", "acme").err
    counts = pages("company", "refresh", "--json").json["counts"]
    assert (counts["created"], counts["removed"]) == (0, 1)
    assert [company["slug"] for company in pages("company", "ls", "--json").json["companies"]] == ["acme-roofing"]
    assert pages("export", "plumbers", "--json").json["rows"] == 2  # the business is a result still
    assert pages("company", "restore", "acme-roofing").code == 2
    assert pages("company", "restore", "acme").code == 0
    assert pages("company", "refresh", "--json").json["counts"]["created"] == 1
    assert pages("company", "show", "acme").code == 0


def test_what_a_person_wrote_is_removed_only_where_they_say_so(pages: Any, home: Path) -> None:
    pages("note", "add", "acme", "Called them")
    refused = pages("company", "rm", "acme", "--yes")
    assert refused.code == 2
    assert "--with-notes" in refused.err
    assert len(pages("note", "ls", "acme", "--json").json["notes"]) == 1
    pages("company", "edit", "acme-roofing", "--set", "status=called")
    assert "text of yours" in pages("company", "rm", "acme-roofing", "--yes").err
    assert pages("company", "rm", "acme", "--with-notes", "--yes").code == 0
    assert not list((home / "data" / "companies" / "acme").rglob("notes/*.md"))
    pages("company", "new", "Mine")
    assert pages("company", "rm", "mine", "--with-notes", "--yes").code == 0
    assert not index(home, "mine").exists()


def test_notes_meetings_and_people_are_changed_and_removed(pages: Any) -> None:
    pages("note", "add", "acme", "Called them", "--title", "Call")
    (note,) = pages("note", "ls", "acme", "--json").json["notes"]
    changed = pages("note", "edit", "acme", "Call", "--text", "Called; ask in May", "--json").json["note"]
    assert (changed["name"], changed["status"]) == (note["name"], "changed")
    (edited,) = pages("note", "ls", "acme", "--json").json["notes"]
    assert (edited["title"], edited["text"], edited["date"]) == ("Call", "Called; ask in May", note["date"])
    assert pages("note", "edit", "acme", "Call", "--text", " ").code == 2
    assert pages("note", "rm", "acme", "nothing", "--yes").code != 0
    assert pages("note", "rm", "acme", "Call").code == 2
    assert pages("note", "rm", "acme", note["name"][:12], "--yes", "--json").json["note"]["status"] == "removed"
    assert pages("note", "ls", "acme", "--json").json["notes"] == []
    pages("meeting", "add", "acme", "2026-11-20T14:30+01:00", "--title", "Offer")
    assert pages("meeting", "rm", "acme", "Offer", "--yes", "--json").json["meeting"]["name"] == "2026-11-20-offer"
    pages("person", "new", "Jo Doe", "--company", "acme")
    assert pages("person", "rm", "jo-doe").code == 2
    assert pages("person", "rm", "Jo Doe", "--yes", "--json").json["person"]["status"] == "removed"
    assert pages("person", "ls", "--json").json["people"] == []


def test_meetings_are_shown_in_the_campaigns_zone(pages: Any) -> None:
    pages("campaign", "edit", "plumbers", "--set", "campaign.timezone=America/Chicago")
    pages("meeting", "add", "acme", "2026-11-20T14:30+01:00", "--title", "Offer", "-c", "plumbers")
    assert "2026-11-20 07:30-06:00" in pages("meeting", "ls", "-c", "plumbers").out
    assert "2026-11-15 06:00-06:00" in pages("company", "show", "acme").out


def test_temporary_files_of_killed_writers_are_swept_and_young_ones_stay(plumbers: Any, home: Path) -> None:
    """680 of them lay there after 18 kills."""
    folder = home / "data" / "campaigns" / "plumbers"
    old, young = folder / ".tmp#0-old", folder / ".tmp#0-young"
    for file in (old, young):
        file.write_bytes(b"half of an object")
    os.utime(old, (0, 0))
    settled = plumbers("campaign", "settle", "plumbers", "--everything", "--json")
    assert (settled.code, settled.json["swept"]) == (0, 1), settled.err
    assert not old.exists()
    assert young.exists(), "its writer may be at work"
