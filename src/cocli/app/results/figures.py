"""The figures of a campaign, counted now: whoever shows one asks here, so that each is the same number everywhere.

docs/reference/figures.md says what each of them means; `cocli.results.reports.figures` has the questions.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cocli.app.campaigns.coverage import measure_coverage
from cocli.app.indexes.indexes import needed_campaign
from cocli.app.indexes.query import QueryOptions, opened_query
from cocli.app.queues.whereabouts import TasksByPlace, whereabouts
from cocli.app.results.prospects import excluded_companies
from cocli.app.workspace import no_progress
from cocli.fleet.commands import WORKED
from cocli.index.reader import open_reader
from cocli.keys.tile import Tile
from cocli.models.report import CampaignFigures, PlaceFigures, SearchFigures, WebsiteFigures
from cocli.pipeline.plan.coverage import CoverageState
from cocli.pipeline.plan.mission import first_id
from cocli.results.reports.figures import counting_sql, figures_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from cocli.app.campaigns.coverage import Covered
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Progress
    from cocli.results.reports.figures import Figures, OpenSite

_REASONS = {"blocked": "blocked", "failed": "failed", "attempts": "failed", "manual": "set aside"}
"""Category of a task that was set aside → the reason that people read."""
_NEEDS_BROWSER = "script-shell"
_EMPTY_WITHOUT_BROWSER = "empty without a browser"


def count_figures(indexes: Indexes) -> CampaignFigures:
    """Everything, counted now."""
    campaign = needed_campaign(indexes)
    tasks = {name: whereabouts(campaign, name) for name in WORKED}
    return put_together(read_figures(indexes), tasks, search_figures(cover(indexes), tasks["gm-list"]))


def read_figures(indexes: Indexes) -> Figures:
    """What the indexes say of businesses, websites and addresses."""
    excluded = excluded_companies(indexes, QueryOptions(fresh=True))
    with opened_query(indexes, counting_sql(excluded), QueryOptions(fresh=True)) as query:
        return figures_of(query.result().rows())


def put_together(figures: Figures, tasks: Mapping[str, TasksByPlace], searches: SearchFigures) -> CampaignFigures:
    details = tasks.get("gm-details", TasksByPlace())
    return CampaignFigures(
        searches=searches,
        places=PlaceFigures(waiting=_waiting(details), unread=_counted(map(reason_of, details.aside.values()))),
        businesses=figures.prospects,
        excluded=figures.excluded,
        with_website=figures.with_website,
        with_email=figures.with_email,
        websites=website_figures(figures, tasks.get("enrichment", TasksByPlace())),
        emails=figures.addresses,
    )


def reason_of(category: str) -> str:
    return _REASONS.get(category, category)


def _counted(reasons: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(reasons).items()))


def _waiting(tasks: TasksByPlace) -> int:
    if tasks.told is not None:
        return tasks.told.pending
    if tasks.many is not None:
        return tasks.many.pending
    return len(tasks.waiting)


# --- searches


def cover(indexes: Indexes, progress: Progress = no_progress, as_of: datetime | None = None) -> Covered | None:
    """Every search that is planned, and how it stands. None where nothing is planned: whoever imports has no plan."""
    plan = indexes.open(indexes.ref("target-tiles"))
    targets = open_reader(plan, as_of=as_of, empty_before=as_of is not None, fresh=as_of is None)
    if not targets.manifest.rows and not targets.overlaid:
        return None
    return measure_coverage(indexes, needed_campaign(indexes), limit=0, progress=progress, as_of=as_of)


def search_figures(covered: Covered | None, tasks: TasksByPlace) -> SearchFigures:
    """Each search once: those of the parts of a tile that was split are one with it."""
    if covered is None:
        return SearchFigures()
    waiting = {_root(task) for task in tasks.waiting}
    aside = {_root(task): reason_of(category) for task, category in tasks.aside.items()}
    counts, unread = Counter[str](), Counter[str]()
    for pair in covered.pairs:
        search = f"{pair.tile}_{pair.phrase}"
        if pair.state is CoverageState.READ:
            counts["read"] += 1
        elif search in waiting:
            counts["waiting"] += 1
        elif search in aside:
            unread[aside[search]] += 1
        elif pair.state is CoverageState.CUT_SHORT:
            counts["cut_short"] += 1
        elif pair.state is CoverageState.BLOCKED:
            unread["blocked"] += 1
        else:
            counts["unqueued"] += 1
    if tasks.told is not None and tasks.told.pending:  # which they are only the provider knows
        counts["waiting"], counts["unqueued"] = counts["unqueued"], 0
    return SearchFigures(planned=len(covered.pairs), unread=dict(sorted(unread.items())), **counts)


def _root(task_id: str) -> str:
    """The search that a task belongs to: for the part of a tile, that of the whole tile."""
    identity = first_id(task_id)
    lat, _, rest = identity.partition("_")
    lon, _, phrase = rest.partition("_")
    if len(lat.partition(".")[2]) < 2:
        return identity
    part = Tile.parse(lat, lon)
    whole = Tile(part.lat // Tile.WHOLE * Tile.WHOLE, part.lon // Tile.WHOLE * Tile.WHOLE)
    return f"{whole}_{phrase}"


# --- websites


def website_figures(figures: Figures, tasks: TasksByPlace) -> WebsiteFigures:
    counts, unread = Counter[str](), Counter[str]()
    for _, kind, reason in _judgements(figures, tasks):
        counts[kind] += 1
        if kind == "unread":
            unread[reason] += 1
    del counts["unread"]
    if tasks.told is not None and tasks.told.pending:
        counts["waiting"], counts["unqueued"] = counts["unqueued"], 0
    known = figures.sites_read + len(figures.open_sites)
    return WebsiteFigures(known=known, read=figures.sites_read, unread=dict(sorted(unread.items())), **counts)


def silent_sites(figures: Figures, tasks: TasksByPlace) -> int:
    """How many of those that were last seen dead may answer another day: they wait, or the last try failed."""
    return sum(site.status == "dead" and kind != "dead" for site, kind, _ in _judgements(figures, tasks))


def _judgements(figures: Figures, tasks: TasksByPlace) -> Iterator[tuple[OpenSite, str, str]]:
    waiting = {_domain(task) for task in tasks.waiting}
    aside = {_domain(task): category for task, category in tasks.aside.items()}
    for site in figures.open_sites:
        yield site, *_judged(site, waiting, aside.get(site.domain))


def _domain(task_id: str) -> str:
    """A second pass has a task of its own: `{domain}_{batch}`. No domain has an underscore."""
    return task_id.partition("_")[0]


def _judged(site: OpenSite, waiting: set[str], aside: str | None) -> tuple[str, str]:
    """Which figure a website is in that was not read, and the reason where it should have been."""
    if site.domain in waiting:
        return "waiting", ""
    if aside is not None and not (aside == "failed" and site.status == "dead"):
        needs_browser = aside == "blocked" and site.status == _NEEDS_BROWSER
        return "unread", _EMPTY_WITHOUT_BROWSER if needs_browser else reason_of(aside)
    if site.status in ("dead", "refused"):
        return site.status, ""
    if site.status is None:
        return "closed" if site.closed else "unqueued", ""
    return "unread", _EMPTY_WITHOUT_BROWSER if site.status == _NEEDS_BROWSER else site.status
