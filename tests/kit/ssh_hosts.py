"""Hosts to deploy to: programs `sshd` on loopback, each with its own key, port, home and clock.

They run as the user of the tests and need no root. What a host has (its Python, its clock, its disk) is decided by the
folder of programs that it finds first on its path.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.kit.namespaces import HostNetworks

_PATIENCE = 60.0


def sshd_program() -> str:
    found = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None or shutil.which("ssh") is None or shutil.which("ssh-keygen") is None:
        pytest.skip("no sshd here: make hosts installs it as root, by apt-get install openssh-server")
    return found


@dataclass
class SshdHost:
    """One host by name. `bin` is first on its path: put programs there to make it another machine."""

    name: str
    folder: Path
    port: int
    address: str = "127.0.0.1"
    inside: tuple[str, ...] = ()
    """The words that run a program on this host, where it has a network of its own."""
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def base(self) -> Path:
        return self.home / "cocli"

    def script(self, name: str, text: str) -> None:
        """Give the host a program of its own."""
        (self.bin / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.bin / name).chmod(0o755)

    def start(self) -> None:
        program = sshd_program()
        words = [*self.inside, program, "-D", "-e", "-f", str(self.folder / "sshd_config")]
        with (self.folder / "sshd.log").open("ab") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log)
        until = time.monotonic() + _PATIENCE
        while True:
            with socket.socket() as probe:
                if probe.connect_ex((self.address, self.port)) == 0:
                    return
            assert self.process.poll() is None, (self.folder / "sshd.log").read_text()
            assert time.monotonic() < until, "sshd does not listen"
            time.sleep(0.05)

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
            self.process = None


class SshdHosts:
    """Hosts, the key that opens them, and the file that ssh reads."""

    def __init__(self, folder: Path, *names: str, networks: HostNetworks | None = None) -> None:
        sshd_program()
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd of root wants it, and leaves it empty
        self.folder = folder
        self.networks = networks
        _new_key(folder / "id")
        self.hosts = {name: self._make(name) for name in names}
        self.config = folder / "ssh_config"
        self.known = folder / "known_hosts"
        self.write()

    def _make(self, name: str) -> SshdHost:
        folder = self.folder / name
        for part in ("home", "bin"):
            (folder / part).mkdir(parents=True)
        _new_key(folder / "hostkey")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        address = self.networks.addresses[name] if self.networks else "127.0.0.1"
        inside = self.networks.inside(name) if self.networks else ()
        shutil.copy(self.folder / "id.pub", folder / "authorized_keys")
        (folder / "authorized_keys").chmod(0o600)
        path = f"{folder / 'bin'}:{os.environ.get('PATH', '/usr/bin:/bin')}"
        lines = [
            f"Port {port}",
            f"ListenAddress {address}",
            f"HostKey {folder / 'hostkey'}",
            f"AuthorizedKeysFile {folder / 'authorized_keys'}",
            "UsePAM no",
            "StrictModes no",
            "PasswordAuthentication no",
            f"PidFile {folder / 'sshd.pid'}",
            f"SetEnv HOME={folder / 'home'} PATH={path}",
        ]
        (folder / "sshd_config").write_text("\n".join(lines) + "\n")
        host = SshdHost(name, folder, port, address, inside)
        host.script("python3", f'exec "{os.path.realpath(sys.executable)}" "$@"')
        return host

    def write(self) -> None:
        """The file of ssh, and the keys by which it knows the hosts."""
        shared = f"  User {_user()}\n  IdentityFile {self.folder / 'id'}\n  IdentitiesOnly yes\n"
        known = f"  UserKnownHostsFile {self.known}\n  GlobalKnownHostsFile /dev/null\n"
        blocks = [
            f"Host {host.name}\n  HostName {host.address}\n  Port {host.port}\n{shared}{known}"
            for host in self.hosts.values()
        ]
        self.config.write_text("\n".join(blocks))
        keys = [(host.address, host.port, (host.folder / "hostkey.pub").read_text()) for host in self.hosts.values()]
        self.known.write_text("".join(f"[{address}]:{port} {key}" for address, port, key in keys))

    def start(self) -> None:
        for host in self.hosts.values():
            host.start()

    def stop(self) -> None:
        """Whatever happened before: no sshd and no supervisor stays behind."""
        for host in self.hosts.values():
            host.stop()
            for file in (host.base / "run").glob("*.pid"):
                with suppress(ProcessLookupError, ValueError):
                    os.kill(int(file.read_text()), signal.SIGTERM)


def _new_key(path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)


def _user() -> str:
    import pwd

    return pwd.getpwuid(os.geteuid()).pw_name
