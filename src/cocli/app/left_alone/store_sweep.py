"""One store, object by object: what is somebody's is removed, where others stand beside them only they are taken out.

Every kind of key has its way here; what is of no kind is looked through as text. Running it twice is running it once,
so an interrupted sweep is simply begun again.
"""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import dataclass
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from cocli.app.left_alone.captures import CaptureSweep
from cocli.app.left_alone.changes import StoreChanges, SweepReport
from cocli.app.left_alone.matcher import unpacked
from cocli.app.left_alone.version_sweep import VersionSweep
from cocli.app.left_alone.written import WrittenSweep
from cocli.app.workspace import Progress, no_progress
from cocli.errors import Conflict, FormatError, InvalidKey, NotFound
from cocli.formats import usv
from cocli.index.cache import MemoryCache
from cocli.index.care.rewriting import HistoryRewriter, rewritten_table
from cocli.index.consumed import read_consumed
from cocli.index.shards import content_name
from cocli.index.versions import history
from cocli.keys import paths
from cocli.keys.paths import IndexRef, parse
from cocli.models.document import PipeDoc
from cocli.models.left_alone.forgotten import ForgottenObject
from cocli.pipeline.indexes import open_index
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cocli.app.left_alone.matcher import SubjectMatcher
    from cocli.documents.header import DocumentState
    from cocli.index.index import Index
    from cocli.keys.key import Key
    from cocli.store.base import Store

_LOT = 64
_TRIES = 5
_OURS = (paths.SuppressionKey, paths.ForgottenKey, paths.LatestKey, paths.DatapackageKey)
_CAPTURES = (
    paths.IntakeKey, paths.ClusterStateKey, paths.IntakeVersionKey, paths.ClusterVersionKey, paths.BlobKey,
    paths.DamagedKey,
)  # fmt: skip
_PACKED = (paths.ShardKey, paths.ManifestKey, paths.WalKey)
_FOLDERS_OF_A_CAPTURE = 5
_MADE = {
    paths.ExportKey: "export",
    paths.QueueCountKey: "queue count",
    paths.QueueTallyKey: "queue count",
}
"""Made from records, and made anew when it is asked for: a file that names them goes."""
_TOLD = {
    paths.ReportKey: "report",
    paths.UpkeepKey: "report",
    paths.RetentionKey: "proof of retention",
    paths.RefreshRoundKey: "refresh",
    paths.WatchStateKey: "watch",
    paths.ParserQualityKey: "self-check",
    paths.ExtractorQualityKey: "self-check",
    paths.HeartbeatKey: "heartbeat",
    paths.CampaignHeartbeatKey: "heartbeat",
    paths.MachineAccessKey: "machine",
    paths.EvictionKey: "machine",
    paths.ImportMappingKey: "import mapping",
    paths.TaskKey: "task",
    paths.LeaseKey: "task",
    paths.SidelinedKey: "task",
    paths.CompletedKey: "completion",
}
_WRITTEN = (
    paths.CompanyKey, paths.NoteKey, paths.MeetingKey, paths.PersonKey, paths.CampaignConfigKey, paths.CategoriesKey,
)  # fmt: skip


class RowsOf:
    """The rule by which rows of indexes are kept: that of the matcher."""

    def __init__(self, matcher: SubjectMatcher) -> None:
        self._matcher = matcher

    def touches(self, text: str) -> bool:
        return self._matcher.touches(text)

    def record(self, record: Any) -> Any | None:
        return self._matcher.full.record(record)


