"""Tiles × phrases as rows of the index `target-tiles`, in key order, made by the hundred thousand per second.

A row is written by the code of the format, once for each phrase and location; only the tile differs between rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.formats import usv
from cocli.formats.usv_dialect import SEPARATOR
from cocli.keys.tile import Tile
from cocli.models.witness import TargetTile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from cocli.index.completion import KeyedLine
    from cocli.index.spec import IndexSpec
    from cocli.pipeline.plan.territory import Territory

_SAMPLE = Tile(0, 0)


def target_rows(
    spec: IndexSpec[TargetTile],
    territory: Territory,
    phrases: Iterable[str],
    *,
    campaign: str,
    planned_at: datetime,
) -> Iterator[KeyedLine]:
    """Every tile with every phrase, in the order of the index."""
    ends = {phrase: _end_of_key(spec, phrase) for phrase in set(phrases)}
    ordered = sorted(ends, key=ends.__getitem__)
    suffixes = [ends[phrase] for phrase in ordered]
    tails: dict[str | None, list[bytes]] = {}
    # A tile's name may begin another's (33.7_-118.3, 33.7_-118.35): what ends it decides the order.
    for name, tile in sorted((f"{tile}/", tile) for tile in territory.tiles):
        location = territory.tiles[tile]
        if location not in tails:
            tails[location] = _tails(ordered, campaign, location, planned_at)
        tile_name = name[:-1]
        cell = tile_name.encode()
        for suffix, tail in zip(suffixes, tails[location], strict=True):
            yield tile_name + suffix, cell + tail


def _end_of_key(spec: IndexSpec[TargetTile], phrase: str) -> str:
    """What follows the tile in the sort key."""
    key, tile = spec.key_text(str(_SAMPLE), phrase), str(_SAMPLE)
    if not key.startswith(tile):
        raise AssertionError("the sort key of a target begins with its tile")
    return key[len(tile) :]


def _tails(phrases: list[str], campaign: str, location: str | None, planned_at: datetime) -> list[bytes]:
    """Of each phrase the row behind its tile."""
    records = [
        TargetTile(tile=_SAMPLE, phrase=phrase, campaign=campaign, location=location, planned_at=planned_at)
        for phrase in phrases
    ]
    _, *lines = usv.render(TargetTile, records)[:-1].split(b"\n")
    cut = SEPARATOR.encode()
    return [cut + line.partition(cut)[2] for line in lines]
