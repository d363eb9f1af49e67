"""The four sources by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import UsageError
from cocli.pipeline.sources.alltheplaces.rows import AllThePlaces
from cocli.pipeline.sources.foursquare.rows import Foursquare
from cocli.pipeline.sources.openstreetmap.rows import OpenStreetMap
from cocli.pipeline.sources.overture.rows import Overture

if TYPE_CHECKING:
    from cocli.pipeline.sources.open_places.kind import OpenFileKind

KINDS: tuple[OpenFileKind, ...] = (Overture(), OpenStreetMap(), Foursquare(), AllThePlaces())
KIND_NAMES = tuple(kind.name for kind in KINDS)


def kind_of(name: str) -> OpenFileKind:
    for kind in KINDS:
        if kind.name == name:
            return kind
    raise UsageError(reason=f'"{name}" is not a source of open places', hint=f"Choose one of: {', '.join(KIND_NAMES)}")
