"""The layers merged: every setting has one value and one origin.

Lists are taken whole from the layer that wins; they are never joined, so that what a file says is what holds.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

from pydantic import ValidationError

from cocli.config.file import ConfigFile, Scope, read_config
from cocli.config.lines import join_key
from cocli.config.places import Environment, data_home, user_file
from cocli.config.schema import STORE_VARIABLE, nearest, settings
from cocli.config.stored_secrets import FILE_ENDING
from cocli.config.values import value_from_text
from cocli.errors import ConfigError
from cocli.models.campaign import CampaignConfig
from cocli.models.record import explain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Leaf = tuple[str, ...]
_LONGEST_FILE = 1 << 20
KAFKA_PASSWORD = "COCLI_KAFKA_PASSWORD"  # noqa: S105 - the name of a variable
_KNOWN_VARIABLES = (
    "COCLI_DATA_HOME",
    "COCLI_CONFIG",
    "COCLI_CACHE_HOME",
    "COCLI_STATE_HOME",
    "COCLI_STORE",
    "COCLI_BACKUP",
    "COCLI_DEBUG",
    "COCLI_LOG",
    "COCLI_LOG_FORMAT",
    "COCLI_LOG_FILE",
    "COCLI_PAGER",
    "COCLI_BROWSER",
    "COCLI_MCP_TOKEN",
    "COCLI_MODULE_TOKEN",
    "COCLI_MODULE_CA",
    KAFKA_PASSWORD,
    f"{KAFKA_PASSWORD}{FILE_ENDING}",
)


class Rank(IntEnum):
    """Who wins: the higher rank."""

    DEFAULT = 0
    USER = 1
    CAMPAIGN = 2
    ENVIRONMENT = 3
    FLAG = 4


class SettingOrigin(NamedTuple):
    """Where a value came from: `/home/me/.config/cocli/config.toml:12`, `COCLI_FETCH_RATE`, `--store`, `default`."""

    rank: Rank
    where: str

    def __str__(self) -> str:
        return self.where


DEFAULT = SettingOrigin(Rank.DEFAULT, "default")


class SettingValue(NamedTuple):
    """What a setting is, and who said so."""

    value: Any
    origin: SettingOrigin


class Flags(NamedTuple):
    """What the command line said. Only what has a flag is here."""

    store: str | None = None
    campaign: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that is configured, for one campaign or for none."""

    environ: Environment
    flags: Flags
    user: ConfigFile | None = None
    campaign: ConfigFile | None = None
    values: dict[Leaf, SettingValue] = field(default_factory=dict)

    @property
    def data_home(self) -> SettingValue:
        return SettingValue(data_home(self.environ), self._variable("COCLI_DATA_HOME", "XDG_DATA_HOME"))

    @property
    def user_file(self) -> SettingValue:
        return SettingValue(user_file(self.environ), self._variable("COCLI_CONFIG", "XDG_CONFIG_HOME"))

    def _variable(self, *names: str) -> SettingOrigin:
        """The first variable that is set, as an origin; where none is, the default's."""
        for name in names:
            if self.environ.get(name):
                return SettingOrigin(Rank.ENVIRONMENT, name)
        return DEFAULT

    @property
    def store(self) -> SettingValue:
        """The address of the store: as `open_store` takes it."""
        if self.flags.store:
            return SettingValue(self.flags.store, SettingOrigin(Rank.FLAG, "--store"))
        if chosen := self.environ.get(STORE_VARIABLE):
            return SettingValue(chosen, SettingOrigin(Rank.ENVIRONMENT, STORE_VARIABLE))
        storage = self.values["storage", "url"]
        if storage.value == "local":
            return self.data_home
        return SettingValue(_store_url(self.values), storage.origin)

    def model(self) -> CampaignConfig:
        """The merged configuration of the campaign, checked as a whole."""
        data: dict[str, Any] = {}
        for leaf, value in self.values.items():
            if value.origin.rank > Rank.DEFAULT:
                _insert(data, leaf, value.value)
        try:
            return CampaignConfig.model_validate(data)
        except ValidationError as error:
            raise ConfigError(reason=f"the layers do not fit together: {explain(error)}") from error


