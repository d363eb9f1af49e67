"""`cocli company|person|note|meeting`, as a person uses them: words in, files of Markdown out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ESCAPE = "\x1b]0;owned\x07"


def page(home: Path, slug: str) -> Path:
    return home / "data" / "companies" / slug / "_index.md"


@pytest.fixture
def acme(plumbers: Any, write_prospects: Callable[..., None]) -> Any:
    """A campaign with the page of one company."""
    write_prospects("acme.example", slug="acme", phone_e164="+12175550100", all_emails=("info@acme.example",))
    assert plumbers("company", "refresh").code == 0
    return plumbers


def editor(home: Path, script: str) -> str:
    """An editor that is a shell script; the file is `$1`."""
    path = home / "editor.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


# --- companies -------------------------------------------------------------------------------------------------------


def test_pages_come_from_prospects_and_a_second_run_writes_nothing(
    plumbers: Any, home: Path, write_prospects: Callable[..., None]
) -> None:
    write_prospects("acme.example", slug="acme")
    write_prospects("rival.example", slug="acme", name="Rival")
    told = plumbers("company", "refresh", "--dry-run", "--json")
    assert told.json["status"] == "would_refresh"
    assert not (home / "data" / "companies").exists()
    done = plumbers("company", "refresh", "-c", "plumbers", "--json")
    assert done.json["counts"] == told.json["counts"]
    assert done.json["counts"]["created"] == 2
    assert "tags: [plumbers]" in page(home, "acme").read_text()
    again = plumbers("company", "refresh", "--json").json["counts"]
    assert (again["created"], again["changed"], again["unchanged"]) == (0, 0, 2)


def test_names_once_overwritten_by_a_title_stay_a_persons(
    acme: Any, home: Path, write_prospects: Callable[..., None]
) -> None:
    """Once enrichment wrote a page's title over the names of a whole campaign."""
    file = page(home, "acme")
    file.write_text(file.read_text().replace("---\n", "---\nname: Our Acme  # as on the door\n", 1) + "My text.\n")
    write_prospects("acme.example", slug="acme", name="Home | Welcome", phone_e164="+12175550199")
    assert acme("company", "refresh", "--json").json["counts"]["changed"] == 1
    text = file.read_text()
    assert "name: Our Acme  # as on the door\n" in text
    assert text.endswith("My text.\n")
    assert "+12175550199" in text
    assert acme("company", "ls", "--json").json["companies"][0]["name"] == "Our Acme"


def test_list_and_show(acme: Any) -> None:
    acme("note", "add", "acme", f"called them {ESCAPE}")
    acme("meeting", "add", "acme", "2031-05-01 14:30", "--title", "Offer")
    listed = acme("company", "ls", "--tag", "plumbers", "-c", "plumbers", "--json").json
    assert [company["slug"] for company in listed["companies"]] == ["acme"]
    assert acme("company", "ls", "--tag", "vip", "--json").json["companies"] == []
    shown = acme("company", "show", "info@acme.example", "--json").json
    assert shown["record"]["domain"] == "acme.example"
    assert [meeting["title"] for meeting in shown["meetings"]] == ["Offer"]
    text = acme("company", "show", "acme")
    assert "+12175550100" in text.out
    assert "\x1b" not in text.out + text.err
    assert acme("company", "ls").out.splitlines()[1].startswith("acme ")


def test_whoever_is_not_there_is_not_found(acme: Any) -> None:
    for words in (("company", "show", "nobody"), ("company", "tag", "../../x", "vip"), ("person", "show", "nobody")):
        result = acme(*words, "--json")
        assert result.code == 4, words
        assert result.error["hint"]
    acme("company", "new", "Two", "--email", "x@y.example")
    acme("company", "new", "Three", "--email", "x@y.example")
    result = acme("company", "show", "x@y.example", "--json")
    assert (result.code, result.error["code"]) == (2, "usage")
    assert "three, two" in result.error["message"]


