"""The texts of a schedule: systemd and cron read what was meant, whatever a path or an address holds."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cocli.app.schedule.installation import install, printed, remove
from cocli.app.schedule.units import RINGS, ScheduleUnits, with_cron_line

HOUR = timedelta(hours=1)
UNITS = ScheduleUnits(
    "plumbers", "day", ("/opt/my apps/cocli",), "s3://bucket/100%$HOME", (("COCLI_DATA_HOME", "/home/a b/100%"),)
)


def test_a_line_of_cron_is_one_command_as_a_shell_reads_it() -> None:
    line = UNITS.cron()
    assert "\n" not in line
    rest = line.split(" ", 5)[5].partition(" # cocli schedule ")[0]
    assert "%" not in rest.replace(r"\%", ""), "cron ends a command at a bare percent sign"
    words = shlex.split(rest.replace(r"\%", "%"))
    assert words == ["COCLI_DATA_HOME=/home/a b/100%", *UNITS.command]


def test_a_shell_that_cron_starts_runs_what_was_meant(tmp_path: Path) -> None:
    """With cron's own rule for percent signs, and the shell that it calls."""
    program = tmp_path / "my apps" / "cocli"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$COCLI_DATA_HOME" "$@"\n', "utf-8")
    program.chmod(0o755)
    home = "/home/a b/100% $x 'y'"
    units = ScheduleUnits("plumbers", "day", (str(program),), "s3://b/50%$HOME", (("COCLI_DATA_HOME", home),))
    command = units.cron().split(" ", 5)[5].replace(r"\%", "%")
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True, env={})
    assert done.stdout.splitlines() == [home, *units.command[1:]]


def test_only_its_own_line_of_a_table_is_touched() -> None:
    table = "MAILTO=me\n5 * * * * backup # cocli schedule plumbers-two\n"
    once = with_cron_line(table, UNITS, present=True)
    assert once == with_cron_line(once, UNITS, present=True)
    assert once.startswith(table)
    assert with_cron_line(once, UNITS, present=False) == table


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="this machine has no systemd to read its units")
def test_systemd_reads_the_units(tmp_path: Path) -> None:
    units = ScheduleUnits("plumbers", "day", ("/bin/true",), None, (("COCLI_DATA_HOME", '/a "b" 100% $x'),))
    for path, text in printed(units, "systemd", str(tmp_path)).texts.items():
        Path(path).write_text(text, "utf-8")
        done = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True, check=False)
        assert (done.returncode, str(tmp_path) in done.stderr) == (0, False), done.stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="this machine has no systemd to read its times")
@pytest.mark.parametrize("period", list(RINGS))
def test_systemd_knows_when_to_ring(period: str) -> None:
    """Several times in a period, so that a turn whose machine died is taken over within it."""
    timer = ScheduleUnits("plumbers", period, ("/bin/true",)).timer()
    (when,) = [line.partition("=")[2] for line in timer.splitlines() if line.startswith("OnCalendar=")]
    command = ["systemd-analyze", "calendar", "--iterations=3", when]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"TZ": "UTC", "LC_ALL": "C"})
    assert done.returncode == 0, done.stderr
    shown = re.findall(r"[0-9-]{10} [0-9:]{8} UTC", done.stdout)
    rings = [datetime.strptime(text, "%Y-%m-%d %H:%M:%S %Z").replace(tzinfo=UTC) for text in shown]
    assert len(rings) == 3
    assert 3 * (rings[2] - rings[1]) <= {"hour": HOUR, "day": 24 * HOUR, "week": 168 * HOUR}[period]


def test_systemd_doubles_what_it_would_expand() -> None:
    service = UNITS.service()
    dollar = ScheduleUnits("plumbers", "day", ("/bin/true",), None, (("COCLI_DATA_HOME", "/home/$x"),))
    assert 'Environment="COCLI_DATA_HOME=/home/$x"' in dollar.service(), "there it means nothing"
    assert 'Environment="COCLI_DATA_HOME=/home/a b/100%%"' in service
    assert '"/opt/my apps/cocli" "schedule" "plumbers" "--run"' in service
    assert '"s3://bucket/100%%$$HOME"' in service
    assert "OnCalendar=hourly" in UNITS.timer()
    assert "Persistent=true" in UNITS.timer()


def test_cron_is_installed_once_and_removed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a program that keeps a table as crontab does: this machine's own table is nobody's to test with."""
    table = tmp_path / "table"
    program = tmp_path / "crontab"
    program.write_text(
        f'#!/bin/sh\nif [ "$1" = -l ]; then [ -f {table} ] && cat {table} || exit 1; else cat > {table}; fi\n', "utf-8"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert install(UNITS, "cron", "", system=False).state == "installed"
    assert table.read_text() == UNITS.cron() + "\n"
    assert install(UNITS, "cron", "", system=False).state == "already_installed"
    assert remove(UNITS, "cron", "", system=False).state == "removed"
    assert table.read_text() == ""
    assert remove(UNITS, "cron", "", system=False).state == "already_removed"
