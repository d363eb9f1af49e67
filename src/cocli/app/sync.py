"""Sync for people: which folder and which bucket, what would be done, doing it, and the copies that are left.

The folder is the data home, the bucket the store that the campaign (or `--store`) names.
"""

from __future__ import annotations

import os
import socket
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from cocli import logs
from cocli.app.split import has_data
from cocli.config.places import cache_home, state_home
from cocli.errors import CocliError, SyncError, UnknownCampaign, UsageError
from cocli.index.cache import FolderCache
from cocli.keys.paths import CATALOG_FOLDER, FORGOTTEN_FOLDER, SUPPRESSED_FOLDER, campaign_folder
from cocli.store.etag import content_etag
from cocli.store.folders import children, is_empty
from cocli.sync.decision import Action, SyncOptions
from cocli.sync.engine import Syncer
from cocli.sync.folder import Folder
from cocli.sync.kinds import SyncPart
from cocli.sync.pair import SyncPair
from cocli.sync.selection import Selection
from cocli.sync.state import ADDRESS, COPY_OF, OF_CAMPAIGN, SyncState, state_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cocli.app.workspace import Campaign, Workspace
    from cocli.config.resolve import Settings
    from cocli.index.cache import Cache
    from cocli.keys.paths import IndexRef
    from cocli.store.base import Store
    from cocli.sync.plan import SyncPlan
    from cocli.sync.report import IndexMoved, SyncReport, SyncWatcher

SMART = (SyncPart.CONFIG, SyncPart.INDEXES, SyncPart.COMPANIES)
"""What somebody who works with the results needs: documents and completions are asked for when they are wanted."""
_SIDE_BY_SIDE = 32


@dataclass(slots=True)
class Sync:
    """A pair, opened, with what was asked for."""

    pair: SyncPair
    selection: Selection
    campaign: Campaign | None
    settings: Settings
    indexes: list[str] = field(default_factory=list)

    def run(
        self,
        options: SyncOptions,
        *,
        many_deletions: bool = False,
        bandwidth: float | None = None,
        watcher: SyncWatcher | None = None,
    ) -> SyncReport:
        """Bring both sides together. `TooManyDeletions` unless they are said to be meant."""
        remaining = self._obey_who_was_forgotten(options)
        more: dict[str, Any] = {} if watcher is None else {"watcher": watcher}
        syncer = Syncer(self.pair, self.selection, options, indexes=self.indexes, bandwidth=bandwidth, **more)
        with logs.bound(campaign=self.selection.campaign):
            report = syncer.run(many_deletions=many_deletions)
            self._tell_catalogues(report)
        if remaining:
            report.failed[FORGOTTEN_FOLDER] = SyncError(key=FORGOTTEN_FOLDER, reason=" ".join(remaining))
        return report

    def _obey_who_was_forgotten(self, options: SyncOptions) -> list[str]:
        """Before anything is compared: who is left alone is known on both sides, and who was forgotten is gone from
        both. So nothing of them that is still here goes back. Returns what could not be removed, in words."""
        folder, bucket, environ = self.pair.folder.store, self.pair.bucket, self.settings.environ
        if all(is_empty(store, name) for store in (folder, bucket) for name in (SUPPRESSED_FOLDER, FORGOTTEN_FOLDER)):
            return []
        from cocli.app.documents.documents import catalog_address  # here: all of the index comes with them
        from cocli.app.left_alone.copies import carry_lists, obey_proofs

        carry_lists(folder, bucket, writes_other=options.direction.up)
        catalogues = [catalog_address(self.settings, store) for store in (folder, bucket)]
        done = obey_proofs(environ, [folder], copies=options.direction.down, catalogues=catalogues)
        if done.dropped:  # as if never had: what is in the bucket is brought over
            self.pair.state.advance({}, done.dropped, brought=False)
        if options.direction.up:
            done.add(obey_proofs(environ, [bucket], copies=False))
        return [rest.told for rest in done.remaining]

    def _tell_catalogues(self, report: SyncReport) -> None:
        """Documents were brought over: whoever asks for them on either side knows them."""
        if not self.pair.state.documents():
            return
        from cocli.app.documents.brought import note_brought_documents  # here: most runs bring no document

        try:
            note_brought_documents(self.pair, self.settings)
        except CocliError as error:
            report.failed[CATALOG_FOLDER] = error  # the files are where they belong; the next run tells of them

    def look(self, options: SyncOptions) -> SyncForecast:
        """What a run would do; nothing is changed."""
        syncer = Syncer(self.pair, self.selection, options, indexes=self.indexes)
        plan = syncer.plan()
        return SyncForecast(plan, syncer.look_at_indexes(plan))

    def standing(self) -> SyncStanding:
        """What differs, and since when."""
        state = self.pair.state
        return SyncStanding(
            folder=str(self.pair.folder.store.address),
            bucket=self.pair.bucket.address,
            last_run=state.fact("last_run"),
            last_whole_run=state.fact("last_whole_run"),
            last_direction=state.fact("last_direction"),
            state=state.path,
        )