def load_user_file(environ: Environment) -> ConfigFile | None:
    """The user's file, checked; None where there is none."""
    path = user_file(environ)
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(reason=f"{path} cannot be read: {os.strerror(error.errno or 0)}") from error
    return read_config(content, path, Scope.USER)


def resolve(environ: Environment, flags: Flags, user: ConfigFile | None, campaign: ConfigFile | None) -> Settings:
    """Merge the layers: flag, environment, campaign file, user file, default."""
    values: dict[Leaf, SettingValue] = {}
    for layer in (_defaults(), _from_file(user), _from_file(campaign), _from_environment(environ), _from_flags(flags)):
        values.update(layer)
    return Settings(environ, flags, user, campaign, values)


def unknown_variables(environ: Environment) -> list[tuple[str, str | None]]:
    """Variables that look like settings but are none, each with the one that was probably meant."""
    variables = [setting.variable for setting in settings()]
    known = [*_KNOWN_VARIABLES, *variables, *(f"{variable}{FILE_ENDING}" for variable in variables)]
    strangers = sorted(name for name in environ if name.startswith("COCLI_") and name not in known)
    return [(name, nearest(name, known)) for name in strangers]


def _defaults() -> Iterable[tuple[Leaf, SettingValue]]:
    for setting in settings():
        if setting.path != ("workers",):
            yield setting.path, SettingValue(setting.default, DEFAULT)


def _from_file(file: ConfigFile | None) -> Iterable[tuple[Leaf, SettingValue]]:
    if file is None:
        return
    rank = Rank.USER if file.scope is Scope.USER else Rank.CAMPAIGN
    for section, content in file.data.items():
        if isinstance(content, list):  # `[[watch]]`: a list of tables is one setting
            yield (section,), SettingValue(content, SettingOrigin(rank, f"{file.name}:{file.line((section,))}"))
            continue
        for name, value in content.items():
            leaf = (section, name)
            yield leaf, SettingValue(value, SettingOrigin(rank, f"{file.name}:{file.line(leaf)}"))


def _from_environment(environ: Environment) -> Iterable[tuple[Leaf, SettingValue]]:
    for setting in settings():
        variable, text = said(environ, setting.variable)
        if text:
            value = value_from_text(setting.path, text, where=variable)
            origin = SettingOrigin(Rank.ENVIRONMENT, variable)
            if setting.path == ("workers",):
                yield from ((("workers", host), SettingValue(counts, origin)) for host, counts in value.items())
            else:
                yield setting.path, SettingValue(value, origin)


def said(environ: Environment, variable: str) -> tuple[str, str | None]:
    """The variable that sets something, and what it says: itself, or the file that its twin names."""
    text, twin = environ.get(variable), f"{variable}{FILE_ENDING}"
    path = environ.get(twin)
    if text or not path:
        return variable, text
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            return twin, file.read(_LONGEST_FILE).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(reason=f"{twin}: {path} cannot be read: {reason}") from error


def _from_flags(flags: Flags) -> Iterable[tuple[Leaf, SettingValue]]:
    if flags.campaign:
        yield ("campaign", "name"), SettingValue(flags.campaign, SettingOrigin(Rank.FLAG, "argument"))


def _insert(data: dict[str, Any], leaf: Leaf, value: object) -> None:
    for part in leaf[:-1]:
        data = data.setdefault(part, {})
    data[leaf[-1]] = value


def _store_url(values: Mapping[Leaf, SettingValue]) -> str:
    """`[storage]` as one address: `s3://bucket/prefix?endpoint=…&region=…`."""
    url = str(values["storage", "url"].value)
    parameters = {
        name: values["storage", name].value
        for name in ("endpoint", "region", "profile")
        if values["storage", name].value is not None
    }
    if not parameters or "://" not in url:
        return url  # a server and a region mean nothing to a folder
    separator = "&" if "?" in url else "?"
    return f"{url}{separator}{urlencode(parameters, quote_via=quote, safe=':/')}"


def setting_name(leaf: Leaf) -> str:
    return join_key(leaf)
