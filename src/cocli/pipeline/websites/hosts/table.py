"""The table of hosts, `data/hosts.csv`: which kinds of host each one is. It is read once, when first asked.

What a kind means, and how a host is added, is written in `data/README.md`. The questions that the program asks of an
address or of a mail domain are in the modules beside this one.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, get_args

HostKind = Literal[
    "authority",
    "builder",
    "business-page",
    "directory",
    "disposable",
    "filler",
    "freemail",
    "freemail-ending",
    "machine",
    "map",
    "parking",
    "platform",
    "profile",
    "prospect-social",
    "sale",
    "shared",
    "social",
    "template-link",
]
KINDS: frozenset[str] = frozenset(get_args(HostKind))
LONGEST_HOST = 253
"""Characters that a name can have in the domain name system. A page can write longer ones: they lead nowhere."""
FILE = Path(__file__).parents[1] / "data" / "hosts.csv"


class HostRow(NamedTuple):
    """One line of the file."""

    host: str
    """`facebook.com`; `gmail.*` for a name under many endings; `*.com` for such an ending."""
    kinds: frozenset[str]
    network: str
    """The social network whose profiles lie there; empty where there are none."""
    source: str
    since: str


@cache
def rows() -> tuple[HostRow, ...]:
    with FILE.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        next(lines)  # the names of the columns
        return tuple(
            HostRow(host, frozenset(kinds.split(";")), network, source, since)
            for host, kinds, network, source, since in lines
        )


@cache
def hosts_of(kind: HostKind) -> frozenset[str]:
    """All hosts of one kind."""
    return frozenset(row.host for row in rows() if kind in row.kinds)


@cache
def networks_of(kind: HostKind) -> dict[str, str]:
    """The hosts of one kind that have a social network, each with its name."""
    return {row.host: row.network for row in rows() if kind in row.kinds and row.network}


def kinds_of(host: str) -> frozenset[str]:
    """What the table says of exactly this host; nothing for one that it does not have."""
    return _kinds().get(host, frozenset())


@cache
def _kinds() -> dict[str, frozenset[str]]:
    return {row.host: row.kinds for row in rows()}


def listed(host: str, kind: HostKind) -> str | None:
    """The host of this kind that a host is, or lies below: `de.linkedin.com` → `linkedin.com`."""
    if len(host) > LONGEST_HOST:
        return None
    hosts = hosts_of(kind)
    while host:
        if host in hosts:
            return host
        host = host.partition(".")[2]
    return None
