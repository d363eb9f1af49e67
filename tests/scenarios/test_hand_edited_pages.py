"""Two campaigns know the same businesses, people write on the pages, a refresh is killed: their words win."""

from __future__ import annotations

import csv
from collections.abc import Callable

import pytest

from tests.scenarios.conftest import Machine, Machines, looking, wait_until

BUSINESSES = 24
CAMPAIGNS = ("plumbers", "roofers")


@pytest.mark.timeout(900)
def test_what_people_wrote_is_in_the_files_of_both_campaigns(machine: Machines, place: str) -> None:
    laptop = machine("laptop", store=place)
    prepare(laptop)
    laptop.cocli("company", "refresh", "--quiet")
    listed = laptop.cocli("company", "ls", "--limit", "0", "--json").json["companies"]
    assert len(listed) == BUSINESSES  # one page each, though two campaigns have them
    assert {tuple(company["campaigns"]) for company in listed} == {CAMPAIGNS}

    edit(laptop, "shop-1", lambda text: f"{text}They ask for Mrs. Roe.\n".replace("---\n", f"---\n{VALUES}", 1))
    laptop.cocli("note", "add", "shop-2", "Called; ask again in March")
    laptop.cocli("person", "new", "Jo Doe", "--company", "shop-2", "--role", "owner", "--email", "jo@shop2.example")
    laptop.cocli("company", "merge", "shop-3", "shop-2", "--yes")
    laptop.cocli("company", "new", "Mine Alone", "--phone", "+1 217 555 0142", "-c", "plumbers")
    before = cat(laptop, "shop-1")
    laptop.cocli("import", "newer.csv", "-c", "roofers", "--no-visit", "--quiet")
    killed_refresh(laptop)
    laptop.cocli("company", "refresh", "--quiet")
    assert person_lines(cat(laptop, "shop-1")) == person_lines(before)

    plumbers, roofers = exported(laptop, "plumbers"), exported(laptop, "roofers")
    assert len(plumbers) == BUSINESSES  # one pair is one now, and one was made by hand
    assert len(roofers) == BUSINESSES - 1
    for rows in (plumbers, roofers):
        mine = rows["Shop One & Sons"]
        assert (mine["phone"], mine["email"]) == ("+12175550199", "roe@shop1.example")
        assert (mine["status"], mine["city"]) == ("offer sent", "Chatham")
        joined = rows["Shop 3"]
        assert "Called; ask again in March" in joined["notes"]
        assert joined["people"] == "Jo Doe, owner, jo@shop2.example"
        assert "Shop 2" not in rows
    assert plumbers["Mine Alone"]["phone"] == "+12175550142"
    assert plumbers["Shop 5"]["phone"] == "+12175550105"
    assert roofers["Shop 5"]["phone"] == "+12175550195"  # the newer file of that campaign
    assert laptop.cocli("company", "show", "shop-2", "--json").json["company"]["slug"] == "shop-3"
    assert "written by a person" in laptop.cocli("why", "shop-1", "phone", "-c", "roofers").err


VALUES = (
    'name: "Shop One & Sons"\nphone: +1 217 555 0199  # her own\nemail: roe@shop1.example\n'
    "status: offer sent\ncity: Chatham\n"
)


def prepare(laptop: Machine) -> None:
    lines = [
        f"Shop {number},+121755501{number:02d},https://shop{number}.example/,{number} Main St,Springfield,62701,US"
        for number in range(1, BUSINESSES + 1)
    ]
    head = "name,phone,website,street,city,postcode,country"
    (laptop.folder / "list.csv").write_text("\n".join([head, *lines]) + "\n")
    newer = lines[4].replace("+12175550105", "+12175550195")
    (laptop.folder / "newer.csv").write_text(f"{head}\n{newer}\n")
    for campaign in CAMPAIGNS:
        laptop.cocli("campaign", "new", campaign, "--quiet")
        laptop.cocli("import", "list.csv", "-c", campaign, "--no-visit", "--quiet")


def killed_refresh(laptop: Machine) -> None:
    """The power fails once the page of which something new is known was written."""
    begun = laptop.start("company", "refresh", "--quiet")
    wait_until(lambda: begun.poll() is not None or "+12175550195" in cat(laptop, "shop-5"), "a page is written")
    laptop.kill(begun)


def edit(laptop: Machine, slug: str, change: Callable[[str], str]) -> None:
    """As an editor does that knows nothing of the program: the whole file is written anew."""
    (laptop.folder / "page.md").write_text(change(cat(laptop, slug)))
    laptop.cocli("store", "put", f"companies/{slug}/_index.md", "page.md")


def cat(laptop: Machine, slug: str) -> str:
    with looking(laptop, CAMPAIGNS[0]) as found:
        return found.store.get(f"companies/{slug}/_index.md").data.decode()


def person_lines(page: str) -> list[str]:
    """All but the lines below `cocli:`."""
    return [line for line in page.splitlines() if not line.startswith("  ")]


def exported(laptop: Machine, campaign: str) -> dict[str, dict[str, str]]:
    laptop.cocli("export", campaign, "--format", "csv-raw", "--out", f"{campaign}.csv", "--quiet")
    with (laptop.folder / f"{campaign}.csv").open(encoding="utf-8", newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}
