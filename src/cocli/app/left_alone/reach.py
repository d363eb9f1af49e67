"""Where forgetting does not reach, in words: whoever forgets somebody is told what is left for them to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.app.campaigns.name import campaign_names
from cocli.app.documents.documents import catalog_address
from cocli.app.left_alone.changes import KEPT, Remainder
from cocli.app.left_alone.suppress import list_stores
from cocli.app.left_alone.version_sweep import VERSION
from cocli.documents.catalog.opening import sqlite_path
from cocli.store.kinds import FOLDER, scheme_of

if TYPE_CHECKING:
    from cocli.app.workspace import Workspace

_EXPORTED = "Files that were exported or sent elsewhere are where you brought them: remove them there."
_SNAPSHOTS = (
    "Snapshots keep what they hold until they are pruned: make a new one, then: cocli backup prune. "
    "After a restore, remove it once more with: cocli forget --again"
)
_SERVER = "rows are gone from its catalogue on PostgreSQL; the log and the backups of that server are its owner's."
_VERSIONS = "if the bucket keeps versions of objects, the earlier ones stay until its lifecycle rule ends them."


def beyond_reach(workspace: Workspace) -> list[str]:
    """Copies that this program knows of and does not change."""
    told = [_EXPORTED, _SNAPSHOTS]
    for name in sorted(campaign_names(workspace.store)):
        campaign = workspace.campaign(name)
        if sqlite_path(catalog_address(campaign.settings, campaign.store)) is None:
            told.append(f"{name}: {_SERVER}")
    return list(dict.fromkeys(told))


def kept_versions(workspace: Workspace) -> list[Remainder]:
    """Buckets whose earlier versions were not to be removed."""
    buckets = [store.address for store in list_stores(workspace) if scheme_of(store.address) != FOLDER]
    return [Remainder(VERSION, 0, KEPT, f"{address.partition(' (')[0]}: {_VERSIONS}") for address in buckets]
