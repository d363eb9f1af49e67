"""One file → what became of each of its rows: a record, set aside, or of another campaign. Never nothing."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cocli.errors import DataError, RecordError
from cocli.formats.rejected import RejectedRow
from cocli.keys.paths import GLOBAL_INDEXES, IndexRef
from cocli.pipeline.indexes import spec_of
from cocli.pipeline.migrate.reader import read
from cocli.pipeline.migrate.row import Context, Foreign, Migrated, OldRow, Outcome, slugged
from cocli.pipeline.migrate.sources import LAYOUTS, OlderFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_RECEIPT_LIMIT = 1 << 16


@dataclass(frozen=True)
class Options:
    """What a migration was asked for. Two migrations with the same options give the same records."""

    campaign: str
    phrases: tuple[str, ...] = ()
    """The campaign's queries: older files know a phrase by its slug only."""
    include_foreign: bool = False
    """Take rows of other campaigns as rows of this one."""
    witnesses_until: datetime | None = None
    """Do not believe that a tile was read after this."""

    def as_dict(self) -> dict[str, object]:
        until = self.witnesses_until
        return {
            "campaign": self.campaign,
            "phrases": list(self.phrases),
            "include_foreign": self.include_foreign,
            "witnesses_until": until.isoformat() if until else None,
        }


def index_ref(name: str, campaign: str) -> IndexRef:
    """The index that records of a migration go to: the campaign's own, or the one that campaigns share."""
    return IndexRef(name, None if name in GLOBAL_INDEXES else campaign)


class Converter:
    """Reads files of one folder. The source is only ever opened for reading."""

    def __init__(self, folder: str, options: Options) -> None:
        self._folder = folder
        self._options = options
        self._phrases = {slugged(phrase): phrase for phrase in options.phrases}
        refs = {layout.index: index_ref(layout.index, options.campaign) for layout in LAYOUTS.values()}
        self._kinds = {name: (ref, spec_of(ref)) for name, ref in refs.items()}

    def outcomes(self, source: OlderFile) -> Iterator[Outcome]:
        """One for each row. Raises AlreadyNew where the file is of today's format."""
        layout = LAYOUTS[source.layout]
        context = self._context(source)
        with open(self._path(source), "rb") as file:
            for row in read(file, layout, file=source.key):
                if isinstance(row, RejectedRow):
                    yield row
                elif (other := self._other_campaign(source, row)) is not None:
                    yield Foreign(row.file, row.line, other)
                else:
                    yield self._convert(row, source, context)

    def _convert(self, row: OldRow, source: OlderFile, context: Context) -> Outcome:
        layout = LAYOUTS[source.layout]
        ref, spec = self._kinds[layout.index]
        try:
            record = layout.convert(row, context)
        except RecordError as error:
            return row.rejected(str(error.details.get("reason", error.message)))
        except DataError as error:
            return row.rejected(error.message)
        # One record that the index refuses would stop the whole batch.
        if reason := spec.misfit(ref, record):
            return row.rejected(reason)
        if source.note:
            row.mended(source.note)
        return Migrated(layout.index, record, tuple(dict.fromkeys(row.mends)))

    def identity(self, source: OlderFile) -> str:
        """What a file's rows depend on, as one hash: what a journal remembers it by, wherever it lies."""
        digest = hashlib.sha256()
        about = [source.layout, source.campaign, source.tile, source.phrase, self._options.as_dict()]
        digest.update(json.dumps(about, sort_keys=True).encode())
        with open(self._path(source), "rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        return digest.hexdigest()

    def size(self, source: OlderFile) -> int:
        return os.stat(self._path(source)).st_size

    def _path(self, source: OlderFile) -> str:
        return os.path.join(self._folder, *source.key.split("/"))

    def _other_campaign(self, source: OlderFile, row: OldRow) -> str | None:
        if self._options.include_foreign:
            return None
        names: Iterable[str | None] = (source.campaign, row.text("campaign"), row.text("campaign_name"))
        return next((name for name in names if name not in (None, self._options.campaign)), None)

    def _context(self, source: OlderFile) -> Context:
        path = self._path(source)
        return Context(
            campaign=self._options.campaign,
            modified=datetime.fromtimestamp(int(os.stat(path).st_mtime), UTC),
            tile=source.tile,
            phrase=source.phrase,
            read_at=_receipt_time(path) if source.layout == "list-items" else None,
            phrases=self._phrases,
            witnesses_until=self._options.witnesses_until,
        )


def _receipt_time(path: str) -> datetime | None:
    """When a list was read: rows of lists have no time of their own, but a receipt lies beside the file."""
    try:
        with open(f"{path.rpartition('.')[0]}.json", "rb") as file:
            moment = datetime.fromisoformat(json.loads(file.read(_RECEIPT_LIMIT))["completed_at"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None  # no receipt, or none that can be read: the file's own time has to do
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC)
