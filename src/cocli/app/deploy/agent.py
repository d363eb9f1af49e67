"""What runs on a host: sent there as text for its Python, so it imports nothing but the standard library.

It reads one line of JSON, then the files that the line announces, all from its standard input: a secret never stands in
a command line. It answers with lines of JSON: `{"said": …}` on the way, `{"answer": …}` or `{"problem": …}` at the end.

    BASE/deps/<hash of the lock>/       the packages, unpacked
    BASE/releases/<hash of the wheel>/  an environment without packages, the wheel in it, and the way to deps
    BASE/current, BASE/previous         links to releases; switched by renaming, so that there is always one
    ETC/<instance>.env, .secrets        what its supervisor is told; the second only its owner reads
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import filecmp
import importlib.util
import io
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from typing import Any

UNIT = "cocli-supervisor@.service"
_LOOK_SECONDS = 0.1
_KEPT_RELEASES = 3
_SOURCE_TIME = 1_580_601_600
"""The time of every source file of a release: that of the wheel's own files."""


class AgentRefusal(Exception):
    """`kind` is for the program on the other side, `text` for people."""

    def __init__(self, kind: Any, text: Any) -> None:
        super().__init__(text)
        self.kind = kind


# --- places ----------------------------------------------------------------------------------------------------------


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


# --- looking ---------------------------------------------------------------------------------------------------------


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
        "base": places.base,
        "writable": os.access(existing, os.W_OK),
        **standing(places),
    }


def standing(places: Any) -> Any:
    releases, deps = places.path("releases"), places.path("deps")
    return {
        "current": places.link("current"),
        "previous": places.link("previous"),
        "releases": sorted(name for name in _names(releases) if not name.startswith(".")),
        "deps": sorted(name for name in _names(deps) if not name.startswith(".")),
        "instances": [_instance(places, name) for name in places.instances()],
    }


def _names(folder: Any) -> Any:
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


# --- installing ------------------------------------------------------------------------------------------------------


def install(request: Any, places: Any) -> Any:
    """Put packages and release beside what runs, and try the release. What fails leaves nothing."""
    release, deps = request["release"], request["deps"]
    for folder in ("deps", "releases", "log", "run"):
        os.makedirs(places.path(folder), exist_ok=True)
    _sweep(places)
    packages, wheel = request["files"].get("packages"), request["files"].get("wheel")
    seconds = {}
    if packages and not os.path.isdir(places.path("deps", deps)):
        seconds["packages"] = _timed(_into, places.path("deps"), deps, lambda folder: _unpack(packages, folder))
    if wheel and not os.path.isdir(places.path("releases", release)):
        make = lambda folder: _environment(folder, places, release, deps, wheel)  # noqa: E731
        seconds["release"] = _timed(_into, places.path("releases"), release, make)
    seconds["check"] = _timed(_try, places, release, request.get("quick"))
    return {"seconds": seconds, **standing(places)}


def _timed(action: Any, *arguments: Any) -> Any:
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


def _environment(folder: Any, places: Any, release: Any, deps: Any, wheel: Any) -> Any:
    import venv

    venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
    (site,) = (path for path in _sites(folder) if os.path.isdir(path))
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        archive.extractall(site)
    _reuse_compiled(site, places.path("current"))
    write_file(os.path.join(site, "cocli", "build-id"), release.encode(), 0o644)
    write_file(os.path.join(site, "packages.pth"), f"{places.path('deps', deps)}\n".encode(), 0o644)
    python = os.path.join(places.path("releases", release), "bin", "python3")
    script = f"#!{python}\nimport sys\nfrom cocli.cli.main import main\nsys.exit(main())\n"
    write_file(os.path.join(folder, "bin", "cocli"), script.encode(), 0o755)
    _to_its_place(folder, places.path("releases", release))


def _reuse_compiled(site: Any, running: Any) -> Any:
    """Files that are as in the release that runs are not compiled again: a small computer takes a minute for all."""
    before = next((path for path in _sites(running) if os.path.isdir(path)), None) if os.path.isdir(running) else None
    for folder, _, files in os.walk(os.path.join(site, "cocli")):
        for name in files:
            path = os.path.join(folder, name)
            os.utime(path, (_SOURCE_TIME, _SOURCE_TIME))  # what was compiled is told by time and size of its source
            other = os.path.join(before, os.path.relpath(path, site)) if before and name.endswith(".py") else None
            if other and os.path.isfile(other) and filecmp.cmp(path, other, shallow=False):
                made, kept = (importlib.util.cache_from_source(source) for source in (path, other))
                if os.path.isfile(kept):
                    os.makedirs(os.path.dirname(made), exist_ok=True)
                    shutil.copyfile(kept, made)


