"""What a use case works on: the settings and the stores that they name. Built once per command, closed at its end."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from cocli.config.choices import offer
from cocli.config.file import ConfigFile, Scope, read_config
from cocli.config.resolve import Flags, Settings, load_user_file, resolve
from cocli.config.schema import STORE_VARIABLE, did_you_mean
from cocli.errors import NotFound, UnknownCampaign, UsageError
from cocli.keys.paths import CampaignConfigKey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.config.places import Environment
    from cocli.store.base import Store


def _source_names() -> list[str]:
    from cocli.pipeline.sources.registry import asked_sources  # here, because most commands need no names

    return [source.name for source in asked_sources()]


def _provider_names() -> list[str]:
    from cocli.queue.providers import PROVIDERS

    return list(PROVIDERS)


offer(("prospecting", "sources"), _source_names)
offer(("queue", "provider"), _provider_names)


class Progress(Protocol):
    """Told now and then how many of something are done."""

    def __call__(self, done: int) -> None: ...


def no_progress(done: int) -> None:
    """For callers who do not want to know."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign as configured: its file, the etag to swap the file against, and the merged settings."""

    name: str
    key: str
    etag: str
    file: ConfigFile
    settings: Settings
    store: Store
    """Where the campaign's data is: the store that its file names, or the one the file was found in."""


@dataclass(slots=True)
class Workspace:
    """Settings, and stores opened when first asked for."""

    settings: Settings
    _stores: dict[str, Store] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        """Where the campaigns' files are."""
        return self.open(self.settings)

    def open(self, settings: Settings) -> Store:
        """The store that some settings name; the same address is opened once."""
        address = str(settings.store.value)
        if address not in self._stores:
            from cocli.store import open_store  # here, because S3 costs a tenth of a second to load

            self._refuse_misspelt_folder(settings, address)
            self._stores[address] = open_store(address)
        return self._stores[address]

    def campaign(self, name: str) -> Campaign:
        """Load a campaign by its name."""
        from cocli.app.campaigns.name import check_campaign_name

        check_campaign_name(name)
        key = str(CampaignConfigKey(name))
        try:
            stored = self.store.get(key)
        except NotFound as error:
            raise self._unknown(name) from error
        file = read_config(stored.data, location(self.store, key), Scope.CAMPAIGN, campaign=name)
        flags = self.settings.flags._replace(campaign=name)
        settings = resolve(self.settings.environ, flags, self.settings.user, file)
        return Campaign(name, key, stored.etag, file, settings, self.open(settings))

    def _unknown(self, name: str) -> UnknownCampaign:
        from cocli.app.campaigns.name import campaign_names

        known = sorted(campaign_names(self.store))
        hint = did_you_mean(name, known)
        return UnknownCampaign(campaign=name, known=", ".join(known) or "none yet", hint=hint)

    def _refuse_misspelt_folder(self, settings: Settings, address: str) -> None:
        """A folder that was named on purpose and is not there is a mistake; opening it would create it."""
        if "://" not in address and str(settings.store.origin) in ("--store", STORE_VARIABLE):
            folder = os.path.expanduser(address)
            if not os.path.isdir(folder):
                raise UsageError(
                    reason=f"There is no folder {folder}", hint=f"Create it with: mkdir -p {folder}", store=folder
                )

    def close(self) -> None:
        for store in self._stores.values():
            store.close()


@contextmanager
def open_workspace(environ: Environment, flags: Flags) -> Iterator[Workspace]:
    """The workspace of one command. Reads the user's file; opens no store yet."""
    workspace = Workspace(resolve(environ, flags, load_user_file(environ), None))
    try:
        yield workspace
    finally:
        workspace.close()


def location(store: Store, key: str) -> str:
    """Where an object is, as a person would type it: a path, or `s3://bucket/prefix/key`."""
    where = store.address.partition(" (")[0].rstrip("/")
    if key:
        return f"{where}/{key}"
    return where
