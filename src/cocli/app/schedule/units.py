"""The texts that make a machine run a campaign by itself: a service and a timer of systemd, or a line of cron."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

RINGS: Mapping[str, tuple[str, str]] = {
    "hour": ("*:0/10", "*/10 * * * *"),
    "day": ("hourly", "7 * * * *"),
    "week": ("hourly", "7 * * * *"),
}
"""Period → when the timer rings. Oftener than the period: a turn whose machine died is taken over by the next ring."""
CRON_MARK = "# cocli schedule "
_UNIT = re.compile(r"[a-z0-9-]+")


@dataclass(frozen=True, slots=True)
class ScheduleUnits:
    """What is installed for one campaign."""

    campaign: str
    period: str
    program: tuple[str, ...]
    """The words that start cocli on this machine."""
    store: str | None = None
    variables: tuple[tuple[str, str], ...] = ()
    """Settings that the program needs to find the campaign again; never a secret."""

    @property
    def name(self) -> str:
        return f"cocli-{self.campaign}"

    @property
    def command(self) -> tuple[str, ...]:
        store = ("--store", self.store) if self.store else ()
        return (*self.program, "schedule", self.campaign, "--run", "--period", self.period, *store, "--quiet")

    def service(self) -> str:
        environment = "".join(f'Environment="{_escaped(name)}={_escaped(value)}"\n' for name, value in self.variables)
        words = " ".join(f'"{_escaped(word).replace("$", "$$")}"' for word in self.command)
        return (
            f"[Unit]\nDescription=cocli: the campaign {self.campaign}, once a {self.period} over all machines\n"
            "Wants=network-online.target\nAfter=network-online.target\n\n"
            f"[Service]\nType=oneshot\n{environment}ExecStart={words}\nNice=10\nKillMode=mixed\nTimeoutStopSec=90\n"
            "SuccessExitStatus=11\n"
        )

    def timer(self) -> str:
        return (
            f"[Unit]\nDescription=cocli: when the campaign {self.campaign} is looked at\n\n"
            f"[Timer]\nOnCalendar={RINGS[self.period][0]}\nRandomizedDelaySec=300\nPersistent=true\n\n"
            "[Install]\nWantedBy=timers.target\n"
        )

    def cron(self) -> str:
        """One line. A percent sign would end the command of a cron line."""
        given = [f"{name}={shlex.quote(value)}" for name, value in self.variables]
        words = " ".join([*given, *map(shlex.quote, self.command)]).replace("%", r"\%")
        return f"{RINGS[self.period][1]} {words} {CRON_MARK}{self.campaign}"


def with_cron_line(table: str, units: ScheduleUnits, *, present: bool) -> str:
    """A table of cron with the line of a campaign, or without it; nothing else in it is touched."""
    mark = f"{CRON_MARK}{units.campaign}"
    lines = [line for line in table.splitlines() if not line.rstrip().endswith(mark)]
    if present:
        lines.append(units.cron())
    return "".join(f"{line}\n" for line in lines)


def _escaped(text: str) -> str:
    """As systemd reads a text in quotes: specifiers are doubled. So is a dollar sign, but only in a command: in
    `Environment=` it means nothing, and two of them are two."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return plain.replace("%", "%%")
