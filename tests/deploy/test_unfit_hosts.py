"""Hosts that cannot be deployed to: each is told in clear words, and nothing is left there."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cocli.app.deploy.packages import Platform
from cocli.app.deploy.releases import Release, known_extras, lock_text
from cocli.app.deploy.secret_file import read_secrets
from cocli.app.deploy.ssh import SshHost, SshSettings
from cocli.app.deploy.steps import DeploySettings, HostSteps
from cocli.app.deploy.targets import DeployTarget, parse_target
from cocli.errors import (
    CocliError,
    ConfigError,
    DeploymentError,
    HostLost,
    HostRefused,
    HostUnfit,
    HostUnreachable,
    UsageError,
)
from tests.kit.ssh_hosts import SshdHost, SshdHosts

RELEASE = Release("cocli-1-py3-none-any.whl", b"", "0123456789ab")


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[SshdHosts]:
    made = SshdHosts(tmp_path, "pi1")
    made.start()
    yield made
    made.stop()


@pytest.fixture
def pi1(hosts: SshdHosts) -> SshdHost:
    return hosts.hosts["pi1"]


def _deploy(
    hosts: SshdHosts, name: str = "pi1", packages: bytes = b"", extras: tuple[str, ...] | None = None
) -> HostSteps:
    base = str(hosts.hosts["pi1"].base)
    ssh = SshHost(name, SshSettings(config=str(hosts.config), base=base))
    steps = HostSteps(DeployTarget(name, name), ssh, DeploySettings(extras=extras), lambda *_: None)
    try:
        steps.deploy(RELEASE, lambda _: "lock", lambda *_: packages, [])
    finally:
        ssh.close()
        hosts.stop()
    return steps


def _refusal(hosts: SshdHosts, name: str = "pi1", packages: bytes = b"") -> CocliError:
    with pytest.raises(DeploymentError) as raised:
        _deploy(hosts, name, packages)
    return raised.value


def test_a_host_that_nobody_knows(hosts: SshdHosts) -> None:
    refusal = _refusal(hosts, "nowhere.invalid")
    assert isinstance(refusal, HostUnreachable)
    assert "ssh nowhere.invalid" in str(refusal.hint)


def test_a_host_that_is_off(hosts: SshdHosts, pi1: SshdHost) -> None:
    pi1.stop()
    assert isinstance(_refusal(hosts), HostUnreachable)


def test_another_key_than_the_known_one(hosts: SshdHosts, pi1: SshdHost) -> None:
    hosts.known.write_text(f"[127.0.0.1]:{pi1.port} {(hosts.folder / 'id.pub').read_text()}")
    refusal = _refusal(hosts)
    assert isinstance(refusal, HostRefused)
    assert "its key is not the one that is known" in refusal.message
    assert "ssh-keygen -R" in str(refusal.hint)


def test_a_key_that_was_never_seen(hosts: SshdHosts) -> None:
    hosts.known.write_text("")
    refusal = _refusal(hosts)
    assert isinstance(refusal, HostRefused)
    assert "--accept-new-key" in str(refusal.hint)


def test_our_own_key_is_not_accepted(hosts: SshdHosts, pi1: SshdHost) -> None:
    (pi1.folder / "authorized_keys").write_text("")
    refusal = _refusal(hosts)
    assert isinstance(refusal, HostRefused)
    assert "ssh-copy-id" in str(refusal.hint)


def test_a_python_that_is_too_old(hosts: SshdHosts, pi1: SshdHost) -> None:
    for name in ("python3", "python3.11", "python3.12", "python3.13", "python3.14"):
        pi1.script(name, 'case "$1" in --version) echo Python 3.9.2;; *) exit 1;; esac')
    refusal = _refusal(hosts)
    assert isinstance(refusal, HostUnfit)
    assert "Python 3.9.2 is too old" in refusal.message


def test_no_python_at_all(hosts: SshdHosts, pi1: SshdHost) -> None:
    for name in ("python3", "python3.11", "python3.12", "python3.13", "python3.14"):
        pi1.script(name, "exit 127")
    refusal = _refusal(hosts)
    assert isinstance(refusal, HostUnfit)
    assert "no python3" in refusal.message


def test_a_clock_that_is_off(hosts: SshdHosts, pi1: SshdHost) -> None:
    (pi1.bin / "sitecustomize.py").write_text("import time\nthen = time.time\ntime.time = lambda: then() + 7200\n")
    pi1.script("python3", f'PYTHONPATH="{pi1.bin}" exec "{sys.executable}" "$@"')
    refusal = _refusal(hosts)
    assert isinstance(refusal, HostUnfit)
    assert "ahead" in refusal.message
    assert not pi1.base.exists()


def test_a_browser_that_is_not_there(hosts: SshdHosts, pi1: SshdHost) -> None:
    (pi1.bin / "sitecustomize.py").write_text("import shutil\nshutil.which = lambda name, **_: None\n")
    pi1.script("python3", f'PYTHONPATH="{pi1.bin}" exec "{sys.executable}" "$@"')
    with pytest.raises(HostUnfit, match="it has no Chromium") as raised:
        _deploy(hosts, extras=("browser",))
    assert "apt install chromium" in str(raised.value.hint)
    assert not pi1.base.exists()


def test_extras_of_hosts_have_their_locks() -> None:
    assert "playwright==" in lock_text(("browser",))
    assert "boto3==" in lock_text(("aws",))
    assert not {"playwright==", "boto3=="} & {line.partition("==")[0] + "==" for line in lock_text().splitlines()}
    with pytest.raises(UsageError, match="no extra for hosts"):
        known_extras(["browsers"])


def test_a_disk_that_is_full(hosts: SshdHosts, pi1: SshdHost) -> None:
    """Full while it is written to: a limit on the size of files gives the same, at any size."""
    packages = _archive(hosts.folder / "packages")
    pi1.script("python3", f'PYTHONPATH="{pi1.bin}" exec "{sys.executable}" "$@"')
    (pi1.bin / "sitecustomize.py").write_text(_FULL)
    refusal = _refusal(hosts, packages=packages)
    assert isinstance(refusal, HostUnfit), refusal
    assert "No space left" in refusal.message
    left = list((pi1.base / "deps").iterdir())
    assert left == [], "nothing that is half there"


_FULL = """
import errno, tarfile
def full(self, *words, **settings):
    (words[0] and __import__("pathlib").Path(words[0]) / "half").write_text("half")
    raise OSError(errno.ENOSPC, "No space left on device")
