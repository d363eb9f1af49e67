"""A store that the front door opens: a folder, this process's memory, a bucket; and a list to bring into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import cocli
from cocli.api import CampaignData, Data
from tests.kit.servers import S3Server, credentials_environment

LEADS = """\
name,website,phone,email,street,city,region,country,categories
Acme Plumbing,https://acme.com,+1 217 555 0101,office@acme.com,1 Main St,Springfield,IL,US,plumber
Best Drains,https://drains.com,+1 217 555 0102,,2 Main St,Springfield,IL,US,plumber
Clear Pipes,,+1 217 555 0103,hello@pipes.com,3 Main St,Decatur,IL,US,plumber
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A machine on which nothing is configured."""
    return machine(tmp_path / "machine")


def machine(folder: Path) -> dict[str, str]:
    folder.mkdir(parents=True, exist_ok=True)
    places = {"HOME": "", "COCLI_DATA_HOME": "data", "COCLI_CONFIG": "config.toml"}
    more = {"COCLI_CACHE_HOME": "cache", "COCLI_STATE_HOME": "state"}
    found = {name: str(folder / place) for name, place in (places | more).items()}
    return found | credentials_environment()


@pytest.fixture(params=["folder", "memory", "s3"])
def data(request: pytest.FixtureRequest, tmp_path: Path, environ: dict[str, str]) -> Iterator[Data]:
    """An opened store of each kind."""
    if request.param == "s3":
        seaweedfs: S3Server = request.getfixturevalue("seaweedfs")
        address = seaweedfs.url("cocli-data-test", f"door-{tmp_path.name}")
    else:
        address = "memory://" if request.param == "memory" else str(tmp_path / "store")
        (tmp_path / "store").mkdir()
    with cocli.open(address, environ=environ) as opened:
        yield opened


@pytest.fixture
def leads(tmp_path: Path) -> Path:
    file = tmp_path / "leads.csv"
    file.write_text(LEADS, "utf-8")
    return file


@pytest.fixture
def found(leads: Path) -> Callable[[Data], CampaignData]:
    """Make a campaign with three businesses."""

    def make(data: Data, name: str = "plumbers") -> CampaignData:
        campaign = data.new_campaign(name, queries=["plumber"], places=["Springfield,39.80,-89.65,10"])
        report = campaign.import_file(leads, visit=False)
        assert (report.new, report.emails) == (3, 2)
        return campaign

    return make


@pytest.fixture
def plumbers(data: Data, found: Callable[[Data], CampaignData]) -> CampaignData:
    return found(data)
