"""A campaign of an older version, brought here by one command: settings, pages, notes, tasks; and what was refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

PLACE = "ChIJN1t_tDeuEmsRUsoyG83frY4"
CONFIG = """
[campaign]
name = "Turbo 2025"
tag = "turbo"
timezone = "America/Chicago"

[google_maps]
email = "somebody@example.com"

[prospecting]
locations = ["Memphis, TN", "Nowhere At All,95,200"]
queries = ["rubber flooring contractor"]
proximity = 15
zoom-out-button-selector = "div#zoomOutButton"
"""
PAGE = f"""---
name: Acme Floors
domain: acmefloors.com
type: N/A
tags:
- old
slug: acme-floors
full_address: 1 Main St, Memphis, TN 38103
country: US
phone_number: (901) 555-0142
email: badge_1@2x.png
all_emails:
- info@acmefloors.com
categories:
- Flooring contractor
place_id: {PLACE}
callback_at: 2026-03-01
---

They want a call in March.
"""
BY_HAND = """---
name: Harbour Floors
website_url: https://harbour-floors.com/
phone_1: 901-555-0143
---
"""


@pytest.fixture
def older(tmp_path: Path) -> Path:
    home = tmp_path / "older-data"
    campaign, companies = home / "campaigns" / "turbo", home / "companies"
    files = {
        campaign / "config.toml": CONFIG,
        companies / "acme-floors" / "_index.md": PAGE,
        companies / "acme-floors" / "tags.lst": "turbo\nvip\n",
        companies / "acme-floors" / "notes" / "2026-02-20T10-30-00Z-called.md": (
            "---\ntimestamp: '2026-02-20T10:30:00Z'\ntitle: Called\n---\nAsk for Jo.\n"
        ),
        companies
        / "acme-floors"
        / "meetings"
        / "2026-03-02T1400Z-offer.md": "---\ntitle: Offer\n---\n\nBring samples.\n",
        companies / "harbour-floors" / "_index.md": BY_HAND,
        companies / "broken" / "_index.md": "---\nname: [unclosed\n---\n",
        companies / "of-somebody-else" / "_index.md": "---\nname: Not ours\n---\n",
        companies / "of-somebody-else" / "tags.lst": "another\n",
        campaign / "queues" / "gm-list" / "pending" / "3" / "35.1" / "-90.1" / "rubber.usv" / "task.json": json.dumps(
            {"latitude": 35.14, "longitude": -90.05, "zoom": 15, "search_phrase": "rubber-flooring-contractor"}
        ),
        campaign / "queues" / "gm-list" / "pending" / "3" / "35.1" / "-90.1" / "rubber.usv" / "lease.json": "{}",
        campaign / "queues" / "gm-details" / "pending" / "N" / PLACE / "task.json": json.dumps({"place_id": PLACE}),
        campaign / "queues" / "enrichment" / "pending" / "ab" / "acmefloors.com" / "task.json": json.dumps(
            {"domain": "www.acmefloors.com"}
        ),
        campaign / "queues" / "enrichment" / "pending" / "cd" / "x" / "task.json": '{"domain": "png"}',
    }
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return home


def test_a_campaign_of_an_older_version_is_brought_here_whole(cocli: Any, home: Path, older: Path) -> None:
    before = {file: file.read_bytes() for file in older.rglob("*") if file.is_file()}
    planned = cocli("campaign", "migrate", "turbo", str(older), "--dry-run", "--json").json
    assert (planned["dry_run"], planned["made_campaign"], planned["files"]["companies"]) == (True, True, 2)
    assert not (home / "data").exists() or not list((home / "data").rglob("*.md"))
    done = cocli("campaign", "migrate", "turbo", str(older), "--json").json
    assert {name: done[name] for name in ("files", "tasks")} == {name: planned[name] for name in ("files", "tasks")}
    assert done["files"] == {"companies": 2, "notes": 1, "meetings": 1}
    assert done["tasks"] == {"gm-list": 1, "gm-details": 1, "enrichment": 1}
    assert done["not_taken"] == ["google_maps.email", "prospecting.zoom-out-button-selector"]
    named = "\n".join(done["problems"])
    assert all(part in named for part in ("Nowhere At All", "companies/broken/_index.md", "enrichment/pending/cd/x"))
    assert len(done["problems"]) == 3
    assert {file: file.read_bytes() for file in older.rglob("*") if file.is_file()} == before


def test_settings_pages_and_tasks_are_those_of_today(cocli: Any, home: Path, older: Path) -> None:
    assert cocli("campaign", "migrate", "turbo", str(older)).code == 0
    text = (home / "data" / "campaigns" / "turbo" / "config.toml").read_text("utf-8")
    assert 'tag = "turbo"' in text
    assert 'timezone = "America/Chicago"' in text
    assert "Memphis" in text
    assert "radius_miles = 15" in text
    page = cocli("company", "show", "acme-floors", "--json").json
    assert "acmefloors.com" in json.dumps(page)
    written = (home / "data" / "companies" / "acme-floors" / "_index.md").read_text("utf-8")
    assert "They want a call in March." in written
    assert "callback_at: 2026-03-01" in written
    assert "+19015550142" in written
    assert "2x.png" not in written
    assert cocli("company", "ls", "--tag", "vip", "--json").json != []
    assert "Harbour Floors" in cocli("company", "show", "harbour-floors").out
    assert "Ask for Jo." in cocli("note", "ls", "acme-floors", "--json").out
    assert "2026-03-02" in cocli("meeting", "ls", "acme-floors", "--json").out
    task = cocli("queue", "ls", "gm-list", "-c", "turbo", "--json").out
    assert "35.1_-90.1_rubber flooring contractor" in task
    assert "acmefloors.com" in cocli("queue", "ls", "enrichment", "-c", "turbo", "--json").out


def test_the_same_command_again_changes_nothing_that_is_here(cocli: Any, home: Path, older: Path) -> None:
    cocli("campaign", "migrate", "turbo", str(older))
    page = home / "data" / "companies" / "acme-floors" / "_index.md"
    page.write_text(page.read_text("utf-8").replace("a call in March", "a call in April"), "utf-8")
    again = cocli("campaign", "migrate", "turbo", str(older), "--json").json
    assert (again["made_campaign"], again["files"], again["already"]) == (False, {}, 4)
    assert set(again["tasks"].values()) == {0}
    assert "a call in April" in page.read_text("utf-8")


def test_a_folder_without_the_campaign_is_refused(cocli: Any, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    refused = cocli("campaign", "migrate", "turbo", str(empty))
    assert (refused.code, "cocli campaign new turbo" in refused.err) == (2, True)
    assert cocli("campaign", "migrate", "turbo", str(tmp_path / "nowhere")).code == 2
