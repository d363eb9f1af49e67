"""Two machines and a bucket, through the front door: what one writes the other one finds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import cocli
from cocli.api import CampaignData, Data
from cocli.errors import UsageError
from tests.api.conftest import machine
from tests.kit.servers import S3Server


@pytest.fixture(params=["folder", "s3"])
def bucket(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "s3":
        seaweedfs: S3Server = request.getfixturevalue("seaweedfs")
        return seaweedfs.url("cocli-data-test", f"door-sync-{tmp_path.name}")
    (tmp_path / "bucket").mkdir()
    return str(tmp_path / "bucket")


def test_two_homes_through_one_bucket(bucket: str, tmp_path: Path, found: Callable[[Data], CampaignData]) -> None:
    here, there = machine(tmp_path / "here"), machine(tmp_path / "there")
    with cocli.open(environ=here) as home:
        campaign = found(home)
        campaign.settle()
        campaign.refresh_companies()
    with cocli.open(bucket, environ=here) as remote:
        assert remote.campaigns() == []
        forecast = remote.sync("plumbers", "push", dry_run=True)
        assert not forecast.in_agreement
        assert remote.campaigns() == []
        report = remote.sync("plumbers", "push")
        assert not report.failed
        assert report.counts["uploaded"] > 3
        assert remote.sync("plumbers", "push").did_nothing
        assert remote.campaign("plumbers").prospects().count() == 3
    with cocli.open(bucket, environ=there) as remote:
        assert remote.sync("plumbers", "pull", only=["config", "indexes", "companies"]).counts["downloaded"] > 3
    with cocli.open(environ=there) as home:
        assert home.campaign("plumbers").prospects().count() == 3
        acme = home.company("acme.com")
        acme.values["status"] = "customer"
        home.save(acme)
    for environ in (there, here):
        with cocli.open(bucket, environ=environ) as remote:
            assert not remote.sync("plumbers").failed
    with cocli.open(environ=here) as home:
        assert home.company("acme.com").values["status"] == "customer"


def test_what_cannot_be_meant_is_refused(bucket: str, environ: dict[str, str]) -> None:
    with cocli.open(bucket, environ=environ) as remote:
        with pytest.raises(UsageError, match="push, pull, both"):
            remote.sync(direction="sideways")
        with pytest.raises(UsageError, match="companies"):
            remote.sync(only=["company"])
    with cocli.open(environ=environ) as home, pytest.raises(UsageError, match="nothing to sync with"):
        home.sync()
