"""What an evicted machine learns when a person writes something on it. Small: every command that writes loads it."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from cocli.errors import FormatError, NotFound
from cocli.keys.paths import EVICTIONS_FOLDER, EvictionKey

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.app.workspace import Workspace


def refuse_evicted(workspace: Workspace) -> None:
    """`HostEvicted` where this machine was. An eviction is written into every store, so one look is enough."""
    host = socket.gethostname()
    try:
        workspace.store.head(str(EvictionKey(host)))
    except NotFound:
        return
    from cocli.fleet.eviction import Gate  # here, because most machines never were

    try:
        Gate(workspace.store, host)()
    except FormatError:
        list(workspace.store.list(EVICTIONS_FOLDER))  # where a page answers in place of the store, this says so
        raise


def eviction_gate(workspace: Workspace) -> Callable[[], None]:
    """To be called before each write of a program: it looks now and then, and raises `HostEvicted`."""
    from cocli.fleet.eviction import Gate

    gates: list[Gate] = []

    def look() -> None:
        if not gates:  # who only reads, or names no store, need not have one
            gates.append(Gate(workspace.store, socket.gethostname()))
        gates[0]()

    return look
