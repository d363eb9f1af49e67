"""Names that lead elsewhere, from a file: `{"example.com": ["127.0.0.1", 8080], "gone.example": null, "*": null}`.

A name in the file is answered from it, with `null` as a name that does not exist; `*` answers for all others, which
without it are looked up as always. The guard judges what the file says like any other answer.
"""

from __future__ import annotations

import json
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from cocli.errors import ConfigError
from cocli.pipeline.websites.fetch.resolver import Endpoint, SystemResolver, no_such_host

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cocli.pipeline.websites.fetch.resolver import Resolve

EVERY_OTHER = "*"
_PORTS = range(1, 65_536)


class HostsFile:
    """Fits `cocli.pipeline.websites.fetch.resolver.Resolve`."""

    def __init__(self, hosts: Mapping[str, Endpoint | None], otherwise: Resolve | None = None) -> None:
        self._hosts = hosts
        self._otherwise = otherwise or SystemResolver()

    async def __call__(self, host: str, port: int) -> Sequence[tuple[str, int]]:
        name = host.lower().rstrip(".")
        if name not in self._hosts and EVERY_OTHER not in self._hosts:
            return await self._otherwise(host, port)
        found = self._hosts.get(name, self._hosts.get(EVERY_OTHER))
        if found is None:
            raise no_such_host(host)
        return [found]


def read_hosts_file(path: str) -> HostsFile:
    """Read the file that `[fetch] hosts_file` names; what is wrong with it is said with the name it is about."""
    try:
        with open(path, "rb") as file:
            values = json.loads(file.read())
    except OSError as error:
        raise ConfigError(reason=f"fetch.hosts_file: {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(reason=f"fetch.hosts_file: {path} is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise ConfigError(reason=f"fetch.hosts_file: {path} is not one object of host names")
    return HostsFile({host.lower().rstrip("."): _endpoint(path, host, value) for host, value in values.items()})


def _endpoint(path: str, host: str, value: Any) -> Endpoint | None:
    if value is None:
        return None
    try:
        address, port = value
        return Endpoint(str(ip_address(address)), _PORTS[_PORTS.index(port)])
    except (ValueError, TypeError) as error:
        raise ConfigError(
            reason=f"fetch.hosts_file: {path}: {host} leads to no address and port",
            hint=f'Write: "{host}": ["127.0.0.1", 8080], or null for a name that does not exist.',
        ) from error
