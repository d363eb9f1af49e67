"""Sessions outlive a restart: kept as hashes, for their owner alone, until they end."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import httpx2
import pytest

from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import TownHome
from cocli.models.campaign import AuthSection, WebSection
from cocli.service.web.access import Principal, Role
from cocli.service.web.server import WebSettings, serving_web
from cocli.service.web.session_files import SessionFiles
from cocli.service.web.sessions import SessionBook, hashed

if TYPE_CHECKING:
    from pathlib import Path

START = datetime(2026, 11, 17, 12, tzinfo=UTC)
ANN = Principal("ann", "oidc", Role.NOBODY, {"plumbers": Role.EDITOR})


def book(folder: Path, at: datetime = START, scope: str = "here") -> SessionBook:
    return SessionBook(lambda: at, timedelta(hours=12), SessionFiles(str(folder), scope))


def kept(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_another_book_of_the_same_place_knows_a_session_until_it_ends(tmp_path: Path) -> None:
    secret = book(tmp_path).open(ANN)
    found = book(tmp_path, START + timedelta(hours=11)).find(secret)
    assert found is not None
    assert (found.name, found.provider, found.role_in("plumbers"), found.role) == (
        "ann", "oidc", Role.EDITOR, Role.NOBODY,
    )  # fmt: skip
    assert book(tmp_path, START + timedelta(hours=12)).find(secret) is None
    assert book(tmp_path, scope="elsewhere").find(secret) is None
    assert book(tmp_path).find("guess") is None


def test_a_file_gives_no_secret_away_and_is_its_owners(tmp_path: Path) -> None:
    secret = book(tmp_path / "web").open(ANN)
    (file,) = kept(tmp_path)
    assert file.name == hashed(secret)
    assert secret not in file.read_text("utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_who_logs_out_is_out_after_a_restart_too(tmp_path: Path) -> None:
    first = book(tmp_path)
    secret, other = first.open(ANN), first.open(ANN)
    later = book(tmp_path)
    found = later.find(secret)
    assert found is not None
    later.close(found)
    assert book(tmp_path).find(secret) is None
    assert book(tmp_path).find(other) is not None


def test_what_is_over_or_says_nothing_is_removed(tmp_path: Path) -> None:
    book(tmp_path).open(ANN)
    (file,) = kept(tmp_path)
    (file.parent / ("0" * 64)).write_text("{", "utf-8")
    files = SessionFiles(str(tmp_path), "here")
    files.sweep(START + timedelta(hours=1))
    assert kept(tmp_path) == [file]
    files.sweep(START + timedelta(hours=12))
    assert kept(tmp_path) == []


@pytest.mark.parametrize("end_sessions", [False, True])
def test_a_server_that_is_started_again_lets_in_whoever_was_in(tmp_path: Path, end_sessions: bool) -> None:
    home = TownHome(tmp_path)
    home.data.mkdir(parents=True)
    with open_workspace(home.environ, Flags()) as workspace:
        with serving_web(workspace, WebSettings(WebSection(port=0), AuthSection()), print) as served:
            port = int(served.url.rpartition(":")[2])
            cookies = {
                served.application.cookie: served.application.sessions.open(Principal("ann", "link", Role.VIEWER))
            }
        again = WebSettings(WebSection(port=port), AuthSection(), end_sessions=end_sessions)
        with (
            serving_web(workspace, again, print) as served,
            httpx2.Client(base_url=served.url, cookies=cookies) as caller,
        ):
            answer = caller.get("/api/session")
    assert answer.status_code == (401 if end_sessions else 200)