def test_new_companies(acme: Any, home: Path) -> None:
    words = ("company", "new", "Müller & Söhne", "--website", "m.example", "--tag", "vip", "--json")
    made = acme(*words).json["company"]
    assert (made["slug"], made["status"]) == ("muller-sohne", "created")
    assert acme(*words).json["company"]["status"] == "already_there"
    assert Path(made["path"]).read_text() == '---\nname: "Müller & Söhne"\nwebsite: m.example\ntags: [vip]\n---\n'
    assert acme("company", "new", "ACME").code == 2
    assert acme("company", "new", "!!!").code == 2
    hostile = acme("company", "new", "../../../etc", "--status", "---\n!!python/object:os.system", "--json").json
    assert hostile["company"]["slug"] == "etc"
    assert acme("company", "show", "etc", "--json").json["company"]["status"].startswith("---\n!!python")


def test_tags(acme: Any, home: Path) -> None:
    before = page(home, "acme").read_bytes()
    assert acme("company", "tag", "acme", "vip", "called", "--json").json["company"]["status"] == "changed"
    assert b"tags: [plumbers, vip, called]\n" in page(home, "acme").read_bytes()
    assert acme("company", "tag", "acme", "vip", "--json").json["company"]["status"] == "already_so"
    assert acme("company", "untag", "acme", "vip", "called").code == 0
    assert page(home, "acme").read_bytes() == before
    assert acme("company", "tag", "acme", "a,b").code == 2


def test_exclusions(acme: Any, home: Path, write_prospects: Callable[..., None]) -> None:
    told = acme("company", "exclude", "acme", "-c", "plumbers", "--json").json
    assert (told["setting"], told["value"], told["status"]) == ("domains", "acme.example", "excluded")
    assert acme("company", "exclude", "acme", "-c", "plumbers", "--json").json["status"] == "already_so"
    before = page(home, "acme").read_bytes()
    write_prospects("acme.example", slug="acme", phone_e164="+12175550199")
    counts = acme("company", "refresh", "--json").json["counts"]
    assert (counts["excluded"], counts["changed"]) == (1, 0)
    assert page(home, "acme").read_bytes() == before
    undone = acme("company", "exclude", "acme", "-c", "plumbers", "--undo", "--json").json
    assert undone["status"] == "included"
    assert acme("company", "exclude", "acme", "-c", "plumbers", "--by", "place-id").code == 2
    by_name = acme("company", "exclude", "acme", "-c", "plumbers", "--by", "name", "--json").json
    assert (by_name["setting"], by_name["value"]) == ("names", "Acme")


def test_a_broken_page_is_told_and_left(acme: Any, home: Path) -> None:
    page(home, "acme").write_text(page(home, "acme").read_text().replace("tags: [plumbers]", "tags: [") + "x")
    listed = acme("company", "ls", "--json").json["companies"]
    assert listed[0]["problem"]
    assert acme("company", "ls").code == 0
    assert acme("company", "show", "acme").code == 0
    result = acme("company", "tag", "acme", "vip", "--json")
    assert result.error["code"] == "format"


# --- editing ---------------------------------------------------------------------------------------------------------


def test_a_page_opens_in_the_editor(acme: Any, home: Path, on_terminal: Callable[..., Any]) -> None:
    shown = on_terminal("company", "open", "acme", EDITOR=editor(home, 'echo "typed" >> "$1"'))
    assert shown.code == 0, shown.screen
    assert page(home, "acme").read_text().endswith("typed\n")
    assert acme("company", "open", "acme").code == 2  # no terminal


def test_an_edit_that_came_too_late_is_kept_and_theirs_stays(
    acme: Any, home: Path, on_terminal: Callable[..., Any]
) -> None:
    script = f'echo "mine" >> "$1"; echo "theirs" >> "{page(home, "acme")}"'
    shown = on_terminal("company", "open", "acme", EDITOR=editor(home, script), TMPDIR=str(home))
    assert shown.code == 2
    assert "Your text is kept in" in shown.screen
    assert page(home, "acme").read_text().endswith("---\ntheirs\n")


