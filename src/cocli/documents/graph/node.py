"""A node: a function with a name, a version and a configuration. Who runs it, and when, is not said here.

The function is given a document and returns another one, or None where the document is of no interest to what follows.
It should be a pure function of the document and its configuration: it may be run again, on another machine, and whoever
compares two versions of it wants the difference to come from the version.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from pydantic import JsonValue

    from cocli.documents.document import Document
    from cocli.documents.repository import DocumentRepository

INTAKE = "intake"
"""Where documents come in: edges leave it, none leads to it."""

QUARANTINE = "quarantine"
"""Where a broken message is kept: the last part of a topic's name, so no node may be called so."""

RESERVED_NAMES = frozenset({INTAKE, QUARANTINE})
NODE_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*\Z")
MAX_NAME = 48
"""Characters: a queue's and a topic's name are made of it and of the edition's."""

_DATASOURCE_ID = re.compile(r"[0-9a-f]{16}\Z")


def nothing_to_check() -> None:
    """Nobody can take the work away."""


@dataclass(frozen=True, slots=True)
class NodeContext:
    """What a node is told besides the document. `check` raises once the work is somebody else's: a moment to stop.

    `repository` is for a node that needs other documents than its own: those that its document names by their digests.
    """

    node: str
    version: str
    config: Mapping[str, JsonValue]
    edition: str
    now: datetime
    input_digest: str
    repository: DocumentRepository
    check: Callable[[], None] = nothing_to_check
    given: Document | None = None
    """The state that the node was given, where it lies: for a node that hands it on by reference."""


NodeFunction = Callable[["Document", NodeContext], "Document | None"]


@dataclass(frozen=True, slots=True)
class Node:
    """`keep`: its state is saved even where no messaging edge leaves it, so that it can be read and compared."""

    name: str
    function: NodeFunction
    version: str = "1"
    config: Mapping[str, JsonValue] = field(default_factory=dict)
    keep: bool = False
    remote: str | None = None
    """Where it runs, if that is elsewhere: edges of transport grpc lead to it."""

    @property
    def code_digest(self) -> str:
        return code_digest(self.name, self.version, self.config)


def code_digest(name: str, version: str, config: Mapping[str, JsonValue]) -> str:
    """Changes with whatever may change what the node makes of a document. A changed function needs a new version."""
    text = json.dumps([name, version, config], sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def name_fault(name: str) -> str | None:
    """What is wrong with a node's name, if anything."""
    if name in RESERVED_NAMES:
        return "the name is reserved"
    if not NODE_NAME.match(name) or len(name) > MAX_NAME:
        return f"a name has up to {MAX_NAME} lower-case letters and digits, with single dashes between them"
    if _DATASOURCE_ID.match(name):
        return "the name looks like the id of a datasource: its states could not be told from what came in"
    return None
