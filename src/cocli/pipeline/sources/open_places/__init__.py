"""Open places: files of Overture, OpenStreetMap, Foursquare and AllThePlaces, asked by tile and phrase.

    library = Library(folder)                                        # the files that were added on this machine
    library.add(path, Claims(release="2026-01-21.0"), now)           # recognised, checked, copied sorted by tile
    with OpenPlaces("overture", library.files("overture"), categories, account="acct") as places:
        capture = places.find(tile, "plumber")                       # raw rows as an intake document, how far it got
    parse(capture.document)                                          # → list[Place], pure

- `library`: the added files. `building`, `json_rows`, `parquet_rows`: how a file becomes a copy that is sorted by tile.
- `finding`: `OpenPlaces`. `parsing`: `parse`. `fetching`: loading a box of Overture's places over a network.
- `kinds`, and one module for each source: what its rows mean. `values`, `tags`, `opening_hours`: shared by them.
"""

from cocli.pipeline.sources.open_places.kinds import KIND_NAMES
from cocli.pipeline.sources.open_places.library import Claims, Library
from cocli.pipeline.sources.open_places.parser import parse, parse_rows
from cocli.pipeline.sources.open_places.search import OpenPlaces
from cocli.pipeline.sources.open_places.tiles import Box

__all__ = ["KIND_NAMES", "Box", "Claims", "Library", "OpenPlaces", "parse", "parse_rows"]
