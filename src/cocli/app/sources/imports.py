"""Imports: a file that a person brings becomes prospects of a campaign, with the file itself kept as evidence.

Each row is an observation of the source `import`, matched and merged like any other. The same file again adds nothing.
Rows that are refused are kept with their numbers and the reasons, beside the file.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.app.companies.companies import exclusions_of
from cocli.app.documents.documents import Upload, opened_documents, upload
from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.workspace import Progress, no_progress
from cocli.errors import UsageError
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.identities import email_hash
from cocli.pipeline.exclusions import is_excluded
from cocli.pipeline.merge import assign, merge_emails
from cocli.pipeline.merge.contributions import Contributions
from cocli.pipeline.sources.imports import IMPORT
from cocli.pipeline.sources.imports.cards import read_cards
from cocli.pipeline.sources.imports.mapping import ColumnMapping, map_columns
from cocli.pipeline.sources.imports.observation import ImportedPlace, Observer
from cocli.pipeline.sources.imports.placemarks import read_placemarks
from cocli.pipeline.sources.imports.rows import ImportTable, RefusedRow
from cocli.pipeline.sources.imports.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from cocli.app.documents.documents import Documents
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Workspace
    from cocli.index.reader import IndexReader
    from cocli.models.email import EmailEntry
    from cocli.models.place import Place

MAX_BYTES = 256 * 1024 * 1024
_EXAMPLES = 3
_NODE = "import"
READERS: dict[str, Callable[..., ImportTable]] = {"csv": read_table, "vcard": read_cards, "kml": read_placemarks}
_MIME_TYPES = {"csv": "text/csv", "vcard": "text/vcard", "kml": "application/vnd.google-earth.kml+xml"}


@dataclass(frozen=True, slots=True)
class ImportOptions:
    filename: str
    format: str | None = None
    mapping: tuple[str, ...] = ()
    country: str | None = None
    dry_run: bool = False


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
    """Field → values that could not be read; the rest of their rows was."""
    refused: list[RefusedRow] = field(default_factory=list)
    examples: list[dict[str, Any]] = field(default_factory=list)
    document: str | None = None


def import_file(
    workspace: Workspace, campaign: str, data: bytes, options: ImportOptions, progress: Progress = no_progress
) -> ImportReport:
    """Import a file into a campaign."""
    if len(data) > MAX_BYTES:
        raise UsageError(reason=f"{options.filename} has {len(data)} bytes; the most is {MAX_BYTES}")
    format_ = options.format or guess_format(data, options.filename)
    table = READERS[format_](data, file=options.filename)
    mapping = map_columns(_with_organisation(table), options.mapping)
    indexes = campaign_indexes(workspace, campaign)
    report = ImportReport(
        format=format_,
        encoding=table.encoding,
        delimiter=table.delimiter,
        mapping=dict(mapping.fields),
        unused=list(mapping.unused),
        further={name: list(columns) for name, columns in mapping.further.items()},
        rows=len(table.rows) + len(table.refused),
        blank=table.blank,
        refused=list(table.refused),
    )
    if options.dry_run:
        _import_rows(indexes, table, _observer(mapping, options, indexes.store.now(), None), report, progress)
        return report
    with opened_documents(workspace, campaign) as documents:
        kept = _keep(documents, data, options, format_)
        observer = _observer(mapping, options, kept.saved_at, kept.uuid)
        report.document = kept.doc
        _import_rows(indexes, table, observer, report, progress)
        _keep_outcome(documents, kept, report)
    return report


def guess_format(data: bytes, filename: str) -> str:
    """By what the file begins with; its name is asked where that says nothing."""
    head = data[:4096].replace(b"\x00", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").lower()
    if head.startswith(b"begin:vcard") or filename.lower().endswith((".vcf", ".vcard")):
        return "vcard"
    if b"<kml" in head or filename.lower().endswith(".kml"):
        return "kml"
    if head.startswith(b"pk\x03\x04"):
        raise UsageError(
            reason=f"{filename} is a packed file (a spreadsheet, or KMZ)", hint="Save it as CSV, or unpack the KML."
        )
    return "csv"


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


def _observer(mapping: ColumnMapping, options: ImportOptions, at: datetime, document: str | None) -> Observer:
    return Observer(mapping, at, document, options.country)


# --- evidence


@dataclass(frozen=True, slots=True)
class _Kept:
    doc: str
    uuid: str
    saved_at: datetime
    datasource: str


def _keep(documents: Documents, data: bytes, options: ImportOptions, format_: str) -> _Kept:
    """The file as a document that came in, named by its content. The time of an import is that of the first one."""
    doc = f"import-{hashlib.sha256(data).hexdigest()}"
    rows = documents.repository.states(documents.account, doc, cluster=None)
    if rows:
        row = rows[0]
    else:
        name = options.filename.replace("\\", "/").rsplit("/", 1)[-1]
        file = Upload(data, doc, connector=IMPORT, filename=name, mime_type=_MIME_TYPES[format_])
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


def _import_rows(
    indexes: Indexes, table: ImportTable, observer: Observer, report: ImportReport, progress: Progress
) -> None:
    campaign = needed_campaign(indexes)
    exclusions = exclusions_of(campaign)
    wanted: dict[int, ImportedPlace] = {}
    for row in table.rows:
        observed = observer.observe(row)
        if isinstance(observed, str):
            report.refused.append(RefusedRow(row.number, observed, _shown(row.cells)))
        elif is_excluded(observed.place, exclusions):
            report.excluded += 1
        else:
            wanted[id(observed.place)] = observed
    report.unread = dict(sorted(observer.unread.items()))
    report.refused.sort(key=lambda refusal: refusal.number)
    report.examples = [_example(observation) for observation in list(wanted.values())[:_EXAMPLES]]
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


def _shown(cells: Mapping[str, str]) -> str:
    return " · ".join(text for text in cells.values() if text.strip())[:200]
