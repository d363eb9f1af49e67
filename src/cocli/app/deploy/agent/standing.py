"""What a host is and has: asked before anything is touched."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from typing import Any

from cocli.app.deploy.agent.managers import manager_of
from cocli.app.deploy.agent.places import read_settings


def look(request: Any, places: Any) -> Any:  # noqa: ARG001  every action has the same signature
    existing = places.base
    while not os.path.isdir(existing):
        existing = os.path.dirname(existing)
    room = os.statvfs(existing)
    return {
        "python": platform.python_version(),
        "executable": sys.executable,
        "machine": platform.machine(),
        "system": platform.system(),
        "libc": list(platform.libc_ver()),
        "clock": time.time(),
        "free": room.f_bavail * room.f_frsize,
        "hostname": platform.node(),
        "root": os.geteuid() == 0,
        "manager": places.manager,
        "chromium": any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")),
        "base": places.base,
        "writable": os.access(existing, os.W_OK),
        **standing(places),
    }


def standing(places: Any) -> Any:
    releases, deps = places.path("releases"), places.path("deps")
    return {
        "current": places.link("current"),
        "previous": places.link("previous"),
        "extras": extras_of(places, places.link("current")),
        "releases": sorted(name for name in names_in(releases) if not name.startswith(".")),
        "deps": sorted(name for name in names_in(deps) if not name.startswith(".")),
        "instances": [_instance(places, name) for name in places.instances()],
    }


def extras_of(places: Any, release: Any) -> Any:
    """The extras that a release was brought with."""
    try:
        with open(places.path("releases", release or "none", "extras"), encoding="utf-8") as file:
            return file.read().split()
    except OSError:
        return []


def names_in(folder: Any) -> Any:
    return os.listdir(folder) if os.path.isdir(folder) else []


def _instance(places: Any, name: Any) -> Any:
    told = read_settings(os.path.join(places.etc, f"{name}.env"))
    return {
        "name": name,
        "host": told.get("DEPLOYED_HOST"),
        "store": told.get("COCLI_STORE"),
        "campaigns": [word for word in told.get("DEPLOYED_CAMPAIGNS", "").split() if word != "-c"],
        "secrets": os.path.exists(os.path.join(places.etc, f"{name}.secrets")),
        "running": manager_of(places).running(name),
    }
