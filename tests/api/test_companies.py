"""Companies through the front door: what people wrote stays byte for byte, and nobody's edit is overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

import cocli
from cocli.api import CampaignData, Data
from cocli.errors import Conflict, FormatError, NotFound, UsageError
from cocli.formats.markdown import MarkdownFile

PAGE = """\
---
# my own order
status: 'warm'   # since May
tags: [key, "big one"]
website: https://acme.com
since: 2019
---

First line.
"""
KEY = "companies/acme/_index.md"


def write(data: Data, text: str) -> None:
    data.store.put(KEY, text.encode())


def read(data: Data) -> str:
    return data.store.get(KEY).data.decode()


def test_a_company_is_read_changed_and_saved(data: Data) -> None:
    write(data, PAGE)
    acme = data.company("acme")
    assert (acme.slug, acme.title, acme.tags) == ("acme", "acme", ("key", "big one"))
    assert acme.values["status"] == "warm"
    acme.values["status"] = "customer"
    acme.values["owner"] = "Jane: sales"
    acme.body += "\nCalled on Monday.\n"
    assert data.save(acme).changed
    expected = PAGE.replace("status: 'warm'   # since May", 'status: "customer"')
    expected = expected.replace("since: 2019\n", 'since: 2019\nowner: "Jane: sales"\n') + "\nCalled on Monday.\n"
    assert read(data) == expected
    assert not data.save(acme).changed
    del acme.values["owner"]
    assert data.save(acme).changed
    assert read(data) == expected.replace('owner: "Jane: sales"\n', "")


def test_an_edit_made_meanwhile_is_never_overwritten(data: Data) -> None:
    write(data, PAGE)
    mine, theirs = data.company("acme"), data.company("acme")
    theirs.body = "\nTheirs.\n"
    data.save(theirs)
    mine.values["status"] = "lost"
    with pytest.raises(Conflict):
        data.save(mine)
    assert "Theirs." in read(data)
    assert "lost" not in read(data)
    again = data.company("acme")
    again.values["status"] = "lost"
    data.save(again)
    assert "Theirs." in read(data)
    assert "lost" in read(data)


def test_a_person_with_an_editor_wins_too(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "store").mkdir()
    with cocli.open(tmp_path / "store", environ=environ) as data:
        write(data, PAGE)
        acme = data.company("acme")
        (tmp_path / "store" / KEY).write_text("By hand.\n", "utf-8")
        acme.body = "By a program.\n"
        with pytest.raises(Conflict):
            data.save(acme)
        assert (tmp_path / "store" / KEY).read_text("utf-8") == "By hand.\n"


def test_a_page_that_is_gone_does_not_come_back(data: Data) -> None:
    write(data, PAGE)
    acme = data.company("acme")
    data.store.delete(KEY)
    acme.body = "Back."
    with pytest.raises(Conflict):
        data.save(acme)
    with pytest.raises(NotFound):
        data.company("acme")


def test_what_cannot_be_read_again_is_not_written(data: Data) -> None:
    write(data, PAGE)
    acme = data.company("acme")
    acme.values["tags"] = {"not": ["a", "list"]}
    with pytest.raises(FormatError):
        data.save(acme)
    acme = data.company("acme")
    acme.values["cocli"] = {"company_hash": "0" * 16}
    with pytest.raises(UsageError, match="belongs to programs"):
        data.save(acme)
    assert read(data) == PAGE


def test_facts_of_programs_stand_beside_what_people_write(data: Data, plumbers: CampaignData) -> None:
    report = plumbers.refresh_companies().report
    assert report.created == 3
    pages = {page.title: page for page in plumbers.companies()}
    assert set(pages) == {"Acme Plumbing", "Best Drains", "Clear Pipes"}
    acme = data.company("acme.com")
    assert acme.facts is not None
    assert acme.facts.emails == ("office@acme.com",)
    acme.values["status"] = "customer"
    data.save(acme)
    assert plumbers.refresh_companies().report.unchanged == 3
    again = plumbers.company(acme.slug)
    assert (again.values["status"], again.facts) == ("customer", acme.facts)
    assert [page.slug for page in data.companies(campaign="plumbers")] == sorted(page.slug for page in pages.values())


def test_companies_notes_and_people_are_made(data: Data) -> None:
    acme = data.new_company("Acme Plumbing", tags=["key"], website="https://acme.com")
    assert (acme.slug, acme.tags) == ("acme-plumbing", ("key",))
    added = data.add_note("acme-plumbing", "Wants an offer.\nBy May.", tags=["offer"])
    assert added.title == "Wants an offer."
    assert [entry.record.title for entry in data.company("acme-plumbing").notes if entry.record] == ["Wants an offer."]
    assert list(data.people()) == []
    with pytest.raises(NotFound):
        data.person("jane")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_one_key_is_changed_and_no_other_byte(newline: str) -> None:
    text = PAGE.replace("\n", newline)
    file = MarkdownFile.parse(text.encode())
    assert file.with_value("since", 2019).render().decode() == text
    assert file.with_value("since", None).render().decode() == text.replace(f"since: 2019{newline}", "")
    listed = file.with_value("tags", ["a", "b c"]).render().decode()
    assert listed == text.replace('tags: [key, "big one"]', 'tags: ["a", "b c"]')
    assert MarkdownFile.parse(b"Only text.\n").with_value("status", "new").render() == (
        b'---\nstatus: "new"\n---\nOnly text.\n'
    )
    with pytest.raises(FormatError, match="cannot be replaced"):
        MarkdownFile.parse(b"---\na: 1\n---\n").with_value("a", float("nan"))
