"""Second passes on the command line, from the first look to the last, against websites of the demo town."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cocli.demo.town import Town, WebsiteServer, build_town, serve_websites, write_hosts
from cocli.demo.town.websites.site import TownSite
from cocli.queue.base import Category
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import open_store

Cocli = Callable[..., Any]


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town(seed=4)


@pytest.fixture(scope="module")
def websites(town: Town) -> Iterator[WebsiteServer]:
    with serve_websites(town) as server:
        yield server


@pytest.fixture
def sites(town: Town, websites: WebsiteServer, home: Path, write_prospects: Any) -> dict[str, TownSite]:
    """One of each kind, all of them prospects; the town is all there is."""
    write_hosts(websites, home / "hosts.json")
    text = (home / "hosts.json").read_text("utf-8").rstrip().removesuffix("}")
    (home / "hosts.json").write_text(text + ', "*": null}', "utf-8")
    (home / "user.toml").write_text(
        f'[fetch]\nrate = 100.0\nhosts_file = "{home}/hosts.json"\nallow_networks = ["127.0.0.0/8"]\n'
    )
    found: dict[str, TownSite] = {}
    for kind in ("ordinary", "form-only", "no-such-name"):
        found[kind] = next(site for site in town.sites.values() if site.kind == kind)
        write_prospects(found[kind].domain, website=found[kind].url)
    return found


def test_from_missing_addresses_to_what_another_pass_brought(
    plumbers: Cocli, sites: dict[str, TownSite], home: Path
) -> None:
    missing = plumbers("campaign", "missing-emails", "plumbers", "--csv", str(home / "missing.csv"))
    assert missing.code == 0, missing.err
    assert "not-yet-read" in missing.out
    assert "retry plumbers --sites" in missing.err
    with (home / "missing.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["domain"] for row in rows} == {site.domain for site in sites.values()}
    queued = plumbers("campaign", "enqueue-batch", "plumbers", str(home / "missing.csv"), "--batch", "first")
    assert queued.code == 0, queued.err
    assert "retry plumbers --result first" in queued.err
    waiting = plumbers("campaign", "evaluate-batch", "plumbers", "first")
    assert "3 waiting" in waiting.err
    worked = plumbers("worker", "enrichment", "-c", "plumbers", "--once")
    assert worked.code == 0, worked.err
    found = plumbers("campaign", "evaluate-batch", "plumbers", "first", "--json").json
    assert (found["before"]["with_email"], found["now"]["with_email"]) == (0, 1)
    assert found["emails"] == {"recovered": 1, "lost": 0, "changed": 0, "same": 0, "still_none": 2}
    (example,) = found["examples"]
    assert example["after"]["primary_email"] == sites["ordinary"].emails[0].address
    shown = plumbers("campaign", "evaluate-batch", "plumbers", "first")
    assert sites["ordinary"].emails[0].address in shown.out
    left = plumbers("campaign", "missing-emails", "plumbers", "--json").json
    assert {(reason["reason"], reason["count"]) for reason in left["reasons"]} == {("form-only", 1), ("dead", 1)}
    (only,) = plumbers("campaign", "missing-emails", "plumbers", "--reason", "form-only", "--json").json["rows"]
    assert only["domain"] == sites["form-only"].domain


def test_retry_reads_again_what_gave_no_address(plumbers: Cocli, sites: dict[str, TownSite], home: Path) -> None:
    words = ("campaign", "retry", "plumbers")
    nothing = plumbers(*words, "--without-email", "--json").json
    assert [retried["outcomes"] for retried in nothing["passes"]] == [{}], (
        "nobody was there yet: that is no second pass"
    )
    first = ("--without-email", "--reason", "not-yet-read", "--batch", "first")
    dry = plumbers(*words, *first, "--dry-run", "--csv", str(home / "missing.csv"))
    assert dry.code == 0, dry.err
    assert "would queue" in dry.out
    assert (home / "missing.csv").read_text().count("not-yet-read") == 3
    assert not list((home / "data").rglob("task.json"))
    queued = plumbers(*words, *first, "--json").json
    assert (queued["batch"], queued["passes"]) == (
        "first",
        [{"choice": "without-email", "queue": "enrichment", "outcomes": {"queued": 3}}],
    )
    assert plumbers("worker", "enrichment", "-c", "plumbers", "--once").code == 0
    found = plumbers(*words, "--result", "first", "--json").json
    assert (found["before"]["with_email"], found["now"]["with_email"]) == (0, 1)
    again = plumbers(*words, "--without-email")
    assert "form-only" in again.out
    assert plumbers(*words, "--sites", str(home / "missing.csv"), "--batch", "second").code == 0


def test_a_brief_pass_asks_a_known_site_for_the_pages_that_have_its_contacts(
    plumbers: Cocli, sites: dict[str, TownSite], websites: WebsiteServer, home: Path
) -> None:
    site, asked = sites["ordinary"], dict[str, int]()
    (home / "again.csv").write_text(f"domain\n{site.domain}\n")
    for batch, how in (("first", []), ("whole", []), ("brief", ["--brief"])):
        words = ("retry", "plumbers", "--sites", str(home / "again.csv"), "--batch", batch, *how)
        assert plumbers("campaign", *words).code == 0
        before = len(websites.requests)
        assert plumbers("worker", "enrichment", "--once", "--campaign", "plumbers").code == 0
        pages = [request for request in websites.requests[before:] if request.path != "/robots.txt"]
        asked[batch] = len(pages)
        assert batch == "first" or {request.status for request in pages} == {304}
    assert asked["brief"] < asked["whole"] == asked["first"]


def test_retry_brings_back_what_was_set_aside(plumbers: Cocli, home: Path) -> None:
    words = ("campaign", "retry", "plumbers")
    assert "nothing to try again" in plumbers(*words).err
    store = open_store(str(home / "data"))
    for number, category in enumerate((Category.BLOCKED, Category.ATTEMPTS, Category.FAILED, Category.MANUAL)):
        assert plumbers("queue", "put", "enrichment", f"a{number}.example", "-c", "plumbers").code == 0
        queue = LeasedQueue(store, "plumbers", "enrichment", worker="w")
        claim = queue.claim()
        assert claim is not None
        queue.sideline(claim, category, "because")
    counted = plumbers(*words, "--json").json
    assert counted["dry_run"]
    assert outcomes(counted) == {("blocked", "would_recover", 1), ("failed", "would_recover", 2)}
    assert queue.stats().pending == 0
    assert outcomes(plumbers(*words, "--blocked", "--json").json) == {("blocked", "recovered", 1)}
    assert outcomes(plumbers(*words, "--failed", "--json").json) == {("failed", "recovered", 2)}
    assert (queue.stats().pending, queue.stats().sidelined) == (3, {"manual": 1})


def outcomes(document: Any) -> set[tuple[str, str, int]]:
    return {
        (retried["choice"], outcome, count)
        for retried in document["passes"]
        for outcome, count in retried["outcomes"].items()
    }


def test_retry_searches_again_what_was_read_long_ago(plumbers: Cocli) -> None:
    assert plumbers("campaign", "retry", "plumbers", "--stale", "30d").code == 2, "nothing is planned"
    assert plumbers("campaign", "plan", "plumbers").code == 0
    dry = plumbers("campaign", "retry", "plumbers", "--stale", "30d", "--dry-run", "--json").json
    assert dry["passes"][0]["outcomes"]["would_queue"] > 10


def test_stored_pages_are_extracted_again(plumbers: Cocli, sites: dict[str, TownSite], websites: WebsiteServer) -> None:
    site = sites["ordinary"]
    assert plumbers("enrich", site.url, "-c", "plumbers").code == 0
    asked = len(websites.requests)
    planned = plumbers("campaign", "re-extract", "plumbers", "--dry-run", "--json").json
    assert planned["forecast"]["to_do"] >= 1
    done = plumbers("campaign", "re-extract", "plumbers", "--edition", "trial", "--apply", "--json")
    assert done.code == 0, done.err
    assert (done.json["cluster"], done.json["job"]["state"], done.json["job"]["failed"]) == ("trial", "done", 0)
    assert (done.json["emails"]["same"], done.json["sites"], done.json["applied"]["sites"]) == (1, 1, 0)
    shown = plumbers("campaign", "re-extract", "plumbers")
    assert "say the same" in shown.err
    assert len(websites.requests) == asked
    compared = plumbers("documents", "compare", "main", "trial", "-c", "plumbers", "--json").json
    assert compared["identical"] == compared["documents"] >= 1


def test_csv_on_stdout(plumbers: Cocli, write_prospects: Any) -> None:
    write_prospects("acme.com")
    result = plumbers("campaign", "missing-emails", "plumbers", "--csv", "-")
    assert result.code == 0, result.err
    heading, row = result.out.splitlines()
    assert heading.startswith("company_hash,name,domain")
    assert "not-yet-read" in row


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("missing-emails", "plumbers", "--reason", "bad-luck"), "Known reasons"),
        (("missing-emails", "plumbers", "--csv", "/nowhere/x.csv"), "There is no folder"),
        (("enqueue-batch", "plumbers", "/nowhere/x.csv"), "cannot be read"),
        (("evaluate-batch", "plumbers", "unheard-of"), "Known batches: none"),
        (("re-extract", "plumbers", "--edition", "main"), "lives in"),
        (("retry", "plumbers", "--stale", "soon"), '--stale: "soon" is not an age'),
        (("retry", "plumbers", "--reason", "dead"), "Add --without-email."),
        (("retry", "plumbers", "--without-email", "--sites", "pyproject.toml"), "two batches"),
        (("retry", "plumbers", "--blocked", "--brief"), "--brief says how"),
        (("retry", "plumbers", "--result", "unheard-of"), "Known batches: none"),
    ],
)
def test_mistakes_are_named(plumbers: Cocli, words: tuple[str, ...], said: str) -> None:
    result = plumbers("campaign", *words)
    assert result.code == 2
    assert said in result.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--server", "https://127.0.0.1:1"), "--token-file"),
        (("--token-file", "x"), "--server"),
        (("--server", "https://127.0.0.1:1", "--token-file", "/nowhere/token"), "cannot be read"),
        (("--server", "http://server.example", "--token-file", "token"), "in the clear"),
    ],
)
def test_a_server_needs_a_token_and_encryption(
    cocli: Cocli, home: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(home)
    (home / "token").write_text("cocli1.x\n")
    result = cocli("enrich", "example.com", *words)
    assert result.code == 2
    assert said in result.err


def test_a_server_that_is_not_there(cocli: Cocli, home: Path) -> None:
    (home / "token").write_text("cocli1.x\n")
    result = cocli("enrich", "example.com", "--server", "http://127.0.0.1:9", "--token-file", str(home / "token"))
    assert result.code == 6
    assert "cocli enrichment serve" in result.err
