"""Where everything is on a host, and the files that say what its supervisors are told."""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any

UNIT = "cocli-supervisor@.service"


class HostPlaces:
    def __init__(self, request: Any) -> None:
        root = os.geteuid() == 0
        home = os.path.expanduser("~")
        given = os.path.expanduser(request.get("base") or "")
        self.base = given or ("/opt/cocli" if root else os.path.join(home, ".local/share/cocli-host"))
        inside = bool(given) or not root
        self.etc = os.path.join(self.base, "etc") if inside else "/etc/cocli"
        self.manager = "systemd" if root and not inside and os.path.isdir("/run/systemd/system") else "process"

    def path(self, *parts: Any) -> Any:
        return os.path.join(self.base, *parts)

    def link(self, name: Any) -> Any:
        """The release that a link names; None where there is none."""
        try:
            return os.path.basename(os.readlink(self.path(name)))
        except OSError:
            return None

    def point(self, name: Any, release: Any) -> Any:
        """By renaming: between two moments there is always one."""
        if release is None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path(name))
            return
        fresh = self.path(f".{name}.{os.getpid()}")
        os.symlink(os.path.join("releases", release), fresh)
        os.replace(fresh, self.path(name))

    def site(self, release: Any) -> Any:
        """The folder of a release's Python files; None where there is none."""
        if release is None:
            return None
        library = self.path("releases", release, "lib")
        names = os.listdir(library) if os.path.isdir(library) else []
        return next((os.path.join(library, name, "site-packages") for name in names), None)

    def instances(self) -> Any:
        if not os.path.isdir(self.etc):
            return []
        return sorted(name[:-4] for name in os.listdir(self.etc) if name.endswith(".env"))

    def settings(self, instance: Any) -> Any:
        found = {}
        for kind in ("env", "secrets"):
            found.update(read_settings(os.path.join(self.etc, f"{instance}.{kind}")))
        return found


def read_settings(path: Any) -> Any:
    """Lines of `NAME="value"`, as systemd reads them."""
    found = {}
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        for line in file:
            name, equals, value = line.rstrip("\n").partition("=")
            if equals and not name.startswith("#"):
                found[name] = re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
    return found


def write_settings(path: Any, values: Any, mode: Any) -> Any:
    text = "".join(
        '{}="{}"\n'.format(name, re.sub(r'(["\\`$])', r"\\\1", value)) for name, value in sorted(values.items())
    )
    write_file(path, text.encode(), mode)


def write_file(path: Any, data: Any, mode: Any) -> Any:
    fresh = f"{path}.{os.getpid()}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        os.fchmod(file.fileno(), mode)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)
