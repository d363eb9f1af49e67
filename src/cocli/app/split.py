"""A campaign is in one place. Says no where its file names another store than the one that has its data.

A copy that `cocli sync` made is no second place: the state of that sync proves that both agreed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cocli.config.places import state_home
from cocli.errors import CampaignSplit
from cocli.keys.paths import CampaignConfigKey, CategoriesKey, campaign_folder

if TYPE_CHECKING:
    from cocli.config.resolve import Settings
    from cocli.store.base import Store


def check_split(name: str, settings: Settings, *, here: Store, there: Store) -> None:
    """`CampaignSplit` if the store that has the file has data of the campaign, too, which was never brought over."""
    if has_data(here, name) and not is_synced(name, settings, here, there):
        raise CampaignSplit(campaign=name, here=here.address, there=there.address)


def has_data(store: Store, name: str) -> bool:
    """Whether there is more of a campaign than what a person wrote to begin it."""
    begun = {str(CampaignConfigKey(name)), str(CategoriesKey(name))}
    return any(info.key not in begun for info in store.list(campaign_folder(name)))


def is_synced(name: str, settings: Settings, here: Store, there: Store) -> bool:
    """Whether a sync of this machine brought the two together without a failure, or all that is here came by one."""
    from cocli.sync.state import COPY_OF, past_facts, state_path

    path = state_path(state_home(settings.environ), here.address, there.address)
    facts = past_facts(path) if os.path.exists(path) else {}
    return "last_whole_run" in facts or f"{COPY_OF}{name}" in facts
