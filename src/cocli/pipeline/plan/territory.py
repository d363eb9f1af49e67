"""The territory of a campaign: its tiles, each with the location that it was planned for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.pipeline.plan.grid import tiles_of_area, tiles_of_circle

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.keys.tile import Tile
    from cocli.models.campaign import Location
    from cocli.pipeline.plan.areas import NamedArea


@dataclass(slots=True)
class Territory:
    """Tiles of overlapping locations are there once: the grid is the same for all of them."""

    tiles: dict[Tile, str | None] = field(default_factory=dict)
    """Tile → location. Where several want a tile, it is the first by name: whatever order they come in."""
    places: int = 0

    @classmethod
    def of_locations(cls, locations: Iterable[Location]) -> Territory:
        made = cls()
        for location in locations:
            made._add(location.name, tiles_of_circle(location.lat, location.lon, location.radius_miles))
        return made

    @classmethod
    def of_areas(cls, areas: Iterable[NamedArea]) -> Territory:
        made = cls()
        for area in areas:
            made._add(area.name, tiles_of_area(area.polygon))
        return made

    def _add(self, name: str | None, tiles: Iterable[Tile]) -> None:
        self.places += 1
        for tile in tiles:
            names = [known for known in (self.tiles.get(tile), name) if known is not None]
            self.tiles[tile] = min(names, default=None)
