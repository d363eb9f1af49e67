"""Lists of others: files of unsubscribes brought in, and the own list handed on, in the clear or as hashes."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from cocli.app.indexes.query import parse_time
from cocli.app.left_alone.suppress import entries_of, entry_of, who, with_other_forms, write_entries
from cocli.documents.reading.room import FILES
from cocli.errors import FormatError, RecordError, UsageError
from cocli.models.left_alone.suppression import Suppression
from cocli.pipeline.sources.imports.columns.kinds import Kind, kind_of, profiles_of
from cocli.pipeline.sources.imports.readers import read_rows
from cocli.pipeline.suppression.subject import KINDS, Subject, normal_email, read_subject, subject_kind
from cocli.results.exports.cells import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cocli.app.left_alone.suppress import SubjectOptions
    from cocli.app.workspace import Workspace
    from cocli.pipeline.sources.imports.rows import ImportRow, ImportTable

HASHED_COLUMNS = ("kind", "sha256", "salt", "calling_code", "until")
PLAIN_COLUMNS = ("kind", "value", "reason", "until", "added_at")
_MEANT = {
    "email": (Kind.EMAIL,),
    "phone": (Kind.PHONE,),
    "domain": (Kind.DOMAIN, Kind.URL),
    "place": (Kind.PLACE_ID,),
}
"""What a list of unsubscribes is about, the most telling first: addresses, else numbers, else domains."""
_MOST = 0.5
_SHA256_DIGITS = 64
_HASH = "sha256:"
_YES, _NO = frozenset(("true", "yes", "1")), frozenset(("false", "no", "0", ""))
_OBJECTION = re.compile(r"unsubscri|opt(?:ed)?[ _-]?out|do[ _-]?not|spam", re.IGNORECASE)


@dataclass
class ListReport:
    """What a file brought."""

    rows: int = 0
    columns: list[str] = field(default_factory=list)
    """Those that were read."""
    kind: str = ""
    added: int = 0
    already: int = 0
    unread: list[str] = field(default_factory=list)
    """Cells of these columns that are no such value."""
    without: int = 0
    """Rows that say themselves that nobody objected."""


def import_list(
    workspace: Workspace, data: bytes, filename: str, options: SubjectOptions, *, reason: str | None, dry_run: bool
) -> ListReport:
    """Bring in a list of another program: its columns are found by what they hold."""
    table = FILES.call(partial(read_rows, data, filename), what=filename)
    report = ListReport(rows=len(table.rows))
    now = workspace.store.now()
    headings = {column.lower() for column in table.columns}
    if {"kind", "sha256"} <= headings:
        entries = list(_hashed_entries(workspace, table, report, reason))
    elif set(PLAIN_COLUMNS) <= headings:
        entries = list(_own_entries(now, table, report, reason))
    else:
        subjects = list(dict.fromkeys(_subjects(table, options, report)))
        entries = [entry_of(subject, now, reason=reason) for subject in with_other_forms(subjects)]
    if dry_run:
        listed = {(entry.kind, entry.sha256) for entry in entries_of(workspace)}
        report.already = sum((entry.kind, entry.sha256) in listed for entry in entries)
        report.added = len(entries) - report.already
        return report
    for done in write_entries(workspace, entries):
        report.added += done.status == "added"
        report.already += done.status == "already_listed"
    return report


def _subjects(table: ImportTable, options: SubjectOptions, report: ListReport) -> Iterator[Subject]:
    columns = list(table.columns)
    chosen, report.kind = _columns(table, options)
    report.columns = chosen
    for column in columns:  # a plain list has no headings: its first line was taken for them
        if normal_email(column) or (column in chosen and kind_of(column) in _MEANT[report.kind]):
            yield read_subject(column, country=options.country)
    for row in _objections(table, report):
        for column in chosen:
            cell = (row.cells.get(column) or "").strip()
            for part in filter(None, map(str.strip, cell.replace(";", ",").split(","))):
                try:
                    yield read_subject(part, kind=report.kind, country=options.country)
                except UsageError:
                    report.unread.append(part)


def _objections(table: ImportTable, report: ListReport) -> Iterator[ImportRow]:
    """The rows of those who objected: a list of all contacts says of each whether he did, in columns of yes and no.

    Somebody with a yes in any of them is left alone: there may be a column for each kind of letter.
    """
    said = {column: {(row.cells.get(column) or "").strip().lower() for row in table.rows} for column in table.columns}
    flags = [column for column, words in said.items() if words <= _YES | _NO and words & (_YES | _NO - {""})]
    asks = any(_OBJECTION.search(column) for column in flags)
    for row in table.rows:
        if asks and not any((row.cells.get(column) or "").strip().lower() in _YES for column in flags):
            report.without += 1
        else:
            yield row


def _columns(table: ImportTable, options: SubjectOptions) -> tuple[list[str], str]:
    profiles = profiles_of(table.columns, table.rows)
    wanted = [options.kind] if options.kind in _MEANT else list(_MEANT)
    for kind in wanted:
        found = [
            column
            for column in table.columns
            if sum(profiles[column].share(meant) for meant in _MEANT[kind]) > _MOST
            or (kind == "email" and _address_share(table, column) > _MOST)
            or (not table.rows and kind_of(column) in _MEANT[kind])
        ]
        if found:
            return found, kind
    if options.kind in KINDS and len(table.columns) == 1:
        return [table.columns[0]], str(options.kind)
    raise UsageError(
        reason="No column of the file holds e-mail addresses, phone numbers, domains or place ids",
        hint="Say what its only column holds: --kind name",
    )


def _address_share(table: ImportTable, column: str) -> float:
    """How many cells of a column are addresses, also ones that no letter could reach: they are on lists as well."""
    cells = [cell for row in table.rows if (cell := (row.cells.get(column) or "").strip())]
    return sum(bool(normal_email(cell)) for cell in cells) / max(len(cells), 1)


def _hashed_entries(
    workspace: Workspace, table: ImportTable, report: ListReport, reason: str | None
) -> Iterator[Suppression]:
    """The hashed form: what was hashed is not known, and need not be."""
    now, by = workspace.store.now(), who()
    named = {column.lower(): column for column in table.columns}
    report.columns, report.kind = [named["kind"], named["sha256"]], "hashes"
    for row in table.rows:
        cells = {name: (row.cells.get(column) or "").strip() for name, column in named.items()}
        try:
            yield Suppression(
                kind=subject_kind(cells["kind"]),
                sha256=cells["sha256"].lower(),
                salt=cells.get("salt") or None,
                calling_code=cells.get("calling_code") or None,
                until=_moment(cells.get("until")),
                reason=reason,
                added_by=by,
                added_at=now,
                updated_at=now,
            )
        except (UsageError, RecordError, FormatError, ValueError):
            report.unread.append(cells["sha256"][:_SHA256_DIGITS])


def _own_entries(now: datetime, table: ImportTable, report: ListReport, reason: str | None) -> Iterator[Suppression]:
    """What `suppress export` wrote in the clear."""
    named = {column.lower(): column for column in table.columns}
    report.columns, report.kind = [named["kind"], named["value"]], "list"
    for row in table.rows:
        cells = {name: (row.cells.get(column) or "").strip() for name, column in named.items()}
        value = cells["value"].removeprefix("'")  # no formula, for whoever opens the list in a spreadsheet
        try:
            kind, until, why = subject_kind(cells["kind"]), _moment(cells["until"]), reason or cells["reason"] or None
            if value.startswith(_HASH):
                entry = entry_of(Subject(kind, ""), now, reason=why, until=until, forgotten=True)
                yield entry.with_changes(sha256=value.removeprefix(_HASH), forgotten=False)
            else:
                yield entry_of(read_subject(value, kind=kind), now, reason=why, until=until)
        except (UsageError, RecordError, FormatError, ValueError):
            report.unread.append(value)


def _moment(text: str | None) -> datetime | None:
    return parse_time(text, "until") if text else None


def export_list(workspace: Workspace, *, hashed: bool, salt: str | None = None) -> bytes:
    """The list as CSV. Of values that are only known by their hash, the hash is handed on as it is."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HASHED_COLUMNS if hashed else PLAIN_COLUMNS)
    for entry in entries_of(workspace):
        until = entry.until.isoformat() if entry.until else ""
        if not hashed:
            value = entry.value or f"{_HASH}{entry.sha256}"
            row = [entry.kind, value, entry.reason or "", until, entry.added_at.isoformat()]
            writer.writerow([harmless(cell) for cell in row])
        elif entry.value is not None and salt:
            sha256 = Subject(entry.kind, entry.value).digest(salt)
            writer.writerow([entry.kind, sha256, salt, entry.calling_code or "", until])
        else:
            writer.writerow([entry.kind, entry.sha256, entry.salt or "", entry.calling_code or "", until])
    return text.getvalue().encode()
