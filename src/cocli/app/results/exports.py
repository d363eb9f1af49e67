"""Exports: which prospects of a campaign go into a file, and where the file goes. How it is written is `exports/`.

Prospects that are excluded, or were merged into others, are left out and counted. What waits to be packed is exported
like the rest. A file appears whole or not at all.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from cocli.app.companies.companies import exclusions_of
from cocli.app.indexes.indexes import needed_campaign
from cocli.app.results.rows import known_businesses
from cocli.app.whole_file import absolute, whole_file
from cocli.app.workspace import Progress, location, no_progress
from cocli.errors import NO_ROOM, DiskFull, FileUnusable, UsageError
from cocli.keys.paths import ExportKey
from cocli.results.exports.columns import PRESETS, chosen
from cocli.results.exports.credits import BESIDE, SourceCredits, text_beside
from cocli.results.exports.filters import BusinessFilter
from cocli.results.exports.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from cocli.app.indexes.indexes import Indexes
    from cocli.models.prospect import Prospect
    from cocli.pipeline.exclusions import Exclusions
    from cocli.results.exports.row import ExportRow

_MATCHING = "SELECT company_hash FROM prospects_all WHERE (\n{where}\n)"
"""On lines of their own: a comment at the end of a person's condition must not reach the parenthesis."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What to export. Conditions add up: a prospect has to meet all of them."""

    format: str = "csv"
    columns: Sequence[str] = ()
    where: str | None = None
    """A condition in SQL."""
    wanted: BusinessFilter = field(default_factory=BusinessFilter)
    limit: int | None = None
    as_of: datetime | None = None
    """As the index had them at that time. What people wrote is that of now."""


@dataclass(slots=True)
class ExportReport:
    """What was written, and what was left out."""

    path: str = ""
    format: str = ""
    rows: int = 0
    bytes: int = 0
    excluded: int = 0
    merged: int = 0
    filtered: int = 0
    """Those that did not meet the conditions."""
    without_position: int = 0
    """Of those written: they are on no map."""
    by_hand: int = 0
    """Of those written: companies that no campaign found; a person made their pages."""
    columns: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Values on pages that cannot be such values: what was found stands in their place."""
    attribution: list[str] = field(default_factory=list)
    """Whom to name with the file: the sources of what was written, with their licences."""
    beside: str | None = None
    """Where the text is that says so, if the file itself cannot."""
    notes: list[str] = field(default_factory=list)
    """What a reader of the file should know of what did not fit into it."""


def export_to_store(indexes: Indexes, options: ExportOptions, progress: Progress = no_progress) -> ExportReport:
    """Into `campaigns/{campaign}/exports/`, replacing the export of this format that is there."""
    campaign = needed_campaign(indexes)
    key = str(ExportKey(campaign.name, kind_of(options.format).file))
    try:
        with tempfile.TemporaryFile() as file:
            file.write(kind_of(options.format).mark)
            report = export_to(indexes, options, file, progress)
            report.bytes = file.tell()
            file.seek(0)
            indexes.store.put(key, file.read())
        _put_beside(indexes, campaign.name, report)
    except OSError as error:
        hint = "Free some space, or name another folder in TMPDIR; nothing was changed."
        kind = DiskFull if error.errno in NO_ROOM else FileUnusable
        raise kind(file="A temporary file", done="written", reason=error.strerror, hint=hint) from error
    report.path = location(indexes.store, key)
    return report


def export_to_file(
    indexes: Indexes, options: ExportOptions, path: str, progress: Progress = no_progress
) -> ExportReport:
    """Into a file: whoever finds the file finds it whole."""
    mark = kind_of(options.format).mark
    with whole_file(path) as file:
        if file.seekable():  # a pipe is read by a program
            file.write(mark)
        report = export_to(indexes, options, file, progress)
        report.bytes = file.tell() if file.seekable() else 0
        is_file = file.seekable()
    report.path = absolute(path)
    if is_file:
        _write_beside(path, report)
    return report


def _put_beside(indexes: Indexes, campaign: str, report: ExportReport) -> None:
    """The text that says whom to name, beside a file that cannot say it itself; none beside one that need not."""
    kind = kind_of(report.format)
    if kind.holds_credits:
        return
    key = str(ExportKey(campaign, f"{kind.file}{BESIDE}"))
    if report.attribution:
        indexes.store.put(key, text_beside(report.attribution))
        report.beside = location(indexes.store, key)
    else:
        indexes.store.delete(key)


def _write_beside(path: str, report: ExportReport) -> None:
    if kind_of(report.format).holds_credits:
        return
    beside = f"{path}{BESIDE}"
    if report.attribution:
        with whole_file(beside) as file:
            file.write(text_beside(report.attribution))
        report.beside = absolute(beside)
    elif os.path.isfile(beside):
        os.remove(beside)  # it was about an earlier file of this name


def export_to(
    indexes: Indexes, options: ExportOptions, out: BinaryIO, progress: Progress = no_progress
) -> ExportReport:
    """Write the export to a stream, prospect by prospect."""
    kind = kind_of(options.format)
    if options.columns and not kind.has_columns:
        raise UsageError(reason=f"The columns of {options.format} cannot be chosen: they are the format's own")
    columns = chosen(options.columns, PRESETS[kind.preset])
    report = ExportReport(format=options.format, columns=list(columns) if kind.has_columns else [])
    choice = _choice(indexes, options)  # before anything is written: a condition may be no SQL
    whom = SourceCredits()
    rows = whom.noting(_selected(indexes, choice, report, progress))
    report.notes = kind.write(rows, out, columns, whom)
    report.attribution = whom()
    return report


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which prospects go into the file."""

    options: ExportOptions
    exclusions: Exclusions
    matching: set[str] | None
    """Those that the condition is true of; None where there is none."""

    def is_asked_for(self, prospect: Prospect) -> bool:
        if self.matching is not None and prospect.company_hash not in self.matching:
            return False
        return self.options.wanted.accepts(prospect)


def _choice(indexes: Indexes, options: ExportOptions) -> _Choice:
    return _Choice(options, exclusions_of(needed_campaign(indexes)), _matching(indexes, options))


def _selected(indexes: Indexes, choice: _Choice, report: ExportReport, progress: Progress) -> Iterator[ExportRow]:
    limit = choice.options.limit
    for done, business in enumerate(known_businesses(indexes, as_of=choice.options.as_of), 1):
        progress(done)
        if limit is not None and report.rows >= limit:
            return
        row = business.row
        if not choice.is_asked_for(row):
            report.filtered += 1
        elif business.is_part:
            report.merged += 1
        elif business.is_excluded(choice.exclusions):
            report.excluded += 1
        else:
            report.rows += 1
            report.by_hand += business.by_hand
            report.without_position += row.lat is None or row.lon is None
            report.problems += [f"{row.sheet.slug}: {problem}" for problem in row.sheet.problems]
            yield row


def _matching(indexes: Indexes, options: ExportOptions) -> set[str] | None:
    """The prospects that a person's condition is true of. It is asked where it can read nothing but the indexes."""
    if options.where is None:
        return None
    from cocli.app.indexes.query import opened_query, options_at  # here: without a condition no DuckDB is needed

    with opened_query(indexes, _MATCHING.format(where=options.where), options_at(options.as_of)) as query:
        return {str(row[0]) for row in query.result().rows()}
