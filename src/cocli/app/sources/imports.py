"""Imports: a file that a person brings becomes prospects of a campaign, with the file itself kept as evidence.

Each row is an observation of the source `import`, matched and merged like any other. The same file again adds nothing.
Rows that are refused are kept with their numbers and the reasons, beside the file. The websites of the businesses are
queued, so that workers read them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from cocli.app.companies.companies import exclusions_of
from cocli.app.documents.documents import Upload, opened_documents, upload
from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.queues.queues import opened_queue
from cocli.app.sources.import_memory import ImportMemory
from cocli.app.sources.phone_country import country_of_places
from cocli.app.workspace import Progress, no_progress
from cocli.documents.reading.room import FILES
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.identities import email_hash
from cocli.pipeline.exclusions import is_excluded
from cocli.pipeline.merge import assign, merge_emails
from cocli.pipeline.merge.contributions import Contributions
from cocli.pipeline.merge.transformations import is_named_by_site
from cocli.pipeline.sources.imports import IMPORT
from cocli.pipeline.sources.imports.columns.kinds import overlooked, profiles_of
from cocli.pipeline.sources.imports.mapping import ColumnMapping, map_columns, said_columns
from cocli.pipeline.sources.imports.misfits import check_meaning, check_rows
from cocli.pipeline.sources.imports.observation import ImportedPlace, Observer
from cocli.pipeline.sources.imports.readers import READERS, mime_type_of, read_rows
from cocli.pipeline.sources.imports.reading.embedded import unfold
from cocli.pipeline.sources.imports.recognition import recognised_format as guess_format
from cocli.pipeline.sources.imports.rows import ImportTable, RefusedRow
from cocli.pipeline.stages.enrichment_loop import QUEUE
from cocli.pipeline.stages.list_pass import website_tasks
from cocli.pipeline.websites.hosts.shared import own_domain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from cocli.app.documents.documents import Documents
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Workspace
    from cocli.index.reader import IndexReader
    from cocli.models.email import EmailEntry
    from cocli.models.place import Place
    from cocli.queue.base import NewTask

__all__ = [
    "READERS",
    "ColumnExplanation",
    "ImportOptions",
    "ImportReport",
    "ImportedList",
    "explain",
    "guess_format",
    "import_file",
    "imported_list",
    "preview",
    "with_memory",
]

_EXAMPLES = 3
_NODE = "import"


@dataclass(frozen=True, slots=True)
class ImportOptions:
    filename: str
    format: str | None = None
    mapping: tuple[str, ...] = ()
    country: str | None = None
    sheet: str | None = None
    visit: bool = True
    """Queue the websites of what it brings."""
    dry_run: bool = False
    memory: ImportMemory | None = None
    """What was said of files of the same shape."""


@dataclass
class ImportReport:
    """What became of the rows; in a dry run, what would become of them."""

    format: str
    encoding: str
    delimiter: str | None
    mapping: dict[str, str]
    unused: list[str]
    further: dict[str, list[str]] = field(default_factory=dict)
    """Field → columns that say it too: all addresses are taken, and the first phone number that a row has."""
    rows: int = 0
    blank: int = 0
    new: int = 0
    """Businesses that were not known."""
    changed: int = 0
    """Businesses that were known, and of which the file says more."""
    unchanged: int = 0
    """Rows that say nothing new."""
    moved: int = 0
    excluded: int = 0
    emails: int = 0
    unread: dict[str, int] = field(default_factory=dict)
    """Field → values that could not be read; the rest of their rows was. A phone number is kept as text."""
    sheet: str | None = None
    named_by_domain: int = 0
    """Rows without a name: they are called by their domains until their websites are read."""
    websites: int = 0
    """Websites of these businesses that can be read: those that one of them has to itself."""
    queued: int = 0
    """… of which so many were queued now; the others wait, or were read, or were set aside before."""
    refused: list[RefusedRow] = field(default_factory=list)
    examples: list[dict[str, Any]] = field(default_factory=list)
    overlooked: dict[str, str] = field(default_factory=dict)
    """Where no row has a phone number and none a website: columns that are not used, and seem to hold some."""
    closed: int = 0
    """Businesses that are closed for good: they are kept, and their websites are not read."""
    document: str | None = None


@dataclass(frozen=True, slots=True)
class ImportedList:
    """A file, read: its rows, which column is which field, and who makes observations of them."""

    table: ImportTable
    mapping: ColumnMapping
    observer: Observer

    def report(self) -> ImportReport:
        """What can be said before any row is looked at."""
        table, mapping = self.table, self.mapping
        return ImportReport(
            format=table.format,
            encoding=table.encoding,
            delimiter=table.delimiter,
            sheet=table.sheet,
            mapping=dict(mapping.fields),
            unused=list(mapping.unused),
            further={name: list(columns) for name, columns in mapping.further.items()},
            rows=len(table.rows) + len(table.refused),
            blank=table.blank,
            refused=list(table.refused),
        )


def imported_list(data: bytes, options: ImportOptions, *, at: datetime) -> ImportedList:
    """Read a file. Observations are of the time `at`, and lead to no document yet."""
    reading = partial(read_rows, data, options.filename, format_=options.format, sheet=options.sheet)
    table = FILES.call(reading, what=options.filename)
    check_rows(table, options.filename)
    table.derived = unfold(table)
    columns = [*_with_organisation(table), *table.derived]
    remembered = options.memory.recall(columns) if options.memory else {}
    mapping = map_columns(columns, options.mapping, table.rows, remembered)
    check_meaning(table, mapping, options.mapping, options.filename)
    return ImportedList(table, mapping, Observer(mapping, at, country=options.country))


def preview(data: bytes, options: ImportOptions, *, at: datetime) -> ImportReport:
    """What a file holds, whatever the campaign: its rows, its columns, its websites."""
    brought = imported_list(data, options, at=at)
    report = brought.report()
    wanted = _observed(brought, report, lambda _: False)
    domains = {own_domain(observation.place.website) for observation in wanted}
    report.websites = len(domains - {None})
    return report


def import_file(
    workspace: Workspace, campaign: str, data: bytes, options: ImportOptions, progress: Progress = no_progress
) -> ImportReport:
    """Import a file into a campaign."""
    indexes = campaign_indexes(workspace, campaign)
    options = with_memory(indexes, options)
    brought = imported_list(data, options, at=indexes.store.now())
    brought.observer.phone_country = cache(lambda: country_of_places(needed_campaign(indexes)))
    report = brought.report()
    if options.dry_run:
        _import_rows(indexes, brought, report, progress)
        return report
    with opened_documents(workspace, campaign, learn=False) as documents:
        kept = _keep(documents, data, options, mime_type_of(data, brought.table))
        brought.observer.observed_at, brought.observer.document = kept.saved_at, kept.uuid
        report.document = kept.doc
        tasks = _import_rows(indexes, brought, report, progress)
        if options.visit:
            report.queued = _queue_websites(indexes, tasks)
        _keep_outcome(documents, kept, report)
    if options.mapping and options.memory:
        columns = [*brought.table.columns, *brought.table.derived]
        options.memory.remember(columns, said_columns(columns, options.mapping))
    return report


def with_memory(indexes: Indexes, options: ImportOptions) -> ImportOptions:
    """The options, with what was said in this campaign of other files."""
    return replace(options, memory=ImportMemory(indexes.store, needed_campaign(indexes).name))


def _with_organisation(table: ImportTable) -> list[str]:
    """A card of a company may have no name but that of its organisation, and the other way round."""
    if table.format == "vcard":
        for row in table.rows:
            name = row.cells.get("org") or row.cells.get("fn")
            if name and isinstance(row.cells, dict):
                row.cells["name"] = name
        if table.columns and "name" not in table.columns:
            table.columns.insert(0, "name")
    return table.columns


def _queue_websites(indexes: Indexes, tasks: Sequence[NewTask]) -> int:
    """The businesses are written before: whoever is killed in between queues them with the same file again."""
    with opened_queue(needed_campaign(indexes), QUEUE) as queue:
        return queue.put_many(tasks).queued


# --- evidence


@dataclass(frozen=True, slots=True)
class _Kept:
    doc: str
    uuid: str
    saved_at: datetime
    datasource: str


def _keep(documents: Documents, data: bytes, options: ImportOptions, mime_type: str) -> _Kept:
    """The file as a document that came in, named by its content. The time of an import is that of the first one."""
    doc = f"import-{hashlib.sha256(data).hexdigest()}"
    rows = documents.repository.states(documents.account, doc, cluster=None)
    if rows:
        row = rows[0]
    else:
        name = options.filename.replace("\\", "/").rsplit("/", 1)[-1]
        file = Upload(data, doc, connector=IMPORT, filename=name, mime_type=mime_type)
        row = upload(documents, file).row
    return _Kept(doc, row.uuid, row.saved_at, row.datasource)


def _keep_outcome(documents: Documents, kept: _Kept, report: ImportReport) -> None:
    """How the file was read, and which rows were not: as the state that this step made of the document."""
    intake = documents.repository.current(documents.account, kept.doc, kept.datasource, None)
    outcome = {
        "mapping": report.mapping,
        "further": report.further,
        "encoding": report.encoding,
        "rows": report.rows,
        "refused": [
            {"row": refusal.number, "reason": refusal.reason, "text": refusal.text} for refusal in report.refused
        ],
    }
    state = intake.at(_NODE, documents.edition).with_data(_NODE, outcome)
    documents.repository.save(state)


# --- rows


def _observed(
    brought: ImportedList, report: ImportReport, is_unwanted: Callable[[Place], object]
) -> list[ImportedPlace]:
    """The observations of the rows that are wanted; the report learns of the others."""
    wanted: list[ImportedPlace] = []
    for row in brought.table.rows:
        observed = brought.observer.observe(row)
        if isinstance(observed, str):
            report.refused.append(RefusedRow(row.number, observed, _shown(row.cells)))
        elif is_unwanted(observed.place):
            report.excluded += 1
        else:
            wanted.append(observed)
    report.unread = dict(sorted(brought.observer.unread.items()))
    report.named_by_domain = sum(is_named_by_site(observation.place) for observation in wanted)
    report.closed = sum(observation.place.business_status == "permanently_closed" for observation in wanted)
    if not any(observation.place.phone or observation.place.website for observation in wanted):
        report.overlooked = overlooked(brought.mapping.unused, brought.table.rows)
    report.refused.sort(key=lambda refusal: refusal.number)
    report.examples = [_example(observation) for observation in wanted[:_EXAMPLES]]
    return wanted


def _import_rows(indexes: Indexes, brought: ImportedList, report: ImportReport, progress: Progress) -> list[NewTask]:
    """Bring the rows in; what is to be done for their websites."""
    campaign = needed_campaign(indexes)
    exclusions = exclusions_of(campaign)
    observer = brought.observer
    observed = _observed(brought, report, lambda place: is_excluded(place, exclusions))
    wanted = {id(observation.place): observation for observation in observed}
    reader = open_reader(indexes.open(indexes.ref("prospects")), fresh=True)
    assignments = assign([observation.place for observation in wanted.values()], reader.scan())
    made = Contributions(campaign.name, reader.get, observer.document)
    for done, assignment in enumerate(assignments, 1):
        made.add(assignment, wanted[id(assignment.place)])
        progress(done)
    for name, count in asdict(made.counts).items():
        setattr(report, name, count)
    entries = _new_emails(indexes, made.emails)
    report.emails = len(entries)
    if observer.document is not None:
        IndexWriter(indexes.open(indexes.ref("prospects"))).append(made.changed())
        IndexWriter(indexes.open(indexes.ref("emails"))).append(entries)
    tasks = website_tasks(made.businesses(lambda business: is_excluded(business, exclusions) is None))
    report.websites = len(tasks)
    return tasks


def _new_emails(indexes: Indexes, entries: Mapping[str, EmailEntry]) -> list[EmailEntry]:
    """Those that are not, or not so, in the index."""
    reader: IndexReader[EmailEntry] = open_reader(indexes.open(indexes.ref("emails")), fresh=True)
    known = reader.get_many([email_hash(email) for email in entries])
    there = {entry.email: entry for entry in known.values()}
    return [
        entry
        for email, entry in entries.items()
        if email not in there or merge_emails(there[email], entry) != there[email]
    ]


def _example(observation: ImportedPlace) -> dict[str, Any]:
    place: Place = observation.place
    said = place.model_dump(mode="json", exclude_none=True, exclude={"source", "source_id", "observed_at", "document"})
    values = {name: value for name, value in said.items() if value not in ("", [], {})}
    return {"row": observation.row.number, **values, "emails": list(observation.emails)}


@dataclass(frozen=True, slots=True)
class ColumnExplanation:
    """What a column was taken for, and why."""

    column: str
    field: str | None
    why: str
    holds: dict[str, int]
    """What its values are → how many of those that were looked at."""
    examples: list[str]


def explain(data: bytes, options: ImportOptions, *, at: datetime) -> tuple[ImportReport, list[ColumnExplanation]]:
    """What each column of a file is taken for. Nothing is written."""
    brought = imported_list(data, options, at=at)
    mapping, table = brought.mapping, brought.table
    columns = [*table.columns, *table.derived]
    profiles = profiles_of(columns, table.rows)
    return brought.report(), [
        ColumnExplanation(
            column=column,
            field=mapping.field_of(column),
            why=mapping.why.get(column, ""),
            holds={kind.value: count for kind, count in Counter(profiles[column].counts).most_common()},
            examples=[text[:80] for text in profiles[column].sample[:_EXAMPLES]],
        )
        for column in columns
    ]


def _shown(cells: Mapping[str, str]) -> str:
    return " · ".join(text for text in cells.values() if text.strip())[:200]
