"""Which files are deployed, in the order in which they are written: what others name comes before who names it."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING

from cocli.app.companies.companies import exclusions_of
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.results.exports import ExportOptions, export_to_file
from cocli.app.results.report import make_report, render_html
from cocli.app.results.rows import wanted_businesses
from cocli.app.web.basemap.map_source import PMTILES_PATH
from cocli.app.web.campaigns import known_campaigns
from cocli.app.web.companies import make_companies, shards_of
from cocli.app.web.dashboard import make_dashboard
from cocli.app.web.data_file import (
    CAPTURED_POLICY,
    HTML,
    PAGE_POLICY,
    DataFile,
    bytes_file,
    record_file,
    without_left_alone,
)
from cocli.app.web.downloads import KINDS
from cocli.app.web.prospects.files import MANIFEST, content_type, prospect_files
from cocli.app.web.shell import IMMUTABLE, MAP_PAGE, SHELL_POLICY
from cocli.app.web.site import make_site
from cocli.app.web.why import make_why
from cocli.errors import ConfigError, NotFound
from cocli.results.exports.filters import BusinessFilter
from cocli.results.exports.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cocli.app.web.deploy.redaction import Redaction
    from cocli.app.web.downloads import DownloadKind
    from cocli.app.web.shell import WebShell
    from cocli.app.web.site import DataSite

TEXT = "text/plain; charset=utf-8"
RECORD = "data/deployed.json"
_COMPANIES = "companies/"
_EXPORTS = "exports/"
_TABLES = frozenset({"csv", "xlsx", "parquet", "geojson"})
"""The formats that hold the chosen columns and nothing else: a description in KML names contacts, too."""
_MOST_TILES = 512 << 20


class Phase(IntEnum):
    """Files of one phase are written in any order, phases one after the other."""

    FIRST = 0
    """`robots.txt`, `_headers`."""
    NAMED_BY_CONTENT = 1
    """Never changed: assets, blocks of the search."""
    DATA = 2
    LISTS = 3
    """What names data: manifests, the dashboard, the list of campaigns."""
    LAST = 4
    """`index.html`."""


@dataclass(frozen=True, slots=True)
class SiteFile:
    """One file to write."""

    phase: Phase
    file: DataFile

    @property
    def is_lasting(self) -> bool:
        return self.phase is Phase.NAMED_BY_CONTENT


@dataclass(slots=True)
class PublishedSite:
    """The files of a site, made one after the other."""

    site: DataSite
    shell: WebShell
    redaction: Redaction
    why: bool = True
    pages: bool = False
    """Also the captured pages: they belong to others."""
    expires_at: datetime | None = None
    _wanted: dict[str, frozenset[str]] = field(default_factory=dict)

    def campaigns(self) -> list[str]:
        return known_campaigns(self.site.workspace, self.site.campaigns)

    def exclusions(self) -> str:
        """What is excluded, in a word that changes with it."""
        found = [exclusions_of(self.site.workspace.campaign(name)) for name in self.campaigns()]
        return " ".join(exclusions.digest if exclusions else "-" for exclusions in found)

    def files(self) -> Iterator[SiteFile]:
        """Every file, without what is on the do-not-contact list of the store or of any campaign that is shown."""
        veils = [veil for name in (None, *self.campaigns()) if (veil := self.site.veil(name)) is not None]
        for made in self._files():
            file = made.file
            for veil in veils:
                file = without_left_alone(file, veil)
            yield replace(made, file=file)

    def _files(self) -> Iterator[SiteFile]:
        names = self.campaigns()
        yield from _told(
            Phase.FIRST, [_headers(self.shell), bytes_file("robots.txt", b"User-agent: *\nDisallow: /\n", TEXT)]
        )
        yield from _told(Phase.NAMED_BY_CONTENT, self._assets())
        for name in names:
            yield from _told(Phase.NAMED_BY_CONTENT, self._search(name, manifest=False))
        for name in names:
            yield from _told(Phase.DATA, self._data(name))
        yield from _told(Phase.DATA, self._map_tiles())
        for name in names:
            yield from _told(Phase.LISTS, self._search(name, manifest=True))
            yield from _told(Phase.LISTS, [self._dashboard(name)])
        yield from _told(Phase.LISTS, self._shared())
        pages = [self.shell.map_page()] if self.shell.tiles else []
        yield from _told(Phase.LAST, [*pages, self.shell.index(names)])

    def _assets(self) -> Iterator[DataFile]:
        for path in sorted(self.shell.assets):
            yield replace(self.shell.asset(path), path=f"assets/{self.shell.tree_hash}/{path}")

    def _search(self, name: str, *, manifest: bool) -> Iterator[DataFile]:
        made = prospect_files(campaign_indexes(self.site.workspace, name), self.redaction.fields)
        for file in made.names():
            if (file == MANIFEST) is manifest:
                headers = {} if manifest else {"Cache-Control": IMMUTABLE}
                yield bytes_file(f"data/{name}/prospects/{file}", made.read(file), content_type(file), headers)

    def _data(self, name: str) -> Iterator[DataFile]:
        skipped = (f"{name}/dashboard.json",)
        own = (f"{name}/{_COMPANIES}", f"{name}/{_EXPORTS}", f"{name}/report.html", f"{name}/config.json")
        for path in self.site.paths(name):
            if path not in skipped and not path.startswith(own):
                yield _below_data(self.site.file(path))
        yield from self._lists(name)
        yield self._report(name)
        if self.redaction.is_whole:
            yield _below_data(self.site.file(f"{name}/config.json"))
        for shard in shards_of(self.site, name):
            made = self.redaction.companies(make_companies(self.site, name, shard), self._wanted_of(name))
            yield record_file(f"data/{name}/{_COMPANIES}{shard}.json", made)
        if self.why:
            yield from self._reasons(name)

    def _reasons(self, name: str) -> Iterator[DataFile]:
        shows_pages = self.pages and self.redaction.is_whole
        for company in sorted(self._wanted_of(name)):
            try:
                made = make_why(self.site, name, company)
            except NotFound:  # a person made its page: nothing was observed
                continue
            kept = self.redaction.why(made, pages=shows_pages)
            yield record_file(f"data/{name}/why/{company}.json", kept)
            for document in kept.documents:
                if document.page_link is not None:
                    yield _below_data(self.site.file(document.page_link.removeprefix("data/")))

    def _wanted_of(self, name: str) -> frozenset[str]:
        if name not in self._wanted:
            rows = wanted_businesses(campaign_indexes(self.site.workspace, name))
            self._wanted[name] = frozenset(row.company_hash for row in rows)
        return self._wanted[name]

    # --- lists, report, dashboard

    def _kinds(self) -> list[DownloadKind]:
        if self.redaction.is_whole:
            return list(KINDS)
        has_email = "email" in self.redaction.fields
        return [kind for kind in KINDS if kind.format in _TABLES and (has_email or not kind.with_email)]

    def _lists(self, name: str) -> Iterator[DataFile]:
        for kind in self._kinds():
            path = f"data/{name}/{_EXPORTS}{name}{kind.ending}"
            if self.redaction.is_whole:
                yield _below_data(self.site.file(path.removeprefix("data/")))
            else:
                yield self._shortened(name, kind, path)

    def _shortened(self, name: str, kind: DownloadKind, path: str) -> DataFile:
        """A list with the columns that may leave."""
        indexes = campaign_indexes(self.site.workspace, name)
        wanted = BusinessFilter(with_email=kind.with_email)
        options = ExportOptions(format=kind.format, columns=self.redaction.export_columns, wanted=wanted)
        with tempfile.TemporaryDirectory(prefix="cocli-deploy-") as folder:
            made = os.path.join(folder, f"list{kind_of(kind.format).ending}")
            export_to_file(indexes, options, made)
            with open(made, "rb") as file:
                data = file.read()
        headers = {"Content-Disposition": f'attachment; filename="{name}{kind.ending}"'}
        return bytes_file(path, data, kind.content_type, headers)

    def _report(self, name: str) -> DataFile:
        if self.redaction.is_whole:
            return _below_data(self.site.file(f"{name}/report.html"))
        page = render_html(make_report(self.site.workspace, name))  # without the list of businesses
        headers = {"Content-Security-Policy": PAGE_POLICY}
        return bytes_file(f"data/{name}/report.html", page.encode(), HTML, headers)

    def _dashboard(self, name: str) -> DataFile:
        if self.redaction.is_whole:
            return _below_data(self.site.file(f"{name}/dashboard.json"))
        made = make_dashboard(self.site, name)
        links = {f"{name}{kind.ending}" for kind in self._kinds()}
        kept = tuple(
            download.model_copy(update={"rows": None, "bytes": None, "at": None})
            for download in made.downloads
            if download.name in links
        )
        return record_file(f"data/{name}/dashboard.json", made.with_changes(downloads=kept))

    def _map_tiles(self) -> Iterator[DataFile]:
        """The file of map tiles, where it is one of this machine."""
        source = self.site.basemap
        if source is None or source.file is None:
            return
        size = os.path.getsize(source.file)
        if size > _MOST_TILES:
            raise ConfigError(
                reason=f"[web] basemap has {size >> 20} MB, and at most {_MOST_TILES >> 20} MB are deployed",
                hint="Cut it to the campaign's area, or put it into a bucket and name its https address.",
            )
        with open(source.file, "rb") as file:
            yield bytes_file(f"data/{PMTILES_PATH}", file.read(), "application/vnd.pmtiles")

    def _shared(self) -> Iterator[DataFile]:
        for path in self.site.shared_paths():
            if path != "site.json":
                yield _below_data(self.site.file(path))
        about = make_site(self.site).with_changes(
            expires_at=self.expires_at, fields_left_out=self.redaction.left_out, mode="static", live=False
        )
        yield record_file("data/site.json", about)


def _told(phase: Phase, files: Iterator[DataFile] | list[DataFile]) -> Iterator[SiteFile]:
    for file in files:
        yield SiteFile(phase, file)


def _below_data(file: DataFile) -> DataFile:
    return replace(file, path=f"data/{file.path}")


def _headers(shell: WebShell) -> DataFile:
    """What an object cannot carry, for the server in front, as static hosts read it: a path, and headers below it."""
    rules = {
        "/*": {
            "X-Robots-Tag": "noindex, nofollow",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Strict-Transport-Security": "max-age=31536000",
        },
        "/": {"Content-Security-Policy": SHELL_POLICY},
        "/index.html": {"Content-Security-Policy": SHELL_POLICY},
        f"/{MAP_PAGE}": {"Content-Security-Policy": shell.map_policy},
        "/assets/*": {"Cache-Control": IMMUTABLE},
        "/data/*/report.html": {"Content-Security-Policy": PAGE_POLICY},
        "/data/*/pages/*": {"Content-Security-Policy": CAPTURED_POLICY},
        "/data/*/coverage.svg": {"Content-Security-Policy": CAPTURED_POLICY},
    }
    lines = [
        line
        for path, headers in rules.items()
        for line in (path, *(f"  {name}: {value}" for name, value in headers.items()))
    ]
    return bytes_file("_headers", ("\n".join(lines) + "\n").encode(), TEXT)
