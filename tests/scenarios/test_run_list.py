"""A person's list becomes the enriched list by one command: the file holds their rows, and what the websites say."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from python_calamine import CalamineWorkbook

from cocli.demo.town import Truth
from cocli.demo.town.truth import TrueBusiness, TrueSite
from cocli.errors import UnknownCampaign
from cocli.queue.leased.queue import LeasedQueue
from tests.kit.effort import effort
from tests.scenarios.conftest import Machine, Machines, in_make_scenarios, looking, wait_until

ROWS = 300
SITES = 24
FEW = 8
CUT_OFF_AT = (0, 3, SITES) if effort(1) > 1 else (0, SITES)
"""Websites that were read: while it imports, while it reads (the scenario of domains does that too), while it brings
together."""


def chosen(truth: Truth, count: int) -> list[tuple[TrueBusiness, TrueSite]]:
    """Businesses that have a website to themselves which everybody can read, and what it says."""
    sites = {site.domain: site for site in truth.sites if site.status == "alive"}
    shared = [business.domain for business in truth.businesses]
    own = [
        (business, sites[business.domain])
        for business in truth.businesses
        if business.domain in sites and shared.count(business.domain) == 1 and business.website
    ]
    return own[:count]


def write_list(file: Path, businesses: Sequence[tuple[TrueBusiness, TrueSite]], rows: int) -> None:
    """Every eighth row or so has a website; the others are there to come back in their places."""
    step = max(rows // len(businesses), 1)
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(["Our number", "Firm", "Web", "Telefon", "Remark"])
        for number in range(rows):
            at, rest = divmod(number, step)
            if rest == 0 and at < len(businesses):
                business, _ = businesses[at]
                writer.writerow([f"{number:05}", business.name, business.website, "", f"=row {number}"])
            else:
                writer.writerow([f"{number:05}", f"Nobody {number}", "", "020 1", ""])


def sheet(file: Path) -> list[dict[str, Any]]:
    header, *rows = CalamineWorkbook.from_path(file).get_sheet_by_index(0).to_python()
    return [dict(zip(map(str, header), row, strict=True)) for row in rows]


def check(rows: Sequence[dict[str, Any]], businesses: Sequence[tuple[TrueBusiness, TrueSite]]) -> None:
    by_name = {row["Firm"]: row for row in rows}
    for business, site in businesses:
        row = by_name[business.name]
        assert row["website_status"] == "read", row
        assert {email for email in row["found_emails"].split("; ") if email} == {
            email.address for email in site.emails if email.relation in ("own", "freemail") or email.primary
        }
        primary = next((email.address for email in site.emails if email.primary), "")
        assert row["found_email"] == primary


@pytest.mark.timeout(900)
def test_a_list_of_300_becomes_the_enriched_list_though_the_power_fails(
    machine: Machines, place: str, truth: Truth
) -> None:
    laptop = machine("laptop", store=place)
    businesses = chosen(truth, SITES)
    leads = laptop.folder / "My Leads.csv"
    write_list(leads, businesses, ROWS)
    words = ("run", "My Leads.csv", "--map", "Firm=name", "--quiet")
    for enough in CUT_OFF_AT:
        begun = laptop.start(*words)
        wait_until(lambda: completed(laptop) >= enough or begun.poll() is not None, f"{enough} websites are read")  # noqa: B023
        laptop.kill(begun)
    done = laptop.cocli(*words[:-1], "--json").json
    assert done["campaign"] == "my-leads"
    assert (done["is_new"], done["status"], done["counts"]["rows"]) == (False, "done", ROWS)
    assert (done["counts"]["websites"], done["counts"]["read"]) == (SITES, SITES)
    file = laptop.folder / "My Leads.enriched.xlsx"
    assert done["out"] == str(file)
    rows = sheet(file)
    assert [(row["Our number"], int(row["row"])) for row in rows] == [(f"{at:05}", at + 2) for at in range(ROWS)]
    assert [row["Remark"] for row in rows if row["Web"]] == [f"=row {at}" for at in range(ROWS) if rows[at]["Web"]]
    assert {row["website_status"] for row in rows if not row["Web"]} == {"no website"}
    assert {row["found_phone"] for row in rows if not row["Web"]} == {"020 1"}
    check(rows, businesses)
    once = file.read_bytes()
    again = laptop.cocli(*words[:-1])
    assert "Nothing is new since the last run." in again.err
    assert file.read_bytes() == once


def killed_when_some_are_read(laptop: Machine, campaign: str, *words: str) -> None:
    """A run whose power fails while it reads websites."""
    begun = laptop.start(*words)
    wait_until(lambda: completed(laptop, campaign) >= 2 or begun.poll() is not None, "2 websites are read")
    assert begun.poll() is None, laptop.log.read_text()
    laptop.kill(begun)


def completed(laptop: Machine, campaign: str = "my-leads") -> int:
    """Websites that are read; -1 as long as there is no campaign."""
    try:
        with looking(laptop, campaign) as found:
            return LeasedQueue(found.store, campaign, "enrichment").stats().completed or 0
    except UnknownCampaign:
        return -1


@pytest.mark.timeout(900)
def test_domains_alone_are_enough_though_the_power_fails(machine: Machines, place: str, truth: Truth) -> None:
    laptop = machine("laptop", store=place)
    businesses = chosen(truth, FEW)
    text = "# domains of mine\n" + "".join(f"{site.domain}\n" for _, site in businesses)
    (laptop.folder / "domains.txt").write_text(text)
    killed_when_some_are_read(laptop, "domains", "run", "domains.txt", "-c", "domains", "--quiet")
    assert not (laptop.folder / "domains.enriched.xlsx").exists()
    told = laptop.cocli("run", "-", "-c", "domains", "--out", "found.csv", "--json", stdin=text).json
    assert (told["counts"]["businesses"], told["counts"]["read"]) == (FEW, FEW)
    with (laptop.folder / "found.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["website"] for row in rows] == [site.domain for _, site in businesses]
    for row, (business, site) in zip(rows, businesses, strict=True):
        assert row["found_name"] != site.domain, "the website says a name"
        assert business.name in row["found_name"]


@in_make_scenarios
@pytest.mark.timeout(900)
def test_a_territory_and_a_list_are_one_campaign_though_the_power_fails(
    machine: Machines, place: str, truth: Truth
) -> None:
    laptop = machine("laptop", store=place)
    planned = [business for business in truth.planned("overture") if business.phrase == "bakery"]
    places, area = laptop.files / "places.parquet", laptop.files / "territory.geojson"
    laptop.cocli("source", "add", str(places), "--as", "overture", "--release", "2026-11-01.0")
    laptop.cocli("campaign", "new", "bakeries", "--query", "bakery")
    laptop.cocli("campaign", "edit", "bakeries", "--set", f"prospecting.area={area}")
    others = [pair for pair in chosen(truth, 60) if pair[0].phrase != "bakery"][:FEW]
    known = [pair for pair in chosen(truth, 300) if pair[0] in planned][:3]
    write_list(laptop.folder / "mine.csv", [*others, *known], len(others) + len(known))
    words = ("run", "mine.csv", "-c", "bakeries", "--map", "Firm=name")
    killed_when_some_are_read(laptop, "bakeries", *words, "--quiet")
    done = laptop.cocli(*words, "--json", code=None).json
    assert done["counts"]["read"] == len(others) + len(known)
    check(sheet(laptop.folder / "mine.enriched.xlsx"), [*others, *known])
    laptop.cocli("export", "bakeries", "--format", "csv", "--out", "all.csv")
    with (laptop.folder / "all.csv").open(encoding="utf-8-sig", newline="") as file:
        names = sorted(row["name"] for row in csv.DictReader(file))
    expected = [*(business.name for business in planned), *(business.name for business, _ in others)]
    assert names == sorted(expected), "what both know is there once"


def write_page(file: Path, businesses: Sequence[tuple[TrueBusiness, TrueSite]]) -> None:
    """A page of a map, taken apart by the names of its styles: nobody says what the columns are."""
    with file.open("w", encoding="utf-16", newline="") as opened:
        writer = csv.writer(opened, delimiter="\t")
        writer.writerow(["Taken 2026-11-01"])
        writer.writerow(["hfpxzc href", "qBF1Pd", "MW4etd", "UY7F9", "W4Efsd 2", "lcr4fd href", "Cw1rxd"])
        for business, _ in businesses:
            link = f"https://www.google.com/maps/place/{business.name.replace(' ', '+')}/data=!4m2!3d1.5!4d2.5"
            writer.writerow([link, business.name, "4.5", "(1,234)", "\ue934", business.website, "\ue89e"])


@in_make_scenarios
@pytest.mark.timeout(900)
def test_a_page_of_class_names_becomes_the_enriched_list_though_the_power_fails(
    machine: Machines, place: str, truth: Truth
) -> None:
    laptop = machine("laptop", store=place)
    businesses = chosen(truth, FEW)
    write_page(laptop.folder / "google.csv", businesses)
    killed_when_some_are_read(laptop, "google", "run", "google.csv", "--quiet")
    done = laptop.cocli("run", "google.csv", "--json").json
    assert (done["counts"]["rows"], done["counts"]["read"]) == (FEW, FEW)
    rows = sheet(laptop.folder / "google.enriched.xlsx")
    assert [row["qBF1Pd"] for row in rows] == [business.name for business, _ in businesses]
    check([{**row, "Firm": row["qBF1Pd"]} for row in rows], businesses)
    once = (laptop.folder / "google.enriched.xlsx").read_bytes()
    assert "Nothing is new since the last run." in laptop.cocli("run", "google.csv").err
    assert (laptop.folder / "google.enriched.xlsx").read_bytes() == once
