"""What an answered search asks for: a list that was cut short is answered by the parts of its tile.

It continues a search that somebody ordered. New searches are not begun here: those ask others' machines for something,
and are ordered by a person (`mission`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.app.campaigns.mission import DEFAULT_AGE, micros, read_splits
from cocli.app.indexes.query import QueryOptions, opened_query
from cocli.app.queues.queues import opened_queue
from cocli.formats.usv_sql import quote_text
from cocli.pipeline.plan.mission import LACKING, QUEUE, Lacking, Mission

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Campaign

_CUT_SHORT = """
SELECT * FROM ({lacking}) AS lacking(tile, phrase, location, source, outcome, read_at, known)
WHERE outcome = 'cut_short' AND read_at >= {since}
ORDER BY tile, phrase, source
"""


def queue_follow_ups(indexes: Indexes, campaign: Campaign) -> int:
    """Queue the parts of tiles whose lists were cut short; how many tasks are new. Asking twice queues once."""
    since = campaign.store.now() - DEFAULT_AGE
    cut_short = _cut_short(indexes, campaign, since)
    if not cut_short:
        return 0
    mission = Mission(cut_short, read_splits(indexes, since))
    with opened_queue(campaign, QUEUE) as queue:
        return queue.put_many(mission.tasks()).queued


def _cut_short(indexes: Indexes, campaign: Campaign, since: datetime) -> list[Lacking]:
    """Readings of targets that were cut short lately. An older one is a search to be made anew, not to be continued."""
    sources = dict.fromkeys(campaign.settings.model().prospecting.sources)
    lacking = LACKING.format(sources=", ".join(map(quote_text, sources)), since=micros(since))
    sql = _CUT_SHORT.format(lacking=lacking, since=micros(since))
    with opened_query(indexes, sql, QueryOptions(fresh=True)) as query:
        return [Lacking._make(row) for row in query.result().rows()]
