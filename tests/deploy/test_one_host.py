"""One host on loopback, from the first deployment to its removal: a real sshd, a real supervisor, a real wheel.

The suite asks the agent alone, once; the story by the commands, broken releases included, is one of `make hosts`.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from cocli.app.deploy.releases import read_release
from cocli.app.deploy.ssh import SshHost, SshSettings
from cocli.app.deploy.steps import unit_text
from tests.deploy.conftest import SECRET, SILENT, Deployer, changed_wheel, everything_below
from tests.kit.effort import effort
from tests.kit.ssh_hosts import SshdHost, SshdHosts


def _heartbeat(deployer: Deployer) -> dict[str, object]:
    found = json.loads((deployer.folder / "store" / "status" / "pi1.json").read_text())
    assert isinstance(found, dict)
    return found


def test_a_release_is_installed_switched_to_and_taken_away(
    hosts: SshdHosts, pi1: SshdHost, wheel: Path, tmp_path: Path
) -> None:
    """What a host does, without the commands: the unit's own ExecStart reports to the store, with its build."""
    store, release = tmp_path / "store", read_release(str(wheel))
    (store / "campaigns" / "plumbers").mkdir(parents=True)
    (store / "campaigns" / "plumbers" / "config.toml").write_text(
        '[campaign]\nname = "plumbers"\n\n[prospecting]\nqueries = ["plumber"]\n'
    )
    (key,) = os.listdir(pi1.base / "deps")
    ssh = SshHost("pi1", SshSettings(config=str(hosts.config), base="~/cocli"))
    settings = {"COCLI_STORE": str(store), "DEPLOYED_HOST": "pi1", "DEPLOYED_CAMPAIGNS": "-c plumbers"}
    try:
        ssh.ask("install", {"wheel": release.data}, release=release.build, deps=key, quick=True)
        told: dict[str, Any] = {
            "instance": "plumbers",
            "settings": settings,
            "secrets": {"AWS_SECRET_ACCESS_KEY": SECRET},
        }
        ssh.ask("switch", release=release.build, unit=unit_text(), drain=0, **told)
        beat = store / "status" / "pi1.json"
        until = time.monotonic() + 120
        while not beat.exists():
            assert time.monotonic() < until, ssh.ask("logs", lines=50)
            time.sleep(0.1)
        assert json.loads(beat.read_text())["versions"]["build"] == release.build
        holders = [path.name for path, data in everything_below(pi1.folder, store) if SECRET.encode() in data]
        assert holders == ["plumbers.secrets"]
        assert stat.S_IMODE((pi1.base / "etc" / "plumbers.secrets").stat().st_mode) == 0o600
        assert ssh.ask("look")["instances"][0]["running"]
        ssh.ask("remove", drain=60, instance=None)
        assert json.loads(beat.read_text())["stopped_at"], "it ended as it should"
        assert not pi1.base.exists()
    finally:
        ssh.close()


@pytest.mark.skipif(effort(1) < 2, reason="takes half a minute of processor time: make hosts runs it")
def test_the_story_of_one_host(deployer: Deployer, pi1: SshdHost, wheel: Path, tmp_path: Path) -> None:
    _nothing_by_a_dry_run(deployer, pi1, wheel)
    _first_deployment(deployer, pi1, wheel, tmp_path)
    _hot_fix(deployer, pi1, wheel, tmp_path)
    _broken_releases_go_back(deployer, pi1, wheel, tmp_path)
    _rollback_and_removal(deployer, pi1)


def _nothing_by_a_dry_run(deployer: Deployer, pi1: SshdHost, wheel: Path) -> None:
    found = deployer("pi1", "--wheel", str(wheel), "--dry-run")
    assert found.code == 0, found
    assert found.host["outcome"] == "would_deploy"
    assert not (pi1.base / "releases").exists()
    bare = deployer("rollback", "pi1")
    assert bare.code == 1
    assert "no release before" in bare.host["problem"]["message"]