def _sites(folder: Any) -> Any:
    library = os.path.join(folder, "lib")
    return [os.path.join(library, name, "site-packages") for name in os.listdir(library)]


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


def _try(places: Any, release: Any, quick: Any) -> Any:
    """`cocli self check` of the new release: every package and module is loaded; for a hot fix, what hosts run."""
    program = places.path("releases", release, "bin", "cocli")
    environ = {"HOME": places.base, "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [program, "self", "check", *(["--workers"] if quick else [])],
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
        for name in _names(places.path(parent)):
            if name.startswith("."):
                shutil.rmtree(places.path(parent, name), ignore_errors=True)
    kept = {places.link("current"), places.link("previous")}
    old = [name for name in _names(places.path("releases")) if name not in kept]
    old.sort(key=lambda name: os.stat(places.path("releases", name)).st_mtime, reverse=True)
    for name in old[_KEPT_RELEASES:]:
        shutil.rmtree(places.path("releases", name), ignore_errors=True)
    wanted = {_deps_of(places, name) for name in _names(places.path("releases"))}
    for name in set(_names(places.path("deps"))) - wanted:
        if time.time() - os.stat(places.path("deps", name)).st_mtime > 86400:
            shutil.rmtree(places.path("deps", name), ignore_errors=True)


def _deps_of(places: Any, release: Any) -> Any:
    for site in _sites(places.path("releases", release)):
        with contextlib.suppress(OSError), open(os.path.join(site, "packages.pth"), encoding="utf-8") as file:
            return os.path.basename(file.read().strip())
    return None


# --- switching -------------------------------------------------------------------------------------------------------


def switch(request: Any, places: Any) -> Any:
    """Tell the instance what it needs, make the release the current one, and start its supervisors anew."""
    release, instance = request["release"], request.get("instance")
    if not os.path.isdir(places.path("releases", release)):
        raise AgentRefusal("missing", f"release {release} is not on this host")
    before = {"current": places.link("current"), "previous": places.link("previous")}
    manager, seconds = manager_of(places), {}
    kept = _told(request, places, instance) if instance else {}
    write_file(places.path("run", "undo.json"), json.dumps({**before, "told": kept}).encode(), 0o600)
    if instance:
        _tell(request, places, instance)
    manager.prepare(request.get("unit", ""))
    seconds["drain"] = _timed(_stop_all, places, manager, request["drain"])
    if before["current"] != release:
        places.point("previous", before["current"])
        places.point("current", release)
    seconds["start"] = _timed(_start_all, places, manager)
    return {"seconds": seconds, "before": before, **standing(places)}


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


def _stop_all(places: Any, manager: Any, drain: Any) -> Any:
    """All of the host drain at the same time. Who has not ended by then is told to give its tasks back at once."""
    running = [name for name in places.instances() if manager.running(name)]
    for name in running:
        manager.ask(name)
    if not _ended(manager, running, drain):
        for name in running:
            manager.ask_again(name)
        if not _ended(manager, running, 60):
            raise AgentRefusal("stuck", f"{', '.join(running)} did not end")


def _ended(manager: Any, names: Any, seconds: Any) -> Any:
    until = time.monotonic() + seconds
    while any(manager.running(name) for name in names):
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK_SECONDS)
    return True


def _start_all(places: Any, manager: Any) -> Any:
    for name in places.instances():
        manager.start(name)


def rollback(request: Any, places: Any) -> Any:
    """To the release before. `undo`: also what the instance was told; a first deployment is taken away again."""
    manager, current, previous = manager_of(places), places.link("current"), places.link("previous")
    undo = {}
    if request.get("undo"):
        with contextlib.suppress(OSError, ValueError), open(places.path("run", "undo.json"), encoding="utf-8") as file:
            undo = json.load(file)
        previous = undo.get("current", previous)
    elif previous is None:
        raise AgentRefusal("nothing", "there is no release before this one")
    begin = time.monotonic()
    _stop_all(places, manager, request["drain"])
    for path, values in undo.get("told", {}).items():
        if values is not None:
            write_settings(path, values, 0o600 if path.endswith(".secrets") else 0o644)
        else:
            if path.endswith(".env"):
                manager.forget(os.path.basename(path)[:-4])
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
    places.point("current", previous)
    places.point("previous", undo.get("previous") if undo else current)
    if previous is not None:
        _start_all(places, manager)
    return {"seconds": {"rollback": round(time.monotonic() - begin, 3)}, **standing(places)}


