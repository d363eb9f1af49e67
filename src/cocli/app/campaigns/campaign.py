"""Campaigns: make one, look at one or all, change its configuration, remove it with everything it holds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cocli.app.campaigns.name import campaign_names, check_campaign_name
from cocli.app.store.deletion import FolderContents, delete_folder, measure_folder
from cocli.app.workspace import Campaign, Progress, Workspace, location, no_progress
from cocli.config.edit import ConfigChange, apply_changes
from cocli.config.file import ConfigFile, Scope, read_config
from cocli.config.template import TemplatePlace, campaign_template
from cocli.errors import (
    AlreadyExists,
    CampaignError,
    CampaignExists,
    CocliError,
    ConfigError,
    Conflict,
    StoreError,
)
from cocli.keys.paths import CampaignConfigKey, ReportKey, campaign_folder
from cocli.store.folders import is_empty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.store.base import Store, StoredObject

_SWAP_TRIES = 50  # each failure means that somebody else succeeded
_STORAGE = "storage"


@dataclass(frozen=True, slots=True)
class CampaignSummary:
    """One line of the list. `problem` says why the rest is empty: a broken file must not hide the other campaigns."""

    name: str
    queries: tuple[str, ...] = ()
    places: int = 0
    changed: datetime | None = None
    problem: str | None = None
    territory: str | None = None
    """The file of places or areas that stands for them."""
    figures: dict[str, Any] | None = None
    """Those of the last report; None where there is none, or it cannot be read."""
    figures_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Created:
    """What `new` made."""

    name: str
    key: str
    path: str


@dataclass(frozen=True, slots=True)
class Edited:
    """What an edit did: `changed` is False where the file said so already."""

    name: str
    path: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Removal:
    """What `rm` would take away."""

    name: str
    stores: tuple[Store, ...]
    contents: FolderContents

    @property
    def addresses(self) -> list[str]:
        return [location(store, campaign_folder(self.name)) for store in self.stores]


def new_campaign(
    workspace: Workspace, name: str, queries: Sequence[str] = (), places: Sequence[TemplatePlace] = ()
) -> Created:
    """Write a commented `config.toml` for a person to go on with. Refuses to touch a campaign that is there."""
    check_campaign_name(name)
    key = str(CampaignConfigKey(name))
    content = campaign_template(name, queries, places).encode("utf-8")
    read_config(content, key, Scope.CAMPAIGN, campaign=name)
    try:
        workspace.store.put(key, content, if_absent=True)
    except AlreadyExists as error:
        raise CampaignExists(campaign=name) from error
    return Created(name, key, location(workspace.store, key))


def list_campaigns(workspace: Workspace) -> list[CampaignSummary]:
    """Every campaign, by name, with the figures of its last report: nothing is counted here."""
    names = sorted(campaign_names(workspace.store))
    configs = [str(CampaignConfigKey(name)) for name in names]
    answers = workspace.store.get_many([*configs, *(str(ReportKey(name)) for name in names)])
    files, reports = answers[: len(names)], answers[len(names) :]
    return [_summary(workspace, name, file, report) for name, file, report in zip(names, files, reports, strict=True)]


def edit_campaign(workspace: Workspace, name: str, changes: list[ConfigChange]) -> Edited:
    """Make changes to the file, keeping what a person wrote around them; repeated where somebody else was quicker."""
    only_where = all(change.path[0] == _STORAGE for change in changes)
    for attempt in range(_SWAP_TRIES):
        campaign = workspace.campaign(name, split=only_where)
        try:
            return _edit(campaign, changes)
        except Conflict:
            if attempt == _SWAP_TRIES - 1:
                raise
    raise AssertionError("unreachable: the last attempt returns or raises")


def _edit(campaign: Campaign, changes: list[ConfigChange]) -> Edited:
    """Where the campaign is, is said by the file that leads there; everything else by the file that is there."""
    signpost = campaign.signpost
    if signpost is None:
        return _replace(campaign, apply_changes(campaign.file, changes, campaign=campaign.name))
    edited = Edited(campaign.name, campaign.file.name, changed=False)
    where = [change for change in changes if change.path[0] == _STORAGE]
    if rest := [change for change in changes if change.path[0] != _STORAGE]:
        edited = _replace(campaign, apply_changes(campaign.file, rest, campaign=campaign.name))
    if where:
        file = apply_changes(signpost.file, where, campaign=campaign.name)
        signpost.store.put(campaign.key, file.text.encode("utf-8"), if_match=signpost.etag)
        edited = Edited(campaign.name, signpost.file.name, edited.changed or file.text != signpost.file.text)
    return edited


def replace_config(campaign: Campaign, content: bytes) -> Edited:
    """Put a whole new text in place of the file that was read: checked first, and only if nobody else changed it."""
    edited = read_config(content, campaign.file.name, Scope.CAMPAIGN, campaign=campaign.name)
    return _replace(campaign, edited)


def plan_removal(workspace: Workspace, name: str, progress: Progress = no_progress) -> Removal:
    """Count what removing a campaign would take away. What an interrupted removal left can be removed as well."""
    check_campaign_name(name)
    folder = campaign_folder(name)
    stores = [workspace.store]
    try:
        campaign = workspace.campaign(name, split=True)
    except (CampaignError, ConfigError):  # no file, or a broken one: what lies below the folder can go all the same
        if is_empty(workspace.store, folder):
            raise
    else:
        if campaign.store is not workspace.store:
            stores.append(campaign.store)
    return Removal(name, tuple(stores), measure_folder(stores, folder, progress))


def remove_campaign(removal: Removal, progress: Progress = no_progress) -> FolderContents:
    """Remove everything below the campaign's folder. Its file goes last: a removal that was cut short can go on."""
    config = str(CampaignConfigKey(removal.name))
    removed = FolderContents(0, 0)
    for store in reversed(removal.stores):
        removed += delete_folder(store, campaign_folder(removal.name), last=config, progress=progress)
    return removed