class SyncForecast(NamedTuple):
    plan: SyncPlan
    indexes: list[IndexMoved]

    @property
    def in_agreement(self) -> bool:
        waiting = any(step.action not in (Action.ADOPT, Action.FORGET) for step in self.plan.steps)
        return not waiting and all(index.outcome == "unchanged" for index in self.indexes) and not self.plan.failed


class SyncStanding(NamedTuple):
    folder: str
    bucket: str
    last_run: str | None
    last_whole_run: str | None
    last_direction: str | None
    state: str


@contextmanager
def open_sync(
    workspace: Workspace,
    campaign: str | None,
    *,
    parts: Iterable[SyncPart] = (),
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
) -> Iterator[Sync]:
    """The pair of a campaign (or of the store that is configured), locked for this process until it is closed."""
    parts = list(parts)
    chosen, bucket = _bucket(workspace, campaign, whole=not (parts or include or exclude))
    home = str(workspace.settings.data_home.value)
    _refuse_itself(home, bucket)
    environ = workspace.settings.environ
    folder = Folder(home)
    try:
        path = state_path(state_home(environ), folder.address, bucket.address)
        state = SyncState(path, local=folder.address, remote=bucket.address)
        try:
            cache = _cache_in(os.path.join(cache_home(environ), "sync"))
            pair = SyncPair(folder, bucket, state, socket.gethostname(), side_by_side=_threads, cache=cache)
            documents = "uploads"
            if chosen is not None:
                documents = str(chosen.settings.model().documents.prefix)
            exclude = (*exclude, *_signposts(chosen))
            selection = Selection(frozenset(parts), campaign, tuple(include), exclude, documents)
            known = SyncPart.INDEXES not in selection.parts or (selection.only_versions and bool(state.indexes()))
            settings = chosen.settings if chosen else workspace.settings
            _remember_address(state, str(settings.store.value), campaign)
            _remember_copy(state, chosen)
            yield Sync(pair, selection, chosen, settings, _indexes(campaign, bucket, folder, known=known))
        finally:
            state.close()
    finally:
        folder.close()


def _bucket(workspace: Workspace, campaign: str | None, *, whole: bool) -> tuple[Campaign | None, Store]:
    """A campaign that is in two places is brought together by a sync of all of it, and by nothing less."""
    if campaign is None:
        return None, workspace.store
    try:
        chosen = workspace.campaign(campaign, split=whole)
    except UnknownCampaign:
        here = os.path.join(str(workspace.settings.data_home.value), campaign_folder(campaign))
        if workspace.settings.flags.store is None or not os.path.isdir(here):
            raise
        return None, workspace.store  # nothing of it was pushed yet, but it is here, and the address was said
    return chosen, chosen.store


def _remember_address(state: SyncState, address: str, campaign: str | None) -> None:
    """So that whoever works on a copy knows where it came from: see `sync_round`."""
    facts = {ADDRESS: address} if campaign is None else {ADDRESS: address, f"{OF_CAMPAIGN}{campaign}": address}
    if any(state.fact(name) != value for name, value in facts.items()):
        state.remember(facts)


