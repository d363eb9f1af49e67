"""Harvesting a campaign: tiles that others have read, or that were read for it before, become its businesses."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cache
from itertools import chain, takewhile
from typing import TYPE_CHECKING

from cocli import logs
from cocli.app.campaigns.mission import DEFAULT_AGE, micros
from cocli.app.documents.documents import opened_documents
from cocli.app.documents.events import relaying
from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.indexes.query import QueryOptions, opened_query
from cocli.app.machines.stages import list_sinks, list_stage
from cocli.app.sources.sources import opening_of
from cocli.app.workspace import no_progress
from cocli.pipeline.exclusions import Exclusions
from cocli.pipeline.plan.harvest import AskedSource, HarvestQuestion, MeantPhrase, Unharvested
from cocli.pipeline.sources.graph_nodes import list_parser
from cocli.pipeline.sources.registry import source_named
from cocli.pipeline.stages.harvest import HarvestCounts, Harvester, HarvestFiles, is_lacking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import timedelta

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Campaign, Progress, Workspace
    from cocli.pipeline.sources.source import ListSource

_LOG = logs.get_logger(__name__)
_WORKER = "harvest"
"""In the witness of a tile that was read from a file on this machine."""


@dataclass(frozen=True, slots=True)
class HarvestOptions:
    age: timedelta = DEFAULT_AGE
    """What was read longer ago is read again, and not harvested."""
    files: bool = True
    """Whether a file of open data that lies here may be read, where the capture is of other categories or older."""
    dry_run: bool = False
    stop: Callable[[], bool] = lambda: False
    """Asked between tiles: whoever has no more time gets what was harvested so far."""


def harvest_campaign(
    workspace: Workspace, name: str, progress: Progress = no_progress, options: HarvestOptions | None = None
) -> HarvestCounts:
    """Take over what the campaign lacks of the tiles that were read. Where it lacks nothing, this is one query.

    Nobody is asked: captures are read again, and files that lie on this machine. What cannot be taken over is marked
    as missing, and `queue_mission` queues its tile. Machines that do it at the same time write the same records.
    """
    options = options or HarvestOptions()
    indexes = campaign_indexes(workspace, name)
    campaign = needed_campaign(indexes)
    with ExitStack() as stack:
        files = _files(stack, workspace, campaign, options)
        question = _question(campaign, files, options)
        query = stack.enter_context(opened_query(indexes, question.sql(), QueryOptions(fresh=True)))
        passes = _lacking(map(Unharvested._make, query.result().rows()), question, files)
        if options.dry_run:
            return HarvestCounts(tiles=sum(1 for _ in passes), dry_run=True)
        first = next(passes, None)
        if first is None:
            return HarvestCounts()
        harvester = _harvester(stack, workspace, indexes, campaign, files)
        harvester.harvest(_until(chain([first], passes), options.stop), progress)
    _LOG.info("campaign harvested", extra={"campaign": name, **asdict(harvester.counts)})
    return harvester.counts


def opened_harvester(stack: ExitStack, workspace: Workspace, indexes: Indexes) -> Harvester:
    """A harvester for whoever looks at captures that the campaign has. It is closed with the stack."""
    campaign = needed_campaign(indexes)
    return _harvester(stack, workspace, indexes, campaign, _files(stack, workspace, campaign, HarvestOptions()))


def _harvester(
    stack: ExitStack, workspace: Workspace, indexes: Indexes, campaign: Campaign, files: HarvestFiles
) -> Harvester:
    documents = stack.enter_context(opened_documents(workspace, campaign.name))
    stack.enter_context(relaying(documents))
    sinks = list_sinks(stack, campaign, documents, indexes)
    stage = list_stage(campaign, sinks, indexes, {}, worker=_WORKER)
    return Harvester(stage, sinks, files, account=documents.account)


def _files(stack: ExitStack, workspace: Workspace, campaign: Campaign, options: HarvestOptions) -> HarvestFiles:
    opening = opening_of(workspace, campaign, _WORKER)
    asked = [source for source in map(source_named, _sources(campaign)) if source.reads_files]
    added = {source.name: files for source in asked if (files := opening.library.files(source.name))}
    categories = cache(opening.categories)

    @cache
    def meaning(phrase: str, source: str) -> str:
        return categories().meaning(phrase, source).digest

    @cache
    def opened(source: str) -> ListSource:
        ready = source_named(source).opened(opening)
        stack.callback(ready.close)
        return ready

    return HarvestFiles(added if options.files else {}, meaning, opened)


def _sources(campaign: Campaign) -> tuple[str, ...]:
    return tuple(dict.fromkeys(campaign.settings.model().prospecting.sources))


def _question(campaign: Campaign, files: HarvestFiles, options: HarvestOptions) -> HarvestQuestion:
    """What the campaign would take over today. Meanings count where a file is here: who has none cannot do better."""
    config = campaign.settings.model()
    asked = [
        AskedSource(name, list_parser(source_named(name)), _newest(files, name))
        for name in _sources(campaign)
        if source_named(name).capture_of is not None
    ]
    phrases = dict.fromkeys(config.prospecting.queries)
    meant = [MeantPhrase(name, phrase, files.meaning(phrase, name)) for name in files.added for phrase in phrases]
    since = micros(campaign.store.now() - options.age)
    return HarvestQuestion(campaign.name, tuple(asked), tuple(meant), Exclusions.of(config.exclude).digest, since)


def _newest(files: HarvestFiles, source: str) -> int | None:
    there = files.added.get(source)
    return micros(there[0].about.as_of) if there else None


def _lacking(rows: Iterable[Unharvested], question: HarvestQuestion, files: HarvestFiles) -> Iterator[Unharvested]:
    parsers = {asked.source: asked.parser for asked in question.asked}
    for known in rows:
        if is_lacking(known, files, parser=parsers[known.source], exclusions=question.exclusions):
            yield known


def _until(passes: Iterator[Unharvested], stop: Callable[[], bool]) -> Iterator[Unharvested]:
    return takewhile(lambda _: not stop(), passes)
