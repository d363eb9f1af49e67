"""`cocli web deploy`: the files of the live dashboard, written so that whoever looks at any moment finds them whole."""

from __future__ import annotations

import gzip
import http.server
import io
import json
import re
import threading
import uuid
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cocli.app.web.deploy.deploy import DeployOptions, deploy_site
from cocli.app.web.deploy.places import FolderDeployPlace, opened_place
from cocli.app.web.deploy.published import PublishedSite
from cocli.app.web.deploy.redaction import Redaction
from cocli.app.web.shell import WebShell
from cocli.app.web.site import DataSite
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.resolve import Flags
from tests.kit import servers

AT = datetime(2026, 11, 17, 12, tzinfo=UTC)
PUBLIC = DeployOptions(public=True)


@pytest.fixture
def filled(plumbers: Any, write_prospects: Callable[..., None]) -> Any:
    write_prospects("acme.example", city="Springfield", lat=39.8, lon=-89.6, primary_email="info@acme.example")
    write_prospects("bolt.example", city="Zürich", phone="217 555 0100", phone_e164="+12175550100")
    write_prospects("rival.example", city="Springfield", primary_email="boss@rival.example")
    plumbers("campaign", "edit", "plumbers", "--set", "exclude.domains+=rival.example")
    plumbers("note", "add", "acme", "called them", "-c", "plumbers")
    return plumbers


@contextmanager
def workspace_of(home: Path) -> Iterator[Workspace]:
    environ = {"HOME": str(home), "COCLI_DATA_HOME": str(home / "data"), "COCLI_CONFIG": str(home / "user.toml")}
    with open_workspace(environ, Flags()) as workspace:
        yield workspace


def site_of(workspace: Workspace, *, at: datetime = AT, **options: Any) -> PublishedSite:
    site = DataSite(workspace, mode="static", campaigns=("plumbers",), clock=lambda: at)
    return PublishedSite(site, WebShell.installed(), Redaction.of(), **options)


