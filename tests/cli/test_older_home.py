"""A data home from before the modules were moved opens, says what it said then, and goes on where it stopped.

`tests/data/home-2026-11.tar.xz` was made by the program of 2026-11-16 on its made-up town. One phrase was searched and
its websites read, 16 searches of another one wait; there are packed and loose records, tasks set aside, pages of
people, and documents with the states of a second cluster. `made.py` in it says how it was made, `recorded.json` what
commands answered then.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest

import cocli as package
from cocli.demo.town import build_town, serve_websites
from cocli.demo.town.campaign import TownHome, write_files

ARCHIVE = Path(__file__).parents[1] / "data" / "home-2026-11.tar.xz"
CAMPAIGN = ("-c", "harrowmere")
PASSING = {"path", "changed", "completed_recently", "minutes_left", "rate_per_minute", "oldest", "age_seconds"}
"""What depends on the clock, or on where the home lies."""
OF_A_STATE = ("doc", "address", "uuid", "digest", "version", "saved_at", "size", "source_uri", "http_status")


@pytest.fixture
def older(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of then, where today's commands look for theirs."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(home, filter="data")
    monkeypatch.setenv("COCLI_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("COCLI_CACHE_HOME", str(home / "cache"))
    # The catalogue of a store lies under a digest of its address, and the home has moved.
    moved = hashlib.sha256(str(home / "data").encode()).hexdigest()[:16]
    (catalogue,) = (home / "state" / "documents").iterdir()
    catalogue.rename(catalogue.with_name(moved))
    return home


def recorded(older: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((older / "recorded.json").read_text("utf-8"))
    return found


def differences(then: Any, now: Any, where: str = "") -> list[str]:
    """Where today's answer does not say what the earlier one said. It may say more."""
    if isinstance(then, dict) and isinstance(now, dict):
        kept = {name: value for name, value in then.items() if name not in PASSING}
        return [line for name, value in kept.items() for line in differences(value, now.get(name), f"{where}.{name}")]
    if where.endswith(".columns"):
        now = now[: len(then)]  # a record may have gained columns since; they come last
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        pairs = enumerate(zip(then, now, strict=True))
        return [line for number, (old, new) in pairs for line in differences(old, new, f"{where}[{number}]")]
    return [] if then == now else [f"{where}: {then!r} then, {now!r} now"]


def rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_it_answers_as_it_did_and_nothing_is_rewritten_by_reading(older: Path, cocli: Any) -> None:
    before = contents(older / "data")
    answers = recorded(older)
    assert len(answers["prospects"]["answer"]["rows"]) == 65
    assert len(answers["documents"]["answer"]["states"]) == 419
    for name, asked in answers.items():
        result = cocli(*asked["command"])
        assert result.code == 0, f"{name}: {result.err}"
        then, now = asked["answer"], result.json
        if name == "documents":
            then, now = (
                {"states": [{key: state[key] for key in OF_A_STATE} for state in answer["states"]]}
                for answer in (then, now)
            )
        if name == "indexes":  # there are more of them by now
            known = {entry["index"] for entry in then["indexes"]}
            now = {**now, "indexes": [entry for entry in now["indexes"] if entry["index"] in known]}
        if name == "companies":  # the list of a campaign leaves out the company that it excludes
            shown = {company["company_hash"]: company for company in now["companies"]}
            kept = [company for company in then["companies"] if company["company_hash"] in shown]
            assert len(then["companies"]) - len(kept) == 1
            then, now = kept, [shown[company["company_hash"]] for company in kept]
        assert differences(then, now, name) == []
    looks = (
        ("index", "verify", *CAMPAIGN),
        ("index", "audit", *CAMPAIGN),
        ("documents", "fsck", *CAMPAIGN),
        ("why", "quillon-loose-works", "email", *CAMPAIGN),
    )
    for words in looks:
        result = cocli(*words)
        assert result.code == 0, f"{words}: {result.out} {result.err}"
    assert contents(older / "data") == before


def test_the_archive_holds_nothing_of_the_machine_that_made_it(older: Path) -> None:
    text = b"".join(contents(older).values())
    assert not re.search(rb"/(?:work|tmp|root)/[a-z]", text)
    assert ARCHIVE.stat().st_size < 300_000


def test_its_pages_are_read_again_and_its_prospects_handed_on(older: Path, cocli: Any, tmp_path: Path) -> None:
    earlier = (older / "data/campaigns/harrowmere/exports/prospects.csv").read_bytes()
    columns = earlier.partition(b"\r\n")[0].decode()  # a program of today has more
    words = ("--format", "csv-raw", "--columns", columns, "--out", str(tmp_path / "list.csv"))
    exported = cocli("export", "harrowmere", *words, "--json")
    assert exported.code == 0, exported.err
    assert (exported.json["rows"], exported.json["excluded"]) == (64, 1)
    for then, now in zip(rows(earlier), rows((tmp_path / "list.csv").read_bytes()), strict=True):
        assert set(filter(None, then.pop("tags").split("; "))) <= set(now.pop("tags").split("; "))  # and the page's
        assert now == then
    made = cocli("report", "harrowmere", "--json")
    assert made.code == 0, made.err
    assert made.json["prospects"] == 64  # the excluded one is in no figure
    rebuilt = cocli("documents", "fsck", "--rebuild", "--yes", *CAMPAIGN)
    assert rebuilt.code == 0, rebuilt.err
    listed = cocli(*recorded(older)["documents"]["command"])
    assert len(listed.json["states"]) == 419


def test_the_front_door_opens_it(older: Path) -> None:
    answers = recorded(older)
    with package.open() as data:
        campaign = data.campaign("harrowmere")
        rows = [row["name"] for row in campaign.prospects(excluded=True).rows()]
        names = [column["name"] for column in answers["prospects"]["answer"]["columns"]]
        place = names.index("name")
        recorded_rows = answers["prospects"]["answer"]["rows"]
        assert rows == [row["name"] if isinstance(row, dict) else row[place] for row in recorded_rows]
        assert campaign.prospects().count() == 64
        assert data.company("quillon-loose-works").tags == ("harrowmere", "key account", "warm")
        assert campaign.queue("gm-list").stats().pending == 16
        edition = [row.doc for row in campaign.documents.find(edition="trial")]
        assert len(edition) > 50
        read = campaign.documents.get(edition[0], node="page", edition="trial")
        assert read.doc == edition[0]


def test_it_goes_on_where_it_stopped(older: Path, cocli: Any, tmp_path: Path) -> None:
    """The sixteen searches that waited are done by the program of today, with the places file of then."""
    town = build_town()
    with serve_websites(town) as websites:
        files = write_files(TownHome(tmp_path / "files"), town, websites)
        changes = (f"prospecting.area={files / 'territory.geojson'}", f"fetch.hosts_file={files / 'hosts.json'}")
        for change in changes:
            assert cocli("campaign", "edit", "harrowmere", "--set", change).code == 0
        worked = cocli("worker", "gm-list", "--once", *CAMPAIGN)
    assert worked.code == 0, worked.err
    (queue,) = (
        queue
        for queue in cocli("queue", "status", "harrowmere", "--json").json["queues"]
        if queue["queue"] == "gm-list"
    )
    assert (queue["pending"], queue["completed"]) == (0, 32)
    assert cocli("campaign", "settle", "harrowmere").code == 0
    with package.open() as data:
        assert data.campaign("harrowmere").prospects(excluded=True, fresh=False).count() == 101