def stop(request: Any, places: Any) -> Any:
    manager = manager_of(places)
    return {"seconds": {"drain": _timed(_stop_all, places, manager, request["drain"])}, **standing(places)}


def remove(request: Any, places: Any) -> Any:
    """One instance, or everything that was brought here. What workers wrote is in the store, and stays there."""
    manager, only = manager_of(places), request.get("instance")
    names = [name for name in places.instances() if only in (None, name)]
    if only and not names:
        raise AgentRefusal("nothing", f"no {only} on this host")
    _stop_all(places, manager, request["drain"])
    for name in names:
        manager.forget(name)
        for kind in ("env", "secrets"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(places.etc, f"{name}.{kind}"))
    if places.instances():
        _start_all(places, manager)
    else:
        manager.forget_all()
        for path in (places.etc, places.base):
            shutil.rmtree(path, ignore_errors=True)
    return {"removed": names, **standing(places)}


def logs(request: Any, places: Any) -> Any:
    names = [name for name in places.instances() if request.get("instance") in (None, name)]
    return {"lines": {name: manager_of(places).lines(name, request["lines"]) for name in names}}


def status(request: Any, places: Any) -> Any:
    return look(request, places)


# --- who keeps the supervisor running --------------------------------------------------------------------------------


def manager_of(places: Any) -> Any:
    return Systemd(places) if places.manager == "systemd" else Processes(places)


def _text_of(path: Any) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


class Systemd:
    def __init__(self, places: Any) -> None:
        self._places = places

    def prepare(self, unit: Any) -> Any:
        path = os.path.join("/etc/systemd/system", UNIT)
        text = unit.replace("@BASE@", self._places.base).replace("@ETC@", self._places.etc)
        if text and _text_of(path) != text:
            write_file(path, text.encode(), 0o644)
            self._run("daemon-reload")

    def running(self, name: Any) -> Any:
        return self._state(name) not in ("inactive", "failed", "unknown", "")

    def _state(self, name: Any) -> Any:
        return self._run("is-active", self._unit(name), check=False).stdout.strip()

    def ask(self, name: Any) -> Any:
        self._run("stop", "--no-block", self._unit(name))

    def ask_again(self, name: Any) -> Any:
        self._run("kill", "--kill-who=main", "--signal=TERM", self._unit(name), check=False)

    def start(self, name: Any) -> Any:
        self._run("reset-failed", self._unit(name), check=False)
        self._run("enable", "--quiet", self._unit(name))
        self._run("start", "--no-block", self._unit(name))

    def forget(self, name: Any) -> Any:
        self._run("disable", "--quiet", "--now", self._unit(name), check=False)
        shutil.rmtree(os.path.join("/var/lib/private/cocli", name), ignore_errors=True)

    def forget_all(self) -> Any:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join("/etc/systemd/system", UNIT))
        self._run("daemon-reload")

    def lines(self, name: Any, count: Any) -> Any:
        words = ["journalctl", "--no-pager", "--output=short-iso", f"--lines={count}", f"--unit={self._unit(name)}"]
        return subprocess.run(words, capture_output=True, text=True, errors="replace", check=False).stdout.splitlines()

    def _unit(self, name: Any) -> Any:
        return UNIT.replace("@.", f"@{name}.")

    def _run(self, *words: Any, check: Any = True) -> Any:
        done = subprocess.run(["systemctl", *words], capture_output=True, text=True, errors="replace", check=False)
        if check and done.returncode:
            raise AgentRefusal("systemd", f"systemctl {' '.join(words)}: {done.stderr.strip()[:300]}")
        return done


