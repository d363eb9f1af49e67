"""The settings of the dashboard, which do not need a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from cocli.models.campaign import AuthSection, WebSection

if TYPE_CHECKING:
    from cocli.config.resolve import Settings

_S = TypeVar("_S", bound=BaseModel)


def web_section(settings: Settings) -> WebSection:
    """`[web]`."""
    return _section(settings, "web", WebSection)


def auth_section(settings: Settings) -> AuthSection:
    """`[auth]`."""
    return _section(settings, "auth", AuthSection)


def _section(settings: Settings, name: str, model: type[_S]) -> _S:
    return model.model_validate({field: settings.values[name, field].value for field in model.model_fields})
