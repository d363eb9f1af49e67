"""Doing what a plan says: records go to the indexes in batches, rows that do not fit to a file, progress to a journal.

Between any two steps the process may end. The journal is written after the batch is in the index, so a batch may be
appended twice, but then it is the same batch: a file is taken up again exactly where the journal left it, and what is
appended is named by its content. Rows that were set aside after the journal's last line are cut off and written again.
"""

from __future__ import annotations

import base64
import json
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from cocli.errors import DataError
from cocli.formats.rejected import RejectedRow
from cocli.pipeline.migrate.counts import LayoutCount
from cocli.pipeline.migrate.journal import Journal, Position
from cocli.pipeline.migrate.row import Migrated, Outcome
from cocli.pipeline.migrate.sources import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

    from cocli.models.record import Record
    from cocli.pipeline.migrate.conversion import Converter
    from cocli.pipeline.migrate.sources import OlderFile

REJECTED_FILE = "rejected.jsonl"
REPORT_HEADER = ("layout", "files", "rows", "records", "rejected", "foreign")


class Append(Protocol):
    """Puts records into an index. The same records again must change nothing."""

    def __call__(self, index_name: str, records: Sequence[Record], /) -> object: ...


@dataclass(frozen=True, slots=True)
class PlannedFile:
    source: OlderFile
    identity: str


@dataclass
class MigrationReport:
    """What was done. The counts are of this run and all earlier ones with the same journal."""

    rejected_file: str
    layouts: dict[str, LayoutCount] = field(default_factory=dict)
    appended: Counter[str] = field(default_factory=Counter)
    """Records per index."""
    batches: int = 0
    """Batches of this run."""
    already_done: int = 0
    """Files that an earlier run had finished."""

    @property
    def rejected(self) -> int:
        return sum(count.rejected for count in self.layouts.values())

    def table(self) -> list[tuple[str | int, ...]]:
        """A row for each layout, under REPORT_HEADER."""
        return [
            (name, count.files, count.rows, count.records, count.rejected, count.foreign)
            for name, count in self.layouts.items()
        ]

    def as_dict(self) -> dict[str, object]:
        return {
            "rejected_file": self.rejected_file,
            "appended": dict(self.appended),
            "batches": self.batches,
            "already_done": self.already_done,
            "layouts": {name: count.as_dict() for name, count in self.layouts.items()},
        }


def migrate(
    files: Sequence[PlannedFile],
    converter: Converter,
    append: Append,
    *,
    journal: str,
    rejected_folder: str,
    progress: Callable[[int], None] | None = None,
    batch_size: int = 5000,
) -> MigrationReport:
    """Move every file that the journal does not know as done."""
    os.makedirs(rejected_folder, exist_ok=True)
    path = os.path.join(rejected_folder, REJECTED_FILE)
    with Journal(journal) as log, open(path, "ab") as rejected:
        _take_back(rejected, path, log.position.rejected_bytes)
        run = _Run(log, rejected, append, batch_size, MigrationReport(path), progress)
        for file in files:
            run.file(file, converter)
        run.flush()
        return run.finish()


def _take_back(rejected: BinaryIO, path: str, known: int) -> None:
    size = rejected.seek(0, os.SEEK_END)
    if size < known:
        reason = f"{path} has {size} bytes, but the journal knows of {known}: rows that were set aside are missing"
        raise DataError(reason=reason, hint="Give the folder of the earlier run, or begin with a new journal.")
    rejected.truncate(known)
    rejected.seek(known)


class _Run:
    def __init__(
        self,
        journal: Journal,
        rejected: BinaryIO,
        append: Append,
        batch_size: int,
        report: MigrationReport,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._journal = journal
        self._rejected = rejected
        self._append = append
        self._batch_size = batch_size
        self._report = report
        self._progress = progress
        self._waiting: dict[str, list[Record]] = {}
        self._finished: list[str] = []
        self._counts: dict[str, LayoutCount] = journal.counts
        self._current: tuple[str, int] | None = None
        self._rows = 0

    def file(self, file: PlannedFile, converter: Converter) -> None:
        if self._journal.is_done(file.identity):
            self._report.already_done += 1
            return
        if converter.identity(file.source) != file.identity:
            reason = f"{file.source.key} was changed after the plan was made"
            raise DataError(reason=reason, hint="Make the plan again; what is done stays done.")
        done = self._journal.position.done_in(file.identity)
        count = self._counts.setdefault(file.source.layout, LayoutCount())
        for number, outcome in enumerate(converter.outcomes(file.source), 1):
            if number <= done:
                continue
            self._take(outcome, file, count)
            self._current = (file.identity, number)
            if sum(map(len, self._waiting.values())) >= self._batch_size:
                self.flush()
        count.files += 1
        self._finished.append(file.identity)
        self._current = None
        if len(self._finished) >= self._batch_size:
            self.flush()

    def _take(self, outcome: Outcome, file: PlannedFile, count: LayoutCount) -> None:
        count.add(outcome)
        if isinstance(outcome, Migrated):
            self._waiting.setdefault(outcome.index, []).append(outcome.record)
        elif isinstance(outcome, RejectedRow):
            self._rejected.write(_line(outcome, file))
        self._rows += 1
        if self._progress and self._rows % 1000 == 0:
            self._progress(self._rows)

    def flush(self) -> None:
        """Everything so far becomes durable: first the index, then the rows set aside, then the journal."""
        for index, records in sorted(self._waiting.items()):
            self._append(index, records)
            self._report.batches += 1
        self._waiting.clear()
        self._rejected.flush()
        os.fsync(self._rejected.fileno())
        position = Position(self._rejected.tell(), *(self._current or (None, 0)))
        self._journal.write(self._finished, position, self._counts)
        self._finished.clear()

    def finish(self) -> MigrationReport:
        self._report.layouts = self._counts
        for name, count in self._counts.items():
            self._report.appended[LAYOUTS[name].index] += count.records
        return self._report


def _line(rejected: RejectedRow, file: PlannedFile) -> bytes:
    """One row that was set aside, as JSON: where it stood, why, and its text (or its bytes, where it is no text)."""
    content: dict[str, object] = {
        "file": rejected.file,
        "line": rejected.line,
        "layout": file.source.layout,
        "reason": rejected.reason,
    }
    try:
        content["raw"] = rejected.raw.decode()
    except UnicodeDecodeError:
        content["raw_base64"] = base64.b64encode(rejected.raw).decode()
    return json.dumps(content, ensure_ascii=False).encode() + b"\n"
