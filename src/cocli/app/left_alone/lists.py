"""Lists of others: files of unsubscribes brought in, and the own list handed on, in the clear or as hashes."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

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

    from cocli.app.left_alone.suppress import SubjectOptions
    from cocli.app.workspace import Workspace
    from cocli.pipeline.sources.imports.rows import ImportTable

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


def import_list(
    workspace: Workspace, data: bytes, filename: str, options: SubjectOptions, *, reason: str | None, dry_run: bool
) -> ListReport:
    """Bring in a list of another program: its columns are found by what they hold."""
    table = FILES.call(partial(read_rows, data, filename), what=filename)
    report = ListReport(rows=len(table.rows))
    now = workspace.store.now()
    if {"kind", "sha256"} <= {column.lower() for column in table.columns}:
        entries = list(_hashed_entries(workspace, table, report, reason))
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
    for row in table.rows:
        for column in chosen:
            cell = (row.cells.get(column) or "").strip()
            for part in filter(None, map(str.strip, cell.replace(";", ",").split(","))):
                try:
                    yield read_subject(part, kind=report.kind, country=options.country)
                except UsageError:
                    report.unread.append(part)


def _columns(table: ImportTable, options: SubjectOptions) -> tuple[list[str], str]:
    profiles = profiles_of(table.columns, table.rows)
    wanted = [options.kind] if options.kind in _MEANT else list(_MEANT)
    for kind in wanted:
        found = [
            column
            for column in table.columns
            if sum(profiles[column].share(meant) for meant in _MEANT[kind]) > _MOST
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
                reason=reason,
                added_by=by,
                added_at=now,
                updated_at=now,
            )
        except (UsageError, RecordError, FormatError, ValueError):
            report.unread.append(cells["sha256"][:_SHA256_DIGITS])


def export_list(workspace: Workspace, *, hashed: bool, salt: str | None = None) -> bytes:
    """The list as CSV. Of values that are only known by their hash, the hash is handed on as it is."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HASHED_COLUMNS if hashed else PLAIN_COLUMNS)
    for entry in entries_of(workspace):
        until = entry.until.isoformat() if entry.until else ""
        if not hashed:
            value = entry.value or f"sha256:{entry.sha256}"
            row = [entry.kind, value, entry.reason or "", until, entry.added_at.isoformat()]
            writer.writerow([harmless(cell) for cell in row])
        elif entry.value is not None and salt:
            sha256 = Subject(entry.kind, entry.value).digest(salt)
            writer.writerow([entry.kind, sha256, salt, entry.calling_code or "", until])
        else:
            writer.writerow([entry.kind, entry.sha256, entry.salt or "", entry.calling_code or "", until])
    return text.getvalue().encode()
