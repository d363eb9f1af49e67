"""Second passes: websites that are read again, as a batch that remembers how things stood before.

The batch is a file of the campaign (`exports/batches/{batch}.json`), written once. Its tasks are named
`{domain}_{batch}`, so that a task that ended before does not swallow them, and the same batch twice is queued once.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import Field, ValidationError

from cocli.app.campaigns.differences import EXAMPLES, Differences
from cocli.app.campaigns.sites import SiteSummary, domain_of, opened_sites, summary_of
from cocli.app.queues.queues import ended_on_store, opened_queue
from cocli.app.websites.enrich import site_work
from cocli.errors import FormatError, NotFound, UsageError
from cocli.keys.paths import ExportKey, campaign_folder
from cocli.models.record import CountryText, DomainText, Hash16, Label, Many, RecordPart, Text, UtcDatetime, explain
from cocli.pipeline.exclusions import is_excluded
from cocli.pipeline.stages.enrichment_loop import QUEUE
from cocli.queue.base import NewTask
from cocli.store import settled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cocli.app.campaigns.sites import CampaignSites
    from cocli.app.workspace import Campaign, Workspace
    from cocli.models.prospect import Prospect
    from cocli.models.work import EnrichmentWork

BATCHES = "batches/"
MAX_REJECTED = 1_000
_BATCH = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_HASH = re.compile(r"[0-9a-f]{16}")
_HEADINGS = ("company_hash", "domain", "website", "url", "hash", "site", "prospect")
"""Columns that say which site is meant, in the order in which they are asked."""


class BatchSite(RecordPart):
    """A site of a batch: its task, and what was known of it before."""

    domain: DomainText
    url: Text
    country: CountryText | None = None
    prospects: Many[Hash16] = ()
    with_email: int = 0
    """Of these prospects, how many had an address."""
    before: SiteSummary


class Batch(RecordPart):
    """The file of a batch."""

    batch: Label
    campaign: Label
    created_at: UtcDatetime
    sites: Many[BatchSite] = Field(default=())


@dataclass(frozen=True, slots=True)
class RejectedSite:
    line: int
    reason: str


@dataclass(slots=True)
class Enqueued:
    batch: str
    key: str
    sites: int
    outcomes: dict[str, int] = field(default_factory=dict)
    """queued (or would_queue), already_pending, already_completed, already_sidelined."""
    rejected: list[RejectedSite] = field(default_factory=list)
    dry_run: bool = False


@dataclass(slots=True)
class Evaluation:
    batch: Batch
    tasks: dict[str, int]
    """How many tasks are completed, sidelined, waiting."""
    differences: Differences
    """Of the sites whose task has ended."""
    prospects_before: int
    with_email_before: int
    prospects_now: int
    """Of the same domains: two may have turned out to be one since."""
    with_email_now: int


# --- putting a batch together


def enqueue_batch(
    workspace: Workspace,
    name: str,
    data: bytes,
    *,
    batch: str | None = None,
    brief: bool = False,
    dry_run: bool = False,
) -> Enqueued:
    """Queue the sites of a CSV file again. `batch` names it; else its name follows from the sites.

    With `brief`, a site is asked for the pages that have its contacts, as long as they are as they were.
    """
    if batch is not None and not _BATCH.fullmatch(batch):
        raise UsageError(
            reason=f'"{batch[:60]}" cannot be the name of a batch',
            hint="Lower-case letters, digits and dashes, up to 40.",
        )
    cells, rejected = read_cells(data)
    with opened_sites(workspace, name) as sites:
        works = _works(sites, cells, rejected)
        if not works:
            why = ""
            if rejected:
                why = f": line {rejected[0].line}: {rejected[0].reason}"
            raise UsageError(
                reason=f"the file names no website that could be read again{why}",
                hint=f"Write one with: cocli campaign retry {name} --without-email --dry-run --csv FILE",
            )
        batch = batch or _name_of(works)
        key = str(ExportKey(name, f"{BATCHES}{batch}.json"))
        report = Enqueued(batch, key, len(works), rejected=rejected[:MAX_REJECTED], dry_run=dry_run)
        if dry_run:
            report.outcomes = {"would_queue": len(works)}
            return report
        _remember(sites, key, batch, works)
        payloads = [work.model_copy(update={"brief": brief}).model_dump(mode="json") for work in works]
        tasks = [NewTask(task_id(str(payload["domain"]), batch), payload) for payload in payloads]
        with opened_queue(sites.campaign, QUEUE) as queue:
            report.outcomes = {str(outcome): count for outcome, count in queue.put_many(tasks).counts.items()}
    return report


def task_id(domain: str, batch: str) -> str:
    """No domain has an underscore, so no two batches meet."""
    return f"{domain}_{batch}"


def read_cells(data: bytes) -> tuple[list[tuple[int, str]], list[RejectedSite]]:
    """The sites that a CSV file names, with their lines: by its heading, or by the first column where it has none."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(file="the batch", line=1, reason=f"it is not UTF-8: {error.reason}") from error
    rows = csv.reader(io.StringIO(text, newline=""))
    found: list[tuple[int, str]] = []
    rejected: list[RejectedSite] = []
    columns: list[int] | None = None
    try:
        for row in rows:
            if columns is None:
                heading = [cell.strip().lower() for cell in row]
                columns = [heading.index(name) for name in _HEADINGS if name in heading]
                if columns:
                    continue
                columns = [0]
            given = (row[column].strip().removeprefix("'") for column in columns if column < len(row))
            value = next((cell_text for cell_text in given if cell_text), "")
            if value:
                found.append((rows.line_num, value))
            elif any(row):
                rejected.append(RejectedSite(rows.line_num, "it names neither a website nor a prospect"))
    except csv.Error as error:
        raise FormatError(file="the batch", line=rows.line_num, reason=str(error)) from error
    return found, rejected


