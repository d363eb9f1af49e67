"""Work on a laptop with a bucket: what is new there is fetched before, what was made is sent after."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cocli.app.sync_round import synced_around
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.ports import free_ports
from cocli.errors import Unavailable, UsageError
from cocli.index.cache import MemoryCache
from cocli.index.compaction import Compactor
from cocli.index.index import Index
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash
from cocli.keys.paths import IndexRef
from cocli.pipeline.indexes import open_index
from cocli.store import open_store
from cocli.sync.state import synced_bucket
from tests.cli.conftest import a_prospect


@pytest.fixture
def bucket(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = home / "bucket"
    folder.mkdir()
    monkeypatch.setenv("COCLI_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("COCLI_CACHE_HOME", str(home / "cache"))
    return folder


def prospects(folder: Path) -> Index[Any]:
    return open_index(open_store(str(folder)), IndexRef("prospects", "plumbers"), MemoryCache())


def write(folder: Path, *domains: str, **values: Any) -> None:
    index = prospects(folder)
    IndexWriter(index).append(a_prospect(domain, **values) for domain in domains)
    Compactor(index).compact()


def domains(folder: Path) -> set[str | None]:
    return {record.domain for record in open_reader(prospects(folder), fresh=True).scan()}


def work(home: Path, action: Callable[[], None], *, wanted: bool = True) -> list[str]:
    """What was said around the work."""
    del home
    said: list[str] = []
    with (
        open_workspace(os.environ, Flags()) as workspace,
        synced_around(workspace, "plumbers", wanted=wanted, say=said.append),
    ):
        action()
    return said


@pytest.fixture
def laptop(plumbers: Any, home: Path, bucket: Path) -> Path:
    """A data home that was pushed once."""
    write(home / "data", "a.com", "b.com")
    assert plumbers("sync", "push", "-c", "plumbers", "--store", str(bucket)).code == 0
    assert domains(bucket) == {"a.com", "b.com"}
    return home / "data"


def test_what_is_new_there_is_fetched_and_what_was_made_is_sent(home: Path, laptop: Path, bucket: Path) -> None:
    write(bucket, "c.com")
    seen: list[set[str | None]] = []

    def action() -> None:
        seen.append(domains(laptop))
        write(laptop, "d.com")

    said = work(home, action)
    assert seen == [{"a.com", "b.com", "c.com"}]
    assert domains(bucket) == {"a.com", "b.com", "c.com", "d.com"}
    assert (said[0], said[2]) == (f"Fetching from {bucket} what is new there.", f"Sending to {bucket} what was made.")


def test_what_there_is_no_time_to_send_is_said(home: Path, laptop: Path, bucket: Path) -> None:
    said: list[str] = []
    with (
        open_workspace(os.environ, Flags()) as workspace,
        synced_around(workspace, "plumbers", say=said.append, may_send=lambda: False) as other,
    ):
        assert other == str(bucket)
        write(laptop, "d.com")
    assert said[-2:] == [
        "It was not sent: there is no time left",
        f"hint: cocli sync push -c plumbers --store {bucket}",
    ]
    assert "d.com" not in domains(bucket)


def test_a_goal_whose_budget_is_over_sends_nothing(laptop: Path, bucket: Path, plumbers: Any) -> None:
    write(laptop, "d.com")
    territory = ("prospecting.queries", "prospecting.locations")
    assert plumbers("campaign", "edit", "plumbers", *(word for key in territory for word in ("--unset", key))).code == 0
    done = plumbers("campaign", "achieve-goal", "plumbers", "--budget", "1s")
    assert "It was not sent: there is no time left" in done.err
    assert "d.com" not in domains(bucket)


def test_not_where_it_is_not_wanted_and_not_where_there_was_no_sync(
    home: Path, laptop: Path, bucket: Path, plumbers: Any
) -> None:
    said = work(home, lambda: write(laptop, "d.com"), wanted=False)
    assert said == [f"Working here only: {bucket} is left alone."]
    assert "d.com" not in domains(bucket)
    state = str(home / "state")
    assert synced_bucket(state, str(laptop), "plumbers") == str(bucket)
    assert synced_bucket(state, str(laptop), "roofers") is None
    assert synced_bucket(state, "/elsewhere", "plumbers") is None


def test_a_campaign_that_is_in_the_bucket_is_worked_on_there(home: Path, laptop: Path, bucket: Path) -> None:
    said: list[str] = []
    with (
        open_workspace(os.environ, Flags(store=str(bucket))) as workspace,
        synced_around(workspace, "plumbers", say=said.append),
    ):
        pass
    assert said == [f"Working in {bucket} itself: what is found is there at once."]


def test_a_bucket_that_is_away_stops_it_before_and_not_after(
    home: Path, laptop: Path, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = home / "away"
    bucket.rename(away)
    with pytest.raises(UsageError, match="There is no folder"):
        work(home, lambda: None)
    away.rename(bucket)

    def action() -> None:
        write(laptop, "d.com")
        bucket.rename(away)

    said = work(home, action)
    assert said[-1] == f"hint: cocli sync push -c plumbers --store {bucket}"
    assert said[-2].startswith("It was not sent: There is no folder")
    assert "d.com" in domains(laptop)


def test_what_was_removed_there_does_not_come_back(home: Path, laptop: Path, bucket: Path) -> None:
    """A promotion, a purge: records go. A copy that still has them sends what it changed, and nothing else."""
    removed = company_hash("domain:a.com")

    def action() -> None:
        write(laptop, "d.com")
        Compactor(prospects(bucket)).remove([prospects(bucket).spec.key_of(a_prospect("a.com"))])
        assert "a.com" in domains(laptop)

    work(home, action)
    assert domains(bucket) == {"b.com", "d.com"}, removed
    work(home, lambda: write(laptop, "e.com"))
    assert domains(laptop) == domains(bucket) == {"b.com", "d.com", "e.com"}


def test_what_was_removed_there_and_changed_here_comes_back(home: Path, laptop: Path, bucket: Path) -> None:
    """An edit outlives a deletion: docs/sync.md and docs/replay.md say so."""

    def action() -> None:
        write(laptop, "a.com", phone="+1 555 0100")
        Compactor(prospects(bucket)).remove([prospects(bucket).spec.key_of(a_prospect("a.com"))])

    work(home, action)
    assert domains(bucket) == {"a.com", "b.com"}


def test_a_server_that_does_not_answer(home: Path, laptop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = f"http://127.0.0.1:{free_ports(1)[0]}"
    monkeypatch.setattr("cocli.app.sync_round.synced_bucket", lambda *_: f"s3://bucket?endpoint={endpoint}")
    with pytest.raises(Unavailable):
        work(home, lambda: None)
