"""Networks for hosts: each a network namespace of its own on one bridge, with ports of this machine's loopback.

It takes root. A server of the tests listens on loopback; `share` makes its port answer on the loopback of every host.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Self

import pytest

_BRIDGE, _NET = "coclibr0", "10.78.0"


class HostNetworks:
    """Made when it is entered, gone when it is left."""

    def __init__(self, names: Sequence[str]) -> None:
        if os.geteuid() != 0 or shutil.which("ip") is None:
            pytest.skip("hosts with networks of their own need root and the program ip")
        self.addresses = {name: f"{_NET}.{number + 11}" for number, name in enumerate(names)}
        self._forwarding: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        self._remove()
        try:
            _ip("link", "add", _BRIDGE, "type", "bridge")
        except subprocess.CalledProcessError:
            pytest.skip("no bridge can be made here: the kernel or the container forbids it")
        _ip("addr", "add", f"{_NET}.1/24", "dev", _BRIDGE)
        _ip("link", "set", _BRIDGE, "up")
        for name, address in self.addresses.items():
            self._add(name, address)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._forwarding:
            process.kill()
            process.wait()
        self._remove()

    def inside(self, name: str) -> tuple[str, ...]:
        return ("ip", "netns", "exec", f"cocli-{name}")

    def cut(self, name: str) -> None:
        """Its cable is pulled."""
        _ip("link", "set", f"co-{name}", "down")

    def mend(self, name: str) -> None:
        _ip("link", "set", f"co-{name}", "up")

    def share(self, port: int) -> None:
        """A port of this machine's loopback answers on that of every host."""
        self._forward((), f"{_NET}.1", port, "127.0.0.1")
        for name in self.addresses:
            self._forward(self.inside(name), "127.0.0.1", port, f"{_NET}.1")

    def _forward(self, inside: tuple[str, ...], listen: str, port: int, to: str) -> None:
        words = [*inside, sys.executable, "-m", "tests.kit.forwarding", listen, to, str(port)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE)
        self._forwarding.append(process)
        if process.stdout is not None:
            with process.stdout:
                assert process.stdout.readline() == b"listening\n"

    def _add(self, name: str, address: str) -> None:
        space, outer, inner = f"cocli-{name}", f"co-{name}", f"ci-{name}"
        _ip("netns", "add", space)
        _ip("link", "add", outer, "type", "veth", "peer", "name", inner)
        _ip("link", "set", inner, "netns", space)
        _ip("link", "set", outer, "master", _BRIDGE)
        _ip("link", "set", outer, "up")
        for words in (
            ("addr", "add", f"{address}/24", "dev", inner),
            ("link", "set", inner, "up"),
            ("link", "set", "lo", "up"),
        ):
            subprocess.run([*self.inside(name), "ip", *words], check=True)

    def _remove(self) -> None:
        for name in self.addresses:
            subprocess.run(["ip", "netns", "del", f"cocli-{name}"], capture_output=True)
            subprocess.run(["ip", "link", "del", f"co-{name}"], capture_output=True)
        subprocess.run(["ip", "link", "del", _BRIDGE], capture_output=True)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
