"""A machine that was away while somebody was forgotten comes back with copies of its own: they do not come back.

It has pages, records and a note that nobody else has, and old versions of indexes. Its sync is killed in the middle.
It takes a minute, so `make scenarios` (`COCLI_TEST_EFFORT=2`) tries it: on a folder, and on S3 in a bucket that keeps
versions. `test_forget.py` has what a sync does to a copy that is as it was.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import boto3
import pytest

from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import TownHome
from cocli.index.compaction import Compactor
from cocli.index.writer import IndexWriter
from cocli.store import open_store
from tests.app.left_alone.conftest import BUSINESS, CAMPAIGN, DOMAIN, LISTED_ID, _captures, a_business
from tests.app.left_alone.test_forget import forgotten, left, records
from tests.kit import servers
from tests.kit.effort import effort
from tests.kit.residue import BucketHistory, residue

KILLS = effort(1)
pytestmark = pytest.mark.skipif(effort(1) < 2, reason="it takes a minute: make scenarios tries it")


def _sync(home: TownHome, bucket: str, *, seconds: float | None = None) -> int:
    """`cocli sync both` as a process, killed after some seconds."""
    words = [sys.executable, "-m", "cocli", "sync", "both", "-c", CAMPAIGN, "--store", bucket, "--yes", "--quiet"]
    environ = {**os.environ, **home.environ}
    process = subprocess.Popen(words, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return -signal.SIGKILL
    assert process.returncode in (0, 5), said.decode()
    return process.returncode


def _works_offline(home: TownHome) -> None:
    """It reads their page again, learns more of them, packs its index, and somebody writes a note."""
    with open_workspace(home.environ, Flags()) as workspace:
        indexes = campaign_indexes(workspace, CAMPAIGN)
        prospects = indexes.open(indexes.ref("prospects"))
        newer = a_business(DOMAIN, "Tacit Pipes", phone_e164="+12175550188", rating=3.0, street="1 Reticent Lane")
        IndexWriter(prospects).append([newer, a_business("nut.example", "Nut", phone_e164="+12175550111")])
        Compactor(prospects).compact()
        IndexWriter(prospects).put(newer.with_changes(rating=2.0))
        _captures(workspace)
    export = home.data / "campaigns" / CAMPAIGN / "exports" / "mine.csv"
    export.write_text(f"name,website\nTacit Pipes,https://www.{DOMAIN}/\n")
    export.with_name(f"{DOMAIN}.csv").write_text("name\nx\n")


@pytest.fixture(params=["folder", "s3"])
def bucket(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Any]:
    """Where both sync with, and all that is kept there."""
    if request.param == "folder":
        (tmp_path / "bucket").mkdir()
        return str(tmp_path / "bucket"), tmp_path / "bucket"
    server: servers.S3Server = request.getfixturevalue("seaweedfs")
    name = f"offline-{os.getpid()}"
    servers.create_bucket(server, name)
    client = boto3.client("s3", endpoint_url=server.endpoint)
    client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    return server.url(name, "team"), BucketHistory(client, name)


def _but_ids(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Without the id of a place in a version of a roll, which stays until the next gc of that machine."""
    return [(name, needle) for name, needle in found if not (needle == LISTED_ID and "/rolls/" in name)]


def test_who_was_forgotten_does_not_come_back_with_a_machine_that_was_away(
    home: TownHome, tmp_path: Path, bucket: tuple[str, Any]
) -> None:
    address, kept = bucket
    laptop, desktop = home, TownHome(tmp_path / "desktop")
    desktop.data.mkdir(parents=True)
    assert _sync(laptop, address) == 0
    assert _sync(desktop, address) == 0
    _works_offline(desktop)
    forgotten(laptop, DOMAIN)
    assert residue([kept], BUSINESS) == []
    chance = random.Random(20261117)
    for _ in range(KILLS):
        _sync(desktop, address, seconds=chance.uniform(1.0, 4.0))
        assert _but_ids(residue([kept], BUSINESS)) == [], "what is cut off has brought nothing back"
    _sync(desktop, address)
    _sync(laptop, address)
    _sync(desktop, address)
    assert _but_ids(left(desktop, DOMAIN)) == []
    assert _but_ids(left(laptop, DOMAIN)) == []
    assert _but_ids(residue([kept], BUSINESS)) == []
    here, there = (records(machine, old_versions=False) for machine in (laptop, desktop))
    assert here == there
    assert any("nut.example" in str(row) for row in here.values()), "what it learned of others is everybody's now"
    assert list(open_store(str(desktop.data)).list("forgotten/"))
