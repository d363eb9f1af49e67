"""Campaigns: make one, look at one or all, change its configuration, remove it with everything it holds."""

from __future__ import annotations

from dataclasses import dataclass
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
    UsageError,
)
from cocli.keys.paths import CampaignConfigKey, campaign_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cocli.store.base import Store, StoredObject

_SWAP_TRIES = 50  # each failure means that somebody else succeeded


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


def parse_place(text: str) -> TemplatePlace:
    """`Springfield,39.8,-89.65` or `Springfield, IL,39.8,-89.65,40`: name, latitude, longitude, radius in miles."""
    parts = [part.strip() for part in text.split(",")]
    numbers: list[float] = []
    while len(parts) > 1 and len(numbers) < 3 and (number := _number(parts[-1])) is not None:
        numbers.insert(0, number)
        parts.pop()
    name = ", ".join(parts)
    too_many = _number(parts[-1]) is not None  # 39,80,-89,65: with decimal commas it would lie elsewhere
    if len(numbers) < 2 or not name or too_many:
        raise UsageError(
            reason=f'"{text}" is not a place',
            hint='Write name,latitude,longitude[,radius in miles]: --location "Springfield,39.80,-89.65,25"',
        )
    lat, lon, radius = (*numbers, 25.0)[:3]
    if not (-90 <= lat <= 90 and -180 <= lon <= 180 and 0 < radius <= 1000):
        raise UsageError(
            reason=f'"{text}" is not on the map',
            hint="Latitude is -90 to 90, longitude -180 to 180, the radius up to 1000 miles.",
        )
    return TemplatePlace(name, lat, lon, radius)


def list_campaigns(workspace: Workspace) -> list[CampaignSummary]:
    """Every campaign, by name."""
    names = sorted(campaign_names(workspace.store))
    answers = workspace.store.get_many([str(CampaignConfigKey(name)) for name in names])
    return [_summary(workspace, name, answer) for name, answer in zip(names, answers, strict=True)]


def edit_campaign(workspace: Workspace, name: str, changes: list[ConfigChange]) -> Edited:
    """Make changes to the file, keeping what a person wrote around them; repeated where somebody else was quicker."""
    for attempt in range(_SWAP_TRIES):
        campaign = workspace.campaign(name)
        edited = apply_changes(campaign.file, changes, campaign=name)
        try:
            return _replace(workspace, campaign, edited)
        except Conflict:
            if attempt == _SWAP_TRIES - 1:
                raise
    raise AssertionError("unreachable: the last attempt returns or raises")


def replace_config(workspace: Workspace, campaign: Campaign, content: bytes) -> Edited:
    """Put a whole new text in place of the file that was read: checked first, and only if nobody else changed it."""
    edited = read_config(content, campaign.file.name, Scope.CAMPAIGN, campaign=campaign.name)
    return _replace(workspace, campaign, edited)


def plan_removal(workspace: Workspace, name: str, progress: Progress = no_progress) -> Removal:
    """Count what removing a campaign would take away. What an interrupted removal left can be removed as well."""
    check_campaign_name(name)
    folder = campaign_folder(name)
    stores = [workspace.store]
    try:
        campaign = workspace.campaign(name)
    except (CampaignError, ConfigError):  # no file, or a broken one: what lies below the folder can go all the same
        if not _any_object(workspace.store, folder):
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


def _summary(workspace: Workspace, name: str, answer: StoredObject | StoreError) -> CampaignSummary:
    if isinstance(answer, StoreError):
        return CampaignSummary(name, problem=answer.message)
    try:
        file = read_config(answer.data, location(workspace.store, answer.key), Scope.CAMPAIGN, campaign=name)
    except CocliError as error:
        return CampaignSummary(name, changed=answer.modified, problem=error.message)
    prospecting: dict[str, Any] = file.data.get("prospecting", {})
    places = len(prospecting.get("locations", []))
    territory = prospecting.get("area") or prospecting.get("locations_csv")
    return CampaignSummary(name, tuple(prospecting.get("queries", [])), places, answer.modified, territory=territory)


def _replace(workspace: Workspace, campaign: Campaign, edited: ConfigFile) -> Edited:
    changed = edited.text != campaign.file.text
    if changed:
        workspace.store.put(campaign.key, edited.text.encode("utf-8"), if_match=campaign.etag)
    return Edited(campaign.name, campaign.file.name, changed)


def _any_object(store: Store, folder: str) -> bool:
    return next(iter(store.list(folder)), None) is not None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
