"""Where a reference is sent: a node of an edition. Its name is an outbox event's destination and Kafka's topic."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from cocli.errors import UsageError

PREFIX = "pipestream."
QUARANTINED = "~quarantine"
"""Ends the name under which an edition's quarantined documents are kept, so no edition's own name ends with it."""

_MAX_QUEUE = 63
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}\Z")
_PLAIN_EDITION = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")


@dataclass(frozen=True, slots=True)
class Destination:
    """A node's name has no dot, so the last one ends the edition's, whatever that contains."""

    edition: str
    node: str

    def __str__(self) -> str:
        return f"{PREFIX}{self.edition}.{self.node}"

    @classmethod
    def parse(cls, text: str) -> Destination | None:
        """None for what is no node's address: other parts of the system have destinations of their own."""
        edition, dot, node = text.removeprefix(PREFIX).rpartition(".")
        return cls(edition, node) if text.startswith(PREFIX) and dot and edition and node else None

    @property
    def queue(self) -> str:
        """`{node}--{edition}`, which neither can contain; a digest instead where the edition's name does not fit."""
        plain = f"{self.node}--{self.edition}"
        if _PLAIN_EDITION.match(self.edition) and len(plain) <= _MAX_QUEUE:
            return plain
        digest = hashlib.sha256(str(self).encode("utf-8")).hexdigest()[:10]
        return f"{self.node}--x--{digest}"


def topic_fault(name: str) -> str | None:
    """Why a destination cannot be a topic of Kafka, whose names have an alphabet of their own; None where it can."""
    if _TOPIC.match(name):
        return None
    return "a topic of Kafka has up to 249 letters, digits, dots, _ and -"


def check_edition(name: str) -> str:
    """A edition's name, which must not be taken for another one's quarantine."""
    if not name or name.endswith(QUARANTINED):
        raise UsageError(reason=f'"{name}" cannot be the name of an edition: {QUARANTINED} is kept for quarantine.')
    return name


def quarantine_of(edition: str) -> str:
    """The edition that holds what failed in this one: one state per document and node."""
    return f"{edition}{QUARANTINED}"
