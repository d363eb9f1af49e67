"""Which hosts are meant: `pi1`, `pi@10.0.0.5`, `pi1=pi@10.0.0.5`; and what each is known as in the campaign's file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cocli.app.workspace import Campaign
    from cocli.store.base import Store

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_TARGET = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*@)?[A-Za-z0-9\[][A-Za-z0-9._:\[\]%-]*")
"""What ssh is given as its destination; a dash at its beginning would be an option."""


@dataclass(frozen=True, slots=True)
class DeployTarget:
    name: str
    """As in `[workers.NAME]`, in heartbeats and in cluster status."""
    address: str
    """What ssh is told."""


@dataclass(frozen=True, slots=True)
class Serving:
    """What a supervisor is to serve: campaigns of one store."""

    address: str
    campaigns: tuple[str, ...]
    store: Store


def parse_target(text: str) -> DeployTarget:
    name, equals, address = text.partition("=")
    if not equals:
        address, name = name, name.rpartition("@")[2]
    if not _NAME.fullmatch(name) or not _TARGET.fullmatch(address):
        hint = "Write pi1, pi@10.0.0.5 or pi1=pi@10.0.0.5; ports and keys belong into ~/.ssh/config."
        raise UsageError(reason=f'"{text}" is not a host', hint=hint)
    return DeployTarget(name, address)


def chosen_targets(texts: Sequence[str], campaigns: Iterable[Campaign]) -> list[DeployTarget]:
    """Those that were named, or all that the campaigns' files have workers for."""
    named = texts or sorted({host for campaign in campaigns for host in campaign.settings.model().workers})
    if not named:
        hint = "Name one: cocli deploy pi1; or give it workers: cocli remote send 'scale enrichment=4' --host pi1"
        raise UsageError(reason="Which host? The campaign's file has workers for none", hint=hint)
    targets = [parse_target(text) for text in named]
    twice = sorted({target.name for target in targets if sum(other.name == target.name for other in targets) > 1})
    if twice:
        raise UsageError(reason=f"{twice[0]} is named twice")
    return targets


def servings(campaigns: Iterable[Campaign]) -> list[Serving]:
    """Campaigns by the store that they are in: one supervisor serves all of one store."""
    grouped: dict[str, list[Campaign]] = {}
    for campaign in campaigns:
        grouped.setdefault(str(campaign.settings.store.value), []).append(campaign)
    return [
        Serving(address, tuple(campaign.name for campaign in group), group[0].store)
        for address, group in grouped.items()
    ]
