"""The command line over real S3 servers: the same commands, and what is said when a server is away or unsafe."""

from __future__ import annotations

import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from cocli.demo.ports import free_ports
from tests.kit.fault_proxy import Answer, Request, fault_proxy
from tests.kit.servers import S3Server

BUCKET = "cocli-data-test"


def test_a_campaign_lives_in_a_bucket(cocli: Any, seaweedfs: S3Server) -> None:
    at = ("--store", seaweedfs.url(BUCKET, "cli-campaign"))
    made = cocli("campaign", "new", "plumbers", "--query", "plumber", *at)
    assert made.code == 0, made.err
    assert made.out.strip() == f"s3://{BUCKET}/cli-campaign/campaigns/plumbers/config.toml"
    cocli("campaign", "new", "plumbers-2", *at)
    assert cocli("campaign", "edit", "plumbers", "--set", "prospecting.queries+=roofer", *at).code == 0
    campaigns = cocli("campaign", "list", "--json", *at).json["campaigns"]
    assert [(campaign["name"], campaign["queries"]) for campaign in campaigns] == [
        ("plumbers", ["plumber", "roofer"]),
        ("plumbers-2", []),
    ]
    listed = cocli("store", "ls", "campaigns", "--json", *at).json["entries"]
    assert {entry["key"] for entry in listed} == {"campaigns/plumbers/", "campaigns/plumbers-2/"}
    assert cocli("campaign", "rm", "plumbers", "--yes", *at).code == 0
    assert [campaign["name"] for campaign in cocli("campaign", "list", "--json", *at).json["campaigns"]] == [
        "plumbers-2"
    ]


def test_a_campaign_names_its_own_bucket(plumbers: Any, seaweedfs: S3Server) -> None:
    changes = [f"storage.url=s3://{BUCKET}/cli-own", f"storage.endpoint={seaweedfs.endpoint}"]
    assert (
        plumbers("campaign", "edit", "plumbers", *(word for change in changes for word in ("--set", change))).code == 0
    )
    put = plumbers("store", "put", "campaigns/plumbers/exports/a.csv", "--campaign", "plumbers", stdin=b"x")
    assert put.code == 0, put.err
    assert plumbers("campaign", "list", "--json", "--store", seaweedfs.url(BUCKET, "cli-own")).json["campaigns"]
    located = plumbers("locate", "campaign", "plumbers")
    assert located.out.strip() == f"s3://{BUCKET}/cli-own/campaigns/plumbers/"
    removed = plumbers("campaign", "rm", "plumbers", "--yes", "--json").json
    assert removed["objects"] == 3  # what was put, the campaign's file with it, and the one here that leads there
    assert len(removed["paths"]) == 2


def test_doctor_on_a_good_server(cocli: Any, seaweedfs: S3Server) -> None:
    result = cocli("doctor", "--json", "--store", seaweedfs.url(BUCKET, "cli-doctor"))
    assert result.code == 0, result.out
    names = {check["name"] for check in result.json["checks"]}
    assert {"store", "credentials", "clock", "disk", "browser", "packages", "configuration"} <= names
    assert result.json["store_safe"] is True


def test_doctor_refuses_a_server_that_ignores_conditions(cocli: Any, rclone: S3Server) -> None:
    result = cocli("doctor", "--store", rclone.url(BUCKET))
    assert result.code == 9, result.out
    assert "fix: " in result.out


@pytest.mark.parametrize("words", [("campaign", "list"), ("store", "ls"), ("campaign", "show", "plumbers")])
def test_a_store_that_cannot_be_reached(cocli: Any, words: tuple[str, ...]) -> None:
    endpoint = f"http://127.0.0.1:{free_ports(1)[0]}"
    result = cocli(*words, "--store", f"s3://{BUCKET}?endpoint={endpoint}")
    assert result.code == 6
    assert f"s3://{BUCKET} ({endpoint}) cannot be reached: Connection refused\n" in result.err
    assert "hint: " in result.err
    as_json = cocli(*words, "--json", "--store", f"s3://{BUCKET}?endpoint={endpoint}")
    assert (as_json.error["code"], as_json.error["retryable"]) == ("unavailable", True)


