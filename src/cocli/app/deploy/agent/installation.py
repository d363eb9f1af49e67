"""Packages and a release, put beside what runs and tried there."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import shutil
import subprocess
import tarfile
import time
import zipfile
import zlib
from typing import Any

from cocli.app.deploy.agent.places import write_file
from cocli.app.deploy.agent.refusal import AgentRefusal
from cocli.app.deploy.agent.standing import names_in, standing

_KEPT_RELEASES = 3
_SOURCE_TIME = 1_580_601_600
"""The time of every source file of a release: that of the wheel's own files."""


def install(request: Any, places: Any) -> Any:
    """Put packages and release beside what runs, and try the release. What fails leaves nothing."""
    release, deps = request["release"], request["deps"]
    for folder in ("deps", "releases", "log", "run"):
        os.makedirs(places.path(folder), exist_ok=True)
    _sweep(places)
    packages, wheel = request["files"].get("packages"), request["files"].get("wheel")
    seconds = {}
    if packages and not os.path.isdir(places.path("deps", deps)):
        seconds["packages"] = timed(_into, places.path("deps"), deps, lambda folder: _unpack(packages, folder))
    if os.path.isdir(places.path("releases", release)):
        _tell_packages(places.path("releases", release), places.site(release), places, request)
    elif wheel:
        make = lambda folder: _environment(folder, places, request, wheel)  # noqa: E731
        seconds["release"] = timed(_into, places.path("releases"), release, make)
    seconds["check"] = timed(_try, places, request)
    return {"seconds": seconds, **standing(places)}


def timed(action: Any, *arguments: Any) -> Any:
    begin = time.monotonic()
    action(*arguments)
    return round(time.monotonic() - begin, 3)


def _into(parent: Any, name: Any, make: Any) -> Any:
    """Under another name first: what is there by its own name is whole."""
    fresh = os.path.join(parent, f".{name}.{os.getpid()}")
    shutil.rmtree(fresh, ignore_errors=True)
    os.mkdir(fresh)
    try:
        make(fresh)
        os.rename(fresh, os.path.join(parent, name))
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _unpack(data: Any, folder: Any) -> Any:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(folder, filter="data")
        else:  # Python 3.11.2, as Debian 12 has it; the archive is ours
            archive.extractall(folder)


def _environment(folder: Any, places: Any, request: Any, wheel: Any) -> Any:
    import venv

    release = request["release"]
    venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
    library = os.path.join(folder, "lib")
    (site,) = (os.path.join(library, name, "site-packages") for name in os.listdir(library))
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        _extract(archive, site, places.site(places.link("current")))
    write_file(os.path.join(site, "cocli", "build-id"), release.encode(), 0o644)
    _tell_packages(folder, site, places, request)
    python = os.path.join(places.path("releases", release), "bin", "python3")
    script = f"#!{python}\nimport sys\nfrom cocli.cli.main import main\nsys.exit(main())\n"
    write_file(os.path.join(folder, "bin", "cocli"), script.encode(), 0o755)
    _to_its_place(folder, places.path("releases", release))


def _tell_packages(folder: Any, site: Any, places: Any, request: Any) -> Any:
    """Where the packages of a release are, and which extras are among them: both can change without the program."""
    deps = places.path("deps", request["deps"])
    write_file(os.path.join(site, "packages.pth"), f"{deps}\n".encode(), 0o644)
    write_file(os.path.join(folder, "extras"), " ".join(request.get("extras", ())).encode(), 0o644)


def _extract(archive: Any, site: Any, running: Any) -> Any:
    """Files that the running release has as well are shared with it, and not compiled again: a small computer takes a
    minute for all. A release is never changed, so both may have the same file."""
    folders = set()
    for entry in archive.infolist():
        path = os.path.join(site, entry.filename)
        if not os.path.normpath(path).startswith(site + os.sep) or entry.is_dir():
            continue
        if os.path.dirname(path) not in folders:
            folders.add(os.path.dirname(path))
            os.makedirs(os.path.dirname(path), exist_ok=True)
        kept = os.path.join(running, entry.filename) if running else None
        if kept is None or not _is_same(kept, entry):
            with open(path, "wb") as file:
                file.write(archive.read(entry))
            os.utime(path, (_SOURCE_TIME, _SOURCE_TIME))  # what was compiled is told by time and size of its source
            continue
        os.link(kept, path)
        if path.endswith(".py"):
            _share_compiled(kept, path)


def _is_same(path: Any, entry: Any) -> Any:
    try:
        if os.stat(path).st_size != entry.file_size:
            return False
        with open(path, "rb") as file:
            return zlib.crc32(file.read()) == entry.CRC
    except OSError:
        return False


def _share_compiled(kept: Any, path: Any) -> Any:
    made, there = (importlib.util.cache_from_source(source) for source in (path, kept))
    os.makedirs(os.path.dirname(made), exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        os.link(there, made)


def _to_its_place(folder: Any, place: Any) -> Any:
    """The environment is made under another name: the few files that name their folder are told the right one."""
    for name in os.listdir(os.path.join(folder, "bin")):
        path = os.path.join(folder, "bin", name)
        if os.path.islink(path) or not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if folder in text:
            write_file(path, text.replace(folder, place).encode(), os.stat(path).st_mode & 0o777)


def _try(places: Any, request: Any) -> Any:
    """`cocli self check` of the new release: every package and module is loaded; for a hot fix, what hosts run."""
    release = request["release"]
    program = places.path("releases", release, "bin", "cocli")
    environ = {"HOME": places.base, "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8"}
    wanted = [word for extra in request.get("extras", ()) for word in ("--extra", extra)]
    done = subprocess.run(
        [program, "self", "check", *(["--workers"] if request.get("quick") else wanted)],
        env=environ,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        bad = [line for line in lines if line.startswith(("failed", "error"))] or lines[-3:]
        if release not in (places.link("current"), places.link("previous")):
            shutil.rmtree(places.path("releases", release), ignore_errors=True)
        raise AgentRefusal("broken", "; ".join(bad)[:600] or f"it ended with code {done.returncode}")


def _sweep(places: Any) -> Any:
    """What an attempt left that was cut off, and releases that nobody goes back to."""
    for parent in ("deps", "releases"):
        for name in names_in(places.path(parent)):
            if name.startswith("."):
                shutil.rmtree(places.path(parent, name), ignore_errors=True)
    kept = {places.link("current"), places.link("previous")}
    old = [name for name in names_in(places.path("releases")) if name not in kept]
    old.sort(key=lambda name: os.stat(places.path("releases", name)).st_mtime, reverse=True)
    for name in old[_KEPT_RELEASES:]:
        shutil.rmtree(places.path("releases", name), ignore_errors=True)
    wanted = {_deps_of(places, name) for name in names_in(places.path("releases"))}
    for name in set(names_in(places.path("deps"))) - wanted:
        if time.time() - os.stat(places.path("deps", name)).st_mtime > 86400:
            shutil.rmtree(places.path("deps", name), ignore_errors=True)


def _deps_of(places: Any, release: Any) -> Any:
    site = places.site(release)
    with contextlib.suppress(OSError), open(os.path.join(site or "", "packages.pth"), encoding="utf-8") as file:
        return os.path.basename(file.read().strip())
    return None