def _works(
    sites: CampaignSites, cells: Iterable[tuple[int, str]], rejected: list[RejectedSite]
) -> list[EnrichmentWork]:
    by_domain = sites.by_domain()
    by_hash = {owner.company_hash: domain for domain, owners in by_domain.items() for owner in owners}
    exclusions = sites.exclusions
    works: dict[str, EnrichmentWork] = {}
    for line, value in cells:
        try:
            work = _work(value, by_domain, by_hash)
        except UsageError as error:  # one line of many: it is reported with its number
            rejected.append(RejectedSite(line, error.message))
            continue
        owners = [owner for owner in by_domain.get(work.domain, []) if is_excluded(owner, exclusions) is None]
        if by_domain.get(work.domain) and not owners:
            rejected.append(RejectedSite(line, f"{work.domain}: its prospects are excluded"))
            continue
        works.setdefault(
            work.domain, work.model_copy(update={"prospects": tuple(owner.company_hash for owner in owners)})
        )
    return list(works.values())


def _work(value: str, by_domain: Mapping[str, Sequence[Prospect]], by_hash: Mapping[str, str]) -> EnrichmentWork:
    if _HASH.fullmatch(value):
        domain = by_hash.get(value)
        if domain is None:
            raise UsageError(reason=f"{value}: no prospect of this campaign with a website of its own has this hash")
        value = domain
    given = site_work(value)
    owners = by_domain.get(given.domain, ())
    countries = {owner.country for owner in owners if owner.country}
    named_whole = "/" in value  # an address, and not only a domain: then it is asked as it stands
    website = None if named_whole else next((owner.website for owner in owners if owner.website), None)
    return given.model_copy(
        update={"url": website or given.url, "country": countries.pop() if len(countries) == 1 else None}
    )


def _name_of(works: Iterable[EnrichmentWork]) -> str:
    return hashlib.sha256("\n".join(sorted(work.domain for work in works)).encode()).hexdigest()[:10]


def _remember(sites: CampaignSites, key: str, batch: str, works: Sequence[EnrichmentWork]) -> None:
    """Write down how things stand, before anything is queued; a batch that is there keeps what it says."""
    owners = {owner.company_hash: owner for group in sites.by_domain().values() for owner in group}
    store = sites.campaign.store
    file = Batch(
        batch=batch,
        campaign=sites.campaign.name,
        created_at=store.now(),
        sites=tuple(
            BatchSite(
                domain=work.domain,
                url=work.url,
                country=work.country,
                prospects=work.prospects,
                with_email=sum(_has_email(owners[company]) for company in work.prospects),
                before=summary_of(sites.website(work.domain)),
            )
            for work in works
        ),
    )
    if settled.create(store, key, file.model_dump_json(indent=1).encode() + b"\n") is not None:
        return
    known = {site.domain for site in read_batch(sites.campaign, batch).sites}
    if known != {work.domain for work in works}:
        raise UsageError(
            reason=f"There is a batch {batch} already, and it has other sites", hint="Name this one with --batch NAME."
        )


# --- looking back


def read_batch(campaign: Campaign, batch: str) -> Batch:
    try:
        data = campaign.store.get(str(ExportKey(campaign.name, f"{BATCHES}{batch}.json"))).data
    except NotFound as error:
        known = ", ".join(batch_names(campaign)) or "none"
        raise UsageError(reason=f'There is no batch "{batch[:60]}". Known batches: {known}.') from error
    try:
        return Batch.model_validate_json(data)
    except ValidationError as error:
        raise FormatError(file=f"the batch {batch}", line=1, reason=explain(error)) from error


def batch_names(campaign: Campaign) -> list[str]:
    """In the order of their names."""
    folder = f"{campaign_folder(campaign.name)}exports/{BATCHES}"
    keys = (info.key[len(folder) :] for info in campaign.store.list(folder))
    return sorted(name.removesuffix(".json") for name in keys if name.endswith(".json"))


def evaluate_batch(workspace: Workspace, name: str, batch: str, *, examples: int = EXAMPLES) -> Evaluation:
    """What came of a batch: its sites as they were before, and as they are now."""
    with opened_sites(workspace, name) as sites:
        file = read_batch(sites.campaign, batch)
        ended = _ended(sites.campaign)
        places = ended_on_store(sites.campaign, QUEUE).places
        tasks = Counter({"completed": 0, "sidelined": 0, "waiting": 0})
        differences = Differences(most=examples)
        for site in file.sites:
            state = ended.get(places.spot(task_id(site.domain, file.batch)), "waiting")
            tasks[state] += 1
            if state != "waiting":
                differences.add(site.domain, site.before, summary_of(sites.website(site.domain)))
        domains = {site.domain for site in file.sites}
        now = [prospect for prospect in sites.prospects() if domain_of(prospect) in domains]
    return Evaluation(
        file,
        dict(tasks),
        differences,
        prospects_before=sum(len(site.prospects) for site in file.sites),
        with_email_before=sum(site.with_email for site in file.sites),
        prospects_now=len(now),
        with_email_now=sum(map(_has_email, now)),
    )


def _ended(campaign: Campaign) -> dict[str, str]:
    on_store = ended_on_store(campaign, QUEUE)
    places = on_store.places
    found = {
        spot: "completed"
        for info in on_store.store.list(places.completed)
        if (spot := places.spot_of_completion(info.key))
    }
    for info in on_store.store.list(places.sideline):
        if (aside := places.spot_of_sidelined(info.key)) is not None:
            found.setdefault(aside[1], "sidelined")
    return found


def _has_email(prospect: Prospect) -> bool:
    return bool(prospect.primary_email or prospect.all_emails)
