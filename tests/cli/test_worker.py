"""`cocli worker` and `cocli supervisor` as a person runs them: on the demo town, on a bare machine, and where something
is missing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cocli.demo.town import Town, build_town, hosts_of, serve_websites, truth_of, write_overture
from cocli.keys.tile import Tile
from cocli.queue.base import NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import open_store
from tests.kit.servers import S3Server


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town(seed=3)


@pytest.fixture
def demo(cocli: Any, home: Path, town: Town) -> Iterator[Any]:
    """A campaign for one tile and one phrase of the town, whose websites are served."""
    truth = truth_of(town)
    search = next(search for search in truth.searches if len(search.overture) == 4)
    lat, lon = Tile.parse(*search.tile.split("_")).centre
    write_overture(town, home / "places.parquet")
    with serve_websites(town, hang_seconds=2) as server:
        (home / "hosts.json").write_text(json.dumps({**hosts_of(server), "*": None}))
        for words in (
            ("campaign", "new", "demo", "--query", search.phrase, "--location", f"Town,{lat},{lon},0.5"),
            ("campaign", "edit", "demo", "--set", f"fetch.hosts_file={home / 'hosts.json'}", "--set", "fetch.rate=50"),
            ("campaign", "edit", "demo", "--set", "fetch.timeout_seconds=2"),
            ("campaign", "edit", "demo", "--set", 'fetch.allow_networks=["127.0.0.0/8"]'),
            ("source", "add", str(home / "places.parquet")),
            ("campaign", "build-mission-index", "demo"),
            ("campaign", "queue-mission", "demo"),
        ):
            done = cocli(*words)
            assert done.code == 0, done.err
        yield cocli


def test_from_open_places_to_websites(demo: Any) -> None:
    lists = demo("worker", "gm-list", "--once", "-c", "demo", "--json")
    assert lists.code == 0, lists.err
    assert lists.json["ended"] == {"completed": 1}
    sites = demo("worker", "enrichment", "--once", "-c", "demo", "--workers", "4")
    assert sites.code == 0, sites.err
    assert sites.out.startswith("enrichment: ")
    assert "Working on enrichment of demo" in sites.err
    found = demo("index", "query", "select count(*) as n from emails", "-c", "demo", "--fresh", "--json").json
    assert found["rows"][0]["n"] > 0
    assert demo("worker", "gm-list", "--once", "-c", "demo", "--json").json["ended"] == {}


def test_json_logs_tell_one_story_per_website(demo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever acts for a task, in whichever thread and event loop, names the task. No record holds an address."""
    assert demo("worker", "gm-list", "--once", "-c", "demo").code == 0
    monkeypatch.setenv("COCLI_LOG", "debug")
    monkeypatch.setenv("COCLI_LOG_FORMAT", "json")
    done = demo("worker", "enrichment", "--once", "-c", "demo", "--workers", "4", "--quiet", "--json")
    assert done.code == 0, done.err
    records = [json.loads(line) for line in done.err.splitlines() if line.startswith("{")]
    stories: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        stories.setdefault(record["task"], []).append(record)
    of_sites = [record for record in records if record["logger"] == "cocli.pipeline.websites.fetch.fetcher"]
    assert of_sites
    assert all(record["task"] and record["site"] and record["campaign"] == "demo" for record in of_sites)
    began = [record["task"] for record in records if record["message"] == "task begins"]
    assert len(began) == sum(done.json["ended"].values()) > 1
    for task in began:
        said = [record["message"] for record in stories[task]]
        assert said.index("task begins") < said.index("site read") < said.index("task done") < said.index("task ended")
        sites = {record["site"].removeprefix("www.") for record in stories[task] if "site" in record}
        assert task in sites
        assert {record["queue"] for record in stories[task]} == {"enrichment"}
    assert not [record for record in records if "http://" in json.dumps(record)]


def test_nobody_works_where_something_is_missing(plumbers: Any) -> None:
    missing = plumbers("worker", "gm-list", "--once", "-c", "plumbers")
    assert missing.code == 4
    assert "cocli source add FILE" in missing.err
    assert plumbers("worker", "gm-lists", "-c", "plumbers").code == 2
    assert plumbers("worker", "enrichment", "-c", "nobody").code == 4
    wrong = plumbers("worker", "enrichment", "--for", "soon", "-c", "plumbers")
    assert wrong.code == 2
    assert "Write 90s, 10m or 2h" in wrong.err
    plumbers("campaign", "edit", "plumbers", "--set", "fetch.hosts_file=nowhere.json")
    assert "nowhere.json cannot be read" in plumbers("worker", "enrichment", "--once", "-c", "plumbers").err


def test_a_bare_machine_needs_the_stores_address_only(
    cocli: Any, seaweedfs: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = seaweedfs.url("cocli-data-test", f"bare-{os.getpid()}")
    assert cocli("campaign", "new", "plumbers", "--query", "plumber", "--store", url).code == 0
    done = cocli("worker", "enrichment", "--once", "--store", url, "--json")
    assert done.code == 0, done.err
    assert done.json["campaign"] == "plumbers", "there is only one"
    assert cocli("campaign", "new", "roofers", "--query", "roofer", "--store", url).code == 0
    asked = cocli("worker", "enrichment", "--once", "--store", url)
    assert asked.code == 2
    assert "plumbers, roofers" in asked.err
    monkeypatch.setenv("CAMPAIGN_NAME", "roofers")
    monkeypatch.setenv("COCLI_STORE", url)
    assert cocli("worker", "enrichment", "--once", "--json").json["campaign"] == "roofers"


def test_a_signal_drains(plumbers: Any, home: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "cocli", "worker", "enrichment", "-c", "plumbers", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    queue = LeasedQueue(open_store(str(home / "data")), "plumbers", "enrichment")
    queue.put(NewTask("nonsense", {"a": 1}))
    until = time.monotonic() + 60
    while not queue.stats().sidelined:
        assert time.monotonic() < until
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert json.loads(out)["ended"] == {"sidelined": 1}
    assert json.loads(out)["whole"] is True


def test_a_supervisor_says_what_it_does(plumbers: Any) -> None:
    done = plumbers("supervisor", "--host", "h1", "--for", "1s", "--poll", "0.2", "-c", "plumbers")
    assert done.code == 0, done.err
    assert "[workers.h1] of plumbers asks for no workers yet" in done.err
    assert done.out.startswith("h1: 0 tasks done")


def test_a_queue_that_has_no_workers_is_said_in_the_heartbeat(plumbers: Any) -> None:
    plumbers("campaign", "edit", "plumbers", "--set", "workers.h1.gm-lst=1")
    done = plumbers("supervisor", "--host", "h1", "--for", "1s", "--poll", "0.2", "-c", "plumbers")
    assert "workers of gm-lst, of which there are none" in done.err
