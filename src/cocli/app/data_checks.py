"""Can the data be read? Opens the catalogue of documents, the indexes and the queues, for `cocli doctor`.

Everything is looked at, whatever fails on the way; nothing is changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.campaigns.name import campaign_names
from cocli.errors import CocliError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Campaign, Workspace
    from cocli.config.resolve import Settings
    from cocli.keys.paths import IndexRef
    from cocli.store.base import Store

_MOST = 20
"""So many campaigns are looked at where none is named."""


@dataclass(frozen=True, slots=True)
class DataFinding:
    """What was opened, and what it was like. `problem` is None where it can be used, `fix` the command that mends."""

    name: str
    detail: str
    problem: str | None = None
    fix: str | None = None
    urgent: bool = True
    """Whether something does not work; else something is missing that can be done without."""


def check_data(workspace: Workspace, campaign: str | None) -> Iterator[DataFinding]:
    """The data of one campaign, or of all of them; and the catalogue of each store that they are in."""
    names = [campaign] if campaign else sorted(campaign_names(workspace.store))[:_MOST]
    seen: set[str] = set()
    if campaign is None:
        seen.add(workspace.store.address)
        yield _catalog(workspace.settings, workspace.store, "")
    for name in names:
        try:
            loaded = workspace.campaign(name)
        except CocliError as error:
            yield DataFinding(f"campaign {name}", error.message, error.message, error.hint)
            continue
        if loaded.store.address not in seen:
            seen.add(loaded.store.address)
            yield _catalog(loaded.settings, loaded.store, f" -c {name}")
        yield _indexes(workspace, name)
        yield _queues(loaded)


# --- the catalogue


def _catalog(settings: Settings, store: Store, options: str) -> DataFinding:
    from cocli.app.documents.documents import catalog_address
    from cocli.documents.catalog.damage import damage_of
    from cocli.documents.catalog.opening import sqlite_path

    address = catalog_address(settings, store)
    where = sqlite_path(address) or "a server"
    try:
        damage = damage_of(address)
        if damage is not None:
            return DataFinding("catalogue", where, damage, f"cocli documents fsck --rebuild{options}")
        return _known_catalog(address, store, where, options)
    except CocliError as error:
        return DataFinding("catalogue", where, error.message, error.hint)


def _known_catalog(address: str, store: Store, where: str, options: str) -> DataFinding:
    """How much of the store it knows; a catalogue that is not there yet is made by whoever asks first."""
    import os

    from cocli.documents.catalog.opening import open_catalog, sqlite_path
    from cocli.documents.changes.census import UNSEEN

    path = sqlite_path(address)
    if path is not None and not os.path.exists(path):
        detail = f"none yet for {store.address}; the first command that asks for documents makes it from the store"
        return DataFinding("catalogue", detail)
    catalog = open_catalog(address)
    try:
        unseen = int(catalog.fact(UNSEEN) or 0)
    finally:
        catalog.close()
    if unseen:
        problem = f"{unseen:,} states in the store are not known here"
        return DataFinding("catalogue", where, problem, f"cocli documents fsck --repair{options}", urgent=False)
    return DataFinding("catalogue", where)


# --- indexes and queues


def _indexes(workspace: Workspace, name: str) -> DataFinding:
    from cocli.app.indexes.indexes import campaign_indexes

    try:
        indexes = campaign_indexes(workspace, name)
        refs = indexes.refs()
        bad = [problem for ref in refs if (problem := _index(indexes, ref))]
    except CocliError as error:
        return DataFinding(f"indexes of {name}", error.message, error.message, error.hint)
    if bad:
        return DataFinding(f"indexes of {name}", "", "; ".join(bad), f"cocli index check -c {name} --fix")
    return DataFinding(f"indexes of {name}", f"{len(refs)} can be read")


def _index(indexes: Indexes, ref: IndexRef) -> str | None:
    from cocli.app.indexes.status import index_status

    status = index_status(indexes, ref)
    if status.problem is not None:
        return f"{ref.name}: {status.problem}"
    if status.damaged:
        return f"{ref.name}: {status.damaged} shards are missing or have another size"
    return None


def _queues(campaign: Campaign) -> DataFinding:
    from cocli.app.queues.queues import queue_names, queue_status

    try:
        names = queue_names(campaign)
        bad = [f"{name}: {status.problem}" for name in names if (status := queue_status(campaign, name)).problem]
    except CocliError as error:
        return DataFinding(f"queues of {campaign.name}", error.message, error.message, error.hint)
    if bad:
        return DataFinding(f"queues of {campaign.name}", "", "; ".join(bad), f"cocli queue status {campaign.name}")
    return DataFinding(f"queues of {campaign.name}", f"{len(names)} can be read")
