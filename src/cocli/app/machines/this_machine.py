"""This machine: the name that it has made up for itself, the lock that keeps a second supervisor of it away, the
key that it signs with, and who uses it."""

from __future__ import annotations

import getpass
import hashlib
import os
import secrets
import socket
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from cocli.config.private import make_private, no_links
from cocli.errors import ConfigError, SupervisorRunning
from cocli.formats import json_records
from cocli.keys.paths import MachineAccessKey
from cocli.models.heartbeat import MachineAccess
from cocli.store.credentials import AccessedStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.store.base import Store


@contextmanager
def alone(state: str, address: str, host: str) -> Iterator[None]:
    """A lock on a host's part in a store. It ends with the process, however that ends."""
    import fcntl

    folder = os.path.join(state, "supervisors")
    name = hashlib.sha256(f"{address}\n{host}".encode()).hexdigest()[:16]
    with _opened_lock(folder, name) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise SupervisorRunning(hostname=host, reason="it runs on this machine") from error
        yield


def _opened_lock(folder: str, name: str) -> BinaryIO:
    path = os.path.join(folder, f"{name}.lock")
    try:
        make_private(folder)
        return open(path, "a+b", opener=no_links)
    except OSError as error:
        raise ConfigError(reason=f"{path} cannot be opened: {error.strerror}", hint="Remove it.") from error


def user_here() -> str:
    """Who does something from this machine, for people: `user@host`."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):
        user = "somebody"  # a container may have no name for its user
    return f"{user}@{socket.gethostname()}"


def tell_access(store: Store, host: str, machine: str) -> None:
    """Leave word in a store which key this machine signs with: whoever evicts it has to know which to revoke."""
    if not isinstance(store, AccessedStore):
        return
    access = store.access
    told = MachineAccess(
        hostname=host,
        machine=machine,
        access_key=access.access_key,
        credentials=access.credentials,
        at=store.now(),
    )
    store.put(str(MachineAccessKey(host)), json_records.render(told))


def machine_id(state: str) -> str:
    """Made up once, and kept: names of machines are not unique."""
    path = os.path.join(state, "machine")
    for _ in range(100):
        try:
            with open(path, encoding="ascii", opener=no_links) as file:
                found = file.read().strip()
        except FileNotFoundError:
            found = ""
            _write_once(path, secrets.token_hex(8))
        except OSError as error:
            raise ConfigError(reason=f"{path} cannot be read: {error.strerror}", hint="Remove it.") from error
        if found:
            return found
        time.sleep(0.01)  # somebody else is just writing it
    raise ConfigError(reason=f"{path} is empty", hint="Remove it.")


def _write_once(path: str, text: str) -> None:
    make_private(os.path.dirname(path))
    temporary = f"{path}.{secrets.token_hex(4)}"
    with open(temporary, "x", encoding="ascii") as file:
        file.write(text)
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass  # another process was quicker: its name is as good
    finally:
        os.unlink(temporary)
