"""The websites of businesses that no search brought: they are queued where nobody has read them yet.

A worker that searches queues the websites of what it found; whoever imports a list has no such worker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.app.indexes.indexes import needed_campaign
from cocli.app.indexes.query import QueryOptions, opened_query
from cocli.app.queues.queues import opened_queue
from cocli.index.reader import open_reader
from cocli.pipeline.exclusions import Exclusions, is_excluded
from cocli.pipeline.stages.enrichment_loop import QUEUE
from cocli.pipeline.stages.list_pass import website_tasks

if TYPE_CHECKING:
    from cocli.app.indexes.indexes import Indexes
    from cocli.models.prospect import Prospect
    from cocli.queue.base import PutReport

_UNVISITED = """
SELECT company_hash FROM prospects
WHERE (website <> '' OR domain <> '') AND NOT list_contains(from_json(sources, '["VARCHAR"]'), 'website')
"""
"""Businesses to which no website has said anything yet."""


def queue_websites(indexes: Indexes) -> PutReport:
    """Queue the websites of the campaign's businesses that were never asked. Asking twice queues once.

    What waits, ended or was set aside before is left as it is, and so is what `[exclude]` names.
    """
    campaign = needed_campaign(indexes)
    exclusions = Exclusions.of(campaign.settings.model().exclude, campaign.left_alone.listed)
    wanted = [business for business in _unvisited(indexes) if is_excluded(business, exclusions) is None]
    with opened_queue(campaign, QUEUE) as queue:
        return queue.put_many(website_tasks(wanted))


def _unvisited(indexes: Indexes) -> list[Prospect]:
    """In the order of their hashes, so that a website is asked as the first of its businesses names it."""
    with opened_query(indexes, _UNVISITED, QueryOptions(fresh=True)) as query:
        hashes = sorted(str(row[0]) for row in query.result().rows())
    if not hashes:
        return []
    found = open_reader(indexes.open(indexes.ref("prospects")), fresh=True).get_many(hashes)
    return [found[company] for company in hashes if company in found]
