"""`cocli campaign publish`, as a person uses it, and what machines do to keep it fresh."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cocli.app.campaigns.publication import needs_renewal, read_publication
from cocli.app.campaigns.publish import PublishReport, refresh_published
from cocli.app.campaigns.publish_places import StorePlace
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.resolve import Flags
from cocli.results.exports.columns import DEFAULT


@pytest.fixture
def filled(plumbers: Any, write_prospects: Callable[..., None]) -> Any:
    write_prospects("acme.example", city="Springfield", lat=39.8, lon=-89.6, primary_email="info@acme.example")
    write_prospects("rival.example", city="Springfield")
    plumbers("campaign", "edit", "plumbers", "--set", "exclude.domains+=rival.example")
    return plumbers


def hrefs(page: Path) -> list[str]:
    return re.findall(r'href="([^"]+)"', page.read_text("utf-8"))


def test_everything_is_there_and_leads_somewhere(filled: Any, home: Path) -> None:
    told = filled("campaign", "publish", "plumbers", "--json").json
    page = Path(told["path"])
    assert page == home / "data/campaigns/plumbers/exports/published/index.html"
    assert told["link"] is None
    for link in hrefs(page):
        assert (page.parent / link).is_file(), link
    report = page.parent / next(link for link in hrefs(page) if link.endswith("report.html"))
    for source in (report, page.parent / "report.html"):
        downloads = [link for link in hrefs(source) if not link.startswith(("http", "mailto", "tel", "#"))]
        assert sorted(downloads) == sorted(file["name"] for file in told["files"])
        assert all((source.parent / link).is_file() for link in downloads)
    assert (page.parent / "plumbers.csv").read_text("utf-8-sig").splitlines()[0] == ",".join(DEFAULT)
    for file in told["files"]:
        data = (page.parent / file["name"]).read_bytes()
        assert len(data) == file["bytes"]
        assert b"rival" not in data


def test_into_a_folder(filled: Any, home: Path) -> None:
    result = filled("campaign", "publish", "plumbers", "--to", str(home / "www"))
    assert result.code == 0, result.err
    assert result.out.strip() == str(home / "www" / "index.html")
    names = {str(file.relative_to(home / "www")) for file in (home / "www").rglob("*") if file.is_file()}
    assert {"index.html", "report.html", "plumbers.xlsx", "plumbers.kml"} <= names
    assert all(re.match(r"index\.html|report\.html|plumbers\.\w+|sets/", name) for name in names), names


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--presign", "8d"), "seven days"),
        (("--presign", "7d"), "no bucket"),
        (("--presign", "soon"), "not a duration"),
        (("--presign", "1d", "--public"), "exclude each other"),
    ],
)
def test_what_cannot_be_done_says_so_and_writes_nothing(filled: Any, home: Path, words: Any, said: str) -> None:
    result = filled("campaign", "publish", "plumbers", *words)
    assert result.code == 2
    assert said in result.err
    assert not (home / "data/campaigns/plumbers/exports").exists()


def test_whoever_is_interrupted_leaves_the_earlier_page(
    filled: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broken off before every single write, in turn: the page leads to a whole set each time."""
    page = Path(filled("campaign", "publish", "plumbers", "--json").json["path"])
    put, ended = StorePlace.put, 0
    for allowed in range(40):
        left = [allowed]

        def stopping(place: Any, name: str, data: bytes, left: list[int] = left) -> None:
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            put(place, name, data)

        monkeypatch.setattr(StorePlace, "put", stopping)
        code = filled("campaign", "publish", "plumbers").code
        sets = {link.split("/")[1] for link in hrefs(page) if link.startswith("sets/")}
        assert len(sets) == 1
        assert all((page.parent / link).is_file() for link in hrefs(page))
        if code == 0:
            ended = allowed
            break
    assert ended == 13  # five files twice, the report twice, the page


@pytest.fixture
def workspace(filled: Any, home: Path) -> Any:
    with open_workspace(os.environ, Flags()) as opened:
        yield opened


@pytest.fixture
def refreshed(workspace: Workspace) -> Callable[..., PublishReport | None]:
    """What a machine does, some time after the last publication or at once."""

    def refresh(*, rested: bool = True) -> PublishReport | None:
        return refresh_published(workspace, "plumbers", rest=timedelta(0) if rested else None)

    return refresh


def test_machines_keep_it_fresh_and_only_then(
    filled: Any, home: Path, refreshed: Any, write_prospects: Callable[..., None]
) -> None:
    assert refreshed() is None
    filled("campaign", "publish", "plumbers", "--to", str(home / "www"))
    assert refreshed() is None  # nothing changed
    write_prospects("gamma.example")
    filled("index", "compact", "prospects", "-c", "plumbers")
    assert refreshed(rested=False) is None  # too soon
    assert refreshed() is not None
    assert "gamma.example" in (home / "www" / "plumbers.csv").read_text("utf-8-sig")
    assert refreshed() is None
    filled("company", "refresh", "-c", "plumbers")
    assert refreshed() is not None  # people's pages are new
    assert len(os.listdir(home / "www" / "sets")) == 2
    filled("campaign", "edit", "plumbers", "--set", "exclude.domains+=gamma.example")
    assert refreshed() is not None
    assert "gamma.example" not in (home / "www" / "plumbers.csv").read_text("utf-8-sig")
    assert len(os.listdir(home / "www" / "sets")) == 2


def test_a_folder_of_another_machine_is_left_alone(
    filled: Any, home: Path, workspace: Workspace, refreshed: Any
) -> None:
    filled("campaign", "publish", "plumbers", "--to", str(home / "www"))
    state = home / "data/campaigns/plumbers/exports/published.json"
    values = json.loads(state.read_text())
    state.write_text(json.dumps(values | {"host": "elsewhere", "basis": "0" * 64}))
    assert refreshed() is None
    state.write_text("{}")
    assert read_publication(workspace.store, "plumbers") is None
    assert refreshed() is None


def test_signed_links_are_renewed_in_time(filled: Any, home: Path, workspace: Workspace) -> None:
    assert not needs_renewal(workspace.store, "plumbers")
    filled("campaign", "publish", "plumbers")
    state = home / "data/campaigns/plumbers/exports/published.json"
    values = json.loads(state.read_text())
    assert not needs_renewal(workspace.store, "plumbers")
    for valid, expected in ((7 * 86_400, False), (0, True)):
        state.write_text(json.dumps(values | {"links": "signed", "valid_seconds": valid}))
        assert needs_renewal(workspace.store, "plumbers") == expected
    state.write_text(json.dumps(values | {"links": "signed", "host": "elsewhere"}))
    assert not needs_renewal(workspace.store, "plumbers")


def test_whoever_finishes_a_campaign_publishes_it_again(
    filled: Any, home: Path, write_prospects: Callable[..., None]
) -> None:
    told = filled("campaign", "settle", "plumbers", "--everything", "--json").json
    assert told["published"] is None
    filled("campaign", "publish", "plumbers", "--to", str(home / "www"))
    write_prospects("gamma.example")
    told = filled("campaign", "settle", "plumbers", "--everything", "--json").json
    assert told["published"] == str(home / "www" / "index.html")
    assert "gamma.example" in (home / "www" / "plumbers.csv").read_text("utf-8-sig")
    assert filled("campaign", "settle", "plumbers", "--everything", "--json").json["published"] is None