tarfile.TarFile.extractall = full
"""


def _archive(folder: Path) -> bytes:
    folder.mkdir()
    (folder / "package.py").write_text("x = 1\n")
    made = shutil.make_archive(str(folder), "gztar", folder)
    return Path(made).read_bytes()


def test_a_host_that_dies_in_the_middle(hosts: SshdHosts, pi1: SshdHost) -> None:
    """Its sshd and all below it are killed while it installs: the next attempt sweeps what that left."""
    pi1.script("python3", f'PYTHONPATH="{pi1.bin}" exec "{sys.executable}" "$@"')
    (pi1.bin / "sitecustomize.py").write_text(_DYING)
    refusal = _refusal(hosts, packages=_archive(hosts.folder / "packages"))
    assert isinstance(refusal, HostLost)
    assert refusal.retryable
    assert [path.name for path in (pi1.base / "deps").iterdir() if not path.name.startswith(".")] == []
    assert not (pi1.base / "current").exists()
    (pi1.bin / "sitecustomize.py").unlink()
    pi1.start()
    with pytest.raises(CocliError):  # the wheel is none: but the packages are whole now, and what was left is gone
        _deploy(hosts, packages=_archive(hosts.folder / "again"))
    assert all(not path.name.startswith(".") for path in (pi1.base / "deps").iterdir())


_DYING = """
import os, signal, tarfile
def die(self, *words, **settings):
    os.kill(0, signal.SIGKILL)
tarfile.TarFile.extractall = die
"""


def test_two_deployments_of_one_host_do_not_mix(hosts: SshdHosts, pi1: SshdHost) -> None:
    import fcntl

    pi1.base.mkdir(parents=True)
    with (pi1.base / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "somebody else" in _refusal(hosts).message


def test_names_of_hosts() -> None:
    assert parse_target("pi1") == DeployTarget("pi1", "pi1")
    assert parse_target("pi@10.0.0.5") == DeployTarget("10.0.0.5", "pi@10.0.0.5")
    assert parse_target("pi1=pi@10.0.0.5") == DeployTarget("pi1", "pi@10.0.0.5")
    for text in ("", "-oProxyCommand=true", "a b", "pi1=-F/etc/passwd", "=x", "a;b", "../x"):
        with pytest.raises(UsageError):
            parse_target(text)


def test_processors_and_libraries() -> None:
    assert Platform.of("pi1", "aarch64", "3.13.1", ("glibc", "2.41")) == Platform("aarch64", "3.13")
    for machine, libc in (("armv7l", ("glibc", "2.36")), ("x86_64", ("", "")), ("x86_64", ("glibc", "2.17"))):
        with pytest.raises(HostUnfit):
            Platform.of("pi1", machine, "3.11.2", libc)


def test_a_file_of_credentials(tmp_path: Path) -> None:
    file = tmp_path / "worker.env"
    file.write_text("# the worker's\nexport AWS_ACCESS_KEY_ID=AK\nAWS_SECRET_ACCESS_KEY='a=b/c+'\n\n")
    file.chmod(0o600)
    assert read_secrets(str(file)) == {"AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "a=b/c+"}
    file.write_text("sesame\n")
    with pytest.raises(ConfigError) as raised:
        read_secrets(str(file))
    assert "sesame" not in raised.value.message
    with pytest.raises(ConfigError):
        read_secrets(str(tmp_path / "absent"))
