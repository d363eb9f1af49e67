"""What is taken before what, while others write. The reasons are in docs/backup.md#while-others-write.

Workers write in one order: pages, records, the tasks that follow, the witness that a tile was read, the completion.
A claim that something is done is taken first, what it speaks of later; so nothing is claimed that is not there.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from cocli.sync import kinds
from cocli.sync.kinds import index_of, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_CLAIMS = ("indexes/scraped-tiles/", "indexes/harvested-tiles/")
"""Indexes whose records say that something was done."""


class Turn(IntEnum):
    """When an object is taken. A restore writes in the order from the last to the first."""

    CLAIM = 0
    """Completions, witnesses, what catalogues tell each other."""
    TASK = 1
    """What waits, with its leases, and what was set aside."""
    RECORD = 2
    """Everything else that may change: records that are not packed yet, documents, people's pages, settings."""
    POINTER = 3
    """LATEST of the indexes: after the records that the next version takes in and removes."""
    FIXED = 4
    """What is written once, before what names it: shards, manifests, earlier versions and blobs of documents."""


_TURNS = {
    kinds.COMPLETION: Turn.CLAIM,
    kinds.CATALOG: Turn.CLAIM,
    kinds.QUEUE_STATE: Turn.TASK,
    kinds.DOCUMENT_VERSION: Turn.FIXED,
}


def turn_of(key: str) -> Turn:
    kind = kind_of(key)
    if kind is kinds.VERSION:
        return Turn.POINTER if key.endswith("/LATEST") else Turn.FIXED
    if kind in (kinds.BATCH, kinds.LOOSE) and (index_of(key) or "").endswith(_CLAIMS):
        return Turn.CLAIM
    return _TURNS.get(kind, Turn.RECORD)


def claims_folders(campaigns: Sequence[str]) -> list[str]:
    """The folders of the indexes that hold claims, by the folders of the campaigns, in the order to be taken in."""
    return ["indexes/scraped-tiles/", *(f"{campaign}indexes/harvested-tiles/" for campaign in campaigns)]
