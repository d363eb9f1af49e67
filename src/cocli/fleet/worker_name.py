"""Names of workers: whoever holds a lease or ends a task is named so that its machine can be told from it."""

from __future__ import annotations

import os
import re
import secrets
import socket

_WORKER = r"-[0-9]+-[0-9a-f]{4}"
_LIBRARY = r"-[0-9a-f]{6}"
"""What a queue calls itself that nobody named (`default_worker`)."""
_BY_HAND = "by-hand-"
_SUPERVISOR = "supervisor-"


def worker_name(host: str | None = None) -> str:
    """Of a worker process."""
    return f"{host or socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"


def supervisor_name(host: str) -> str:
    """Of a supervisor that executes commands."""
    return f"{_SUPERVISOR}{host}"


def host_of(worker: str) -> str:
    """The machine of a worker. What fits none of the forms above is a host's own name, as in an election."""
    name = worker.removeprefix(_SUPERVISOR).removeprefix(_BY_HAND)
    found = re.fullmatch(f"(.+?)(?:{_WORKER}|{_LIBRARY})", name, re.DOTALL)
    if found is None:
        return name
    return found[1]


def is_of_host(worker: str, host: str) -> bool:
    return host in (worker, host_of(worker))


def host_of_sender(sent_by: str) -> str:
    """The machine of `user@host`."""
    return sent_by.rpartition("@")[2]
