"""Two versions of one machine-made file: which one holds, or what both make together. Pure; a person's files never
come here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from cocli.keys.parts import decode_part
from cocli.keys.paths import IndexRef
from cocli.sync.kinds import SyncRule, index_of

_TIMES = ("updated_at", "at", "generated_at", "created_at")


@dataclass(frozen=True, slots=True)
class Choice:
    data: bytes
    beside: tuple[tuple[str, bytes], ...] = field(default=())
    """Objects that keep what lost: key and content."""


def choose(key: str, rule: SyncRule, here: bytes, there: bytes) -> Choice:
    """What both sides should have. A `CocliError` where one of them cannot be read as what it should be."""
    if rule is SyncRule.MERGE:
        return Choice(_merged(key, here, there))
    if rule is SyncRule.DOCUMENT:
        return _document(key, here, there)
    return Choice(_newest(here, there))


def _merged(key: str, here: bytes, there: bytes) -> bytes:
    from cocli.pipeline.indexes import spec_of  # here, because all models and merge functions come with it

    spec = spec_of(index_ref(index_of(key) or ""))
    ours, theirs = spec.read_loose(here, file=key), spec.read_loose(there, file=key)
    return spec.render_loose(spec.merge(theirs, ours))


def index_ref(folder: str) -> IndexRef:
    """The index in a folder."""
    parts = folder.rstrip("/").split("/")
    campaign = decode_part(parts[1]) if parts[0] == "campaigns" else None
    return IndexRef(decode_part(parts[-1]), campaign)


def _newest(here: bytes, there: bytes) -> bytes:
    """By what they say of themselves; where neither says anything, what is there stays: everybody else has it."""
    ours, theirs = _time_in(here), _time_in(there)
    return here if ours > theirs else there


def _time_in(data: bytes) -> str:
    try:
        values: Any = json.loads(data)
    except ValueError:
        return ""  # no JSON: it says nothing of its age
    if not isinstance(values, dict):
        return ""
    for name in _TIMES:
        if isinstance(values.get(name), str):
            return str(values[name])
    return f"{values.get('cocli:version', ''):>12}"


def _document(key: str, here: bytes, there: bytes) -> Choice:
    """The higher version, then the later one; the other one under its digest, where versions are kept."""
    from cocli.documents import codec  # here, because few syncs ever need it

    ours, theirs = codec.decode(here, doc=key), codec.decode(there, doc=key)
    mine = (ours.header.version, ours.header.saved_at, ours.header.digest)
    other = (theirs.header.version, theirs.header.saved_at, theirs.header.digest)
    won, lost, loser = (here, there, theirs) if mine > other else (there, here, ours)
    beside = f"{key.removesuffix('.pb')}/{loser.header.digest}.pb"
    return Choice(won, ((beside, lost),))
