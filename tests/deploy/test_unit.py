"""The unit that hosts get: systemd understands it, it is hardened, and it does not loop on what it cannot mend."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cocli.app.deploy.agent.keeper import _words
from cocli.app.deploy.steps import unit_text

EXPOSURE = 2.3
"""As `systemd-analyze security` rates it: 2.1 with systemd 252."""


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    program = tmp_path / "opt/current/bin/cocli"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    text = unit_text().replace("@BASE@", str(tmp_path / "opt")).replace("@ETC@", str(tmp_path / "etc"))
    path = tmp_path / "cocli-supervisor@plumbers.service"
    path.write_text(text)
    return path


def test_systemd_understands_it_and_rates_it(unit: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here: as root, apt-get install systemd")
    verified = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True)
    assert (verified.returncode, [line for line in verified.stderr.splitlines() if unit.name in line]) == (0, [])
    words = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)]
    rated = subprocess.run(words, capture_output=True, text=True)
    found = re.search(r"Overall exposure level for \S+ ([0-9.]+)", rated.stdout)
    assert found, rated.stdout + rated.stderr
    assert float(found[1]) <= EXPOSURE


def test_what_it_starts_and_when_it_does_not_start_again() -> None:
    text = unit_text()
    (command,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    told = {"DEPLOYED_HOST": "pi1", "DEPLOYED_CAMPAIGNS": "-c plumbers -c roofers"}
    assert _words(command.replace("@BASE@", "/opt/cocli"), told) == [
        *("/opt/cocli/current/bin/cocli", "supervisor", "--host", "pi1"),
        *("-c", "plumbers", "-c", "roofers"),
    ]
    assert re.search(r"^RestartPreventExitStatus=.*\b3\b", text, re.MULTILINE)
    assert "HOME=/var/lib/cocli/" in text
    assert "SECRET" not in text
