"""The report of a campaign: asked of its indexes and queues, kept as `report.json`, drawn as a page."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from datetime import UTC, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.indexes.query import opened_query, options_at
from cocli.app.queues.queues import queue_names, queue_status
from cocli.app.queues.whereabouts import TasksByPlace, whereabouts
from cocli.app.results.figures import cover, put_together, search_figures, silent_sites
from cocli.app.results.prospects import excluded_companies
from cocli.app.whole_file import absolute, whole_file
from cocli.app.workspace import location, no_progress
from cocli.config.version import __version__
from cocli.errors import Conflict, Denied, FormatError, NotFound, UsageError, disk_full
from cocli.fleet.commands import WORKED
from cocli.formats import json_records
from cocli.index.versions import history
from cocli.keys.paths import ReportKey
from cocli.models.report import Counted, CoverageFigures, QueueFigures, Report
from cocli.pipeline.plan.coverage import CoverageState
from cocli.pipeline.plan.coverage_map import legend_of, render_svg
from cocli.pipeline.sources.registry import attributions
from cocli.results.companies.times import zone
from cocli.results.reports.figures import figures_of, report_sql
from cocli.results.reports.funnel import MOST_POINTS, funnel_of, points_of_versions, trend_of
from cocli.store.settled import create, swap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, tzinfo

    from cocli.app.campaigns.coverage import Covered
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.queues.queues import QueueStatus
    from cocli.app.results.downloads import DownloadFile
    from cocli.app.workspace import Campaign, Progress, Workspace
    from cocli.models.report import TrendPoint
    from cocli.pipeline.plan.coverage import Totals
    from cocli.results.reports.businesses import BusinessList
    from cocli.results.reports.figures import Figures
    from cocli.results.reports.published_page import FileLink
    from cocli.store.base import Store

_TRIES = 20
_CHANGES_SHOWN = timedelta(days=30)
_MAP_HEIGHT = 900.0
JSON_FILE, HTML_FILE = "report.json", "report.html"


@dataclass(slots=True)
class MadeReport:
    """A report, and where it is."""

    report: Report
    tiles: Mapping[str, Totals] = field(default_factory=dict)
    """What the map is drawn from; empty where nothing is planned."""
    businesses: BusinessList | None = None
    """The list for a page; None where nobody asked for one (`with_businesses`)."""
    path: str | None = None
    """Where `report.json` is kept; None if it could not be."""
    problem: str | None = None
    """Why it could not be kept."""
    zone: tzinfo = UTC
    """Where its times are shown."""


def make_report(workspace: Workspace, name: str, progress: Progress = no_progress) -> MadeReport:
    """Count everything now, and keep the result in the store. Who may only read gets the figures all the same."""
    indexes = campaign_indexes(workspace, name)
    made = _counted(indexes, progress)
    made.zone = zone(needed_campaign(indexes).settings.model().campaign.timezone)
    store, key = indexes.store, str(ReportKey(name))
    try:
        made.report = _keep(indexes, store, key, made.report)
        made.path = location(store, key)
    except Denied as error:
        made.report = made.report.with_changes(trend=_trend(indexes, store, key, made.report))
        made.problem = error.message
    return made


def report_as_of(indexes: Indexes, moment: datetime) -> Report:
    """What a report would have said at a time, counted from the versions of then; it is not kept.

    Nobody knows any more what waited in the queues: what was not read counts as not queued. What is excluded, and
    which sources and phrases there are, is that of now.
    """
    report = _counted(indexes, no_progress, moment).report
    kept = _earlier(indexes.store, str(ReportKey(report.campaign)))[0]
    before = [point for point in _before(indexes, kept) if point.at <= moment]
    return report.with_changes(trend=trend_of(report, before))


def past_report(workspace: Workspace, name: str, moment: datetime) -> MadeReport:
    """The same with what a page needs."""
    indexes = campaign_indexes(workspace, name)
    covered = cover(indexes, as_of=moment)
    where = zone(needed_campaign(indexes).settings.model().campaign.timezone)
    tiles = covered.coverage.tiles if covered else {}
    return MadeReport(report_as_of(indexes, moment), tiles=tiles, zone=where)


def read_report(store: Store, campaign: str) -> Report:
    """The report that was kept last; `NotFound` if there was none."""
    key = str(ReportKey(campaign))
    return json_records.read(Report, store.get(key).data, file=location(store, key))


# --- as files


def with_businesses(
    workspace: Workspace, made: MadeReport, progress: Progress = no_progress, as_of: datetime | None = None
) -> MadeReport:
    """The report with the list of its businesses, for a page: the same that an export would have."""
    from cocli.app.results.rows import wanted_businesses
    from cocli.results.reports.businesses import list_businesses

    indexes = campaign_indexes(workspace, made.report.campaign)
    return replace(made, businesses=list_businesses(wanted_businesses(indexes, progress, as_of)))


def render_html(made: MadeReport, downloads: Sequence[FileLink] = ()) -> str:
    """One page that needs nothing else: no other host. `downloads` are files that it leads to."""
    from cocli.results.reports.page import PageParts, render_page  # here: the figures alone need no templates

    businesses = made.businesses
    points = businesses.points if businesses else ()
    svg = None
    if made.tiles or points:
        title = f"{'Coverage' if made.tiles else 'Businesses'} of {made.report.campaign}"
        towns = businesses.towns if businesses else ()
        svg = render_svg(title, made.tiles, legend=False, tallest=_MAP_HEIGHT, points=points, towns=towns)
    legend = legend_of(made.tiles) if made.tiles else ()
    shown = made.report.model_copy(update={"at": made.report.at.astimezone(made.zone)})
    return render_page(shown, PageParts(svg, legend, businesses, downloads))


def write_html(made: MadeReport, path: str, downloads: Sequence[FileLink] = ()) -> str:
    text = render_html(made, downloads)
    with whole_file(path) as file:
        file.write(text.encode())
    return absolute(path)


def write_beside(workspace: Workspace, made: MadeReport, path: str) -> list[DownloadFile]:
    """The lists and the map, into the folder in which the page will be."""
    from cocli.app.results.downloads import write_downloads

    indexes = campaign_indexes(workspace, made.report.campaign)
    return write_downloads(indexes, os.path.dirname(absolute(path)), has_plan=bool(made.tiles)).files


def write_folder(workspace: Workspace, made: MadeReport, folder: str, *, with_downloads: bool = False) -> list[str]:
    """Both forms into a folder, which is made if need be."""
    target = absolute(folder)
    try:
        os.makedirs(target, exist_ok=True)
    except OSError as error:
        raise disk_full(error, target) or UsageError(reason=f"{target} cannot be made: {error.strerror}") from error
    json_path, html_path = os.path.join(target, JSON_FILE), os.path.join(target, HTML_FILE)
    with whole_file(json_path) as file:
        file.write(json_records.render(made.report))
    lists = write_beside(workspace, made, html_path) if with_downloads else []
    page = write_html(made, html_path, [made_list.beside() for made_list in lists])
    return [json_path, *(made_list.path for made_list in lists), page]


# --- counting


def _counted(indexes: Indexes, progress: Progress, as_of: datetime | None = None) -> MadeReport:
    campaign = needed_campaign(indexes)
    options = options_at(as_of)
    with opened_query(indexes, report_sql(excluded_companies(indexes, options)), options) as query:
        figures = figures_of(query.result().rows())
        seen = query.report
    tasks = {name: TasksByPlace() if as_of else whereabouts(campaign, name) for name in WORKED}
    covered = cover(indexes, progress, as_of)
    coverage = _coverage(covered) if covered else None
    report = Report(
        campaign=campaign.name,
        at=as_of or indexes.store.now(),
        version=__version__,
        figures=put_together(figures, tasks, search_figures(covered, tasks["gm-list"])),
        prospects=figures.prospects,
        merged=figures.merged,
        funnel=funnel_of(figures, coverage),
        coverage=coverage,
        fields=figures.fill_rates(),
        emails=figures.emails(),
        sources=figures.counted("source"),
        attribution=tuple(attributions(counted.name for counted in figures.counted("source"))),
        categories=figures.counted("category"),
        domains=_domains(figures, tasks["enrichment"]),
        changes=_changes(indexes, as_of),
        queues=() if as_of else _queues(campaign),
        versions=dict(seen.versions),
        unpacked={name: count for name, count in seen.unpacked.items() if count},
    )
    return MadeReport(report, covered.coverage.tiles if covered else {})


def _changes(indexes: Indexes, as_of: datetime | None) -> tuple[Counted, ...]:
    from cocli.app.freshness.changes import read_changes  # here: taking stock itself knows nothing of reports

    until = as_of or indexes.store.now()
    counts = read_changes(indexes, since=until - _CHANGES_SHOWN, until=until, limit=0).counts
    return tuple(Counted(name=kind, count=count) for kind, count in counts.items())


def _coverage(covered: Covered) -> CoverageFigures:
    totals = covered.coverage.totals
    return CoverageFigures(
        sources=covered.sources,
        targets=totals.pairs // max(1, len(covered.sources)),
        readings=totals.pairs,
        found=totals.found,
        completeness=totals.completeness,
        **{state.value: totals.states[state] for state in CoverageState},
    )


def _domains(figures: Figures, tasks: TasksByPlace) -> tuple[Counted, ...]:
    """The websites by what became of them. One that gave no answer for now is not called dead."""
    silent = silent_sites(figures, tasks)
    found = {row.name: row.count for row in figures.counted("domain")}
    found["dead"] = found.get("dead", 0) - silent
    found["no answer"] = silent
    rows = [Counted(name=name, count=count) for name, count in found.items() if count]
    return tuple(sorted(rows, key=lambda row: (-row.count, row.name)))


def _queues(campaign: Campaign) -> tuple[QueueFigures, ...]:
    return tuple(_queue(queue_status(campaign, name)) for name in queue_names(campaign))


def _queue(status: QueueStatus) -> QueueFigures:
    stats = status.stats
    if stats is None:
        return QueueFigures(queue=status.name, problem=status.problem)
    return QueueFigures(
        queue=status.name,
        pending=stats.pending,
        leased=stats.leased,
        expired=stats.expired,
        completed=stats.completed,
        sidelined=dict(stats.sidelined),
        rate_per_minute=stats.rate,
    )


# --- keeping


def _keep(indexes: Indexes, store: Store, key: str, report: Report) -> Report:
    """Swap the report in, with the trend of the one that it replaces: of two that race, both are in the trend."""
    for _ in range(_TRIES):
        earlier, etag = _earlier(store, key)
        whole = report.with_changes(trend=trend_of(report, _before(indexes, earlier)))
        data = json_records.render(whole)
        done = create(store, key, data) if etag is None else swap(store, key, data, etag)
        if done is not None:  # else somebody else's report came in between: it belongs to the trend
            return whole
    raise Conflict(key=key)


def _trend(indexes: Indexes, store: Store, key: str, report: Report) -> tuple[TrendPoint, ...]:
    return trend_of(report, _before(indexes, _earlier(store, key)[0]))


def _earlier(store: Store, key: str) -> tuple[Report | None, str | None]:
    try:
        stored = store.get(key)
    except NotFound:
        return None, None
    try:
        return json_records.read(Report, stored.data, file=key), stored.etag
    except FormatError:  # of another version, or damaged: a report is made of the indexes again, the trend begins anew
        return None, stored.etag


def _before(indexes: Indexes, earlier: Report | None) -> Sequence[TrendPoint]:
    if earlier is not None:
        return earlier.trend
    versions = islice(history(indexes.open(indexes.ref("prospects"))), MOST_POINTS // 2)
    return points_of_versions([(version.created_at, version.rows) for version in versions])
