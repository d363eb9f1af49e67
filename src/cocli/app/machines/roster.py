"""Which campaigns a machine works for: those that it was told, or all whose file has `[workers.HOST]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.app.campaigns.name import campaign_names
from cocli.errors import CocliError, ConfigError, InvalidKey, UnknownCampaign, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.app.workspace import Campaign, Workspace


class Roster:
    """`names` are those that it was told; None: whoever asks for workers of the host, looked for again and again."""

    def __init__(
        self, workspace: Workspace, host: str, names: Sequence[str] | None, note: Callable[[str], None]
    ) -> None:
        self._workspace = workspace
        self._host = host
        self._names = tuple(dict.fromkeys(names)) if names is not None else None
        self._note = note
        self._noted: set[str] = set()

    @property
    def is_fixed(self) -> bool:
        return self._names is not None

    @property
    def is_alone(self) -> bool:
        """Whether there is one campaign, and never another."""
        return self._names is not None and len(self._names) == 1

    def campaigns(self) -> list[Campaign]:
        """Those to work for now. The only campaign of a store needs no `[workers.HOST]`: a command may give it one."""
        if self._names is not None:
            return [self._workspace.campaign(name) for name in self._names]
        known = sorted(campaign_names(self._workspace.store))
        if not known:
            raise UsageError(
                reason="Which campaign? Known campaigns: none yet.",
                hint="Name it with --campaign NAME, or set CAMPAIGN_NAME.",
            )
        opened = [campaign for name in known if (campaign := self._opened(name)) is not None]
        if len(opened) == 1 and len(known) == 1:
            return opened
        return [campaign for campaign in opened if self._asks(campaign)]

    def _opened(self, name: str) -> Campaign | None:
        try:
            return self._workspace.campaign(name)
        except (UnknownCampaign, InvalidKey, UsageError):
            return None  # a folder that is no campaign, or one that is just being removed
        except ConfigError as error:
            self._tell(name, error)
            return None

    def _asks(self, campaign: Campaign) -> bool:
        try:
            return self._host in campaign.settings.model().workers
        except ConfigError as error:
            self._tell(campaign.name, error)
            return False

    def _tell(self, name: str, error: CocliError) -> None:
        """Once each: the others are served all the same."""
        text = f"{name} cannot be served: {error.message}"
        if text not in self._noted:
            self._noted.add(text)
            self._note(text)