class StoreSweep:
    def __init__(self, changes: StoreChanges, matcher: SubjectMatcher, *, notes: bool, progress: Progress) -> None:
        self._changes = changes
        self._matcher = matcher
        self._progress = progress
        self._rule = RowsOf(matcher)
        self._written = WrittenSweep(changes, matcher, notes=notes)
        self._live: set[str] = set()
        """Keys of the shards, lists and manifests of kept versions: they are clean once their index is."""
        self._consumed: dict[str, str] = {}
        self.captures = CaptureSweep(changes, matcher)

    @property
    def dropped(self) -> list[str]:
        """Keys of copies that were removed because a proof names them."""
        return self._changes.dropped

    @property
    def redacted_states(self) -> list[DocumentState]:
        return self.captures.states

    @property
    def changed(self) -> set[str]:
        """Keys of what was removed or redacted."""
        return self._changes.changed

    def names(self, key: str) -> bool:
        """Whether a key tells who it is about."""
        return self._matcher.is_theirs(key)

    def concerns(self, stored: StoredObject) -> bool:
        """Whether an object would be removed or redacted, judged by itself: for one that is no longer current."""
        kind = _kind_of(stored.key)
        if not _is_written(stored.key, kind) and self._matcher.is_theirs(stored.key):
            return True
        if isinstance(kind, (*_OURS, *_PACKED)):
            return self._rule.touches(stored.data.decode("utf-8", "surrogateescape"))
        before = self._changes.report.total
        if isinstance(kind, _CAPTURES):
            self.captures.sweep_alone(stored)
        else:
            self._object(stored)
        return self._changes.report.total > before

    def run(self) -> None:
        store = self._changes.store
        keys = [info.key for info in store.list()]
        for key in keys:
            if paths.LatestKey.fits(key) and key.endswith("/LATEST"):
                self._index(paths.LatestKey.parse(key).index)
        if not self._changes.dry_run:
            keys = [info.key for info in store.list()]
        self._written.learn(keys)
        captures = [key for key in keys if _is_capture(key)]
        chosen = set(captures)
        done = 0
        for some in _lots(key for key in keys if key not in chosen):
            for key, answer in zip(some, store.get_many(some), strict=True):
                if isinstance(answer, StoredObject):
                    self._again(key, answer, self._object)
                elif not isinstance(answer, NotFound):  # gone meanwhile: nothing is left of it
                    raise answer
            done += len(some)
            self._progress(done)
        for _, group in groupby(captures, key=_capture_folder):
            self._capture(list(group))
            done += 1
            self._progress(done)

    def _again(self, key: str, stored: StoredObject, action: Callable[[StoredObject], None]) -> None:
        """Somebody may write while this goes on: then what is there now is looked at."""
        for _ in range(_TRIES):
            try:
                action(stored)
            except Conflict:
                try:
                    stored = self._changes.store.get(key)
                except NotFound:
                    return
            else:
                return
        raise Conflict(key=key)

    # --- indexes

    def _index(self, ref: IndexRef) -> None:
        index: Index[Any] = open_index(self._changes.store, ref, MemoryCache())
        report = self._changes.report
        done = HistoryRewriter(index, self._rule, dry_run=self._changes.dry_run).rewrite()
        if done.dropped:
            report.counts["record", "removed"] += len(done.dropped)
        if done.changed:
            report.counts["record", "redacted"] += done.changed
        for key in done.objects:
            kind = "index version" if "/manifests/" in key else "index shard"
            report.counts[kind, "redacted"] += 1
            name = key.rpartition("/")[2].partition(".")[0].rpartition("-")[2]
            report.objects.append(ForgottenObject(kind=kind, sha256=name, size=0, done="redacted"))
        self._changes.changed |= set(done.objects)
        for manifest in history(index):
            self._live |= {str(paths.ShardKey(ref, name)) for name in manifest.names}
            self._live.add(_manifest_key(ref, manifest))
        newest = next(history(index), None)
        for consumed in read_consumed(index, newest).values() if newest is not None else ():
            self._consumed[consumed.object] = consumed.etag
        if self._changes.dry_run:
            self._live |= set(done.objects)

    def _rows(self, stored: StoredObject, ref: IndexRef) -> None:
        """A batch of records that wait to be packed."""
        index: Index[Any] = open_index(self._changes.store, ref, MemoryCache())
        try:
            change = rewritten_table(index, stored.data, self._rule)
        except (FormatError, ValueError):  # it cannot be read as rows: then it goes where it names them
            if self._matcher.finds_in(stored.key, stored.data):
                self._changes.remove("record", stored)
            return
        if change is None:
            return
        is_packed = self._consumed.get(stored.key) == stored.etag
        if not change.lines or is_packed:
            self._changes.remove("record", stored)
        else:
            day = paths.WalKey.parse(stored.key).day
            key = str(paths.WalKey(ref, day, content_name(change.data)))
            self._changes.rename("record", stored, key, change.data)

    def _loose(self, stored: StoredObject, ref: IndexRef) -> None:
        """One record that waits to be packed."""
        if not self._rule.touches(stored.data.decode("utf-8", "surrogateescape")):
            return
        index: Index[Any] = open_index(self._changes.store, ref, MemoryCache())
        try:
            record = index.spec.read_loose(stored.data, file=stored.key)
        except FormatError:
            record = None  # no record that could be kept without them
        kept = None if record is None else self._rule.record(record)
        if kept is None or self._consumed.get(stored.key) == stored.etag:
            self._changes.remove("record", stored)
        elif kept != record:
            self._changes.replace("record", stored, index.spec.render_loose(kept))

    # --- everything else

    def _object(self, stored: StoredObject) -> None:
        key = stored.key
        if key in self._live:
            return
        kind = _kind_of(key)
        if isinstance(kind, _OURS):
            return
        if self._matcher.is_proved(stored.data):
            self._changes.drop(self._kind(kind), stored)
            return
        if isinstance(kind, paths.WalKey):
            self._rows(stored, kind.index)
        elif isinstance(kind, _PACKED):  # of no version: a run that was cut off has left it
            if self._rule.touches(stored.data.decode("utf-8", "surrogateescape")):
                self._changes.remove(self._kind(kind), stored)
        elif kind is not None and (ref := _loose_in(key, kind)) is not None:
            self._loose(stored, ref)
        elif _is_written(key, kind):
            self._written.sweep(stored, kind)
        elif self._matcher.is_theirs(key):
            self._changes.remove(self._kind(kind), stored)
        elif isinstance(kind, paths.CatalogChangesKey):
            self._catalog_rows(stored, kind)
        elif isinstance(kind, paths.ExportKey):
            self._export(stored)
        elif self._matcher.finds_in(key, stored.data):
            self._found(stored, kind)

    def _export(self, stored: StoredObject) -> None:
        """A list may have names alone. It is made anew when it is asked for; what a watch told loses their rows."""
        scrubber = self._matcher.full.scrubber
        if not any(scrubber.finds(plain.decode("utf-8", "replace")) for plain in unpacked(stored.data)):
            return
        if not _is_told_table(stored.key):
            self._changes.remove("export", stored)
            return
        head, *rows = csv.reader(io.StringIO(stored.data.decode("utf-8-sig", "surrogateescape"), newline=""))
        out = io.StringIO(newline="")
        csv.writer(out).writerows([head, *(row for row in rows if not scrubber.finds("\n".join(row)))])
        data = codecs.BOM_UTF8 + out.getvalue().encode("utf-8", "surrogateescape")
        self._changes.replace("export", stored, data)

    def _found(self, stored: StoredObject, kind: Key | None) -> None:
        is_told = type(kind) in _TOLD or kind is None
        if is_told and not stored.key.endswith(".usv"):
            data = self._matcher.redacted(stored.key, stored.data)
            if data != stored.data and not self._matcher.finds_in(stored.key, data):
                self._changes.replace(self._kind(kind), stored, data)
                return
        if isinstance(kind, paths.CompletedKey):
            lines = stored.data.split(b"\n")
            kept = [line for line in lines if not self._matcher.strong.finds(line.decode("utf-8", "replace"))]
            self._changes.replace(self._kind(kind), stored, b"\n".join(kept))
            return
        self._changes.remove(self._kind(kind), stored)

    @staticmethod
    def _kind(kind: Key | None) -> str:
        if isinstance(kind, (paths.ShardKey, paths.ManifestKey)):
            return "index shard"
        return _TOLD.get(type(kind)) or _MADE.get(type(kind)) or "file"

    def _catalog_rows(self, stored: StoredObject, kind: paths.CatalogChangesKey) -> None:
        """What catalogues tell each other: rows of documents that are gone are not told any more."""
        rows = list(usv.read(PipeDoc, stored.data, file=stored.key, trusted=True))
        kept = [row for row in rows if not self._matcher.strong.finds(f"{row.doc} {row.source_uri} {row.filename}")]
        if len(kept) == len(rows):
            return
        if not kept:
            self._changes.remove("catalogue", stored)
            return
        data = usv.render(PipeDoc, kept)
        key = str(paths.CatalogChangesKey(kind.writer, len(kept), content_name(data)))
        self._changes.rename("catalogue", stored, key, data)

    # --- captures

    def _capture(self, keys: Sequence[str]) -> None:
        for _ in range(_TRIES):
            found = [answer for answer in self._changes.store.get_many(keys) if isinstance(answer, StoredObject)]
            try:
                self.captures.sweep(found)
            except Conflict:
                continue
            return
        raise Conflict(key=keys[0])


