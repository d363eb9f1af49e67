"""Open places: files of open data, asked by tile and phrase.

    library = Library(folder, file_kinds())                          # the files that were added on this machine
    library.add(path, Claims(release="2026-01-21.0"), now)           # recognised, checked, copied sorted by tile
    with OpenPlaces(kind, library.files(kind.name), categories, account="acct") as places:
        capture = places.find(tile, "plumber")                       # raw rows as an intake document, how far it got
    parse_rows(capture.document, kind).places                        # → list[Place], pure

- `library`: the added files. `sorted_copy`, `json_rows`, `parquet_rows`: how a file becomes a copy sorted by tile.
- `search`: `OpenPlaces`. `parser`: `parse_rows`.
- `kind`: what the rows of every source have in common. `values`, `tags`, `opening_hours`: shared by the sources.

Which sources there are is no part of this: each has a folder of its own beside this one, and `registry` knows them.
"""

from cocli.pipeline.sources.open_places.library import Claims, Library
from cocli.pipeline.sources.open_places.parser import parse_rows
from cocli.pipeline.sources.open_places.search import OpenPlaces
from cocli.pipeline.sources.open_places.tiles import Box

__all__ = ["Box", "Claims", "Library", "OpenPlaces", "parse_rows"]
