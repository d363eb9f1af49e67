"""Who asks to be left alone has not changed: what is hidden, shown again or forgotten is no change of a business."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from cocli.app.campaigns.campaign import new_campaign
from cocli.app.freshness.changes import read_changes
from cocli.app.freshness.stock import take_stock
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.workspace import open_workspace
from cocli.cli.root import run
from cocli.config.resolve import Flags
from cocli.index.writer import IndexWriter
from cocli.models.origin import Origin
from cocli.models.prospect import Prospect

CAMPAIGN = "plumbers"
HIDDEN, OTHER, NEW = "anna@acme-x.com", "info@acme-x.com", "desk@acme-x.com"
DAY = timedelta(days=1)
FIRST = datetime.fromisoformat("2026-10-01T10:00:00Z")
HIDE: tuple[tuple[str, ...], ...] = (("suppress", "add", HIDDEN), ("forget", HIDDEN, "--yes"))


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    names = ("COCLI_DATA_HOME", "COCLI_CONFIG", "COCLI_CACHE_HOME", "COCLI_STATE_HOME")
    environ = {"HOME": str(tmp_path)} | {name: str(tmp_path / name.lower()) for name in names}
    with open_workspace(environ, Flags()) as opened:
        new_campaign(opened, CAMPAIGN, ["plumber"])
    return environ


def read_site(environ: dict[str, str], at: datetime, *emails: str) -> list[tuple[str, str | None, str | None]]:
    """The website says these addresses, the one to write to first. What is told after stock was taken."""
    said = Origin(fields=("name", "primary_email"), source="website", observed_at=at)
    prospect = Prospect(
        company_hash="1" * 16, slug="acme", name="Acme", campaign=CAMPAIGN, primary_email=emails[0],
        all_emails=emails, first_seen=at, updated_at=at, sources=("website",), origins=(said,),
    )  # fmt: skip
    with open_workspace(environ, Flags()) as workspace:
        indexes = campaign_indexes(workspace, CAMPAIGN)
        IndexWriter(indexes.open_whole(indexes.ref("prospects"))).append([prospect])
    return told(environ)


def told(environ: dict[str, str]) -> list[tuple[str, str | None, str | None]]:
    with open_workspace(environ, Flags()) as workspace:
        take_stock(workspace, CAMPAIGN)
        found = read_changes(campaign_indexes(workspace, CAMPAIGN)).changes
    return [(change.change.kind, change.change.before, change.change.after) for change in found]


@pytest.mark.parametrize("words", HIDE, ids=["suppress", "forget"])
def test_an_address_that_is_hidden_did_not_change(environ: dict[str, str], words: tuple[str, ...]) -> None:
    assert read_site(environ, FIRST, HIDDEN, OTHER) == []
    assert run([*words, "--quiet"], environ) == 0
    assert told(environ) == [], "another address is the one to write to now, and it stood there before"
    assert read_site(environ, FIRST + 2 * DAY, OTHER) == []
    assert read_site(environ, FIRST + 3 * DAY, NEW) == [("email", OTHER, NEW)], "a real change is told as ever"


def test_a_site_that_was_read_again_before_stock_was_taken(environ: dict[str, str]) -> None:
    """What the address was before is nobody's business: there is nothing to compare with."""
    assert read_site(environ, FIRST, HIDDEN, OTHER) == []
    assert run(["suppress", "add", HIDDEN, "--quiet"], environ) == 0
    assert read_site(environ, FIRST + DAY, OTHER) == []


def test_an_address_that_is_shown_again_did_not_change(environ: dict[str, str]) -> None:
    assert read_site(environ, FIRST, HIDDEN, OTHER) == []
    assert run(["suppress", "add", HIDDEN, "--quiet"], environ) == 0
    assert told(environ) == []
    assert run(["suppress", "rm", HIDDEN, "--quiet"], environ) == 0
    assert told(environ) == []


def test_a_first_address_is_a_change(environ: dict[str, str]) -> None:
    """A site that had none and was read: the rule must not hide this."""
    said = Origin(fields=("name",), source="website", observed_at=FIRST)
    prospect = Prospect(
        company_hash="1" * 16, slug="acme", name="Acme", campaign=CAMPAIGN, first_seen=FIRST, updated_at=FIRST,
        sources=("website",), origins=(said,),
    )  # fmt: skip
    with open_workspace(environ, Flags()) as workspace:
        indexes = campaign_indexes(workspace, CAMPAIGN)
        IndexWriter(indexes.open_whole(indexes.ref("prospects"))).append([prospect])
    assert told(environ) == []
    assert read_site(environ, FIRST + DAY, OTHER) == [("email", None, OTHER)]
