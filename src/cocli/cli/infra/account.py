"""The account that a campaign names, for the commands of `cocli infra`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocli.app.infra.cloud import CloudAccount
    from cocli.app.workspace import Workspace


def account_of(workspace: Workspace, campaign: str) -> CloudAccount:
    from cocli.app.infra.cloud import CloudAccount

    return CloudAccount(workspace.campaign(campaign).settings.model().aws)
