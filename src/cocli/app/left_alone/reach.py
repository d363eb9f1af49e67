"""Where forgetting does not reach, in words: whoever forgets somebody is told what is left for them to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.app.campaigns.name import campaign_names
from cocli.app.documents.documents import catalog_address
from cocli.app.left_alone.suppress import list_stores
from cocli.documents.catalog.opening import sqlite_path
from cocli.store.kinds import FOLDER, scheme_of

if TYPE_CHECKING:
    from cocli.app.workspace import Workspace

_EXPORTED = "Files that were exported or sent elsewhere are where you brought them: remove them there."
_SNAPSHOTS = (
    "Snapshots keep what they hold until they are pruned: make a new one, then: cocli backup prune. "
    "After a restore, remove it once more with: cocli forget --again"
)
_VERSIONS = (
    "if the bucket keeps versions of objects, the earlier ones stay until its lifecycle rule ends them; "
    "this program sees and removes the current ones only."
)


def beyond_reach(workspace: Workspace) -> list[str]:
    """Copies that this program knows of and does not change."""
    told = [_EXPORTED, _SNAPSHOTS]
    buckets = [store.address for store in list_stores(workspace) if scheme_of(store.address) != FOLDER]
    told += [f"{address.partition(' (')[0]}: {_VERSIONS}" for address in buckets]
    for name in sorted(campaign_names(workspace.store)):
        campaign = workspace.campaign(name)
        if sqlite_path(catalog_address(campaign.settings, campaign.store)) is None:
            told.append(f"{name}: its catalogue is on PostgreSQL: cocli documents fsck --repair drops the rows.")
        if campaign.settings.model().queue.provider != "store":
            told.append(f"{name}: tasks that wait in {campaign.settings.model().queue.provider} are dropped when met.")
    return list(dict.fromkeys(told))
