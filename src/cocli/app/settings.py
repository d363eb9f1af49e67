"""What is configured, and who said so: the rows of `cocli config show`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.config.resolve import setting_name
from cocli.formats.secrets import mask_values

if TYPE_CHECKING:
    from cocli.app.workspace import Workspace
    from cocli.config.resolve import Leaf, Settings, SettingValue


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting as shown: credentials inside addresses are masked."""

    name: str
    value: object
    origin: str
    is_default: bool


def show_settings(workspace: Workspace, campaign: str | None) -> list[SettingRow]:
    """Every setting: of a campaign, or without one those that hold for all."""
    settings = workspace.campaign(campaign).settings if campaign else workspace.settings
    return list(_rows(settings))


def _rows(settings: Settings) -> list[SettingRow]:
    places: dict[Leaf, SettingValue] = {
        ("store",): settings.store,
        ("data_home",): settings.data_home,
        ("user_file",): settings.user_file,
    }
    return [
        SettingRow(setting_name(leaf), mask_values(value.value), str(value.origin), value.origin.rank == 0)
        for leaf, value in {**places, **settings.values}.items()
    ]
