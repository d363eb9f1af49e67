"""The first page of a campaign: problems, the last report, how the queues move, and what can be downloaded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.machines.cluster import cluster_status
from cocli.app.results.report import MadeReport, make_report, render_html, report_as_of, with_businesses
from cocli.app.web.campaigns import last_report, web_problems
from cocli.app.web.coverage import measured
from cocli.app.web.downloads import list_downloads
from cocli.formats import json_records
from cocli.models.web.dashboard import WebDashboard, WebQueueLine
from cocli.results.companies.times import zone

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.app.queues.queues import QueueStatus
    from cocli.app.web.site import DataSite


def make_dashboard(site: DataSite, name: str) -> WebDashboard:
    campaign = site.workspace.campaign(name)
    status = cluster_status(campaign)
    report = last_report(campaign.store, name)
    return WebDashboard(
        campaign=name,
        at=site.now(),
        timezone=campaign.settings.model().campaign.timezone,
        problems=web_problems(status.problems),
        report=json.loads(json_records.render(report)) if report else None,
        queues=tuple(_line(queue) for queue in status.queues),
        downloads=list_downloads(site, name),
        report_link=f"data/{name}/report.html",
        map_link=f"data/{name}/coverage.svg" if report and report.coverage else None,
        refresh_command=f"cocli report -c {name}",
    )


def past_dashboard(site: DataSite, name: str, moment: datetime) -> WebDashboard:
    """The figures of then. Problems, queues and downloads are of now, and are left out."""
    indexes = campaign_indexes(site.workspace, name)
    report = report_as_of(indexes, moment)
    return WebDashboard(
        campaign=name,
        at=moment,
        timezone=needed_campaign(indexes).settings.model().campaign.timezone,
        problems=(),
        report=json.loads(json_records.render(report)),
        report_link=f"data/{name}/report.html",
        refresh_command=f"cocli report -c {name}",
    )


def _line(queue: QueueStatus) -> WebQueueLine:
    stats = queue.stats
    if stats is None:
        return WebQueueLine(queue=queue.name, waiting=0, leased=0, problem=queue.problem)
    return WebQueueLine(
        queue=queue.name,
        waiting=max(0, stats.waiting),
        leased=stats.leased,
        done_recently=stats.completed_recently,
        recent_seconds=stats.recent.total_seconds() if stats.recent else None,
    )


def make_report_page(site: DataSite, name: str) -> bytes:
    """The report as one page: what remains where no script runs. The figures are those that were kept last."""
    indexes = campaign_indexes(site.workspace, name)
    report = last_report(indexes.store, name)
    if report is None:
        made = make_report(site.workspace, name)
    else:
        covered = measured(indexes)
        tiles = covered.coverage.tiles if covered else {}
        where = zone(needed_campaign(indexes).settings.model().campaign.timezone)
        made = MadeReport(report, tiles=tiles, zone=where)
    return render_html(with_businesses(site.workspace, made)).encode()
