"""Which campaigns there are, with the figures of their last reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.app.campaigns.name import campaign_names
from cocli.app.machines.cluster import cluster_status
from cocli.app.results.report import read_report
from cocli.errors import CocliError, NotFound
from cocli.models.web.site import WebCampaignCard, WebCampaigns, WebProblem

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from cocli.app.web.site import DataSite
    from cocli.app.workspace import Workspace
    from cocli.fleet.stall import FleetProblem
    from cocli.models.report import Report
    from cocli.store.base import Store

_WORST_FIRST = ("stalled", "parser", "missing", "overdue", "silent", "queue", "upkeep", "disk", "clock")


def known_campaigns(workspace: Workspace, only: Collection[str] | None = None) -> list[str]:
    """The campaigns of the store, or those of them that are shown."""
    return sorted(name for name in campaign_names(workspace.store) if only is None or name in only)


def make_campaigns(site: DataSite) -> WebCampaigns:
    names = known_campaigns(site.workspace, site.campaigns)
    return WebCampaigns(at=site.now(), campaigns=tuple(_card(site.workspace, name) for name in names))


def _card(workspace: Workspace, name: str) -> WebCampaignCard:
    try:
        campaign = workspace.campaign(name)
        report, problems = last_report(campaign.store, name), cluster_status(campaign).problems
    except CocliError as error:  # shown on its card: the other campaigns are worth seeing all the same
        return WebCampaignCard(name=name, unreadable=error.message)
    told = web_problems(problems)
    coverage = report.coverage if report else None
    return WebCampaignCard(
        name=name,
        company=campaign.settings.model().campaign.company,
        prospects=report.prospects if report else None,
        with_email=report.emails.prospects if report else None,
        emails=report.emails.addresses if report else None,
        readings=coverage.readings if coverage else None,
        read=coverage.read if coverage else None,
        completeness=coverage.completeness if coverage else None,
        reported_at=report.at if report else None,
        problems=len(told),
        worst=f"{told[0].subject}: {told[0].message}" if told else None,
    )


def last_report(store: Store, campaign: str) -> Report | None:
    try:
        return read_report(store, campaign)
    except NotFound:
        return None


def web_problems(problems: Iterable[FleetProblem]) -> tuple[WebProblem, ...]:
    """What is wrong, the worst first."""
    found = [
        WebProblem(kind=problem.kind, subject=problem.subject, message=problem.message, hint=problem.hint)
        for problem in problems
    ]
    return tuple(sorted(found, key=_badness))


def _badness(problem: WebProblem) -> tuple[int, str, str]:
    known = problem.kind in _WORST_FIRST
    return _WORST_FIRST.index(problem.kind) if known else len(_WORST_FIRST), problem.kind, problem.subject
