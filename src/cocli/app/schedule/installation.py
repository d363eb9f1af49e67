"""Installing a schedule on this machine: files of systemd, or a line in a table of cron. And taking it away again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cocli.app.schedule.units import ScheduleUnits, with_cron_line
from cocli.app.whole_file import whole_file
from cocli.config.schema import CAMPAIGN_VARIABLE, STORE_VARIABLE
from cocli.errors import ScheduleRefused

if TYPE_CHECKING:
    from cocli.app.workspace import Campaign, Workspace

Manager = Literal["systemd", "cron"]
_SYSTEM_FOLDER = "/etc/systemd/system"
_KEPT = ("COCLI_DATA_HOME", "COCLI_CONFIG", "COCLI_CACHE_HOME", "COCLI_STATE_HOME", STORE_VARIABLE)
"""What a timer has to know that an environment says now. Credentials are not among them: they come from their files."""
_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Installed:
    """What is on the machine now."""

    manager: Manager
    state: Literal["installed", "already_installed", "removed", "already_removed", "printed"]
    texts: dict[str, str] = field(default_factory=dict)
    """File (or `crontab`) → its text."""
    commands: tuple[str, ...] = ()
    """What was run, or is to be run by hand."""


def units_of(workspace: Workspace, campaign: Campaign, period: str) -> ScheduleUnits:
    environ, flags = workspace.settings.environ, workspace.settings.flags
    variables = tuple((name, environ[name]) for name in _KEPT if environ.get(name) and name != CAMPAIGN_VARIABLE)
    program = shutil.which("cocli", path=environ.get("PATH")) if not _is_module() else None
    words = (program,) if program else (sys.executable, "-m", "cocli")
    return ScheduleUnits(campaign.name, period, words, flags.store, variables)


def _is_module() -> bool:
    """Whether this program was started as `python -m cocli`: then the timer starts the same one."""
    return sys.argv[0].endswith("__main__.py")


def chosen_manager(wanted: str | None) -> Manager:
    if wanted == "cron" or (wanted is None and shutil.which("systemctl") is None):
        return "cron"
    return "systemd"


def unit_folder(*, system: bool, environ: dict[str, str]) -> str:
    if system:
        return _SYSTEM_FOLDER
    home = environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME", os.path.expanduser("~")), ".config")
    return os.path.join(home, "systemd", "user")


def texts_of(units: ScheduleUnits, manager: Manager, folder: str) -> dict[str, str]:
    if manager == "cron":
        return {"crontab": units.cron() + "\n"}
    return {
        os.path.join(folder, f"{units.name}.service"): units.service(),
        os.path.join(folder, f"{units.name}.timer"): units.timer(),
    }


def printed(units: ScheduleUnits, manager: Manager, folder: str) -> Installed:
    return Installed(manager, "printed", texts_of(units, manager, folder))


def install(units: ScheduleUnits, manager: Manager, folder: str, *, system: bool) -> Installed:
    """Write what is needed and start the timer. A second time changes nothing."""
    texts = texts_of(units, manager, folder)
    if manager == "cron":
        return _with_cron(units, texts, present=True)
    changed = [path for path, text in texts.items() if _read(path) != text]
    for path in changed:
        os.makedirs(folder, exist_ok=True)
        with whole_file(path) as file:
            file.write(texts[path].encode())
    own = [] if system else ["--user"]
    commands = [["systemctl", *own, "daemon-reload"], ["systemctl", *own, "enable", "--now", f"{units.name}.timer"]]
    _run_all(commands)
    return Installed(
        manager, "installed" if changed else "already_installed", texts, tuple(" ".join(words) for words in commands)
    )


def remove(units: ScheduleUnits, manager: Manager, folder: str, *, system: bool) -> Installed:
    texts = texts_of(units, manager, folder)
    if manager == "cron":
        return _with_cron(units, texts, present=False)
    there = [path for path in texts if os.path.exists(path)]
    own = [] if system else ["--user"]
    if not there:
        return Installed(manager, "already_removed", texts)
    commands = [["systemctl", *own, "disable", "--now", f"{units.name}.timer"]]
    _run_all(commands)
    for path in there:
        os.remove(path)
    _run_all([["systemctl", *own, "daemon-reload"]])
    return Installed(manager, "removed", texts, tuple(" ".join(words) for words in commands))


def _with_cron(units: ScheduleUnits, texts: dict[str, str], *, present: bool) -> Installed:
    listed = _run(["crontab", "-l"], check=False)
    table = listed.stdout if listed.returncode == 0 else ""  # who has no table yet gets code 1
    wanted = with_cron_line(table, units, present=present)
    if wanted == table:
        return Installed("cron", "already_installed" if present else "already_removed", texts)
    _run(["crontab", "-"], stdin=wanted)
    return Installed("cron", "installed" if present else "removed", texts, ("crontab -",))


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _run_all(commands: list[list[str]]) -> None:
    for words in commands:
        _run(words)


def _run(words: list[str], *, stdin: str | None = None, check: bool = True) -> subprocess.CompletedProcess[str]:
    try:
        done = subprocess.run(  # noqa: S603  systemctl and crontab, with words of this program
            words, input=stdin, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ScheduleRefused(command=" ".join(words), reason=str(error)) from error
    if check and done.returncode:
        raise ScheduleRefused(command=" ".join(words), reason=done.stderr.strip()[:300] or f"code {done.returncode}")
    return done