def _summary(
    workspace: Workspace, name: str, answer: StoredObject | StoreError, report: StoredObject | StoreError
) -> CampaignSummary:
    if isinstance(answer, StoreError):
        return CampaignSummary(name, problem=answer.message)
    try:
        file = read_config(answer.data, location(workspace.store, answer.key), Scope.CAMPAIGN, campaign=name)
    except CocliError as error:
        return CampaignSummary(name, changed=answer.modified, problem=error.message)
    if file.data.get(_STORAGE, {}).get("url", "local") != "local":
        try:
            campaign = workspace.campaign(name)
        except CocliError as error:  # the others are worth listing all the same
            return CampaignSummary(name, changed=answer.modified, problem=error.message)
        file, report = campaign.file, _answer(campaign.store, str(ReportKey(name)))
    prospecting: dict[str, Any] = file.data.get("prospecting", {})
    places = len(prospecting.get("locations", []))
    territory = prospecting.get("area") or prospecting.get("locations_csv")
    queries = tuple(prospecting.get("queries", []))
    figures, at = _last_figures(report)
    return CampaignSummary(name, queries, places, answer.modified, None, territory, figures, at)


def _answer(store: Store, key: str) -> StoredObject | StoreError:
    return store.get_many([key])[0]


def _last_figures(report: StoredObject | StoreError) -> tuple[dict[str, Any] | None, datetime | None]:
    """What a report says, without the models that check one: a list is looked at often, and must be quick."""
    if isinstance(report, StoreError):
        return None, None
    try:
        document = json.loads(report.data)
        return dict(document["figures"]), datetime.fromisoformat(document["at"])
    except (ValueError, KeyError, TypeError):
        return None, None  # of an older version, or damaged: `cocli report` makes it anew


def _replace(campaign: Campaign, edited: ConfigFile) -> Edited:
    changed = edited.text != campaign.file.text
    if changed:
        campaign.home.put(campaign.key, edited.text.encode("utf-8"), if_match=campaign.etag)
    return Edited(campaign.name, campaign.file.name, changed)


def has_records(campaign: Campaign) -> bool:
    """Whether anything was found or planned for it: where nothing was, nothing needs to be counted."""
    return not is_empty(campaign.store, f"{campaign_folder(campaign.name)}indexes/")
