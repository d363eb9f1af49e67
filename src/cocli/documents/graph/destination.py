"""Where a reference is sent: a node of a cluster. Its name is an outbox event's destination and Kafka's topic."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from cocli.errors import UsageError

PREFIX = "pipestream."
QUARANTINED = "~quarantine"
"""Ends the name under which a cluster's quarantined documents are kept, so no cluster's own name ends with it."""

_MAX_QUEUE = 63
_PLAIN_CLUSTER = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")


@dataclass(frozen=True, slots=True)
class Destination:
    """A node's name has no dot, so the last one ends the cluster's, whatever that contains."""

    cluster: str
    node: str

    def __str__(self) -> str:
        return f"{PREFIX}{self.cluster}.{self.node}"

    @classmethod
    def parse(cls, text: str) -> Destination | None:
        """None for what is no node's address: other parts of the system have destinations of their own."""
        cluster, dot, node = text.removeprefix(PREFIX).rpartition(".")
        return cls(cluster, node) if text.startswith(PREFIX) and dot and cluster and node else None

    @property
    def queue(self) -> str:
        """`{node}--{cluster}`, which neither can contain; a digest instead where the cluster's name does not fit."""
        plain = f"{self.node}--{self.cluster}"
        if _PLAIN_CLUSTER.match(self.cluster) and len(plain) <= _MAX_QUEUE:
            return plain
        digest = hashlib.sha256(str(self).encode("utf-8")).hexdigest()[:10]
        return f"{self.node}--x--{digest}"


def check_cluster(name: str) -> str:
    """A cluster's name, which must not be taken for another one's quarantine."""
    if not name or name.endswith(QUARANTINED):
        raise UsageError(reason=f'"{name}" cannot be the name of a cluster: {QUARANTINED} is kept for quarantine.')
    return name


def quarantine_of(cluster: str) -> str:
    """The cluster that holds what failed in this one: one state per document and node."""
    return f"{cluster}{QUARANTINED}"
