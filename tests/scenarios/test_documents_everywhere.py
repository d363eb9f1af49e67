"""Pages that machines fetched are known to each of them and to a laptop that only looks: in a bucket, and as a copy."""

from __future__ import annotations

from typing import Any

import pytest

from cocli.demo.town.truth import TrueSite, Truth
from tests.scenarios.conftest import Machine, Machines, in_make_scenarios, wait_until

CAMPAIGN = "sites"
SITES = 5
WORK = ("worker", "enrichment", "-c", CAMPAIGN, "--quiet")


@in_make_scenarios
@pytest.mark.timeout(900)
def test_every_machine_knows_every_page(machine: Machines, place: str, truth: Truth) -> None:
    first, second, laptop = (machine(name, store=place) for name in ("first", "second", "laptop"))
    sites = with_addresses(truth)
    prepare(first, sites)
    working = first.start(*WORK, "--workers", "1")
    wait_until(lambda: completed(first) > 0 or working.poll() is not None, "the first machine has read a website")
    first.kill(working)
    second.cocli(*WORK, "--once", "--workers", "2")
    known = states(laptop)
    assert known, "a laptop that never worked sees what both saved, though one was killed"
    assert laptop.cocli("documents", "fsck", "--all", "--json").json["findings"] == []
    wait_until(lambda: read_the_rest(second) == SITES, "all websites are read")
    everything = states(laptop)
    assert everything.items() >= known.items()
    assert states(first) == states(second) == everything
    second.cocli("campaign", "settle", CAMPAIGN)
    look_at_everything(first, laptop, sites, everything)
    copy = machine("copy")
    as_a_copy(copy, place, sites, everything)


def look_at_everything(
    worker: Machine, laptop: Machine, sites: list[TrueSite], everything: dict[tuple[str, str], str]
) -> None:
    """What a person does who never fetched anything."""
    pages = [doc for doc, cluster in everything if not cluster and doc.startswith("http")]
    dry = laptop.cocli("campaign", "re-extract", CAMPAIGN, "--dry-run", "--json").json["forecast"]
    assert dry["documents"] == len(pages) >= SITES
    for doc in pages[-1:]:
        assert laptop.cocli("documents", "get", doc, "-c", CAMPAIGN, "--json").json["doc"] == doc
    worker.cocli("campaign", "re-extract", CAMPAIGN, "--edition", "staging", "--quiet")
    compared = laptop.cocli("documents", "compare", "main", "staging", "-c", CAMPAIGN, "--json").json
    assert compared["documents"] == compared["identical"] >= len(pages)
    assert laptop.cocli("documents", "fsck", "--all", "--json").json["findings"] == []
    for site in sites[:1]:
        assert behind(laptop, site), f"the page behind an address of {site.domain} is found"


def as_a_copy(copy: Machine, place: str, sites: list[TrueSite], everything: dict[tuple[str, str], str]) -> None:
    """A data home of its own: the results first, and the pages when they are wanted."""
    copy.cocli("sync", CAMPAIGN, "--store", place)
    assert not states(copy)
    asked = copy.cocli("why", sites[0].domain, address_of(sites[0]), "-c", CAMPAIGN, "--json").json
    assert asked["documents"] == []
    command = asked["left_behind"].split()
    assert command[:3] == ["cocli", "sync", "pull"]
    copy.cocli(*command[1:])
    mine = {key: value for key, value in states(copy).items() if key in everything}
    assert mine == everything
    assert copy.cocli("documents", "fsck", "--all", "--json").json["findings"] == []
    assert behind(copy, sites[0])


def prepare(computer: Machine, sites: list[TrueSite]) -> None:
    (computer.folder / "domains.txt").write_text("".join(f"{site.domain}\n" for site in sites))
    computer.cocli("campaign", "new", CAMPAIGN)
    computer.cocli("import", "domains.txt", "-c", CAMPAIGN)


def with_addresses(truth: Truth) -> list[TrueSite]:
    """Websites that have an address of their own."""
    found = [site for site in truth.sites if site.status == "alive" and any(email.primary for email in site.emails)]
    return found[:SITES]


def address_of(site: TrueSite) -> str:
    return next(email.address for email in site.emails if email.primary)


def behind(computer: Machine, site: TrueSite) -> list[Any]:
    """The documents behind an address, each of which can be shown here."""
    told = computer.cocli("why", site.domain, address_of(site), "-c", CAMPAIGN, "--json").json
    assert told["problems"] == []
    assert all(document["catalogued"] for document in told["documents"])
    return list(told["documents"])


def read_the_rest(computer: Machine) -> int:
    """What the killed machine had begun comes back when its lease is over, or was set aside."""
    computer.cocli("queue", "recover", "enrichment", "-c", CAMPAIGN, "--all", "--quiet")
    computer.cocli(*WORK, "--once")
    return completed(computer)


def completed(computer: Machine) -> int:
    told = computer.cocli("queue", "status", CAMPAIGN, "--queue", "enrichment", "--json").json
    return int(told["queues"][0]["completed"] or 0)


def states(computer: Machine) -> dict[tuple[str, str], str]:
    """Document and edition of every state that this machine knows → its digest; one node of each is enough."""
    found = computer.cocli("documents", "ls", "-c", CAMPAIGN, "--limit", "10000", "--json").json
    assert found["unseen"] == 0
    return {(row["doc"], row["cluster"] or ""): row["digest"] for row in found["states"]}
