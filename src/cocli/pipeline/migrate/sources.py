"""An older data home → the files that a migration reads, each with its layout and what its path says about its rows."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.migrate import domains, emails, list_items, prospects, witnesses
from cocli.pipeline.migrate.facts import tile_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cocli.pipeline.migrate.layout import Layout

LAYOUTS: dict[str, Layout] = {
    layout.name: layout
    for layout in (
        prospects.LAYOUT,
        list_items.LAYOUT,
        witnesses.RECEIPTS,
        emails.LAYOUT,
        domains.LAYOUT,
        witnesses.AREAS,
        witnesses.TILES,
    )
}
_PROSPECT_FOLDERS = {"google_maps_prospects", "IndexIdentity.PROSPECTS"}
"""The second is what one version of Python made of the first."""
_TABLES = (".usv", ".csv")
_NOT_DATA = re.compile(
    r"(?:datapackage|schema_ledger)\.json|validation_errors\.usv|LATEST|CURRENT|.*\.(?:bak|tmp|lock|log)"
)
_TODAYS_NAME = re.compile(r"[0-9a-f]{64}|[0-9a-f]{16}")
_DOMAIN_TABLES = {"domains_master.csv", "website-domains.csv", "website_domains.csv"}


@dataclass(frozen=True, slots=True)
class OlderFile:
    """A file to read. `key` is its path within the folder, with slashes."""

    key: str
    layout: str
    campaign: str | None = None
    """Whose it is, by its path; None for what all campaigns share."""
    tile: str | None = None
    phrase: str | None = None
    note: str | None = None
    """What is odd about where it lies."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file that a migration does not read, and why."""

    key: str
    reason: str


def find_sources(folder: str) -> Iterator[OlderFile | LeftOut]:
    """Every file of a folder, in the order of their paths. Links are not followed."""
    for root, directories, names in os.walk(folder, onerror=_raise):
        directories.sort()
        for name in sorted(names):
            path = os.path.join(root, name)
            key = os.path.relpath(path, folder).replace(os.sep, "/")
            yield LeftOut(key, "not a plain file") if os.path.islink(path) else classify(key)


def _raise(error: OSError) -> None:
    raise error


def classify(key: str) -> OlderFile | LeftOut:
    """What a file is, by its path alone."""
    parts = key.split("/")
    if _NOT_DATA.fullmatch(parts[-1]):
        return LeftOut(key, "not records (schema, pointer, log or copy)")
    for find in (_prospects, _list_items, _emails, _domains, _areas, _tiles):
        if found := find(key, parts):
            return found
    return LeftOut(key, "of no layout that is migrated")


def _campaign(parts: Sequence[str]) -> str | None:
    """The innermost one: a campaign's data once lay within another campaign's folder."""
    at = [index for index, part in enumerate(parts[:-2]) if part == "campaigns"]
    if at:
        return parts[at[-1] + 1]
    return None


def _below(parts: Sequence[str], *names: str) -> Sequence[str] | None:
    """The parts after a run of names, its last occurrence."""
    count = len(names)
    for at in range(len(parts) - count - 1, -1, -1):
        if tuple(parts[at : at + count]) == names:
            return parts[at + count :]
    return None


def _prospects(key: str, parts: Sequence[str]) -> OlderFile | None:
    below = next((found for name in _PROSPECT_FOLDERS if (found := _below(parts, name))), None)
    if not below or not key.endswith(_TABLES):
        return None
    stem, _, _ = below[-1].rpartition(".")
    note = None
    if len(below) > 2 and below[0] == "wal" and re.match(r"[CG]hIJ", stem):
        shards = list(below[1:-1])
        expected = stem[5:6]
        if len(shards) > 1 or shards[0].lower() != (expected.lower() if expected.isalnum() else expected):
            note = "in the wrong shard"
    return OlderFile(key, "prospects", _campaign(parts), note=note)


def _list_items(key: str, parts: Sequence[str]) -> OlderFile | None:
    below = _below(parts, "queues", "gm-list", "completed")
    if not below or not key.endswith((*_TABLES, ".json")):
        return None
    layout = "list-receipts" if key.endswith(".json") else "list-items"
    return _on_tile(key, layout, _campaign(parts), below)


def _on_tile(key: str, layout: str, campaign: str | None, below: Sequence[str]) -> OlderFile:
    """`{lat}/{lon}/{phrase}.…`, with a shard before it or not, and with a folder twice where a version did so."""
    *folders, name = below
    if len(folders) > 2 and folders[-1] == folders[-2] and tile_name(folders[-3], folders[-2]):
        folders.pop()
    tile = tile_name(folders[-2], folders[-1]) if len(folders) > 1 else None
    phrase = name.rpartition(".")[0] if tile else None
    return OlderFile(key, layout, campaign, tile, phrase)


def _emails(key: str, parts: Sequence[str]) -> OlderFile | LeftOut | None:
    below = _below(parts, "indexes", "emails")
    if not below or not key.endswith((*_TABLES, ".json")):
        return None
    if below[0] in ("wal", "manifests") or _TODAYS_NAME.fullmatch(below[-1].rpartition(".")[0]):
        return LeftOut(key, "of today's index")
    note = None
    if below[0] == "inbox" and len(below) == 3 and "@" in below[-1]:
        domain = below[-1].rpartition(".")[0].rpartition("@")[2]
        shard = hashlib.sha256(domain.encode()).hexdigest()[:2]
        note = None if below[1] == shard else "in the wrong shard"
    return OlderFile(key, "emails", _campaign(parts), note=note)


def _domains(key: str, parts: Sequence[str]) -> OlderFile | LeftOut | None:
    if parts[-1] in _DOMAIN_TABLES:
        return OlderFile(key, "domains")
    below = _below(parts, "indexes", "domains")
    if not below or not key.endswith((*_TABLES, ".json")):
        return None
    if below[0] in ("wal", "manifests") or _TODAYS_NAME.fullmatch(below[-1].rpartition(".")[0]):
        return LeftOut(key, "of today's index, or a list of shards")
    return OlderFile(key, "domains")


def _areas(key: str, parts: Sequence[str]) -> OlderFile | None:
    below = _below(parts, "scraped_areas")
    if parts[-1] == "scraped_areas.csv":
        return OlderFile(key, "scraped-areas")
    if not below or not key.endswith((".json", ".csv")):
        return None
    phrase = below[0] if len(below) > 1 else below[0].rpartition(".")[0]
    return OlderFile(key, "scraped-areas", phrase=phrase)


def _tiles(key: str, parts: Sequence[str]) -> OlderFile | LeftOut | None:
    below = _below(parts, "scraped-tiles")
    if not below or not key.endswith((*_TABLES, ".json")):
        return None
    if below[0] in ("wal", "manifests", "shards"):
        return LeftOut(key, "of today's index")
    return _on_tile(key, "scraped-tiles", _campaign(parts), below)
