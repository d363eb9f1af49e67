"""A campaign for a town: a home of its own in a folder, with the open-data file loaded and the websites within reach.

Everything after that is the product: whoever uses this runs its commands or its use cases.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cocli.app.campaigns.campaign import edit_campaign, new_campaign
from cocli.app.sources.sources import FileClaims, add_source
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.demo.town.hosts import write_hosts
from cocli.demo.town.overture import write_overture
from cocli.demo.town.trades import PHRASES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cocli.demo.town.town import Town
    from cocli.demo.town.websites.server import WebsiteServer

CAMPAIGN = "harrowmere"
RELEASE = "2026-11-01.0"
LATER_RELEASE = "2026-11-15.0"
"""Of the open data of the second epoch."""
ONE_ADDRESS = ("fetch.per_address=1000", "fetch.address_rate=100000")
"""All websites of the town lie at one address, which is our own: nobody has to be spared."""
_OBSERVED = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TownHome:
    """The folders of one machine, and where its store is: a folder beside them, unless it is told otherwise."""

    folder: Path
    store: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    """What else its processes need, such as credentials."""

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def environ(self) -> dict[str, str]:
        """The environment of its commands; nothing of the caller's settings is in it."""
        places = {
            "HOME": self.folder,
            "COCLI_DATA_HOME": self.data,
            "COCLI_CONFIG": self.folder / "config.toml",
            "COCLI_CACHE_HOME": self.folder / "cache",
            "COCLI_STATE_HOME": self.folder / "state",
        }
        found = {name: str(path) for name, path in places.items()}
        return found | ({"COCLI_STORE": self.store} if self.store else {}) | dict(self.variables)


def found_campaign(
    home: TownHome,
    town: Town,
    websites: WebsiteServer,
    changes: Sequence[str] = (),
    *,
    phrases: Sequence[str] = PHRASES,
) -> None:
    """Make the campaign in the home's store, and load the open data. `changes` are further settings, as `--set`."""
    files = write_files(home, town, websites)
    with open_workspace(home.environ, Flags()) as workspace:
        new_campaign(workspace, CAMPAIGN, phrases)
        settings = [
            f"prospecting.area={files / 'territory.geojson'}",
            f"fetch.hosts_file={files / 'hosts.json'}",
            'fetch.allow_networks=["127.0.0.0/8"]',
            "fetch.rate=100",
            *ONE_ADDRESS,
            *changes,
        ]
        edit_campaign(workspace, CAMPAIGN, [parse_change(text) for text in settings])
        load_places(workspace, files)


def join_campaign(home: TownHome, town: Town, websites: WebsiteServer) -> None:
    """Prepare another machine for a campaign that is in a shared store: it needs its own copy of the open data."""
    files = write_files(home, town, websites)
    with open_workspace(home.environ, Flags()) as workspace:
        load_places(workspace, files)


def write_files(home: TownHome, town: Town, websites: WebsiteServer) -> Path:
    """The open data, the territory and the host names, in the folder that is returned."""
    files = home.folder / "town"
    for folder in (files, home.data):
        folder.mkdir(parents=True, exist_ok=True)
    write_overture(town, files / "places.parquet")
    write_hosts(websites, files / "hosts.json")
    (files / "territory.geojson").write_text(_territory(town), "utf-8")
    return files


def load_places(workspace: Workspace, files: Path) -> None:
    claims = FileClaims(source="overture", release=RELEASE)
    add_source(workspace, str(files / "places.parquet"), claims, _OBSERVED)


def _territory(town: Town) -> str:
    """The region as a polygon: exactly its tiles."""
    west, south, east, north = town.region.bbox
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    return json.dumps({"type": "Polygon", "coordinates": [ring]}) + "\n"