class Processes:
    """Without systemd or without root: a keeper per instance does what the unit says, as a process of its own."""

    def __init__(self, places: Any) -> None:
        self._places = places

    def prepare(self, unit: Any) -> Any:
        if unit:
            text = unit.replace("@BASE@", self._places.base).replace("@ETC@", self._places.etc)
            write_file(self._places.path("run", UNIT), text.encode(), 0o644)

    def running(self, name: Any) -> Any:
        return self._keeper(name) is not None

    def _keeper(self, name: Any) -> Any:
        """The process id of the keeper: as long as it lives, it holds a lock on its file."""
        with contextlib.suppress(OSError, ValueError), open(self._file(name), "r+", encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return int(file.read() or "0") or None
        return None

    def _file(self, name: Any) -> Any:
        return self._places.path("run", f"{name}.pid")

    def ask(self, name: Any) -> Any:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._keeper(name) or _gone(), signal.SIGTERM)

    ask_again = ask

    def start(self, name: Any) -> Any:
        if self.running(name):
            return
        with open(self._places.path("run", UNIT), encoding="utf-8") as file:
            (line,) = (line for line in file if line.startswith("ExecStart="))
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            self._detach(name, line.partition("=")[2].strip(), writing)
        os.close(writing)
        os.waitpid(child, 0)
        with open(reading, "rb") as told:
            told.read()  # ends when the keeper has its lock

    def _detach(self, name: Any, command: Any, told: Any) -> Any:
        os.setsid()
        os.closerange(3, told)  # among them the lock of this deployment, which would never be free again
        os.closerange(told + 1, 1024)
        if os.fork():
            os._exit(0)
        log = os.open(self._places.path("log", f"{name}.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(source, target)
        lock = os.open(self._file(name), os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.ftruncate(lock, 0)
        os.write(lock, str(os.getpid()).encode())
        os.close(told)
        os._exit(_keep(command, self._places, name))

    def forget(self, name: Any) -> Any:
        for path in (self._file(name), self._places.path("log", f"{name}.log")):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        shutil.rmtree(self._places.path("state", name), ignore_errors=True)

    def forget_all(self) -> Any:
        """There is nothing beside the instances."""

    def lines(self, name: Any, count: Any) -> Any:
        try:
            with open(self._places.path("log", f"{name}.log"), encoding="utf-8", errors="replace") as file:
                return [line.rstrip("\n") for line in file.readlines()[-count:]]
        except FileNotFoundError:
            return []


def _gone() -> Any:
    raise ProcessLookupError


def _keep(command: Any, places: Any, name: Any) -> Any:
    """Start what the unit starts, and start it again when it fails: as the unit says."""
    asked: list[int] = []
    child: list[subprocess.Popen[bytes]] = []

    def pass_on(number: Any, frame: Any) -> Any:  # noqa: ARG001  the signature of a handler
        asked.append(number)
        if child and child[0].poll() is None:
            child[0].send_signal(signal.SIGTERM)

    signal.signal(signal.SIGTERM, pass_on)
    home = places.path("state", name)
    os.makedirs(home, mode=0o700, exist_ok=True)
    while not asked:
        told = places.settings(name)
        words = _words(command, told)
        environ = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": home, "PYTHONUNBUFFERED": "1", **told}
        child[:] = [subprocess.Popen(words, env=environ, cwd=home)]
        if asked:
            child[0].send_signal(signal.SIGTERM)  # it was asked while it started
        code = child[0].wait()
        if code in (0, 3, 12, 130, 143):
            return 0
        for _ in range(50):
            if not asked:
                time.sleep(0.1)
    return 0


def _words(command: Any, told: Any) -> Any:
    """As systemd reads them: `${NAME}` is a part of a word, `$NAME` stands for as many words as it has."""
    found = []
    for word in shlex.split(command):
        if re.fullmatch(r"\$[A-Z_]+", word):
            found += told.get(word[1:], "").split()
        else:
            found.append(re.sub(r"\$\{([A-Z_]+)\}", lambda match: told.get(match[1], ""), word))
    return found


# --- the conversation ------------------------------------------------------------------------------------------------

ACTIONS = {"look": look, "install": install, "switch": switch, "rollback": rollback, "stop": stop, "remove": remove,
           "logs": logs, "status": status}  # fmt: skip


def say(document: Any) -> Any:
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


def converse(stream: Any) -> Any:
    request = json.loads(stream.readline())
    sizes = request.pop("sizes", {})
    request["files"] = {name: stream.read(size) for name, size in sizes.items()}
    if any(len(request["files"][name]) != size for name, size in sizes.items()):
        return {"problem": "cut", "text": "the connection ended before everything had arrived"}
    os.umask(0o022)
    places = HostPlaces(request)
    try:
        with _alone(places, request["do"]):
            return {"answer": ACTIONS[request["do"]](request, places)}
    except AgentRefusal as refused:
        return {"problem": refused.kind, "text": str(refused)}
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        return {"problem": "full" if full else "system", "text": f"{error.strerror or error}: {error.filename or ''}"}

    except Exception as error:  # noqa: BLE001  whoever asked is told in one line, whatever it is
        return {"problem": "failed", "text": f"{type(error).__name__}: {error}"[:500]}


@contextlib.contextmanager
def _alone(places: Any, action: Any) -> Any:
    """Two deployments of one host do not mix."""
    if action in ("look", "status", "logs"):
        yield
        return
    os.makedirs(places.base, exist_ok=True)
    with open(places.path(".lock"), "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AgentRefusal("busy", "somebody else deploys to this host now") from None
        os.set_inheritable(file.fileno(), False)
        yield


if __name__ == "__main__":
    say(converse(sys.stdin.buffer))
