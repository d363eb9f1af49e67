"""The table of hosts: its file is sound, and it answers as the lists did that it replaced."""

from __future__ import annotations

import csv
import re
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from cocli.pipeline.sources.google_maps.parser.links import website
from cocli.pipeline.websites.facts.emails.address import Address
from cocli.pipeline.websites.facts.emails.junk import junk_reason
from cocli.pipeline.websites.facts.socials import read_profile
from cocli.pipeline.websites.hosts import table
from cocli.pipeline.websites.hosts.elsewhere import is_directory, is_parking, is_sale, is_social, shared_host
from cocli.pipeline.websites.hosts.providers import is_authority, is_freemail, is_platform
from cocli.pipeline.websites.hosts.shared import own_domain, social_network
from cocli.pipeline.websites.hosts.social import NO_PROFILES, SOCIAL_NAMES, social_site
from cocli.pipeline.websites.hosts.table import hosts_of, kinds_of, listed
from cocli.pipeline.websites.page.suffixes import registrable

if TYPE_CHECKING:
    from collections.abc import Iterator

FROZEN = Path(__file__).with_name("hosts_answers.tsv")
"""What the lists answered that stood in the code before 2026-11-17. A row changes on purpose only."""
README = table.FILE.with_name("README.md")


def frozen() -> Iterator[tuple[str, str]]:
    """Each host with the answers that were given for it, and again for hosts below it and for near misses."""
    with FROZEN.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file, delimiter="\t"))
    asked = {line["host"] for line in lines}
    for line in lines:
        host, answers, below = line["host"], line["answers"], line["below"]
        yield host, answers
        if below == "-":
            continue
        below = answers if below == "same" else below
        probes = dict.fromkeys((f"{name}.{host}" for name in ("www", "shop", "a.b", "de")), below)
        probes |= dict.fromkeys((f"x{host}", f"x-{host}", f"{host}.example.com"), "nothing")
        yield from ((probe, answer) for probe, answer in probes.items() if probe not in asked)


def answers_of(host: str) -> str:
    """All questions that the program asks of hosts, asked of one."""
    url = f"https://{host}/x/y"
    domain = registrable(host) or host
    said = {
        "shared_host": shared_host(url) is not None,
        "is_social": is_social(url),
        "is_directory": is_directory(url),
        "is_sale": is_sale(url),
        "is_parking": is_parking(url),
        "is_freemail": is_freemail(host),
        "is_platform": is_platform(host),
        "is_authority": is_authority(host, domain),
        "no_own_domain": own_domain(url) is None,
        f"social_network={social_network(url)}": social_network(url) is not None,
        f"profile={_profile(host)}": _profile(host) is not None,
        "filler": host in hosts_of("filler"),
        "technical": junk_reason(Address("anna.berger", host, host), frozenset()) == "technical",
        "front_door": listed(host, "template-link") is not None,
        "no_website": website(url) is None,
    }
    return " ".join(answer for answer, is_so in said.items() if is_so) or "nothing"


def _profile(host: str) -> str | None:
    labels = host.split(".")
    speaks_for_itself = labels[0] in NO_PROFILES or (labels[0] == "business" and "facebook" not in labels)
    site = None if speaks_for_itself else social_site(host)
    return site.name if site else None


def test_the_table_answers_as_the_lists_did() -> None:
    probes = list(frozen())
    wrong = {host: (expected, found) for host, expected in probes if (found := answers_of(host)) != expected}
    assert not wrong
    assert len(probes) > 8_000


def test_every_host_stands_once_and_in_order() -> None:
    hosts = [row.host for row in table.rows()]
    assert hosts == sorted(set(hosts), key=lambda host: (host.startswith("*"), host))


def test_a_row_says_what_it_must() -> None:
    assert {row.host: faults for row in table.rows() if (faults := list(faults_of(row)))} == {}


def faults_of(row: table.HostRow) -> Iterator[str]:
    if not re.fullmatch(r"(?:\*|[a-z0-9-]+)(?:\.[a-z0-9-]+)*\.(?:\*|[a-z]{2,})", row.host):
        yield "it is not written as a host"
    if not row.kinds or row.kinds - table.KINDS:
        yield "its kind is not known"
    if not row.source:
        yield "nobody says where one can see that it is so"
    if date.fromisoformat(row.since) > date.today():  # noqa: DTZ011 - days, wherever the test runs
        yield "it was added in the future"
    if "*" in row.host and row.kinds - {"freemail", "freemail-ending"}:
        yield "only mail providers are known by a part of their name"
    if bool(row.network) != bool(row.kinds & {"profile", "prospect-social"}):
        yield "a host has a network if and only if it has profiles"


def test_a_shared_host_has_a_kind_that_says_why() -> None:
    """Whoever takes a host for shared when two companies are compared, takes it so when its pages are read."""
    assert [host for host in hosts_of("shared") if not kinds_of(host) & {"social", "directory", "builder"}] == []
    assert hosts_of("directory").isdisjoint(hosts_of("social") | hosts_of("builder"))


def test_every_network_has_rules_for_its_profiles() -> None:
    assert set(table.networks_of("profile").values()) == SOCIAL_NAMES


def test_every_kind_is_explained_and_used() -> None:
    explained = set(re.findall(r"^\| `([a-z-]+)` \|", README.read_text("utf-8"), re.MULTILINE))
    used = {kind for row in table.rows() for kind in row.kinds}
    assert explained >= table.KINDS == used


def test_a_host_below_a_listed_one_is_found() -> None:
    assert listed("de.linkedin.com", "profile") == "linkedin.com"
    assert listed("notlinkedin.com", "profile") is None
    assert kinds_of("de.linkedin.com") == frozenset()
    profile = read_profile("https://de.linkedin.com/company/firm")
    assert profile is not None
    assert profile.site == "linkedin"
