"""The site: every file of the dashboard by its path. `cocli web` asks for one, `cocli web deploy` for all of them."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from cocli.app.web import campaigns as campaign_list
from cocli.app.web.captured_room import CapturedRoom
from cocli.app.web.cluster import make_machines, make_queues
from cocli.app.web.companies import make_companies, shards_of
from cocli.app.web.compare import make_compare
from cocli.app.web.config import make_config
from cocli.app.web.coverage import make_coverage, make_coverage_picture
from cocli.app.web.dashboard import make_dashboard, make_report_page
from cocli.app.web.data_file import (
    CAPTURED_POLICY,
    GEOJSON,
    HTML,
    JSON,
    PAGE_POLICY,
    SVG,
    DataFile,
    StoredFile,
    bytes_file,
    record_file,
    without_left_alone,
)
from cocli.app.web.downloads import KINDS, make_download
from cocli.app.web.schemas import MODELS, schema_bytes
from cocli.app.web.why import make_page, make_why
from cocli.config.version import __version__
from cocli.errors import NotFound
from cocli.models.web.site import WebSite

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator
    from datetime import datetime

    from cocli.app.web.basemap.map_source import MapSource
    from cocli.app.workspace import Workspace
    from cocli.pipeline.suppression.veil import Veil

_T = TypeVar("_T")
_REMEMBERED_SECONDS = 5.0


@dataclass(slots=True)
class DataSite:
    """What the files are made from. One may be asked by many threads."""

    workspace: Workspace
    mode: str = "live"
    campaigns: Collection[str] | None = None
    """Those that are shown; None for all of the store."""
    clock: Callable[[], datetime] | None = None
    """What `at` says; the store's clock where none is given."""
    basemap: MapSource | None = None
    """What is drawn below the map; None for the map that the program brings."""
    credits: str | None = None
    """Who made it."""
    captured: CapturedRoom = field(default_factory=CapturedRoom)
    _memory: dict[Hashable, tuple[float, Any]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> datetime:
        if self.clock is not None:
            return self.clock()
        return self.workspace.store.now()

    def remembered(self, key: Hashable) -> Any:
        """What was read in the last seconds; None if nothing was."""
        with self._lock:
            known = self._memory.get(key)
        if known is None or time.monotonic() - known[0] >= _REMEMBERED_SECONDS:
            return None
        return known[1]

    def remember(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """What many files of one moment are made from: read once in some seconds."""
        known: _T | None = self.remembered(key)
        if known is not None:
            return known
        made = make()
        with self._lock:
            self._memory[key] = (time.monotonic(), made)
        return made

    def forget(self) -> None:
        """Something was changed: what was remembered may be wrong."""
        with self._lock:
            self._memory.clear()

    # --- files

    def file(self, path: str) -> DataFile:
        """The file at a path below `data/`; `NotFound` if there is none."""
        for pattern, maker in _FILES:
            match = pattern.fullmatch(path)
            if match is not None:
                self._check(match.groupdict().get("campaign"))
                made: DataFile = maker(self, path, match)
                return without_left_alone(made, self.veil(match.groupdict().get("campaign")))
        raise NotFound(key=f"data/{path}", hint="docs/web-data.md lists the files.")

    def veil(self, name: str | None) -> Veil | None:
        """What every file of a campaign passes through: the do-not-contact list."""
        return self.remember(("left alone", name), lambda: (self._left_alone(name),))[0]

    def _left_alone(self, name: str | None) -> Veil | None:
        left_alone = self.workspace.campaign(name).left_alone if name else self.workspace.left_alone()
        return left_alone.veil()

    def stored(self, path: str) -> StoredFile | None:
        """A file of a search that lies on this machine already; None for all others."""
        match = _SEARCH.fullmatch(path)
        if match is None:
            return None
        from cocli.app.web.prospects.files import search_home, stored_file

        name = match["campaign"]
        self._check(name)
        home = self.remember(("search home", name), lambda: search_home(self.workspace, name))
        return stored_file(home, path, match["file"])

    def paths(self, name: str) -> Iterator[str]:
        """Every file of a campaign but those of its search, its companies' reasons and its captured pages."""
        for file in ("dashboard", "queues", "machines", "compare", "config"):
            yield f"{name}/{file}.json"
        yield from (f"{name}/coverage.geojson", f"{name}/coverage.svg", f"{name}/basemap.geojson")
        yield f"{name}/report.html"
        yield from (f"{name}/companies/{shard}.json" for shard in shards_of(self, name))
        yield from (f"{name}/exports/{name}{kind.ending}" for kind in KINDS)

    def shared_paths(self) -> Iterator[str]:
        """The files beside those of the campaigns."""
        yield from ("site.json", "campaigns.json")
        yield from (f"schemas/{name}.json" for name in MODELS)

    def _check(self, name: str | None) -> None:
        if name is not None and self.campaigns is not None and name not in self.campaigns:
            raise NotFound(key=f"campaign {name}")


def make_site(site: DataSite) -> WebSite:
    is_live = site.mode == "live"
    return WebSite(
        at=site.now(),
        mode="live" if is_live else "static",
        live=is_live,
        version=__version__,
        campaigns=tuple(campaign_list.known_campaigns(site.workspace, site.campaigns)),
        basemap=site.basemap.address if site.basemap else None,
        basemap_credits=site.credits,
    )


def _schema(_site: DataSite, path: str, match: re.Match[str]) -> DataFile:
    if match["name"] not in MODELS:
        raise NotFound(key=f"data/{path}")
    return bytes_file(path, schema_bytes(match["name"]), "application/schema+json")


def _prospects(site: DataSite, path: str, match: re.Match[str]) -> DataFile:
    from cocli.app.web.prospects.files import prospect_file  # here: the other files need no search

    return replace(prospect_file(site.workspace, match["campaign"], match["file"]), path=path)


def _download(site: DataSite, path: str, match: re.Match[str]) -> DataFile:
    made = make_download(site, match["campaign"], match["file"])
    with open(made.path, "rb") as file:
        data = file.read()
    return bytes_file(path, data, made.content_type, {"Content-Disposition": f'attachment; filename="{made.name}"'})


def _page(site: DataSite, path: str, match: re.Match[str]) -> DataFile:
    data = make_page(site, match["campaign"], match["company"], match["document"])
    return bytes_file(path, data, HTML, {"Content-Security-Policy": CAPTURED_POLICY})


def _base_map(site: DataSite, _path: str, match: re.Match[str]) -> DataFile:
    from cocli.app.web.basemap.base_map import make_base_map  # here: shapes are heavy, and one screen needs them

    return make_base_map(site, match["campaign"])


def _report(site: DataSite, path: str, match: re.Match[str]) -> DataFile:
    data = make_report_page(site, match["campaign"])
    return bytes_file(path, data, HTML, {"Content-Security-Policy": PAGE_POLICY})


def _picture(site: DataSite, path: str, match: re.Match[str]) -> DataFile:
    data = make_coverage_picture(site, match["campaign"])
    return bytes_file(path, data, SVG, {"Content-Security-Policy": CAPTURED_POLICY})


def _of_campaign(make: Callable[[DataSite, str], Any], content_type: str = JSON) -> Any:
    def maker(site: DataSite, path: str, match: re.Match[str]) -> DataFile:
        return record_file(path, make(site, match["campaign"]), content_type)

    return maker


_CAMPAIGN = r"(?P<campaign>[a-z0-9][a-z0-9-]{0,51})"
_HASH = r"[0-9a-f]{16}"
_SEARCH = re.compile(rf"{_CAMPAIGN}/prospects/(?P<file>[A-Za-z0-9._/-]{{1,200}})")
_FILES: list[tuple[re.Pattern[str], Any]] = [
    (re.compile(pattern), maker)
    for pattern, maker in (
        (r"site\.json", lambda site, path, _: record_file(path, make_site(site))),
        (r"campaigns\.json", lambda site, path, _: record_file(path, campaign_list.make_campaigns(site))),
        (r"schemas/(?P<name>[a-z-]+)\.json", _schema),
        (rf"{_CAMPAIGN}/dashboard\.json", _of_campaign(make_dashboard)),
        (rf"{_CAMPAIGN}/queues\.json", _of_campaign(make_queues)),
        (rf"{_CAMPAIGN}/machines\.json", _of_campaign(make_machines)),
        (rf"{_CAMPAIGN}/compare\.json", _of_campaign(make_compare)),
        (rf"{_CAMPAIGN}/config\.json", _of_campaign(make_config)),
        (rf"{_CAMPAIGN}/coverage\.geojson", _of_campaign(make_coverage, GEOJSON)),
        (rf"{_CAMPAIGN}/coverage\.svg", _picture),
        (rf"{_CAMPAIGN}/basemap\.geojson", _base_map),
        (rf"{_CAMPAIGN}/report\.html", _report),
        (
            rf"{_CAMPAIGN}/companies/(?P<shard>[0-9a-f]{{3}})\.json",
            lambda site, path, match: record_file(path, make_companies(site, match["campaign"], match["shard"])),
        ),
        (
            rf"{_CAMPAIGN}/why/(?P<company>{_HASH})\.json",
            lambda site, path, match: record_file(path, make_why(site, match["campaign"], match["company"])),
        ),
        (rf"{_CAMPAIGN}/pages/(?P<company>{_HASH})/(?P<document>[0-9a-f-]{{36}})\.html", _page),
        (_SEARCH.pattern, _prospects),
        (rf"{_CAMPAIGN}/exports/(?P<file>[a-z0-9.-]{{1,80}})", _download),
    )
]
"""Pattern of a path → what makes its file."""
