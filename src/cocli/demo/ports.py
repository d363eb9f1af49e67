"""Free TCP ports on loopback, for servers of the demo and of tests."""

from __future__ import annotations

import socket
from contextlib import ExitStack


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, all different: they are held open together before they are given back."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for opened in sockets:
            opened.bind(("127.0.0.1", 0))
        return [int(opened.getsockname()[1]) for opened in sockets]