def test_broken_front_matter_is_not_saved(acme: Any, home: Path, on_terminal: Callable[..., Any]) -> None:
    before = page(home, "acme").read_text()
    script = 'sed -i "s/tags: .*/tags: [/" "$1"'
    answers = [("Edit it again?", "n\n")]
    shown = on_terminal("company", "open", "acme", typed=answers, EDITOR=editor(home, script), TMPDIR=str(home))
    assert shown.code == 2
    assert page(home, "acme").read_text() == before


# --- people ----------------------------------------------------------------------------------------------------------


def test_people(acme: Any, home: Path, on_terminal: Callable[..., Any]) -> None:
    words = ("person", "new", "Jo Doe", "--company", "acme", "--role", "owner", "--email", "jo@acme.example")
    made = acme(*words, "--json").json["person"]
    assert (made["slug"], made["status"]) == ("jo-doe", "created")
    assert acme(*words, "--json").json["person"] == {**made, "status": "already_there"}
    other = acme("person", "new", "Jo Doe", "--email", "jo@other.example", "--json").json["person"]
    assert other["slug"].startswith("jo-doe-")
    assert acme("person", "ls", "--company", "acme", "--json").json["people"][0]["email"] == "jo@acme.example"
    assert len(acme("person", "ls", "--json").json["people"]) == 2
    assert "owner" in acme("person", "show", "jo@acme.example").out
    opened = on_terminal("person", "open", "jo-doe", EDITOR=editor(home, 'echo "met" >> "$1"'))
    assert opened.code == 0
    assert acme("person", "show", "jo-doe", "--json").json["body"] == "met"
    assert acme("person", "show", "Jo Doe").code == 2  # two of them


# --- notes and meetings ----------------------------------------------------------------------------------------------


def test_notes(acme: Any, home: Path, on_terminal: Callable[..., Any]) -> None:
    first = acme("note", "add", "acme", "Called; ask again", "--tag", "phone", "--json").json["note"]
    assert first["title"] == "Called; ask again"
    second = acme("note", "add", "acme", "Called; ask again", "--json").json["note"]
    assert second["path"] != first["path"]
    piped = acme("note", "add", "acme", "-", "--title", "Visit", "--json", stdin=b"---\nname: x\n---\nlong\ntext\n")
    assert piped.code == 0
    notes = acme("note", "ls", "acme", "--json").json["notes"]
    assert [note["title"] for note in notes] == ["Called; ask again", "Called; ask again", "Visit"]
    assert notes[2]["text"] == "---\nname: x\n---\nlong\ntext"
    assert acme("note", "add", "acme", "  ").code == 2
    assert acme("note", "add", "acme").code == 2  # no terminal, no text
    typed = on_terminal("note", "add", "acme", EDITOR=editor(home, 'echo "typed" > "$1"'))
    assert typed.code == 0, typed.screen
    assert len(acme("note", "ls", "--json").json["notes"]) == 4
    assert acme("note", "ls", "--limit", "1").err.count("there are more") == 1


def test_a_text_that_cannot_be_kept_is_not_thrown_away(acme: Any, home: Path, on_terminal: Callable[..., Any]) -> None:
    script = editor(home, r"""printf 'caf\351' > "$1" """)
    shown = on_terminal("note", "add", "acme", EDITOR=script, TMPDIR=str(home))
    assert "is not UTF-8" in shown.screen
    (kept,) = home.glob("cocli-*.md")
    assert kept.name in "".join(shown.screen.split())
    assert kept.read_bytes() == b"caf\xe9"


def test_meetings_are_in_the_campaigns_zone(acme: Any) -> None:
    assert acme("campaign", "edit", "plumbers", "--set", "campaign.timezone=Europe/Berlin").code == 0
    words = ("meeting", "add", "acme", "2031-07-01 14:30", "-c", "plumbers", "--with", "Jo", "--place", "there")
    made = acme(*words, "--json").json["meeting"]
    assert made["date"] == "2031-07-01T14:30+02:00"
    acme("meeting", "add", "acme", "2031-01-10T09:00-05:00", "--title", "Sooner")
    acme("meeting", "add", "acme", "2020-01-10 09:00", "--title", "Past")
    coming = acme("meeting", "next", "-c", "plumbers", "--json").json["meetings"]
    assert [meeting["title"] for meeting in coming] == ["Sooner", "Meeting with Acme"]
    assert coming[1]["at"] == "2031-07-01T12:30:00Z"
    assert coming[1]["attendees"] == ["Jo"]
    every = acme("meeting", "ls", "acme", "--json").json["meetings"]
    assert [meeting["title"] for meeting in every] == ["Past", "Sooner", "Meeting with Acme"]
    assert acme("meeting", "next", "--limit", "1").err.count("there are more") == 1


