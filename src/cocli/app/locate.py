"""Where a thing lives: the path on disk, or the address in a bucket, of whatever has a place of its own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.workspace import location
from cocli.errors import NotFound, UsageError
from cocli.formats.secrets import mask
from cocli.keys.paths import (
    GLOBAL_INDEXES,
    CompanyKey,
    DomainKey,
    EmailKey,
    IndexRef,
    PersonKey,
    campaign_folder,
    parse,
    queue_folder,
)
from cocli.store.folders import is_empty

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.app.workspace import Workspace
    from cocli.store.base import Store


@dataclass(frozen=True, slots=True)
class LocatedThing:
    """A thing and its place. `key` is None for what is no object of the store; `exists` says whether it is there."""

    what: str
    path: str
    key: str | None
    exists: bool


def overview(workspace: Workspace) -> list[LocatedThing]:
    """The places that everything else is below."""
    return [locate(workspace, kind) for kind in ("data-home", "config", "store")]


def locate(workspace: Workspace, kind: str, name: str | None = None, campaign: str | None = None) -> LocatedThing:
    """The place of one thing; `KINDS` lists what there is."""
    if kind not in KINDS:
        raise UsageError(reason=f'There is no kind "{kind}" to locate', hint=f"Choose one of: {', '.join(KINDS)}.")
    finder, needs_name = KINDS[kind]
    if needs_name and not name:
        raise UsageError(reason=f"Which {kind}?", hint=f"Write: cocli locate {kind} NAME")
    return finder(workspace, name or "", campaign)


def explain_key(key: str) -> dict[str, object]:
    """What a key says about its object: its kind, and the values it was built from."""
    parsed = parse(key)
    values = {name: str(value) for name, value in vars(parsed).items()}
    return {"kind": type(parsed).__name__.removesuffix("Key"), **values}


def _data_home(workspace: Workspace, _name: str, _campaign: str | None) -> LocatedThing:
    return _local("data-home", str(workspace.settings.data_home.value))


def _config(workspace: Workspace, _name: str, _campaign: str | None) -> LocatedThing:
    return _local("config", str(workspace.settings.user_file.value))


def _local(what: str, path: str) -> LocatedThing:
    return LocatedThing(what, path, None, os.path.exists(path))


def _store(workspace: Workspace, _name: str, _campaign: str | None) -> LocatedThing:
    address = str(workspace.settings.store.value)
    if "://" in address:
        return LocatedThing("store", mask(address), "", True)
    return _local("store", os.path.abspath(os.path.expanduser(address)))


def _campaign(workspace: Workspace, name: str, _campaign: str | None) -> LocatedThing:
    campaign = workspace.campaign(name)
    return _in_store("campaign", campaign.store, campaign_folder(name))


def _queue(workspace: Workspace, name: str, campaign: str | None) -> LocatedThing:
    owner = _needed(campaign, "queue", name)
    return _in_store("queue", workspace.campaign(owner).store, queue_folder(owner, name))


def _index(workspace: Workspace, name: str, campaign: str | None) -> LocatedThing:
    if name in GLOBAL_INDEXES:
        store = workspace.campaign(campaign).store if campaign else workspace.store
        return _in_store("index", store, IndexRef(name).folder)
    owner = _needed(campaign, "index", name)
    return _in_store("index", workspace.campaign(owner).store, IndexRef(name, owner).folder)


def _company(workspace: Workspace, name: str, campaign: str | None) -> LocatedThing:
    return _in_store("company", _store_of(workspace, campaign), str(CompanyKey(name)))


def _person(workspace: Workspace, name: str, campaign: str | None) -> LocatedThing:
    return _in_store("person", _store_of(workspace, campaign), str(PersonKey(name)))


def _domain(workspace: Workspace, name: str, campaign: str | None) -> LocatedThing:
    return _in_store("domain", _store_of(workspace, campaign), str(DomainKey.of(name)))


def _email(workspace: Workspace, name: str, campaign: str | None) -> LocatedThing:
    owner = _needed(campaign, "email", name)
    return _in_store("email", workspace.campaign(owner).store, str(EmailKey.of(owner, name)))


def _key(workspace: Workspace, name: str, campaign: str | None) -> LocatedThing:
    return _in_store("key", _store_of(workspace, campaign), name)


def _store_of(workspace: Workspace, campaign: str | None) -> Store:
    if campaign:
        return workspace.campaign(campaign).store
    return workspace.store


def _needed(campaign: str | None, kind: str, name: str) -> str:
    if not campaign:
        raise UsageError(
            reason=f"Whose {kind} {name}?", hint=f"Name the campaign: cocli locate {kind} {name} --campaign NAME"
        )
    return campaign


def _in_store(what: str, store: Store, key: str) -> LocatedThing:
    folder = key if key.endswith("/") else None
    if folder:
        exists = not is_empty(store, folder)
    else:
        try:
            store.head(key)
            exists = True
        except NotFound:
            exists = False
    return LocatedThing(what, location(store, key), key, exists)


KINDS: dict[str, tuple[Callable[[Workspace, str, str | None], LocatedThing], bool]] = {
    "data-home": (_data_home, False),
    "config": (_config, False),
    "store": (_store, False),
    "campaign": (_campaign, True),
    "queue": (_queue, True),
    "index": (_index, True),
    "company": (_company, True),
    "person": (_person, True),
    "domain": (_domain, True),
    "email": (_email, True),
    "key": (_key, True),
}
"""What can be located: how, and whether it has a name."""
