"""The indexes of a campaign, for people: which there are, how they stand, and what was published when.

Queries are `index_query`, one record `index_lookup`, what changes an index `index_care` and its neighbours.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.app.queues.queues import STANDARD, queue_names
from cocli.config.places import cache_home
from cocli.config.private import make_private
from cocli.config.schema import did_you_mean
from cocli.errors import InvalidKey, UnknownIndex, UsageError
from cocli.index.cache import FolderCache
from cocli.index.queries.derived import DerivedFolder
from cocli.index.reader import open_reader
from cocli.keys.paths import GLOBAL_INDEXES, IndexRef
from cocli.pipeline.indexes import COMPLETIONS, NAMES, open_index, spec_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.workspace import Campaign, Workspace
    from cocli.index.index import Index
    from cocli.pipeline.suppression.business_veil import BusinessVeil
    from cocli.pipeline.suppression.stored import LeftAlone
    from cocli.store.base import Store

OF_A_CAMPAIGN = tuple(name for name in NAMES if name not in GLOBAL_INDEXES)
_BY_HASH_ALONE = ("changes", "standings")
"""They name a business by its hash, and have nothing else that a do-not-contact list could tell it by."""
SHARED = tuple(name for name in NAMES if name in GLOBAL_INDEXES)


def index_names() -> list[str]:
    """The indexes that every campaign has, and those that campaigns share."""
    return [*OF_A_CAMPAIGN, *SHARED, *(f"{COMPLETIONS}{queue}" for queue in STANDARD)]


@dataclass(frozen=True, slots=True)
class Indexes:
    """The indexes that a command works on: those of a campaign, and those that campaigns share."""

    store: Store
    cache: str
    """The folder of what is fetched and derived from this store."""
    left_alone: LeftAlone
    """The do-not-contact list: what is on it is neither read nor written by anybody who opens an index here."""
    campaign: Campaign | None = None

    @property
    def options(self) -> str:
        """What a hint has to say behind the name of an index."""
        if self.campaign:
            return f" -c {self.campaign.name}"
        return ""

    def refs(self, *, listing: bool = True) -> list[IndexRef]:
        """Every index there is, or may be. Without `listing` only the queues that are known anyway are counted."""
        refs = [IndexRef(name) for name in SHARED]
        if self.campaign is not None:
            owner = self.campaign.name
            queues = queue_names(self.campaign) if listing else _known_queues(self.campaign)
            refs[:0] = [IndexRef(name, owner) for name in OF_A_CAMPAIGN]
            refs += [IndexRef(f"{COMPLETIONS}{queue}", owner) for queue in queues]
        return refs

    def ref(self, name: str) -> IndexRef:
        """The index of a name; dashes may be written as in the names of views."""
        name = name.replace("_", "-")
        if name in GLOBAL_INDEXES:
            return IndexRef(name)
        known = index_names()
        if name not in known and not name.startswith(COMPLETIONS):
            raise UnknownIndex(index=name, known=", ".join(known), hint=did_you_mean(name, known))
        if self.campaign is None:
            raise UsageError(
                reason=f"Whose {name}? This index belongs to a campaign.",
                hint="Name it with --campaign NAME, or set CAMPAIGN_NAME.",
            )
        ref = IndexRef(name, self.campaign.name)
        try:
            spec_of(ref)
            ref.folder  # noqa: B018  a name that no key can have is refused here
        except InvalidKey as error:
            raise UnknownIndex(index=name, known=", ".join(known)) from error
        return ref

    def chosen(self, name: str | None) -> list[IndexRef]:
        """The index that was named, or all of them."""
        if name is not None:
            return [self.ref(name)]
        return self.refs()

    def open(self, ref: IndexRef) -> Index[Any]:
        if ref.name in _BY_HASH_ALONE:
            return open_index(self.store, ref, self._cache(ref), veil=self._business_veil)
        return self.open_beside(ref)

    def open_beside(self, ref: IndexRef) -> Index[Any]:
        """The same for whoever reads the records beside their businesses, and so does not meet those of others."""
        return open_index(self.store, ref, self._cache(ref), veil=self.left_alone.veil)

    def _business_veil(self) -> BusinessVeil | None:
        veil = self.left_alone.veil()
        if veil is None:
            return None
        from cocli.pipeline.suppression.business_veil import BusinessVeil  # here: most data homes have no list

        return BusinessVeil(veil, lambda: open_reader(self.open_whole(self.ref("prospects")), fresh=True).scan())

    def open_whole(self, ref: IndexRef) -> Index[Any]:
        """The same without the do-not-contact list: for whoever packs, repairs or forgets what is there."""
        return open_index(self.store, ref, self._cache(ref))

    def _cache(self, ref: IndexRef) -> FolderCache:
        return FolderCache(self._folder("objects", ref))

    def copies(self, ref: IndexRef) -> DerivedFolder:
        return DerivedFolder(self._folder("derived", ref))

    @contextmanager
    def scratch(self) -> Iterator[str]:
        """A folder for one command."""
        import tempfile

        folder = os.path.join(self.cache, "scratch")
        make_private(folder)
        with tempfile.TemporaryDirectory(dir=folder) as path:
            yield path

    def _folder(self, kind: str, ref: IndexRef) -> str:
        return os.path.join(self.cache, kind, ref.folder.rstrip("/"))


def record_indexes(campaign: str) -> tuple[IndexRef, ...]:
    """The indexes that workers write records to, and settling packs."""
    own = (IndexRef("prospects", campaign), IndexRef("emails", campaign))
    return (*own, IndexRef("domains"), IndexRef("scraped-tiles"))


def campaign_indexes(workspace: Workspace, name: str | None) -> Indexes:
    """The indexes of a campaign; with none named, those that campaigns share."""
    if name is None:
        return Indexes(workspace.store, _cache_of(workspace, workspace.store), workspace.left_alone())
    campaign = workspace.campaign(name)
    return Indexes(campaign.store, _cache_of(workspace, campaign.store), campaign.left_alone, campaign)


def needed_campaign(indexes: Indexes) -> Campaign:
    """The campaign, for what cannot be done without one."""
    if indexes.campaign is None:
        raise UsageError(reason="Which campaign?", hint="Name it with --campaign NAME, or set CAMPAIGN_NAME.")
    return indexes.campaign


def _cache_of(workspace: Workspace, store: Store) -> str:
    """Stores have a folder each: one name may stand for different things in two of them."""
    name = hashlib.sha256(store.address.encode()).hexdigest()[:16]
    return os.path.join(cache_home(workspace.settings.environ), "indexes", name)


def _known_queues(campaign: Campaign) -> list[str]:
    names = dict.fromkeys(STANDARD)
    for counts in campaign.settings.model().workers.values():
        names.update(dict.fromkeys(counts))
    return list(names)