def _remember_copy(state: SyncState, campaign: Campaign | None) -> None:
    """A run that is cut off must not look like a campaign in two places: nothing of it was here before."""
    if campaign is not None and campaign.signpost is not None and not has_data(campaign.signpost.store, campaign.name):
        state.remember({f"{COPY_OF}{campaign.name}": "yes"})


def _signposts(campaign: Campaign | None) -> list[str]:
    """The file here that only says where the campaign is. It is this machine's: the campaign's own one is there."""
    if campaign is None or campaign.signpost is None or campaign.home is campaign.signpost.store:
        return []
    return [campaign.key]


def _refuse_itself(home: str, bucket: Store) -> None:
    if os.path.realpath(os.path.expanduser(home)) == os.path.realpath(bucket.address):
        raise UsageError(
            reason="There is nothing to sync with: the store is the data home itself",
            hint="Name a bucket: --store s3://bucket, COCLI_STORE, or [storage] url in the campaign's config.toml.",
        )


def _indexes(campaign: str | None, bucket: Store, folder: Folder, *, known: bool) -> list[str]:
    """The folders of indexes: those here, and where none is known yet those in the bucket."""
    above = [f"{campaign_folder(campaign)}indexes/"] if campaign is not None else []
    above.append("indexes/")
    found = {f"{base}{name}/" for base in above for name in _names_in(os.path.join(folder.address, base))}
    if not known:
        found |= {f"{base}{name}" for base in above for name in children(bucket, base) if isinstance(name, str)}
    return sorted(found)


def _names_in(path: str) -> list[str]:
    try:
        return [name for name in os.listdir(path) if os.path.exists(os.path.join(path, name, "LATEST"))]
    except OSError:
        return []  # no index is here yet


def _cache_in(base: str) -> Callable[[str, IndexRef], Cache]:
    import hashlib

    def cache(address: str, ref: IndexRef) -> Cache:
        name = hashlib.sha256(address.encode()).hexdigest()[:16]
        return FolderCache(os.path.join(base, name, ref.folder.rstrip("/")))

    return cache


def _threads(action: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    from concurrent.futures import ThreadPoolExecutor

    every = list(items)
    if len(every) < 2:
        return [action(item) for item in every]
    with ThreadPoolExecutor(min(_SIDE_BY_SIDE, len(every)), thread_name_prefix="cocli-sync") as pool:
        return list(pool.map(action, every))


# --- conflict copies


class ConflictCopy(NamedTuple):
    """A version that lost its name to somebody else's."""

    key: str
    copy: str
    size: int
    original_exists: bool


def conflict_copies(sync: Sync) -> list[ConflictCopy]:
    """Every copy that waits to be looked at, in the folder."""
    from cocli.sync.kinds import original_of

    found = sync.pair.folder.walk([""], lambda _key, _reason: None)
    copies = [(original, key) for key in found if (original := original_of(key)) is not None]
    return [ConflictCopy(key, copy, found[copy].size, key in found) for key, copy in sorted(copies)]


def resolve(sync: Sync, copy: str, *, take: str) -> ConflictCopy:
    """End a conflict: `copy` puts it in the place of the file, `file` drops it. The next sync tells everybody."""
    from cocli.sync.kinds import original_of

    key = original_of(copy)
    if key is None:
        raise UsageError(reason=f"{copy} is no conflict copy", hint="List the copies with: cocli sync resolve")
    folder = sync.pair.folder
    kept = folder.read(copy, folder.now_ns())
    original = folder.stamp(key)
    if take == "copy":
        if original is None:
            folder.store.put(key, kept.data, if_absent=True)
        else:
            folder.replace(key, kept.data, folder.store.get(key).etag)
    folder.remove(copy, content_etag(kept.data))
    return ConflictCopy(key, copy, kept.stamp.size, original is not None)


def texts(sync: Sync, copy: ConflictCopy) -> tuple[str, str]:
    """The file and its copy, to be compared."""
    store = sync.pair.folder.store
    there = store.get(copy.key).data if copy.original_exists else b""
    return there.decode("utf-8", "replace"), store.get(copy.copy).data.decode("utf-8", "replace")
