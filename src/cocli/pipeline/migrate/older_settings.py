"""The `config.toml` of an older campaign → what a campaign of today is made from. What has no place there is named."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Mapping

_RADIUS_MILES = 10.0
"""What the older planner took where `proximity` was not set."""
_TAKEN = {
    "campaign": frozenset({"name", "tag", "timezone"}),
    "prospecting": frozenset(
        {"queries", "locations", "target-locations", "target-locations-csv", "proximity", "keywords"}
    ),
}


@dataclass(frozen=True, slots=True)
class OlderSettings:
    """Places are names, as a person wrote them; `table` is a CSV file of places, named from the campaign's folder."""

    phrases: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    table: str | None = None
    radius_miles: float = _RADIUS_MILES
    tag: str | None = None
    timezone: str | None = None
    not_taken: tuple[str, ...] = ()
    """Keys that mean nothing today: credentials, the browser's buttons, AWS names."""


def read_older_settings(data: bytes, *, file: str) -> OlderSettings:
    """Older versions wrote lists and single words alike, and two spellings of the places."""
    try:
        content = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(file=file, line=1, reason=f"no TOML: {error}") from error
    campaign, prospecting = _section(content, "campaign"), _section(content, "prospecting")
    table = prospecting.get("target-locations-csv")
    return OlderSettings(
        phrases=_texts(prospecting.get("queries")) or _texts(prospecting.get("keywords")),
        places=_texts(prospecting.get("target-locations")) or _texts(prospecting.get("locations")),
        table=table if isinstance(table, str) and table.strip() else None,
        radius_miles=_radius(prospecting.get("proximity")),
        tag=_text(campaign.get("tag")),
        timezone=_text(campaign.get("timezone")),
        not_taken=tuple(sorted(_others(content))),
    )


def _section(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = content.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _texts(value: object) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(text for entry in listed if (text := _text(entry))))


def _radius(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1000:
        return float(value)
    return _RADIUS_MILES


def _others(content: Mapping[str, Any]) -> list[str]:
    found = []
    for name, value in content.items():
        if isinstance(value, dict):
            found += [f"{name}.{key}" for key in value if key not in _TAKEN.get(name, ())]
        else:
            found.append(name)
    return found