def _first_deployment(deployer: Deployer, pi1: SshdHost, wheel: Path, tmp_path: Path) -> None:
    credentials = tmp_path / "worker.env"
    credentials.write_text(f"AWS_SECRET_ACCESS_KEY={SECRET}\n")
    credentials.chmod(0o644)
    readable = deployer("pi1", "--wheel", str(wheel), "--credentials", str(credentials))
    assert readable.code == 3
    assert "chmod 600" in readable.err + readable.out
    credentials.chmod(0o600)
    found = deployer("pi1", "--wheel", str(wheel), "--credentials", str(credentials))
    assert found.code == 0, found
    assert found.host["outcome"] == "deployed"
    build = found.host["build"]
    assert os.readlink(pi1.base / "current") == f"releases/{build}"
    assert _heartbeat(deployer)["versions"]["build"] == build  # type: ignore[index]
    secrets = pi1.base / "etc" / "plumbers.secrets"
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    _the_secret_is_nowhere_else(deployer, pi1, found.out + found.err, secrets)
    again = deployer("pi1", "--wheel", str(wheel))
    assert (again.code, again.host["outcome"]) == (0, "already")


def _the_secret_is_nowhere_else(deployer: Deployer, pi1: SshdHost, said: str, secrets: Path) -> None:
    assert SECRET not in said
    holders = {path for path, data in everything_below(pi1.folder, deployer.folder) if SECRET.encode() in data}
    assert holders == {secrets}
    lines = subprocess.run(["ps", "-eww", "-o", "args"], capture_output=True, text=True).stdout
    assert "supervisor --host pi1" in lines
    assert SECRET not in lines


def _hot_fix(deployer: Deployer, pi1: SshdHost, wheel: Path, tmp_path: Path) -> None:
    first = os.readlink(pi1.base / "current")
    fixed = changed_wheel(wheel, tmp_path / "fixed", config__built='version = "9.9.9"\n')
    found = deployer("hotfix", "pi1", "--wheel", str(fixed))
    assert found.code == 0, found
    beat = _heartbeat(deployer)
    assert beat["versions"]["cocli"] == "9.9.9"  # type: ignore[index]
    assert os.readlink(pi1.base / "previous") == first
    assert SECRET in (pi1.base / "etc" / "plumbers.secrets").read_text(), "a hot fix changes nothing else"


def _broken_releases_go_back(deployer: Deployer, pi1: SshdHost, wheel: Path, tmp_path: Path) -> None:
    """One that does not load is never switched to; one that loads and does not report is taken back."""
    current = os.readlink(pi1.base / "current")
    unloadable = changed_wheel(wheel, tmp_path / "broken", fleet__heartbeat="import nothing_like_it\n")
    found = deployer("pi1", "--wheel", str(unloadable))
    assert found.code == 1
    assert "nothing_like_it" in found.host["problem"]["message"]
    assert os.readlink(pi1.base / "current") == current
    assert found.host["build"] not in os.listdir(pi1.base / "releases")
    silent = changed_wheel(wheel, tmp_path / "silent", cli__machines__supervisor=SILENT)
    found = deployer("hotfix", "pi1", "--wheel", str(silent), "--wait", "3")
    assert found.code == 1
    assert found.host["outcome"] == "rolled_back", found
    assert "no heartbeat" in found.host["problem"]["message"]
    assert "I will not" in found.host["problem"]["message"], "what it said last is told"
    assert os.readlink(pi1.base / "current") == current
    status = deployer("status", "pi1").json["hosts"]["pi1"]
    assert status["instances"][0]["running"]


def _rollback_and_removal(deployer: Deployer, pi1: SshdHost) -> None:
    before = os.readlink(pi1.base / "previous")
    found = deployer("rollback", "pi1")
    assert (found.code, found.host["outcome"]) == (0, "rolled_back"), found
    assert os.readlink(pi1.base / "current") == before
    assert _heartbeat(deployer)["versions"]["build"] == os.path.basename(before)  # type: ignore[index]
    assert "plumbers" in "".join(deployer("logs", "pi1").json["hosts"]["pi1"]["lines"]["plumbers"])
    stopped = deployer("stop", "pi1", "--drain", "30")
    assert stopped.code == 0, stopped
    assert _heartbeat(deployer)["stopped_at"] is not None, "it ended as it should"
    assert deployer("remove", "pi1").code == 2, "it is asked first"
    removed = deployer("remove", "pi1", "--yes")
    assert removed.code == 0, removed
    assert not pi1.base.exists()
