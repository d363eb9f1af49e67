"""Published versions of an index: compared by their pointers, moved by their manifests, never record by record.

Each side keeps a pointer of its own (what its garbage collection condemned is its own affair); what is compared is the
manifest that it names. One side ahead of the other is brought over: the shards that are missing, the manifests, then
the pointer by compare-and-swap. Where both have published, the records that one side changed since they parted are
appended to the other as a batch and packed there: the index's own merge decides, so the records of both survive.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from cocli import logs
from cocli.errors import ChangedMeanwhile, IndexDamaged, NotFound, StoreError
from cocli.index.compaction import Compactor
from cocli.index.diff import diff
from cocli.index.latest import Pointer, current_pointer, read_pointer, short, swap_pointer
from cocli.index.publication import without
from cocli.index.reader import IndexReader
from cocli.index.shards import content_name
from cocli.index.writer import IndexWriter
from cocli.keys.paths import LatestKey, ManifestKey, ShardKey
from cocli.pipeline.indexes import open_index
from cocli.store.base import Put, StoredObject
from cocli.sync.merge import index_ref
from cocli.sync.report import IndexMoved, Whereabouts
from cocli.sync.state import KnownVersions, row_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.index.index import Index
    from cocli.index.manifest import Manifest, ManifestRef
    from cocli.sync.folder import Stamp
    from cocli.sync.pace import Throttle
    from cocli.sync.pair import Direction, SyncPair

_LOG = logs.get_logger(__name__)

_CHAIN = 1000
_BROUGHT = 20
"""Manifests that come along: enough for the next sync to see where both parted."""
_BATCH = 64
_TRIES = 5


@dataclass(slots=True)
class _Copied:
    objects: int = 0
    bytes: int = 0


@dataclass(slots=True)
class _View:
    """Both pointers of one index, as just read."""

    here: Pointer | None
    there: Pointer | None
    stamp: Stamp | None = None
    """How the pointer here looked, before and after it was read."""
    looked: int = 0

    @property
    def ours(self) -> ManifestRef | None:
        return self.here.latest.manifest if self.here else None

    @property
    def theirs(self) -> ManifestRef | None:
        return self.there.latest.manifest if self.there else None


def _name(ref: ManifestRef | None) -> str:
    return "" if ref is None else f"{ref.version}-{ref.sha256}"


class IndexSyncer:
    """One index of a pair."""

    def __init__(self, pair: SyncPair, folder: str, direction: Direction, throttle: Throttle) -> None:
        self._pair = pair
        self._folder = folder
        self._direction = direction
        self._throttle = throttle
        ref = index_ref(folder)
        settings: dict[str, Any] = {"writer": pair.host, "nonce": pair.nonce}
        store = pair.folder.store
        self._here: Index[Any] = open_index(store, ref, pair.cache(store.address, ref), **settings)
        self._there: Index[Any] = open_index(pair.bucket, ref, pair.cache(pair.bucket.address, ref), **settings)
        self._copied = _Copied()
        self._records = 0

    def look(self) -> IndexMoved:
        """What a run would do. One request, if nothing changed."""
        view = self._read()
        known = self._pair.state.known_versions(self._folder)
        if view.ours == view.theirs:
            return self._moved("unchanged", view.ours)
        ours_new, theirs_new = self._is_new_there(view, known), self._is_new_here(view, known)
        return self._moved(self._outcome(ours_new, theirs_new), view.theirs or view.ours)

    def sync(self) -> tuple[IndexMoved, Whereabouts]:
        """Bring both sides together, as far as the direction allows."""
        outcome = "unchanged"
        for _ in range(_TRIES):
            view = self._read()
            known = self._pair.state.known_versions(self._folder)
            if view.ours == view.theirs:
                self._remember(view)
                return self._moved(outcome, view.ours), Whereabouts(there_has_ours=True, here_has_theirs=True)
            ours_new, theirs_new = self._is_new_there(view, known), self._is_new_here(view, known)
            step = self._outcome(ours_new, theirs_new)
            if step in ("behind", "ahead"):
                told = step if outcome == "unchanged" else outcome
                standing = Whereabouts(there_has_ours=not ours_new, here_has_theirs=not theirs_new)
                return self._moved(told, view.ours), standing
            _LOG.debug("index %s will be %s", self._folder, step)
            self._do(step, view, known)
            outcome = "merged" if "merged" in (step, outcome) else step
        raise ChangedMeanwhile(key=f"{self._folder}LATEST")

    # --- deciding

    def _outcome(self, ours_new: bool, theirs_new: bool) -> str:
        up, down = self._direction.up, self._direction.down
        if ours_new and theirs_new:
            return "merged"
        if theirs_new or (not ours_new and down):
            return "pulled" if down else "behind"
        return "pushed" if up else "ahead"

    def _is_new_there(self, view: _View, known: KnownVersions) -> bool:
        """Whether we have records that the bucket may not have."""
        ours = view.ours
        if ours is None or _name(ours) == known.local:
            return False
        return not self._descends(view.theirs, ours)

    def _is_new_here(self, view: _View, known: KnownVersions) -> bool:
        theirs = view.theirs
        if theirs is None or _name(theirs) == known.remote:
            return False
        return not self._descends(view.ours, theirs)

    def _descends(self, young: ManifestRef | None, old: ManifestRef) -> bool:
        """Whether a version came out of another one: then it has all of it."""
        return any(ref == old for ref, _ in self._chain(young, old.version))

    def _chain(self, ref: ManifestRef | None, down_to: int) -> Iterator[tuple[ManifestRef, Manifest | None]]:
        """A version and those before it, as far as they are kept on either side; here first, where it costs nothing."""
        for _ in range(_CHAIN):
            if ref is None or ref.version < down_to:
                return
            manifest = _manifest(self._here, ref) or _manifest(self._there, ref)
            yield ref, manifest
            ref = None if manifest is None else manifest.parent

    # --- doing

    def _do(self, step: str, view: _View, known: KnownVersions) -> None:
        up = step == "pushed" or (step == "merged" and self._direction.up)
        if up:
            source, target, pointer, ref, other = self._here, self._there, view.there, view.ours, view.theirs
        else:
            source, target, pointer, ref, other = self._there, self._here, view.here, view.theirs, view.ours
        if ref is None:
            raise ChangedMeanwhile(key=f"{self._folder}LATEST")
        if step == "merged" or not self._bring(source, target, ref, pointer):
            self._merge(source, target, ref, other)
            name = _name(ref)
            known = known._replace(local=name) if up else known._replace(remote=name)
            self._pair.state.know_versions(self._folder, known)

    def _bring(self, source: Index[Any], target: Index[Any], ref: ManifestRef, seen: Pointer | None) -> bool:
        """Shards, manifests, then the pointer; until the swap nobody sees any of it. False if it cannot be done so:
        the collector over there is deleting, or has just deleted, what this version needs."""
        pointer = seen or current_pointer(target)
        if seen is None and pointer.latest.manifest is not None:
            return True  # somebody has just published there: looked at again
        manifest = source.objects.manifest(ref)
        needed = {short(name) for name in (*manifest.names, ref.sha256)}
        if needed & pointer.latest.doomed:
            return False
        live: set[str] = set()
        if pointer.latest.manifest:
            live = set(target.objects.manifest(pointer.latest.manifest).names)
        self._copy(source, target, [str(ShardKey(target.ref, name)) for name in sorted(manifest.names - live)])
        self._copy(source, target, self._manifest_keys(source, target, ref))
        swap_pointer(  # against the pointer that was decided upon: what was published since then is looked at again
            target,
            pointer,
            manifest=ref,
            rows=manifest.rows,
            key_sum=manifest.key_sum,
            condemned=without(pointer.latest.condemned, needed),
        )
        return True

    def _manifest_keys(self, source: Index[Any], target: Index[Any], ref: ManifestRef) -> list[str]:
        """The manifests that the target lacks, oldest first: a chain never has a hole that was not there before."""
        missing: list[str] = []
        for version, manifest in islice(self._chain(ref, 0), _BROUGHT):
            if manifest is None or _manifest(source, version) is None:
                break
            if missing and _manifest(target, version) is not None:
                break
            missing.append(str(ManifestKey(target.ref, version.version, version.sha256)))
        return missing[::-1]

    def _copy(self, source: Index[Any], target: Index[Any], keys: list[str]) -> None:
        for begin in range(0, len(keys), _BATCH):
            some = keys[begin : begin + _BATCH]
            puts = [self._checked(key, answer) for key, answer in zip(some, source.store.get_many(some), strict=True)]
            self._throttle.spend(sum(len(put.data) for put in puts))
            for answer in target.store.put_many(puts):
                if isinstance(answer, StoreError):
                    raise answer
            self._copied.objects += len(puts)
            self._copied.bytes += sum(len(put.data) for put in puts)

    def _checked(self, key: str, answer: StoredObject | StoreError) -> Put:
        if isinstance(answer, NotFound):
            raise IndexDamaged(index=self._here.label, reason=f"{key} is missing") from answer
        if isinstance(answer, StoreError):
            raise answer
        name = key.rsplit("/", 1)[-1].partition(".")[0].rpartition("-")[2]
        if content_name(answer.data) != name:
            raise IndexDamaged(index=self._here.label, reason=f"{key} is not what its name says")
        return Put(key, answer.data)

    # --- merging

    def _merge(self, source: Index[Any], target: Index[Any], ref: ManifestRef, other: ManifestRef | None) -> None:
        """What the source changed since both parted goes to the target as records, and is packed there."""
        manifest = source.objects.manifest(ref)
        base = self._base(ref, other)
        try:
            records, removed = _changes(source, base, manifest)
        except IndexDamaged:
            _LOG.warning("index %s: the version that both came from is gone, all records are merged", self._folder)
            base = None  # the version they have in common was collected: then everything is offered
            records, removed = _changes(source, None, manifest)
        self._records += len(records)
        IndexWriter(target).append(records)
        gone = self._still_the_same(target, other, removed)
        if gone and not target.spec.keeps_loose:
            Compactor(target).remove(gone)
        Compactor(target).compact()

    def _base(self, ref: ManifestRef, other: ManifestRef | None) -> Manifest | None:
        """The last version that both came out of."""
        ancestors = {_name(ancestor) for ancestor, _ in self._chain(other, 0)}
        for version, manifest in self._chain(ref, 0):
            if _name(version) in ancestors:
                return manifest
        return None

    def _still_the_same(self, target: Index[Any], other: ManifestRef | None, removed: dict[str, Any]) -> list[str]:
        """Of the records that the source removed, those that nobody changed meanwhile: an edit outlives a deletion."""
        if not removed or other is None:
            return []
        reader: IndexReader[Any] = IndexReader(target, target.objects.manifest(other))
        return [key for key, record in removed.items() if reader.get(key) == record]

    # --- what is remembered

    def _read(self) -> _View:
        key, folder = str(LatestKey(self._here.ref)), self._pair.folder
        looked, before = folder.now_ns(), folder.stamp(key)
        here = read_pointer(self._here)
        stamp = before if folder.stamp(key) == before else None
        return _View(here, read_pointer(self._there), stamp, looked)

    def _remember(self, view: _View) -> None:
        name = _name(view.ours)
        if self._pair.state.known_versions(self._folder) != KnownVersions(name, name):
            self._pair.state.know_versions(self._folder, KnownVersions(name, name))
        key = str(LatestKey(self._here.ref))
        if view.here is not None and view.there is not None and view.stamp is not None:
            # Both pointers as they are: while neither looks different, a listing is enough to know it.
            self._pair.state.advance({key: row_of(view.stamp, view.looked, view.here.etag, view.there.etag)})

    def _moved(self, outcome: str, ref: ManifestRef | None) -> IndexMoved:
        copied, version = self._copied, ref.version if ref else 0
        return IndexMoved(self._folder, outcome, version, copied.objects, copied.bytes, self._records)


def _manifest(index: Index[Any], ref: ManifestRef) -> Manifest | None:
    try:
        return index.objects.manifest(ref)
    except IndexDamaged:
        return None  # not kept on this side


def _changes(index: Index[Any], base: Manifest | None, manifest: Manifest) -> tuple[list[Any], dict[str, Any]]:
    """Records that are new or changed since the base, and those that are gone, by their sort key."""
    if base is None:
        return list(IndexReader(index, manifest).scan()), {}
    changed: list[Any] = []
    removed: dict[str, Any] = {}
    for change in diff(index, base, manifest):
        if change.new is not None:
            changed.append(change.new)
        elif change.old is not None:
            removed[change.key] = change.old
    return changed, removed
