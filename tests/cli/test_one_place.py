"""A store address in a campaign's file never splits a campaign over two places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

CONFIG = "campaigns/plumbers/config.toml"


@pytest.fixture
def shared(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = home / "shared"
    folder.mkdir()
    monkeypatch.setenv("COCLI_STATE_HOME", str(home / "state"))
    return folder


def point(cocli: Any, address: object) -> None:
    edited = cocli("campaign", "edit", "plumbers", "--set", f"storage.url={address}")
    assert edited.code == 0, edited.err


def test_all_of_a_campaign_is_where_its_file_says(plumbers: Any, home: Path, shared: Path) -> None:
    """A folder is an address like any other: whatever COCLI_STORE takes."""
    point(plumbers, shared)
    shown = plumbers("campaign", "show", "plumbers", "--json")
    assert shown.code == 0, shown.err
    assert (shared / CONFIG).exists(), "its first use takes the file along"
    added = plumbers("campaign", "edit", "plumbers", "--set", "prospecting.queries+=roofer")
    assert added.code == 0, added.err
    assert "roofer" in (shared / CONFIG).read_text()
    assert "roofer" not in (home / "data" / CONFIG).read_text(), "the file here is a signpost only"
    (listed,) = plumbers("campaign", "list", "--json").json["campaigns"]
    assert "roofer" in listed["queries"]
    on_another_machine = plumbers("campaign", "show", "plumbers", "--json", "--store", str(shared))
    assert on_another_machine.code == 0
    for words in (("company", "add", "Acme", "-c", "plumbers"), ("campaign", "plan", "plumbers", "--queue")):
        plumbers(*words)
    left = [path for path in (home / "data").rglob("*") if path.is_file() and "#" not in str(path)]
    assert left == [home / "data" / CONFIG], "nothing but the signpost is here"


@pytest.mark.parametrize("address", ["/srv/x", "~/x", "file:///srv/x", "s3://bucket", "s3://bucket/a?region=x"])
def test_addresses_that_a_file_may_name(plumbers: Any, home: Path, address: str) -> None:
    path = home / "data" / CONFIG
    path.write_text(path.read_text() + f'\n[storage]\nurl = "{address}"\n')
    shown = plumbers("config", "show", "-c", "plumbers")
    assert "expected" not in shown.err


@pytest.mark.parametrize("address", ["ftp://x", "relative/folder", "memory://", ""])
def test_addresses_that_it_may_not(plumbers: Any, address: str) -> None:
    refused = plumbers("campaign", "edit", "plumbers", "--set", f"storage.url={address}")
    assert refused.code != 0
    assert "a folder" in refused.err


def test_a_folder_that_is_not_there_is_not_made(plumbers: Any, home: Path) -> None:
    point(plumbers, home / "unmounted")
    refused = plumbers("campaign", "show", "plumbers")
    assert refused.code == 2
    assert "mkdir -p" in refused.err
    assert not (home / "unmounted").exists()


def test_data_here_and_an_address_elsewhere_is_refused_until_it_was_brought_there(
    plumbers: Any, home: Path, shared: Path, write_prospects: Any
) -> None:
    write_prospects("a.com", "b.com")
    point(plumbers, shared)
    for words in (("export", "plumbers", "--out", "-"), ("index", "status", "-c", "plumbers"), ("sync", "plumbers")):
        refused = plumbers(*words)
        assert refused.code == 5, (words, refused.err)
        assert "would be in two places" in refused.err
        assert "cocli sync push -c plumbers" in refused.err
    assert not (shared / CONFIG).exists()
    pushed = plumbers("sync", "push", "-c", "plumbers")
    assert pushed.code == 0, pushed.err
    exported = plumbers("export", "plumbers", "--out", "-", "--format", "csv")
    assert exported.code == 0, exported.err
    assert "a.com" in exported.out
    assert "a.com" in plumbers("export", "plumbers", "--out", "-", "--format", "csv", "--store", str(shared)).out


def test_a_push_that_failed_half_way_is_still_refused(
    plumbers: Any, home: Path, shared: Path, write_prospects: Any
) -> None:
    write_prospects("a.com")
    point(plumbers, shared)
    (shared / "campaigns" / "plumbers").mkdir(parents=True)
    (shared / CONFIG).write_bytes((home / "data" / CONFIG).read_bytes())
    assert plumbers("index", "status", "-c", "plumbers").code == 5


def test_one_may_go_back(plumbers: Any, shared: Path, write_prospects: Any) -> None:
    write_prospects("a.com")
    point(plumbers, shared)
    assert plumbers("index", "status", "-c", "plumbers").code == 5
    point(plumbers, "local")
    assert plumbers("index", "status", "-c", "plumbers").code == 0


def test_a_sync_does_not_replace_the_signpost(plumbers: Any, home: Path, shared: Path) -> None:
    """The file there says nothing of a store; the one here must go on saying where it is."""
    assert plumbers("campaign", "new", "plumbers", "--store", str(shared)).code == 0
    point(plumbers, shared)
    before = (home / "data" / CONFIG).read_text()
    assert plumbers("sync", "both", "-c", "plumbers").code == 0
    assert (home / "data" / CONFIG).read_text() == before
    assert [path.name for path in (home / "data" / "campaigns" / "plumbers").iterdir()] == ["config.toml"]
    assert plumbers("locate", "campaign", "plumbers").out.strip() == f"{shared}/campaigns/plumbers/"


def test_removing_it_removes_both(plumbers: Any, home: Path, shared: Path) -> None:
    point(plumbers, shared)
    assert plumbers("campaign", "show", "plumbers").code == 0
    assert plumbers("campaign", "rm", "plumbers", "--yes").code == 0
    assert not (shared / CONFIG).exists()
    assert not (home / "data" / CONFIG).exists()


def test_a_copy_that_was_cut_off_is_no_second_place(
    plumbers: Any, home: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cocli.sync.engine import Syncer

    point(plumbers, shared)
    assert plumbers("store", "put", "campaigns/plumbers/exports/a.csv", "-c", "plumbers", stdin=b"x").code == 0
    remember = Syncer._remember
    monkeypatch.setattr(Syncer, "_remember", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert plumbers("sync", "pull", "-c", "plumbers").code == 130
    monkeypatch.setattr(Syncer, "_remember", remember)
    assert (home / "data" / "campaigns" / "plumbers" / "exports" / "a.csv").exists()
    assert plumbers("campaign", "show", "plumbers").code == 0
