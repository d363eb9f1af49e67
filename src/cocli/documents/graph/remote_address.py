"""The address of a module: `127.0.0.1:9100` on this machine, `grpcs://host:9100` on another one."""

from __future__ import annotations

import ipaddress

SECURE = "grpcs://"
PLAIN = "grpc://"


def address_fault(address: str) -> str | None:
    """What is wrong with the address of a module: beyond this machine, a connection is encrypted."""
    bare = address.removeprefix(SECURE).removeprefix(PLAIN)
    host, colon, port = bare.rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65_536:
        return f'"{address}" is no address such as 127.0.0.1:9100 or grpcs://host:9100'
    if not address.startswith(SECURE) and not is_loopback(host):
        return f"{host} is another machine: write {SECURE}{bare}"
    return None


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