def test_credentials_that_are_refused(cocli: Any, seaweedfs: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    result = cocli("store", "ls", "--store", seaweedfs.url(BUCKET))
    assert result.code == 7
    assert "credentials: environment (AWS_ACCESS_KEY_ID)" in result.err
    assert "hunter2" not in result.err


def test_a_bucket_that_is_not_there(cocli: Any, seaweedfs: S3Server) -> None:
    result = cocli("campaign", "new", "plumbers", "--store", seaweedfs.url("no-such-bucket"))
    assert result.code == 4
    assert "no-such-bucket" in result.err


def test_doctor_says_what_to_do_when_the_server_is_away(cocli: Any) -> None:
    endpoint = f"http://127.0.0.1:{free_ports(1)[0]}"
    result = cocli("doctor", "--store", f"s3://{BUCKET}?endpoint={endpoint}")
    assert result.code == 1
    assert "failed" in result.out
    assert "fix: Check the address" in result.out
    assert "environment (AWS_ACCESS_KEY_ID)" in result.out


# --- a clock that is wrong is not blamed on the credentials ----------------------------------------------------------


@pytest.mark.parametrize("code", ["RequestTimeTooSkewed", "AccessDenied"])
@pytest.mark.parametrize("words", [("store", "ls"), ("campaign", "show", "plumbers"), ("store", "put", "k", "-")])
def test_a_clock_an_hour_off_is_named(cocli: Any, seaweedfs: S3Server, code: str, words: tuple[str, ...]) -> None:
    """The server says so; or it only refuses, and its own date tells."""
    hour_ago = format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)

    def skewed(_: Request) -> Answer:
        return Answer(403, code, hour_ago)

    with fault_proxy(seaweedfs.endpoint, skewed) as proxy:
        at = ("--store", f"s3://{BUCKET}?endpoint={proxy.endpoint}")
        result = cocli(*words, *at)
        assert result.code == 7, result.err
        assert "This machine's clock is 60 minutes ahead of the clock of s3://" in result.err
        assert "hint: Set this machine's clock" in result.err
        assert "credentials:" not in result.err
        if words == ("store", "ls"):
            error = cocli(*words, "--json", *at).error
            assert (error["code"], round(error["details"]["seconds"] / 60)) == ("clock_skew", 60)


def test_doctor_names_the_clock_first(cocli: Any, seaweedfs: S3Server) -> None:
    hour_on = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    with fault_proxy(seaweedfs.endpoint, lambda _: Answer(403, "RequestTimeTooSkewed", hour_on)) as proxy:
        checked = cocli("doctor", "--json", "--store", f"s3://{BUCKET}?endpoint={proxy.endpoint}")
    checks = {check["name"]: check for check in checked.json["checks"]}
    assert checks["clock"]["status"] == "failed"
    assert "timedatectl" in checks["clock"]["fix"]
    assert "60 minutes behind the clock" in checks["store write and read"]["detail"]


def test_a_refusal_with_a_clock_that_is_right_is_one_of_the_credentials(cocli: Any, seaweedfs: S3Server) -> None:
    now = format_datetime(datetime.now(UTC), usegmt=True)
    with fault_proxy(seaweedfs.endpoint, lambda _: Answer(403, "AccessDenied", now)) as proxy:
        result = cocli("store", "ls", "--store", f"s3://{BUCKET}?endpoint={proxy.endpoint}")
    assert result.code == 7
    assert "credentials: environment" in result.err


@pytest.mark.skipif(shutil.which("faketime") is None, reason="needs the program faketime")
def test_a_real_server_refuses_a_clock_that_is_wrong(home: Any, seaweedfs: S3Server) -> None:
    words = ["faketime", "-f", "-3d", sys.executable, "-m", "cocli", "store", "ls", "--store", seaweedfs.url(BUCKET)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 7, done.stderr
    assert "This machine's clock is 3 days behind" in done.stderr
