"""A schedule that systemd runs for real: a manager of a user, in namespaces of its own, and nothing of this machine's.

The data home has a space, a percent sign and a dollar sign in its name: what systemd makes of the unit decides whether
the campaign is found.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MANAGER = "/usr/lib/systemd/systemd"
_BEGIN = f"""
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system "$XDG_RUNTIME_DIR" || exit 77
{MANAGER} --user >/dev/null 2>&1 &
for _ in $(seq 100); do
    [ "$(systemctl --user is-system-running 2>/dev/null)" = running ] && exec "$@"
    sleep 0.2
done
exit 77
"""
_NAMESPACES = ("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", _BEGIN, "sh")
_STEPS = """
cocli schedule plumbers --install
systemctl --user show cocli-plumbers.timer -p ActiveState -p UnitFileState
systemctl --user start cocli-plumbers.service
systemctl --user show cocli-plumbers.service -p Result -p ExecMainStatus
cocli schedule plumbers --run
cocli schedule plumbers --install
cocli schedule plumbers --remove
systemctl --user show cocli-plumbers.timer -p ActiveState -p UnitFileState
ls "$HOME/.config/systemd/user"
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(home),
        "XDG_RUNTIME_DIR": "/run/cocli-test",
        "COCLI_DATA_HOME": str(tmp_path / "a b 100% $x"),
        "COCLI_STATE_HOME": str(home / "state"),
        "COCLI_CACHE_HOME": str(home / "cache"),
        "COCLI_CONFIG": str(home / "user.toml"),
    }


def _can_begin(environ: dict[str, str]) -> bool:
    if shutil.which("unshare") is None or not os.path.exists(MANAGER):
        return False
    done = subprocess.run([*_NAMESPACES, "true"], env=environ, capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.timeout(300)
def test_a_timer_is_installed_rings_and_is_removed(environ: dict[str, str], tmp_path: Path) -> None:
    if not _can_begin(environ):
        pytest.skip("no manager of systemd can be started here: it takes root, namespaces and systemd")
    listed = tmp_path / "list.csv"
    listed.write_text("name,phone\nAce Plumbing,+12175550177\n", "utf-8")
    for words in (("campaign", "new", "plumbers", "--query", "plumber"), ("import", str(listed), "-c", "plumbers")):
        subprocess.run(["cocli", *words, "--quiet"], env=environ, check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([*_NAMESPACES, "sh", "-c", _STEPS], env=environ, capture_output=True, text=True, check=True)
    shown = done.stdout.splitlines()
    assert shown[0] == "systemd: installed"
    assert sorted(shown[1:3]) == ["ActiveState=active", "UnitFileState=enabled"]
    assert sorted(shown[3:5]) == ["ExecMainStatus=0", "Result=success"]
    assert "nothing" in shown[5] or "already" in shown[5], "it rang, and the turn of the day is over"
    assert shown[6:8] == ["systemd: already installed", "systemd: removed"]
    assert sorted(shown[8:]) == ["ActiveState=inactive", "UnitFileState="], "and no file is left"
