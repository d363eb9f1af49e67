"""Runs that somebody starts in the browser: each is `cocli run` in a process of its own, which may be killed anywhere.

The state of a run is never stored: it is derived from its process, and from what the process printed at its end.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.app.campaigns.campaign import edit_campaign, new_campaign
from cocli.app.campaigns.name import campaign_names
from cocli.app.web.kept.uploads import UploadShelf
from cocli.config.edit import ConfigChange, Operator
from cocli.config.private import make_private
from cocli.errors import NotFound, TooManyRequests, UsageError
from cocli.exit_codes import ExitCode
from cocli.models.record import render_utc
from cocli.pipeline.plan.areas import read_areas

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from cocli.app.workspace import Workspace

MOST_AT_ONCE = 2
_MOST_KEPT = 100
_ID = re.compile(r"[0-9a-f]{24}")
_ENDINGS = {
    int(ExitCode.OK): "met",
    int(ExitCode.GOAL_MISSED): "unfinished",
    int(ExitCode.INTERRUPTED): "stopped",
}
_LAST_LINES = 20


@dataclass(frozen=True, slots=True)
class RunOrder:
    """What is to be run."""

    campaign: str
    upload: str | None = None
    area: dict[str, Any] | None = None
    queries: Sequence[str] = ()
    goal: int | None = None
    sources: Sequence[str] | None = None


class RunBook:
    """The runs of this server. Safe to share between threads."""

    def __init__(self, workspace: Workspace, folder: str, clock: Callable[[], datetime]) -> None:
        self._workspace = workspace
        self._folder = os.path.join(folder, "runs")
        self._uploads = UploadShelf(folder)
        self._clock = clock
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()
        make_private(self._folder)

    # --- starting

    def start(self, order: RunOrder, by: str) -> dict[str, Any]:
        """Make what is missing, and begin. What is wrong is said before anything is made."""
        with self._lock:
            running = [name for name, process in self._processes.items() if process.poll() is None]
            if len(running) >= MOST_AT_ONCE:
                raise TooManyRequests(limit=MOST_AT_ONCE, wait=60, hint="Wait for a run to end, or stop one.")
            name = secrets.token_hex(12)
            place = os.path.join(self._folder, name)
            make_private(place)
            words, out = self._words(order, place)
            said = {
                "id": name,
                "campaign": order.campaign,
                "by": by,
                "at": render_utc(self._clock()),
                "command": shlex.join(["cocli", *words]),
                "goal": order.goal,
                "out": out,
            }
            with open(os.path.join(place, "run.json"), "w", encoding="utf-8") as file:
                json.dump(said, file)
            self._processes[name] = self._process(place, words)
        return self.show(name)

    def _words(self, order: RunOrder, place: str) -> tuple[list[str], str | None]:
        if order.upload is not None:
            brought, kind = self._uploads.get(order.upload)
            if kind == "list":
                path = os.path.join(place, _harmless(brought.name))
                with open(path, "wb") as file:
                    file.write(brought.data)
                out = os.path.join(place, f"{order.campaign}-enriched.csv")
                return ["run", path, "-c", order.campaign, "--out", out, "--json"], out
            self._found(order, brought.data, brought.name)
        elif order.area is not None:
            self._found(order, json.dumps(order.area).encode(), "area.geojson")
        elif order.campaign not in set(campaign_names(self._workspace.store)):
            raise UsageError(reason="A new campaign needs a list, or phrases and an area")
        goal = ["--companies", str(order.goal)] if order.goal else []
        return ["run", order.campaign, *goal, "--json"], None

    def _found(self, order: RunOrder, data: bytes, file: str) -> None:
        """A campaign for phrases in an area. One that is there is not changed."""
        if not order.queries:
            raise UsageError(reason="An area needs phrases: what is to be found there?")
        read_areas(data, file=file)  # refused here, before a campaign is made of it
        new_campaign(self._workspace, order.campaign, list(order.queries))
        folder = os.path.join(self._folder, "areas")
        make_private(folder)
        path = os.path.join(folder, f"{order.campaign}{os.path.splitext(file)[1].lower()}")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as area:
            area.write(data)
        changes = [ConfigChange(("prospecting", "area"), Operator.SET, path)]
        if order.goal:
            changes.append(ConfigChange(("prospecting", "goal"), Operator.SET, order.goal))
        if order.sources:
            changes.append(ConfigChange(("prospecting", "sources"), Operator.SET, list(order.sources)))
        edit_campaign(self._workspace, order.campaign, changes)

    def _process(self, place: str, words: list[str]) -> subprocess.Popen[bytes]:
        settings = self._workspace.settings
        environ = dict(settings.environ)
        if settings.flags.store is not None:
            environ["COCLI_STORE"] = settings.flags.store
        with open(os.path.join(place, "out"), "wb") as out, open(os.path.join(place, "log"), "wb") as log:
            return subprocess.Popen(  # noqa: S603  our own program
                [sys.executable, "-m", "cocli", *words], env=environ, stdin=subprocess.DEVNULL, stdout=out, stderr=log
            )

    # --- watching

    def all(self) -> list[dict[str, Any]]:
        with self._lock:  # one that is just being started is told of when it runs
            names = sorted(name for name in os.listdir(self._folder) if _ID.fullmatch(name))
            found = [self.show(name) for name in names if os.path.exists(os.path.join(self._folder, name, "run.json"))]
        return sorted(found, key=lambda run: str(run["at"]), reverse=True)[:_MOST_KEPT]

    def show(self, name: str) -> dict[str, Any]:
        said = self._said(name)
        process = self._processes.get(name)
        code = process.poll() if process is not None else None
        place = os.path.join(self._folder, name)
        result = _json_of(os.path.join(place, "out"))
        if process is not None and code is None:
            state = "running"
        elif process is not None:
            state = _ENDINGS.get(int(code or 0), "failed")
        else:  # of a server before this one
            state = str((result or {}).get("ending", "unknown"))
        out = said.pop("out")
        return {
            **said,
            "state": state,
            "result": result,
            "log": _last_lines(os.path.join(place, "log")),
            "file": None if state == "running" else _file_of(name, str(said["campaign"]), out, result),
            "view": f"/?campaign={said['campaign']}&view=dashboard",
        }

    def file(self, name: str) -> tuple[str, bytes]:
        """The enriched list of a run that is over."""
        out = self._said(name)["out"]
        if not out or not os.path.isfile(out):
            raise NotFound(key=f"the file of run {name}", hint="It is written at the end of a run of a list.")
        with open(out, "rb") as file:
            return os.path.basename(out), file.read()

    def stop(self, name: str) -> dict[str, Any]:
        """Ask a run to end: it finishes what it has in its hands."""
        self._said(name)
        process = self._processes.get(name)
        if process is not None and process.poll() is None:
            process.terminate()
        return self.show(name)

    def close(self) -> None:
        """The server ends, and its runs with it; the same order goes on where they were."""
        for process in self._processes.values():
            if process.poll() is None:
                process.terminate()
        for process in self._processes.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _said(self, name: str) -> dict[str, Any]:
        said = _json_of(os.path.join(self._folder, name, "run.json")) if _ID.fullmatch(name) else None
        if said is None:
            raise NotFound(key=f"run {name[:40]}")
        return said


def _file_of(name: str, campaign: str, out: str | None, result: dict[str, Any] | None) -> str | None:
    """Where what came out is: the list, with what was found; of an area, the campaign's list of businesses."""
    if out is not None:
        return f"/api/runs/{name}/file" if os.path.isfile(out) else None
    found = ((result or {}).get("figures") or {}).get("businesses")
    return f"/data/{campaign}/exports/{campaign}.csv" if found else None


def _harmless(name: str) -> str:
    stem, ending = os.path.splitext(name)
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip(".-")[:80] + ending.lower() if stem else f"list{ending}"


def _json_of(path: str) -> dict[str, Any] | None:
    try:
        with open(path, "rb") as file:
            found = json.load(file)
    except (OSError, ValueError):  # not there, or not whole yet
        return None
    return found if isinstance(found, dict) else None


def _last_lines(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - 16_384))
            return file.read().decode("utf-8", "replace").splitlines()[-_LAST_LINES:]
    except OSError:
        return []
