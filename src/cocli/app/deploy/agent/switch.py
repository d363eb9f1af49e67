"""From one release to another and back, stopping, and taking everything away."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from typing import Any

from cocli.app.deploy.agent.installation import timed
from cocli.app.deploy.agent.managers import manager_of
from cocli.app.deploy.agent.places import read_settings, write_file, write_settings
from cocli.app.deploy.agent.refusal import AgentRefusal
from cocli.app.deploy.agent.standing import standing

_LOOK_SECONDS = 0.1
_HURRY_SECONDS = 30.0


def switch(request: Any, places: Any) -> Any:
    """Tell the instance what it needs, make the release the current one, and bring the supervisors to it.

    A supervisor that is told nothing new makes room for its successor, and its workers are replaced one by one. One
    whose settings change, or that does not know how to do that, is stopped and started.
    """
    release, instance = request["release"], request.get("instance")
    if not os.path.isdir(places.path("releases", release)):
        raise AgentRefusal("missing", f"release {release} is not on this host")
    before = {"current": places.link("current"), "previous": places.link("previous")}
    manager = manager_of(places)
    kept = _told(request, places, instance) if instance else {}
    write_file(places.path("run", "undo.json"), json.dumps({**before, "told": kept}).encode(), 0o600)
    if instance:
        _tell(request, places, instance)
    restarted = []
    if instance and (before["current"] == release or _told(request, places, instance) != kept):
        restarted = [instance]
    if manager.prepare(request.get("unit", "")):
        restarted = places.instances()
    seconds = _move(places, manager, release, restarted, request["drain"])
    return {"seconds": seconds, "before": before, **standing(places)}


def _move(places: Any, manager: Any, release: Any, restarted: Any, drain: Any) -> Any:
    """Bring every supervisor to a release: `restarted` and whoever cannot make room by a restart."""
    current, seconds = places.link("current"), {}
    succeeding = [name for name in places.instances() if name not in restarted and manager.running(name)]
    if not (_knows_succession(places, current) and _knows_succession(places, release)):
        succeeding = []
    leaving = [name for name in places.instances() if name not in succeeding]
    seconds["drain"] = timed(_stop, manager, leaving, drain) if current != release or restarted else 0.0
    if current != release:
        places.point("previous", current)
        places.point("current", release)
        leaving += [name for name in succeeding if not manager.succeed(name)]
    seconds["start"] = timed(_start, manager, leaving)
    return seconds


def _knows_succession(places: Any, release: Any) -> Any:
    site = places.site(release)
    return site is not None and os.path.exists(os.path.join(site, "cocli", "fleet", "succession.py"))


def settle(request: Any, places: Any) -> Any:
    """Until no worker of another release is left. After `drain` seconds they are told to give back their tasks."""
    begin, manager = time.monotonic(), manager_of(places)
    if not _until(lambda: not _old_workers(places), request["drain"]):
        for name in places.instances():
            manager.hurry(name)
        _until(lambda: not _old_workers(places), _HURRY_SECONDS)
    return {"left": len(_old_workers(places)), "seconds": {"settle": round(time.monotonic() - begin, 3)}}


def _old_workers(places: Any) -> Any:
    """The ids of processes that work with another release than the current one."""
    releases, current = places.path("releases") + os.sep, places.path("releases", places.link("current") or "") + os.sep
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
            words = file.read().decode("utf-8", "replace").split("\0")
            if words[0].startswith(releases) and not words[0].startswith(current) and "worker" in words:
                found.append(int(name))
    return found


def _told(request: Any, places: Any, instance: Any) -> Any:
    """What the instance was told until now, to be told again if it must go back; None for what it was not told."""
    kinds = ("env", "secrets") if request.get("secrets") is not None else ("env",)
    paths = [os.path.join(places.etc, f"{instance}.{kind}") for kind in kinds]
    return {path: read_settings(path) if os.path.exists(path) else None for path in paths}


def _tell(request: Any, places: Any, instance: Any) -> Any:
    os.makedirs(places.etc, mode=0o700, exist_ok=True)
    for kind, values, mode in (("env", request.get("settings"), 0o644), ("secrets", request.get("secrets"), 0o600)):
        if values is not None:
            write_settings(os.path.join(places.etc, f"{instance}.{kind}"), values, mode)


def _stop(manager: Any, names: Any, drain: Any) -> Any:
    """They drain at the same time. Who has not ended by then is told to give its tasks back at once."""
    running = [name for name in names if manager.running(name)]
    for name in running:
        manager.ask(name)
    gone = lambda: not any(manager.running(name) for name in running)  # noqa: E731
    if not _until(gone, drain):
        for name in running:
            manager.ask_again(name)
        if not _until(gone, 60):
            raise AgentRefusal("stuck", f"{', '.join(running)} did not end")


def _until(what: Any, seconds: Any) -> Any:
    until = time.monotonic() + seconds
    while not what():
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK_SECONDS)
    return True


def _start(manager: Any, names: Any) -> Any:
    for name in names:
        manager.start(name)


def rollback(request: Any, places: Any) -> Any:
    """To the release before. `undo`: also what the instance was told; a first deployment is taken away again."""
    manager, previous = manager_of(places), places.link("previous")
    undo = {}
    if request.get("undo"):
        with contextlib.suppress(OSError, ValueError), open(places.path("run", "undo.json"), encoding="utf-8") as file:
            undo = json.load(file)
        previous = undo.get("current", previous)
    elif previous is None:
        raise AgentRefusal("nothing", "there is no release before this one")
    begin = time.monotonic()
    if not undo:
        _move(places, manager, previous, [], request["drain"])
        return {"seconds": {"rollback": round(time.monotonic() - begin, 3)}, **standing(places)}
    _stop(manager, places.instances(), request["drain"])
    for path, values in undo.get("told", {}).items():
        if values is not None:
            write_settings(path, values, 0o600 if path.endswith(".secrets") else 0o644)
        else:
            if path.endswith(".env"):
                manager.forget(os.path.basename(path)[:-4])
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
    places.point("current", previous)
    places.point("previous", undo.get("previous"))
    if previous is not None:
        _start(manager, places.instances())
    return {"seconds": {"rollback": round(time.monotonic() - begin, 3)}, **standing(places)}


def stop(request: Any, places: Any) -> Any:
    manager = manager_of(places)
    return {"seconds": {"drain": timed(_stop, manager, places.instances(), request["drain"])}, **standing(places)}


def remove(request: Any, places: Any) -> Any:
    """One instance, or everything that was brought here. What workers wrote is in the store, and stays there."""
    manager, only = manager_of(places), request.get("instance")
    names = [name for name in places.instances() if only in (None, name)]
    if only and not names:
        raise AgentRefusal("nothing", f"no {only} on this host")
    _stop(manager, places.instances(), request["drain"])
    for name in names:
        manager.forget(name)
        for kind in ("env", "secrets"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(places.etc, f"{name}.{kind}"))
    if places.instances():
        _start(manager, places.instances())
    else:
        manager.forget_all()
        for path in (places.etc, places.base):
            shutil.rmtree(path, ignore_errors=True)
    return {"removed": names, **standing(places)}


def logs(request: Any, places: Any) -> Any:
    names = [name for name in places.instances() if request.get("instance") in (None, name)]
    return {"lines": {name: manager_of(places).lines(name, request["lines"]) for name in names}}