def _kind_of(key: str) -> Key | None:
    try:
        return parse(key)
    except InvalidKey:
        return None


def _is_written(key: str, kind: Key | None) -> bool:
    return isinstance(kind, _WRITTEN) or key.startswith(("companies/", "people/"))


def _is_told_table(key: str) -> bool:
    """A table of all that a watch has told."""
    return key.endswith(".csv") and "/exports/watches/" in key


def _loose_in(key: str, kind: Key) -> IndexRef | None:
    """The index in whose folder a record lies by itself."""
    above, found, below = f"/{key}".partition("/indexes/")
    if not found or isinstance(kind, _PACKED):
        return None
    name = below.partition("/")[0]
    return IndexRef(name, None if not above else str(getattr(kind, "campaign", "")))


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """How a store is swept."""

    notes: bool = False
    """Also what people wrote."""
    dry_run: bool = False
    versions: bool = True
    """Also what a bucket keeps of objects that were replaced or deleted."""
    idle_versions: bool = True
    """Also where no object was changed: those of what was removed before."""
    paths: tuple[str, ...] = ()
    """How keys of theirs begin that are only told by name, such as `companies/firm/`."""


def sweep_store(
    store: Store,
    matcher: SubjectMatcher,
    report: SweepReport,
    options: SweepOptions,
    progress: Progress = no_progress,
) -> StoreSweep:
    """One store, from end to end."""
    changes = StoreChanges(store, report, options.dry_run)
    sweep = StoreSweep(changes, matcher, notes=options.notes, progress=progress)
    sweep.run()
    if options.versions and (options.idle_versions or sweep.changed):
        looking = StoreChanges(store, SweepReport(), dry_run=True)
        judge = StoreSweep(looking, matcher, notes=options.notes, progress=no_progress)
        paths = options.paths if options.notes else ()
        changed = set() if options.dry_run else sweep.changed
        VersionSweep(store, judge, report, changed, paths).run(dry_run=options.dry_run, progress=progress)
    return sweep


def _manifest_key(ref: IndexRef, manifest: Any) -> str:
    from cocli.formats import json_records

    return str(paths.ManifestKey(ref, manifest.version, content_name(json_records.render(manifest))))


def _is_capture(key: str) -> bool:
    return key.endswith((".pb", ".bin", ".damaged")) and isinstance(_kind_of(key), _CAPTURES)


def _capture_folder(key: str) -> str:
    """The folder of the document that an object belongs to."""
    kind = parse(key)
    prefix = str(getattr(kind, "prefix", ""))
    depth = prefix.count("/") + 1 + _FOLDERS_OF_A_CAPTURE - 1
    return "/".join(key.split("/")[:depth])


def _lots(keys: Iterable[str]) -> Iterator[list[str]]:
    remaining = iter(keys)
    while lot := list(islice(remaining, _LOT)):
        yield lot
