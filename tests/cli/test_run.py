"""`cocli run`: what it takes its argument for, what it would do, and what it refuses before anything is made."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

LIST = "name,phone,our id\nAcme,+49 228 2345678,7\nBeta,call us,8\n,,9\n"


@pytest.fixture
def leads(home: Path) -> Path:
    file = home / "Leads (May).csv"
    file.write_text(LIST)
    return file


def campaigns(cocli: Any) -> list[str]:
    return [campaign["name"] for campaign in cocli("campaign", "list", "--json").json["campaigns"]]


def test_a_list_without_a_website_comes_back_at_once(cocli: Any, leads: Path, home: Path) -> None:
    told = cocli("run", str(leads))
    assert told.code == 0, told.err
    assert "Made the campaign leads-may." in told.err
    assert "Not understood: 1 phone number; they are kept as text." in told.err
    assert f"the enriched list is in {home / 'Leads (May).enriched.xlsx'}" in told.err
    again = cocli("run", str(leads), "--out", str(home / "again.csv"), "--json")
    assert again.code == 0, again.err
    assert (again.json["is_new"], again.json["nothing_new"], again.json["status"]) == (False, True, "done")
    assert again.json["counts"] == {
        "rows": 3, "businesses": 2, "websites": 0, "read": 0, "unreadable": {}, "waiting": 0,
        "with_email": 0, "with_phone": 2, "unread_phones": 1,
    }  # fmt: skip
    rows = list(csv.DictReader(io.StringIO((home / "again.csv").read_text("utf-8-sig"))))
    assert [(row["our id"], row["row"], row["website_status"]) for row in rows] == [
        ("7", "2", "no website"), ("8", "3", "no website"), ("9", "4", "not imported: it has no name"),
    ]  # fmt: skip
    assert [row["found_phone"] for row in rows] == ["(+49) 228 2345678", "call us", ""]


def test_what_is_excluded_comes_back_without_what_was_found(cocli: Any, leads: Path, home: Path) -> None:
    assert cocli("run", str(leads), "--quiet").code == 0
    assert cocli("campaign", "edit", "leads-may", "--set", "exclude.names+=Acme").code == 0
    assert cocli("run", str(leads), "--out", str(home / "out.csv"), "--quiet").code == 0
    rows = list(csv.DictReader(io.StringIO((home / "out.csv").read_text("utf-8-sig"))))
    assert [(row["name"], row["website_status"], row["found_phone"]) for row in rows[:2]] == [
        ("Acme", "excluded", ""), ("Beta", "no website", "call us"),
    ]  # fmt: skip


def test_a_dry_run_makes_nothing(cocli: Any, leads: Path, home: Path) -> None:
    told = cocli("run", str(leads), "--dry-run", "--json").json
    assert (told["campaign"], told["is_new"], told["status"]) == ("leads-may", True, "would_run")
    assert (told["import"]["rows"], told["import"]["unread"]) == (3, {"phone": 1})
    text = cocli("run", str(leads), "--dry-run")
    assert "Would make the campaign leads-may" in text.err
    assert "Nothing was written." in text.err
    assert campaigns(cocli) == []
    assert not list(home.glob("*.enriched.*"))


def test_an_argument_is_a_list_a_campaign_or_a_mistake(cocli: Any, leads: Path, home: Path) -> None:
    lost = cocli("run", "nowhere.csv")
    assert lost.code == 2
    assert 'no file "nowhere.csv" and no campaign "nowhere.csv"' in lost.err
    assert cocli("campaign", "new", "plumbers").code == 0
    empty = cocli("run", "plumbers")
    assert empty.code == 2
    assert "neither businesses nor a territory" in empty.err
    for words, said in (
        (("plumbers", "--out", "x.csv"), "--out is for a list, and plumbers is a campaign"),
        (("plumbers", "--dry-run"), "--dry-run is for a list"),
        ((str(leads), "--emails", "5"), "--emails is for a campaign"),
        ((str(leads), "--out", str(leads)), "is the list itself"),
        ((str(leads), "--out", "x.doc"), "does not say which format"),
        ((str(leads), "--out", str(home / "no" / "x.csv")), "There is no folder"),
        ((str(leads), "-c", "No Name"), "cannot be the name of a campaign"),
        ((str(leads), "--map", "our id=nothing"), 'no field "nothing"'),
        ((str(leads), "--budget", "soon"), "soon"),
    ):
        result = cocli("run", *words)
        assert result.code == 2, words
        assert said in result.err, words
    assert campaigns(cocli) == ["plumbers"], "what is wrong is said before a campaign is made"


def test_a_list_without_a_usable_row_makes_no_campaign(cocli: Any) -> None:
    told = cocli("run", "-", stdin=b"name,phone\n,1\n")
    assert told.code == 2
    assert "has no row that can be imported" in told.err
    assert "Row 2: it has no name" in told.err
    assert campaigns(cocli) == []


def test_a_campaign_is_run_like_its_goal(cocli: Any, leads: Path) -> None:
    assert cocli("run", str(leads), "--quiet").code == 0
    told = cocli("run", "leads-may", "--json")
    assert (told.code, told.json["met"], told.json["records"]["companies"]) == (0, True, 2)


@pytest.mark.timeout(300)
def test_what_stays_unread_is_told_with_the_command_that_goes_on(cocli: Any, home: Path) -> None:
    file = home / "my sites.csv"
    file.write_text("Firm,Web\nAcme,https://acme.invalid/\n")
    told = cocli("run", str(file), "--map", "Firm=name", "--country", "DE", "--budget", "0.1s")
    assert told.code == 11, told.err
    assert f"hint: cocli run '{file}' -c my-sites --country DE --map Firm=name" in told.err
    assert (home / "my sites.enriched.xlsx").exists()


@pytest.mark.timeout(300)
def test_a_run_that_reads_what_was_queued_before_does_not_say_that_nothing_is_new(cocli: Any, home: Path) -> None:
    """A run that went on where another had been killed read eight websites, and said that nothing was new."""
    file = home / "sites.csv"
    file.write_text("name,website\nAcme,https://acme.example/\n")
    (home / "hosts.json").write_text('{"*": null}')
    assert cocli("campaign", "new", "sites").code == 0
    assert cocli("campaign", "edit", "sites", "--set", f"fetch.hosts_file={home / 'hosts.json'}").code == 0
    assert cocli("import", str(file), "-c", "sites").code == 0
    told = cocli("run", str(file), "--json")
    assert (told.json["is_new"], told.json["nothing_new"]) == (False, False), told.err
    assert told.json["counts"]["unreadable"] == {"dead": 1}
    again = cocli("run", str(file), "--json")
    assert (again.json["is_new"], again.json["nothing_new"]) == (False, True), again.err
