"""A campaign from the browser: a list is brought, read and got back; and what is brought to harm is refused."""

from __future__ import annotations

import gzip
import io
import json
import socket
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.kit.web import NAME, RunningWeb, running_web
from tests.kit.webhooks import receiver, wait_for

from cocli.app.campaigns.campaign import edit_campaign
from cocli.app.workspace import open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.service.web.access import Role

LIST = b"name,city,phone\nAcme Roofing,Springfield,+1 217 555 0100\nBob's Pipes,Springfield,+1 217 555 0101\n"
OCTETS = {"Content-Type": "application/octet-stream"}
PATIENCE = 120.0


def test_a_goal_that_is_met_is_told_once(web: RunningWeb) -> None:
    with open_workspace(web.home.environ, Flags()) as workspace:
        edit_campaign(workspace, NAME, [parse_change("prospecting.goal=2")])
    with web.caller(Role.ADMIN) as caller, receiver() as (address, got):
        caller.post(f"/api/{NAME}/report", json={})
        wish = {"url": address, "campaign": NAME, "events": ["goal-met", "stall"]}
        hook = caller.post("/api/webhooks", json=wish).json()["webhook"]
        wait_for(lambda: len(got) >= 2)
        for _ in range(3):
            web.served.application.webhooks.look()
        told = wait_for(lambda: [known for known in caller.get("/api/webhooks").json()["webhooks"] if known["told"]])
        caller.delete(f"/api/webhooks/{hook['id']}")
    assert [json.loads(body)["event"] for _, body in got] == ["goal-met", "goal-met"]  # the first answer was a failure
    assert json.loads(got[-1][1])["businesses"] == 3
    assert told[0]["told"] == {"goal-met": True}


def test_a_run_that_is_being_started_is_told_of_when_it_runs(tmp_path: Path) -> None:
    """Whoever saw it before as a run of which nothing is known would not tell its end."""
    seen, over = set[str](), threading.Event()

    def look() -> None:
        while not over.is_set():
            seen.update(run["state"] for run in web.served.application.runs.all())

    with running_web(tmp_path, 1) as web, web.caller(Role.ADMIN) as caller:
        threads = [threading.Thread(target=look) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            begun = caller.post("/api/runs", json={"campaign": NAME}).json()
            caller.post(f"/api/runs/{begun['run']}/stop", json={})
            wait_for(lambda: caller.get(f"/api/runs/{begun['run']}").json()["state"] != "running")
        finally:
            over.set()
            for thread in threads:
                thread.join()
    assert "unknown" not in seen
    assert "running" in seen


@pytest.mark.parametrize(
    "wish",
    [
        {"campaign": "new-one"},
        {"campaign": "new-one", "queries": ["plumber"]},
        {"campaign": "new-one", "area": {"type": "Polygon", "coordinates": []}, "queries": ["plumber"]},
        {"campaign": "new-one", "area": {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}},
        {"campaign": "Bad Name", "queries": ["x"]},
        {"campaign": "new-one", "upload": "../../etc/passwd"},
        {"campaign": "new-one", "upload": "0" * 24},
    ],
)
def test_a_run_of_nothing_makes_nothing(web: RunningWeb, wish: dict[str, Any]) -> None:
    with web.caller(Role.ADMIN) as caller:
        answer = caller.post("/api/runs", json=wish)
        names = {card["name"] for card in caller.get("/data/campaigns.json").json()["campaigns"]}
    assert answer.status_code in (400, 404), answer.text
    assert "new-one" not in names


def test_an_area_becomes_a_campaign_that_can_be_stopped(web: RunningWeb) -> None:
    ring = [[-89.7, 39.7], [-89.6, 39.7], [-89.6, 39.8], [-89.7, 39.8], [-89.7, 39.7]]
    wish = {"campaign": "square", "area": {"type": "Polygon", "coordinates": [ring]}, "queries": ["baker"], "goal": 5}
    with web.caller(Role.ADMIN) as caller:
        begun = caller.post("/api/runs", json=wish).json()
        config = caller.get("/data/square/config.json").json()
        caller.post(f"/api/runs/{begun['run']}/stop", json={})
        state = wait_for(lambda: (run := caller.get(f"/api/runs/{begun['run']}").json())["state"] != "running" and run)
    assert (config["queries"], config["goal"], config["locations_from"]) == (["baker"], 5, "area")
    assert state["state"] in ("stopped", "unfinished", "met", "failed")


# --- uploads that are meant to harm


def _deflated(size: int) -> bytes:
    """Zeros, as they are compressed: one piece is made, and repeated, because making them all takes long."""
    piece = zlib.compressobj(9, zlib.DEFLATED, -15)
    made = piece.compress(b"\0" * (8 << 20)) + piece.flush(zlib.Z_FULL_FLUSH)
    again = zlib.compressobj(9, zlib.DEFLATED, -15)
    return made * (size // (8 << 20)) + again.flush()


def _zip_bomb() -> bytes:
    """An archive of a sheet that is 600 MB long; its head says so, and its sum is wrong, which nobody gets to see."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("xl/workbook.xml", b"<x/>")
        archive.writestr("xl/worksheets/sheet1.xml", _deflated(600 << 20))
    data = bytearray(made.getvalue())
    size = (600 << 20).to_bytes(4, "little")
    for mark, method, length in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        at = data.rindex(mark)
        data[at + method : at + method + 2] = b"\x08\x00"
        data[at + length : at + length + 4] = size
    return bytes(data)


BILLION = (
    b'<?xml version="1.0"?><!DOCTYPE k [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9))
    + b"]><kml><Document><name>&j;</name></Document></kml>"
)
BOMBS: dict[str, Callable[[], bytes]] = {
    "list.xlsx": _zip_bomb,
    "list.csv.gz": lambda: gzip.compress(b"a" * (8 << 20)) * 75,
    "area.kmz": _zip_bomb,
    "area.kml": lambda: BILLION,
    "area.geojson": lambda: b"[" * 100_000,
    "list.json": lambda: b'{"a":' * 50_000,
    "nothing.csv": lambda: b"",
    "../x.csv": lambda: LIST,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused(web: RunningWeb, name: str) -> None:
    with web.caller(Role.ADMIN) as caller:
        answer = caller.post("/api/uploads", params={"name": name}, content=BOMBS[name](), headers=OCTETS)
        alive = caller.get("/healthz").status_code
    assert answer.status_code in (400, 413), answer.text
    assert alive == 200


def test_an_upload_has_an_end(web: RunningWeb) -> None:
    size = web.served.application.settings.web.max_upload_bytes

    def pieces() -> Iterator[bytes]:
        for _ in range(0, size + (1 << 20), 1 << 20):
            yield b"x" * (1 << 20)

    with web.caller(Role.ADMIN) as caller:
        answer = caller.post("/api/uploads?name=list.csv", content=pieces(), headers=OCTETS)
    assert answer.status_code == 413


def test_slow_callers_keep_nobody_waiting(web: RunningWeb) -> None:
    """Two hundred that never end the head of a request, and some that never send their body."""
    host, _, port = web.url.removeprefix("http://").partition(":")
    with ExitStack() as stack:
        for number in range(200):
            slow = stack.enter_context(socket.create_connection((host, int(port)), 30))
            slow.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            if number % 10 == 0:
                body = stack.enter_context(socket.create_connection((host, int(port)), 30))
                head = f"POST /auth HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
                body.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        with web.caller(Role.VIEWER) as caller:
            statuses = [caller.get(f"/data/{NAME}/config.json").status_code for _ in range(5)]
    assert statuses == [200] * 5
