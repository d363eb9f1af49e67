"""`python -m tests.kit.record_way`: one business of the demo town on its way from a tile to a spreadsheet, traced.

Prints JSON: for each step the source files whose functions ran, and the kinds of objects that appeared in the store.
A process of its own, because a tracer sees whatever else runs beside it.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import pkgutil
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import cocli
from cocli.cli.root import run
from cocli.demo.town import Town, build_town, serve_websites
from cocli.demo.town.business import Business
from cocli.demo.town.campaign import CAMPAIGN, TownHome, found_campaign
from cocli.errors import InvalidKey
from cocli.keys.paths import parse
from cocli.keys.tile import Tile

PACKAGE = Path(cocli.__file__).parent
_FUNCTION = 0x1
"""A flag of code objects: a function runs, and not the body of a class or module."""


class Tracer:
    """Which files of the package ran, step by step, in all threads."""

    def __init__(self) -> None:
        self.files: dict[str, set[str]] = defaultdict(set)
        self._step: str | None = None
        self._folder = f"{PACKAGE}/"

    def _called(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and self._step and code.co_flags & _FUNCTION and code.co_filename.startswith(self._folder):
            self.files[self._step].add(code.co_filename.removeprefix(self._folder))

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        self._step = name
        threading.setprofile(self._called)
        sys.setprofile(self._called)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            self._step = None


def steps(business: Business, home: TownHome) -> dict[str, list[str]]:
    """The way as a person types it."""
    table = str(home.folder / "list.csv")
    return {
        "plan": ["campaign", "plan", CAMPAIGN],
        "queue": ["campaign", "plan", CAMPAIGN, "--queue"],
        "search": ["worker", "gm-list", "-c", CAMPAIGN, "--once", "--workers", "1"],
        "website": ["worker", "enrichment", "-c", CAMPAIGN, "--once", "--workers", "1"],
        "settle": ["campaign", "settle", CAMPAIGN],
        "spreadsheet": ["export", CAMPAIGN, "--format", "csv-xlsx", "--out", table],
        "why": ["why", business.name, "email", "-c", CAMPAIGN],
    }


def trace() -> dict[str, dict[str, list[str]]]:
    load_everything()
    town, tracer = build_town(), Tracer()
    business = alone_in_its_tile(town)
    kinds: dict[str, set[str]] = {}
    with tempfile.TemporaryDirectory() as folder, serve_websites(town, hang_seconds=0.5) as websites:
        home = TownHome(Path(folder))
        found_campaign(home, town, websites, phrases=[business.trade.phrase])
        (home.folder / "town" / "territory.geojson").write_text(json.dumps(square(business.spot.tile)), "utf-8")
        before, environ = keys_in(home.data), home.environ
        for name, line in steps(business, home).items():
            with tracer.step(name), contextlib.redirect_stdout(io.StringIO()) as said:
                code = run(line, environ)
            if code:
                raise SystemExit(f"cocli {' '.join(line)} ended with {code}: {said.getvalue()}")
            after = keys_in(home.data)
            kinds[name] = {after[key] for key in after.keys() - before.keys()}
            before = after
        written = (home.folder / "list.csv").read_text("utf-8")
    if business.name not in written or "@" not in written:
        raise SystemExit(f"{business.name} is not in the spreadsheet with an address: {written}")
    return {name: {"files": sorted(tracer.files[name]), "keys": sorted(kinds[name])} for name in kinds}


def load_everything() -> None:
    """What a module does while it is imported is not the record's way."""
    for module in pkgutil.walk_packages(cocli.__path__, "cocli."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ModuleNotFoundError):  # of an extra that is not installed: no record passes it
                importlib.import_module(module.name)


def alone_in_its_tile(town: Town) -> Business:
    """A business with an ordinary website and no competitor near: then one record takes the whole way by itself."""
    neighbours: dict[tuple[str, Tile], list[Business]] = defaultdict(list)
    for business in town.businesses:
        if "overture" in business.sources:
            neighbours[business.trade.phrase, business.spot.tile].append(business)
    return next(
        alone
        for alone, *others in neighbours.values()
        if not others and alone.site is not None and alone.site.kind == "ordinary" and alone.site.emails
    )


def square(tile: Tile) -> dict[str, Any]:
    south, west = (round(float(part), 1) for part in str(tile).split("_"))
    north, east = round(south + 0.1, 1), round(west + 0.1, 1)
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    return {"type": "Polygon", "coordinates": [ring]}


def keys_in(folder: Path) -> dict[str, str]:
    """The objects of a store in a folder: key → its kind."""
    found = {}
    for file in folder.rglob("*"):
        key = file.relative_to(folder).as_posix()
        if file.is_file():
            with contextlib.suppress(InvalidKey):  # a lock or a clock of the store: no object
                found[key] = parse(key).TEMPLATE
    return found


if __name__ == "__main__":
    print(json.dumps(trace()))