def written(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_whole(files: dict[str, bytes]) -> None:
    """What a browser would do: every name in a file that is there leads to a file that is there."""
    if "index.html" not in files:
        return
    links = re.findall(r'(?:src|href)="(assets/[^"]+)"', files["index.html"].decode())
    assert links
    assert [link for link in links if link not in files] == []
    assert "data/site.json" in files
    for campaign in json.loads(files["data/site.json"])["campaigns"]:
        manifest = json.loads(files[f"data/{campaign}/prospects/manifest.json"])
        blocks = [block["file"] for block in manifest["lines"]]
        assert [block for block in blocks if f"data/{campaign}/prospects/{block}" not in files] == []
        rows = [gzip.decompress(files[f"data/{campaign}/prospects/{block}"]).decode().split("\n") for block in blocks]
        assert sum(map(len, rows)) == manifest["rows"]
        json.loads(files[f"data/{campaign}/dashboard.json"])


def inside(name: str, data: bytes) -> bytes:
    """A file with what is packed in it."""
    if name.endswith(".gz"):
        return gzip.decompress(data)
    if name.endswith(".xlsx"):
        with zipfile.ZipFile(io.BytesIO(data)) as book:
            return b"".join(map(book.read, book.namelist()))
    return data


def holding(files: dict[str, bytes], text: bytes) -> list[str]:
    return [name for name, data in files.items() if text in inside(name, data)]


def test_every_file_is_what_the_live_dashboard_answers(filled: Any, home: Path) -> None:
    folder = home / "www"
    with workspace_of(home) as workspace:
        report = deploy_site(site_of(workspace), FolderDeployPlace(str(folder)), PUBLIC)
        files = written(folder)
        check_whole(files)
        assert sorted(report.written) == sorted(name for name in files if name != "data/deployed.json")
        live = DataSite(workspace, mode="static", campaigns=("plumbers",), clock=lambda: AT)
        compared = 0
        for name, data in files.items():
            is_made = name.startswith("data/") and name != "data/deployed.json" and "/why/" not in name
            shows_excluded = name.startswith("data/plumbers/companies/") and b"rival" in live.file(name[5:]).data
            if is_made and not shows_excluded:
                assert live.file(name.removeprefix("data/")).data == data, name
                compared += 1
        assert compared > 25
        shell = WebShell.installed()
        assert files["index.html"] == shell.index(["plumbers"]).data
        assert files[f"assets/{shell.tree_hash}/search-worker.js"] == shell.asset("search-worker.js").data
    assert holding(files, b"rival.example") == ["data/plumbers/config.json"], (
        "the rule that excludes it, and nothing else"
    )
    assert holding(files, b"info@acme.example")
    assert b"noindex" in files["index.html"]
    assert b"X-Robots-Tag: noindex" in files["_headers"]
    assert files["robots.txt"].startswith(b"User-agent: *\nDisallow: /")


def test_only_what_changed_is_written_again(filled: Any, home: Path, write_prospects: Callable[..., None]) -> None:
    place = FolderDeployPlace(str(home / "www"))
    with workspace_of(home) as workspace:
        deploy_site(site_of(workspace), place, PUBLIC)
        later = deploy_site(site_of(workspace, at=AT + timedelta(hours=1)), place, PUBLIC)
        assert [name for name in later.written if not name.endswith((".html", ".svg"))] == []
        before = written(home / "www")
        write_prospects("new.example", city="Berlin")
        dry = deploy_site(site_of(workspace), place, DeployOptions(public=True, dry_run=True))
        assert written(home / "www") == before
        changed = deploy_site(site_of(workspace), place, PUBLIC)
    assert dry.written == changed.written
    assert "data/plumbers/prospects/manifest.json" in changed.written
    assert not any(name.startswith("assets/") for name in changed.written)
    check_whole(written(home / "www"))
    assert holding(written(home / "www"), b"new.example")


class Stopped(BaseException):
    """As a kill: nothing may catch it."""


class StoppingPlace(FolderDeployPlace):
    """A folder after so many writes of which the machine goes away."""

    __slots__ = ("left",)
    left: int

    def put(self, files: Any) -> list[str]:
        etags = []
        for file in files:
            if not self.left:
                raise Stopped
            object.__setattr__(self, "left", self.left - 1)
            etags += super().put([file])
        return etags


def stopping(folder: Path, left: int) -> StoppingPlace:
    place = StoppingPlace(str(folder))
    object.__setattr__(place, "left", left)
    return place


def test_killed_at_any_write_the_site_is_whole_and_the_next_one_goes_on(
    filled: Any, home: Path, write_prospects: Callable[..., None]
) -> None:
    folder = home / "www"
    with workspace_of(home) as workspace:
        deploy_site(site_of(workspace, why=False), FolderDeployPlace(str(folder)), PUBLIC)
        write_prospects("new.example", city="Berlin", primary_email="hi@new.example")
        whole, kills = False, 0
        while not whole:
            try:
                deploy_site(site_of(workspace, why=False), stopping(folder, 3), PUBLIC)
                whole = True
            except Stopped:
                kills += 1
                assert kills < 60, "it never ends: nothing is kept of what was written before"
            check_whole(written(folder))
    assert kills > 2
    assert holding(written(folder), b"hi@new.example")


def test_two_at_once_leave_a_whole_site(filled: Any, home: Path, write_prospects: Callable[..., None]) -> None:
    folder, failed = home / "www", []
    together = threading.Barrier(3)

    def run() -> None:
        with workspace_of(home) as workspace:
            together.wait(60)
            try:
                deploy_site(site_of(workspace, why=False), FolderDeployPlace(str(folder)), PUBLIC)
            except BaseException as error:
                failed.append(error)
                raise

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    together.wait(60)
    write_prospects("new.example", city="Berlin")
    for thread in threads:
        thread.join(120)
    assert failed == []
    check_whole(written(folder))
    with workspace_of(home) as workspace:
        deploy_site(site_of(workspace, why=False), FolderDeployPlace(str(folder)), PUBLIC)
    check_whole(written(folder))
    assert holding(written(folder), b"new.example")


def test_what_is_left_out_is_in_no_file(filled: Any, home: Path) -> None:
    result = filled("web", "deploy", "plumbers", "--to", str(home / "www"), "--no-emails", "--public", "--json")
    assert result.code == 0, result.err
    assert result.json["left_out"] == ["email", "emails"]
    files = written(home / "www")
    check_whole(files)
    assert holding(files, b"info@acme.example") == []
    assert holding(files, b"called them") == [], "nobody knows what a note says"
    assert holding(files, b"2175550100")
    short = filled("web", "deploy", "plumbers", "--to", str(home / "short"), "--fields", "name,city,website", "--json")
    assert short.code == 0, short.err
    files = written(home / "short")
    assert holding(files, b"2175550100") == holding(files, b"info@acme.example") == []
    assert holding(files, "Zürich".encode())
    assert json.loads(files["data/site.json"])["fields_left_out"] == short.json["left_out"]


def test_whoever_is_excluded_later_goes_at_once(filled: Any, home: Path) -> None:
    assert filled("web", "deploy", "plumbers", "--to", str(home / "www"), "--public").code == 0
    assert holding(written(home / "www"), b"info@acme.example")
    filled("campaign", "edit", "plumbers", "--set", "exclude.domains+=acme.example")
    assert filled("web", "deploy", "plumbers", "--to", str(home / "www"), "--public").code == 0
    assert holding(written(home / "www"), b"info@acme.example") == []


def test_leftovers_of_the_one_before_stay_for_a_while(
    filled: Any, home: Path, write_prospects: Callable[..., None]
) -> None:
    place, folder = FolderDeployPlace(str(home / "www")), home / "www"
    (folder / "assets").mkdir(parents=True)
    (folder / "own.html").write_text("somebody else's")
    (folder / "assets" / "old.js").write_text("of a version long ago")
    import os

    os.utime(folder / "assets" / "old.js", (0, 0))
    with workspace_of(home) as workspace:
        deploy_site(site_of(workspace, why=False), place, PUBLIC)
        before = written(folder)
        assert "assets/old.js" not in before
        assert "own.html" in before
        write_prospects("new.example")
        deploy_site(site_of(workspace, why=False), place, PUBLIC)
        assert set(before) <= set(written(folder)), "those who have the page open still find their files"
        purged = deploy_site(site_of(workspace, why=False), place, DeployOptions(public=True, purge=True))
    assert [name for name in purged.removed if "/lines/" in name]
    check_whole(written(folder))


def test_contacts_do_not_leave_unguarded(filled: Any, home: Path) -> None:
    refused = filled("web", "deploy", "plumbers", "--to", str(home / "www"))
    assert refused.code == 2
    assert "guard" in refused.err
    assert not (home / "www").exists()
    filled("campaign", "edit", "plumbers", "--set", "web.guard=edge", "--set", f"web.deploy_to={home / 'www'}")
    allowed = filled("web", "deploy", "plumbers", "--json")
    assert allowed.code == 0, allowed.err
    assert (home / "www" / "index.html").is_file()
    nowhere = filled("campaign", "edit", "plumbers", "--unset", "web.deploy_to")
    assert nowhere.code == 0, nowhere.err
    assert filled("web", "deploy", "plumbers").code == 2


def test_a_site_can_be_taken_away(filled: Any, home: Path) -> None:
    to = ("--to", str(home / "www"))
    told = filled("web", "deploy", "plumbers", *to, "--public", "--expires", "1s", "--json").json
    site = json.loads((home / "www/data/site.json").read_bytes())
    assert datetime.fromisoformat(site["expires_at"]) == datetime.fromisoformat(told["expires_at"])
    (home / "www" / "own.html").write_text("somebody else's")
    while datetime.now(UTC) <= datetime.fromisoformat(told["expires_at"]):
        threading.Event().wait(0.05)
    assert filled("web", "deploy", "plumbers", *to, "--remove-expired").code == 0
    assert set(written(home / "www")) == {"own.html"}
    filled("web", "deploy", "plumbers", *to, "--public")
    assert filled("web", "deploy", "plumbers", *to, "--remove-expired").code == 0
    assert (home / "www" / "index.html").is_file(), "this one does not expire"
    assert filled("web", "deploy", "plumbers", *to, "--remove").code == 0
    assert set(written(home / "www")) == {"own.html"}


def test_into_a_bucket(filled: Any, home: Path, seaweedfs: servers.S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in servers.credentials_environment().items():
        monkeypatch.setenv(name, value)
    address = seaweedfs.url("cocli-data-test", f"www-{uuid.uuid4().hex[:8]}")
    with workspace_of(home) as workspace, opened_place(address) as place:
        report = deploy_site(site_of(workspace), place, DeployOptions(guarded=True))
        folder = FolderDeployPlace(str(home / "www"))
        deploy_site(site_of(workspace), folder, PUBLIC)
        for name, data in written(home / "www").items():
            if name != "data/deployed.json":
                assert place.read(name) == data, name
        again = deploy_site(site_of(workspace), place, DeployOptions(guarded=True))
        assert (again.written, again.removed) == ([], [])
        assert again.unchanged == len(report.written)
        store: Any = place
        web = store.store
        worker = f"assets/{WebShell.installed().tree_hash}/search-worker.js"
        answer = httpx2.get(web.signed_link(worker, timedelta(minutes=1)))
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["content-type"].startswith("text/javascript")
        manifest = httpx2.get(web.signed_link("data/plumbers/prospects/manifest.json", timedelta(minutes=1)))
        assert manifest.headers["cache-control"] == "no-cache"
        csv = httpx2.get(web.signed_link("data/plumbers/exports/plumbers.csv", timedelta(minutes=1)))
        assert csv.headers["content-disposition"] == 'attachment; filename="plumbers.csv"'
        assert web.public_status("index.html") == 403


class OpenPlace(FolderDeployPlace):
    """A place that everybody can read, whatever was said of a guard."""

    __slots__ = ()

    def is_open_to_all(self, path: str) -> bool:
        return True


def test_a_guard_that_can_be_walked_around_is_none(filled: Any, home: Path) -> None:
    with workspace_of(home) as workspace, pytest.raises(Exception, match="Everybody can read"):
        deploy_site(site_of(workspace), OpenPlace(str(home / "www")), DeployOptions(guarded=True))
    assert set(written(home / "www")) <= {"robots.txt", "_headers"}


def test_the_edge_is_told_what_changed(filled: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Edge(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path + self.rfile.read(int(self.headers["Content-Length"])).decode())
            body = (
                b'<?xml version="1.0"?><Invalidation xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/"><Id>I1</Id>'
                b"<Status>InProgress</Status><CreateTime>2026-11-17T00:00:00Z</CreateTime></Invalidation>"
            )
            self.send_response(201)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Edge)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    for name, value in servers.credentials_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL_CLOUDFRONT", f"http://127.0.0.1:{server.server_address[1]}")
    filled("campaign", "edit", "plumbers", "--set", "web.distribution=E2EXAMPLE1234")
    told = filled("web", "deploy", "plumbers", "--to", str(home / "www"), "--public", "--no-why", "--json")
    server.shutdown()
    server.server_close()
    assert told.code == 0, told.err
    assert told.json["invalidation"] == "I1"
    assert "/distribution/E2EXAMPLE1234/invalidation" in asked[0]
    assert "<Path>/index.html</Path>" in asked[0]
    assert "<Path>/</Path>" in asked[0]
    assert "/assets/" not in asked[0], "what is named by its content needs no invalidation"
