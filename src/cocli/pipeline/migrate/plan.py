"""The dry run: what a migration of a folder would do, with counts. Nothing is written.

plan = plan_migration("/srv/old-data", "plumbers")
print(plan.as_dict())
report = plan.apply(append, journal="…/migration.journal", rejected_folder="…")
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.errors import UsageError
from cocli.pipeline.migrate.conversion import Converter, Options
from cocli.pipeline.migrate.counts import KeysSeen, LayoutCount
from cocli.pipeline.migrate.migration import Append, MigrationReport, PlannedFile, migrate
from cocli.pipeline.migrate.reader import AlreadyNew
from cocli.pipeline.migrate.row import Migrated
from cocli.pipeline.migrate.sources import LeftOut, OlderFile, find_sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

TABLE_HEADER = ("layout", "files", "rows", "records", "rejected", "foreign", "duplicates", "mended")


@dataclass(frozen=True)
class MigrationPlan:
    folder: str
    options: Options
    files: tuple[PlannedFile, ...]
    layouts: dict[str, LayoutCount]
    left_out: Counter[str] = field(default_factory=Counter)
    """Files that are not read, by reason."""
    identical: int = 0
    """Files that say the same as another one; they are read once."""

    @property
    def rows(self) -> int:
        return sum(count.rows for count in self.layouts.values())

    @property
    def records(self) -> int:
        return sum(count.records for count in self.layouts.values())

    @property
    def rejected(self) -> int:
        return sum(count.rejected for count in self.layouts.values())

    @property
    def foreign(self) -> int:
        return sum(count.foreign for count in self.layouts.values())

    def apply(
        self,
        append: Append,
        journal: str,
        rejected_folder: str,
        progress: Callable[[int], None] | None = None,
        *,
        batch_size: int = 5000,
    ) -> MigrationReport:
        """Do it. `append(index_name, records)` gets batches; a second run with the same journal does what is left."""
        return migrate(
            self.files,
            Converter(self.folder, self.options),
            append,
            journal=journal,
            rejected_folder=rejected_folder,
            progress=progress,
            batch_size=batch_size,
        )

    def table(self) -> list[tuple[str | int, ...]]:
        """A row for each layout, under TABLE_HEADER."""
        return [
            (
                name,
                count.files,
                count.rows,
                count.records,
                count.rejected,
                count.foreign,
                count.duplicates,
                sum(count.mended.values()),
            )
            for name, count in self.layouts.items()
        ]

    def as_dict(self) -> dict[str, object]:
        return {
            "folder": self.folder,
            "options": self.options.as_dict(),
            "files": len(self.files),
            "rows": self.rows,
            "records": self.records,
            "rejected": self.rejected,
            "foreign": self.foreign,
            "identical": self.identical,
            "left_out": dict(self.left_out.most_common()),
            "layouts": {name: count.as_dict() for name, count in self.layouts.items()},
        }


def plan_migration(
    folder: str | os.PathLike[str],
    campaign: str,
    *,
    phrases: Iterable[str] = (),
    include_foreign: bool = False,
    witnesses_until: datetime | None = None,
    progress: Callable[[int], None] | None = None,
) -> MigrationPlan:
    """Read a whole older data home and say what would become of each row. `progress` gets the rows read so far."""
    folder = os.path.abspath(folder)
    if not os.path.isdir(folder):
        raise UsageError(reason=f"{folder} is not a folder", hint="Give the folder that holds the older data.")
    options = Options(campaign, tuple(phrases), include_foreign, witnesses_until)
    planner = _Planner(Converter(folder, options), progress)
    for found in find_sources(folder):
        planner.add(found)
    return MigrationPlan(
        folder, options, tuple(planner.files), planner.layouts, planner.left_out, identical=planner.identical
    )


class _Planner:
    def __init__(self, converter: Converter, progress: Callable[[int], None] | None) -> None:
        self.files: list[PlannedFile] = []
        self.layouts: dict[str, LayoutCount] = {}
        self.left_out: Counter[str] = Counter()
        self.identical = 0
        self._converter = converter
        self._progress = progress
        self._keys = KeysSeen()
        self._identities: set[str] = set()
        self._rows = 0

    def add(self, found: OlderFile | LeftOut) -> None:
        if isinstance(found, LeftOut):
            self.left_out[found.reason] += 1
            return
        identity = self._converter.identity(found)
        if identity in self._identities:
            self.identical += 1
            return
        try:
            self._count(found)
        except AlreadyNew:
            self.left_out["already in today's format"] += 1
            return
        self._identities.add(identity)
        self.files.append(PlannedFile(found, identity))

    def _count(self, source: OlderFile) -> None:
        outcomes = self._converter.outcomes(source)
        count = self.layouts.get(source.layout) or LayoutCount()
        for outcome in outcomes:
            count.add(outcome)
            if isinstance(outcome, Migrated) and self._keys.is_again(outcome.index, outcome.record):
                count.duplicates += 1
            self._rows += 1
            if self._progress and self._rows % 1000 == 0:
                self._progress(self._rows)
        count.files += 1
        self.layouts[source.layout] = count
