"""What a use case works on: the settings and the stores that they name. Built once per command, closed at its end."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cocli.config.choices import offer
from cocli.config.file import ConfigFile, Scope, read_config
from cocli.config.resolve import Flags, Settings, load_user_file, resolve
from cocli.config.schema import STORE_VARIABLE, did_you_mean
from cocli.errors import NotFound, UnknownCampaign, UsageError
from cocli.keys.paths import SUPPRESSED_FOLDER, CampaignConfigKey
from cocli.store.disk.own_names import place_of
from cocli.store.folders import is_empty
from cocli.store.settled import create

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.config.places import Environment
    from cocli.pipeline.suppression.stored import LeftAlone
    from cocli.pipeline.suppression.veil import Veil
    from cocli.store.base import Store


_LOOK_SECONDS = 30.0
"""So long a list that was empty is taken to be empty still; a list that is not is looked at as often."""


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


class Signpost(NamedTuple):
    """A campaign's file in the configured store that names another store. Nothing but the address is taken from it."""

    etag: str
    file: ConfigFile
    store: Store


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign as configured: its file, the etag to swap the file against, and the merged settings."""

    name: str
    key: str
    etag: str
    file: ConfigFile
    settings: Settings
    store: Store
    """Where the campaign is: the store that its file names, or the one the file was found in."""
    home: Store
    """Where its file is. That is the same store, but for a campaign that is still in two places."""
    left_alone: LeftAlone
    """The do-not-contact list: that of the data home, and that of the store where the campaign is."""
    signpost: Signpost | None = None
    """The file that says where the campaign is, if it is not in the configured store."""


@dataclass(slots=True)
class Workspace:
    """Settings, and stores opened when first asked for."""

    settings: Settings
    _stores: dict[str, Store] = field(default_factory=dict)
    _left_alone: dict[str, LeftAlone] = field(default_factory=dict)
    _seen_empty: dict[str, float] = field(default_factory=dict)
    """Stores whose do-not-contact list was empty, and when that was looked at."""

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

    def open_address(self, address: str) -> Store:
        """A store that no setting names, closed with the others."""
        if address not in self._stores:
            from cocli.store import open_store

            self._stores[address] = open_store(address)
        return self._stores[address]

    def left_alone(self, store: Store | None = None) -> LeftAlone:
        """The do-not-contact list of the data home; for a campaign elsewhere also the one over there."""
        from cocli.pipeline.suppression.stored import LeftAlone  # here, because `cocli config` needs no list

        stores = {self.store.address: self.store}
        if store is not None:
            stores[store.address] = store
        name = " ".join(sorted(stores))
        if name not in self._left_alone:
            self._left_alone[name] = LeftAlone(list(stores.values()))
        return self._left_alone[name]

    def forget_lists(self) -> None:
        """Somebody has just changed the do-not-contact list: whoever asks next reads it again."""
        self._seen_empty.clear()
        for left_alone in self._left_alone.values():
            left_alone.forget()

    def veils(self) -> list[Veil]:
        """What a text passes through before a person sees it: the lists of all stores that were opened."""
        veils = [self.left_alone(store).veil() for store in self._stores.values() if self._lists_somebody(store)]
        return [veil for veil in veils if veil is not None]

    def known_text(self, text: str) -> str:
        """A text without who is left alone, by the lists as they were last read: for logs, which must ask nobody."""
        for left_alone in list(self._left_alone.values()):
            veil = left_alone.known_veil()
            text = text if veil is None else veil.text(text)
        return text

    def _lists_somebody(self, store: Store) -> bool:
        """A look that loads nothing: most lists are empty, and then no command waits for what reads them."""
        now = time.monotonic()
        if now - self._seen_empty.get(store.address, -_LOOK_SECONDS) < _LOOK_SECONDS:
            return False
        if not is_empty(store, SUPPRESSED_FOLDER):
            return True
        self._seen_empty[store.address] = now
        return False

    def campaign(self, name: str, *, split: bool = False) -> Campaign:
        """Load a campaign by its name. `CampaignSplit` where it is in two places, but for who mends that (`split`)."""
        from cocli.app.campaigns.name import check_campaign_name

        check_campaign_name(name)
        key = str(CampaignConfigKey(name))
        try:
            stored = self.store.get(key)
        except NotFound as error:
            raise self._unknown(name) from error
        file = read_config(stored.data, location(self.store, key), Scope.CAMPAIGN, campaign=name)
        settings = self._settings_of(name, file)
        store = self.open(settings)
        if store.address == self.store.address:
            return Campaign(name, key, stored.etag, file, settings, store, store, self.left_alone())
        return self._elsewhere(name, Signpost(stored.etag, file, self.store), store, split=split)

    def _elsewhere(self, name: str, signpost: Signpost, store: Store, *, split: bool) -> Campaign:
        """A campaign that its file says is in another store: all of it, the file as well, is taken from there."""
        key = str(CampaignConfigKey(name))
        if not split:
            from cocli.app.split import check_split  # here, because most campaigns are where they are looked for

            check_split(name, self.settings, here=signpost.store, there=store)
        try:
            stored = store.get(key)
        except NotFound:
            if split:
                settings = self._settings_of(name, signpost.file)
                here = signpost.store
                left_alone = self.left_alone(store)
                return Campaign(name, key, signpost.etag, signpost.file, settings, store, here, left_alone, signpost)
            create(store, key, signpost.file.text.encode("utf-8"))  # its first use: it takes its file along
            stored = store.get(key)
        file = read_config(stored.data, location(store, key), Scope.CAMPAIGN, campaign=name)
        where = {"storage": signpost.file.data.get("storage", {})}
        settings = self._settings_of(name, file._replace(data=file.data | where))
        return Campaign(name, key, stored.etag, file, settings, store, store, self.left_alone(store), signpost)

    def _settings_of(self, name: str, file: ConfigFile) -> Settings:
        flags = self.settings.flags._replace(campaign=name)
        return resolve(self.settings.environ, flags, self.settings.user, file)

    def _unknown(self, name: str) -> UnknownCampaign:
        from cocli.app.campaigns.name import campaign_names

        known = sorted(campaign_names(self.store))
        hint = did_you_mean(name, known)
        return UnknownCampaign(campaign=name, known=", ".join(known) or "none yet", hint=hint)

    def _refuse_misspelt_folder(self, settings: Settings, address: str) -> None:
        """A folder that was named on purpose and is not there is a mistake; opening it would create it."""
        is_named = str(settings.store.origin) in ("--store", STORE_VARIABLE) or address != settings.data_home.value
        if "://" not in address and is_named:
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
        return f"{where}/{place_of(where, key)}"
    return where