def test_a_time_that_does_not_exist_is_refused(acme: Any) -> None:
    acme("campaign", "edit", "plumbers", "--set", "campaign.timezone=Europe/Berlin")
    for when in ("2026-03-29 02:30", "next week", "2026-11-20", "2026-13-01 10:00", ""):
        result = acme("meeting", "add", "acme", when, "-c", "plumbers", "--json")
        assert (result.code, result.error["code"]) == (2, "usage"), when


def test_a_meeting_without_a_moment_comes_last(acme: Any, home: Path) -> None:
    folder = home / "data" / "companies" / "acme" / "meetings"
    folder.mkdir()
    (folder / "some-day.md").write_text("---\ntitle: Some day\ndate: next week\n---\n")
    (folder / "a-day.md").write_text("---\ntitle: A day\ndate: 2031-01-01\n---\n")
    (folder / "broken.md").write_text("---\ntitle: [\n---\n")
    listed = acme("meeting", "ls", "--json").json["meetings"]
    assert [meeting["title"] for meeting in listed] == ["A day", None, "Some day"]
    assert acme("meeting", "ls").code == 0
    assert [meeting["title"] for meeting in acme("meeting", "next", "--json").json["meetings"]] == ["A day"]


def test_a_company_shows_its_people_however_they_name_it(plumbers: Any, home: Path) -> None:
    assert plumbers("company", "new", "Acme Roofing").code == 0
    people = home / "data" / "people"
    people.mkdir()
    written = {
        "a": "acme-roofing",
        "b": '"[[acme-roofing]]"',
        "c": '"[[companies/acme-roofing/_index|Acme]]"',
        "d": "ACME Roofing",
        "e": "acme",
        "f": '"[[other]]"',
    }
    for name, company in written.items():
        (people / f"{name}.md").write_text(f"---\nname: {name}\ncompany: {company}\n---\n")
    shown = plumbers("company", "show", "acme-roofing", "--json").json["people"]
    assert [entry["name"] for entry in shown] == ["a", "b", "c", "d"]
    listed = plumbers("person", "ls", "--company", "acme-roofing", "--json").json["people"]
    assert [entry["name"] for entry in listed] == ["a", "b", "c"]
    assert {entry["company"] for entry in listed} == {"acme-roofing"}
    assert "people" in plumbers("company", "show", "acme-roofing").out


def test_notes_with_umlauts_and_with_a_long_name_are_notes(cocli: Any, home: Path) -> None:
    assert cocli("company", "new", "Acme").code == 0
    notes = home / "data" / "companies" / "acme" / "notes"
    notes.mkdir()
    (notes / "Gespräch.md").write_text("Called Müller\n", "utf-8")
    (notes / f"{'x' * 240}.md").write_text("long\n", "utf-8")
    listed = cocli("note", "ls", "acme", "--json")
    assert listed.code == 0, listed.err
    assert [(note["name"][:9], note["text"]) for note in listed.json["notes"]] == [
        ("Gespräch", "Called Müller"),
        ("xxxxxxxxx", "long"),
    ]
    assert "Called Müller" in cocli("company", "show", "acme").out
    changed = cocli("note", "edit", "acme", "Gespräch", "--text", "Called again")
    assert changed.out.strip() == str(notes / "Gespräch.md")
    assert "Called again" in (notes / "Gespräch.md").read_text("utf-8")
    assert cocli("note", "rm", "acme", "Gespräch", "--yes").code == 0
    assert [path.name[:9] for path in notes.iterdir()] == ["xxxxxxxxx"]
