"""The demo town: a made-up region with some hundred businesses, their websites, an open-data file and a map site.

    town = build_town(seed=1)
    write_overture(town, folder / "places.parquet")
    with serve_websites(town) as websites:
        fetcher = Fetcher(resolve=websites.lookup, …)
    with serve_maps(town) as maps:
        page.goto(maps.search_url("dentist", *town.region.centre_tile.centre))
    truth = truth_of(town)

Everything follows from the seed: two builds are equal byte for byte. Nothing needs a network beyond loopback; host
names are looked up in the town alone.
"""

from __future__ import annotations

from cocli.demo.town.epoch import TrueChange, changes_between, grow_town
from cocli.demo.town.hosts import hosts_of, read_hosts, write_hosts
from cocli.demo.town.maps.site import MapsBehaviour, MapsSite, by_tile, serve_maps
from cocli.demo.town.overture import write_overture
from cocli.demo.town.town import Town, build_town
from cocli.demo.town.truth import Truth, truth_of
from cocli.demo.town.websites.server import WebsiteServer, serve_websites

__all__ = [
    "MapsBehaviour",
    "MapsSite",
    "Town",
    "TrueChange",
    "Truth",
    "WebsiteServer",
    "build_town",
    "by_tile",
    "changes_between",
    "grow_town",
    "hosts_of",
    "read_hosts",
    "serve_maps",
    "serve_websites",
    "truth_of",
    "write_hosts",
    "write_overture",
]
