"""JSON that carries its own checksum: for the two objects of a backup that are not named by their content."""

from __future__ import annotations

import json
from typing import Any

from cocli.sync.backup.layout import sha256_of

_SEAL = "sha256"


def seal(document: dict[str, Any]) -> bytes:
    return json.dumps({**document, _SEAL: _checksum(document)}, indent=1).encode() + b"\n"


def unseal(data: bytes, schema: str) -> dict[str, Any]:
    """What was sealed, without schema and checksum; `ValueError` where it is not whole, or something else."""
    document = json.loads(data)
    if not isinstance(document, dict) or document.pop(_SEAL, None) != _checksum(document):
        raise ValueError("its content does not match its checksum")
    if document.pop("schema", None) != schema:
        raise ValueError("it was written by another version of cocli")
    return document


def _checksum(document: dict[str, Any]) -> str:
    return sha256_of(json.dumps(document, sort_keys=True).encode())
