"""Which rules hold. Documents belong to an account, so the most patient rule of all its campaigns in a store holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.campaigns.name import campaign_names
from cocli.documents.graph.destination import quarantine_of
from cocli.errors import CocliError
from cocli.models.retention.age import longer

if TYPE_CHECKING:
    from cocli.app.workspace import Campaign, Workspace
    from cocli.models.campaign import CampaignConfig, RetentionSection

DOCUMENT_KINDS = ("captures", "editions", "versions")


@dataclass(frozen=True, slots=True)
class RetentionRules:
    """`section` is what the campaign says; `documents` what holds for the documents of its account."""

    section: RetentionSection
    documents: RetentionSection
    held_back: dict[str, str]
    """Why a rule of the campaign does not hold, by kind."""
    campaigns: tuple[str, ...]
    """All campaigns of the account in this store: values of each may name a document."""
    editions: frozenset[str]
    """Editions that a campaign uses, with their quarantines."""


def rules_of(workspace: Workspace, campaign: Campaign) -> RetentionRules:
    own = campaign.settings.model()
    others = _others(workspace, campaign, own)
    ages: dict[str, str | None] = {kind: getattr(own.retention, kind) for kind in DOCUMENT_KINDS}
    held_back: dict[str, str] = {}
    for name, config in others.items():
        for kind in DOCUMENT_KINDS:
            mine, theirs = ages[kind], None if config is None else getattr(config.retention, kind)
            if mine is None or mine == theirs:
                continue
            ages[kind] = None if theirs is None else longer(mine, theirs)
            if ages[kind] != mine:
                said = "keeps them for ever" if theirs is None else f"keeps them for {theirs}"
                held_back[kind] = f"the campaign {name} has the same account and {said}"
    keep = [own.retention.keep_versions, *(config.retention.keep_versions for config in others.values() if config)]
    used = {_edition(own), *(_edition(config) for config in others.values() if config)}
    return RetentionRules(
        section=own.retention,
        documents=own.retention.model_copy(update={**ages, "keep_versions": max(keep)}),
        held_back=held_back,
        campaigns=(campaign.name, *others),
        editions=frozenset(used | {quarantine_of(edition) for edition in used}),
    )


def _edition(config: CampaignConfig) -> str:
    return config.documents.edition or config.cluster.id


def _others(workspace: Workspace, campaign: Campaign, own: CampaignConfig) -> dict[str, CampaignConfig | None]:
    """The other campaigns of the account in this store. None for one whose configuration cannot be read."""
    found: dict[str, CampaignConfig | None] = {}
    for name in campaign_names(campaign.store):
        if name == campaign.name:
            continue
        try:
            other = workspace.campaign(name)
            config = other.settings.model()
        except CocliError:  # nobody knows how long it keeps things: then for ever
            found[name] = None
            continue
        if other.store.address == campaign.store.address and config.campaign.account == own.campaign.account:
            found[name] = config
    return found
