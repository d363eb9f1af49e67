"""What a source may need in order to be opened for a campaign on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cocli.models.campaign import CampaignConfig
    from cocli.pipeline.sources.categories import Categories
    from cocli.pipeline.sources.open_places.library import Library
    from cocli.store.base import Store


@dataclass(frozen=True, slots=True)
class SourceOpening:
    """A campaign, a machine and a worker, as far as a source may ask for them."""

    campaign: str
    worker: str
    config: CampaignConfig
    environ: Mapping[str, str]
    store: Store
    library: Library
    """The files of open data on this machine."""
    categories: Callable[[], Categories]
    """What the campaign's phrases mean in the words of each source. Reads the store, so it is asked only if needed."""

    @property
    def account(self) -> str:
        """The owner of the captures."""
        return self.config.campaign.account
