"""Which indexes exist. Nothing that is special about one of them is said anywhere else."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cocli.errors import InvalidKey, UnknownIndex
from cocli.index.index import Index
from cocli.index.spec import IndexSpec, LooseFormat
from cocli.keys.identities import email_hash
from cocli.keys.parts import encode_part
from cocli.keys.paths import (
    ChangeKey,
    CompletedKey,
    DomainKey,
    EmailKey,
    FormerWitnessKey,
    HarvestedTileKey,
    IndexRef,
    ProspectKey,
    StandingKey,
    TargetTileKey,
    TileRollKey,
    WitnessKey,
    queue_folder,
)
from cocli.models.completion import Completion
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.freshness.change import BusinessChange
from cocli.models.freshness.roll import TileRoll
from cocli.models.freshness.standing import BusinessStanding
from cocli.models.harvest import HarvestedTile
from cocli.models.prospect import Prospect
from cocli.models.witness import TargetTile, Witness
from cocli.pipeline import merge as merging

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.index.cache import Cache
    from cocli.store.base import Store

COMPLETIONS = "completions-"
"""The index of a queue's completions is called `completions-{queue}`."""


def spec_of(ref: IndexRef) -> IndexSpec[Any]:
    """The kind of an index. `UnknownIndex` where there is none of that name."""
    if ref.name.startswith(COMPLETIONS) and len(ref.name) > len(COMPLETIONS):
        return _completions(ref.name)
    make = _KINDS.get(ref.name)
    if make is None:
        raise UnknownIndex(index=ref.name, known=", ".join((*NAMES, f"{COMPLETIONS}{{queue}}")))
    return make()


def _campaign(ref: IndexRef) -> str:
    if ref.campaign is None:
        raise InvalidKey(key=ref.name, part=ref.name, reason="belongs to a campaign, which must be named")
    return ref.campaign


def _own_folder(ref: IndexRef) -> str:
    return ref.folder


def _prospects() -> IndexSpec[Prospect]:
    return IndexSpec(
        name="prospects",
        model=Prospect,
        key_text=str,
        merge=merging.merge_prospects,
        loose_format=LooseFormat.USV,
        loose_key=lambda ref, record: str(ProspectKey(_campaign(ref), record.company_hash)),
        loose_folder=_own_folder,
        is_loose=ProspectKey.fits,
    )


def _emails() -> IndexSpec[EmailEntry]:
    return IndexSpec(
        name="emails",
        model=EmailEntry,
        key_text=email_hash,
        merge=merging.merge_emails,
        loose_format=LooseFormat.USV,
        loose_key=lambda ref, record: str(EmailKey.of(_campaign(ref), record.email)),
        loose_folder=_own_folder,
        is_loose=EmailKey.fits,
    )


def _domain_key(domain: str) -> str:
    """`identities.domain_hash` of a domain that is registrable as it stands, which is what `_loose_domain` checks.

    Without a look at the list of public suffixes: a lookup makes a dozen of these keys, and the list may change.
    """
    return hashlib.sha256(domain.encode()).hexdigest()[:16]


def _loose_domain(_ref: IndexRef, record: Domain) -> str:
    key = DomainKey.of(record.domain)
    if key.domain_hash != _domain_key(record.domain):
        reason = "it is not the name that somebody registered, but one below it"
        raise InvalidKey(key=record.domain, part=record.domain, reason=reason)
    return str(key)


def _domains() -> IndexSpec[Domain]:
    return IndexSpec(
        name="domains",
        model=Domain,
        key_text=_domain_key,
        merge=merging.merge_domains,
        loose_format=LooseFormat.USV,
        loose_key=_loose_domain,
        loose_folder=_own_folder,
        is_loose=DomainKey.fits,
    )


_part = lru_cache(maxsize=4096)(encode_part)
"""Of few phrases and sources there are millions of rows."""


def _tile_key(tile: str, phrase: str) -> str:
    """`33.7_-118.3/plumber`: the phrase is written as in the key of the loose record."""
    return f"{tile}/{_part(phrase)}"


def _target_tiles() -> IndexSpec[TargetTile]:
    return IndexSpec(
        name="target-tiles",
        model=TargetTile,
        key_text=_tile_key,
        merge=merging.merge_targets,
        loose_format=LooseFormat.CSV,
        loose_key=lambda ref, record: str(TargetTileKey(_campaign(ref), record.tile, record.phrase)),
        loose_folder=_own_folder,
        is_loose=TargetTileKey.fits,
    )


def _witness_key(tile: str, phrase: str, source: str) -> str:
    """`33.7_-118.3/plumber/overture`."""
    return f"{tile}/{_part(phrase)}/{_part(source)}"


def _scraped_tiles() -> IndexSpec[Witness]:
    return IndexSpec(
        name="scraped-tiles",
        model=Witness,
        key_text=_witness_key,
        merge=merging.merge_witnesses,
        loose_format=LooseFormat.CSV,
        loose_key=lambda _ref, record: str(WitnessKey(record.tile, record.phrase, record.source)),
        loose_folder=_own_folder,
        is_loose=lambda key: WitnessKey.fits(key) or FormerWitnessKey.fits(key),
        former_key=lambda _ref, record: str(FormerWitnessKey(record.tile, record.phrase)),
    )


def _harvested_tiles() -> IndexSpec[HarvestedTile]:
    return IndexSpec(
        name="harvested-tiles",
        model=HarvestedTile,
        key_text=_witness_key,
        merge=merging.merge_harvests,
        loose_format=LooseFormat.CSV,
        loose_key=lambda ref, record: str(HarvestedTileKey(_campaign(ref), record.tile, record.phrase, record.source)),
        loose_folder=_own_folder,
        is_loose=HarvestedTileKey.fits,
    )


def _rolls() -> IndexSpec[TileRoll]:
    return IndexSpec(
        name="rolls",
        model=TileRoll,
        key_text=_witness_key,
        merge=merging.merge_rolls,
        loose_format=LooseFormat.USV,
        loose_key=lambda ref, record: str(TileRollKey(_campaign(ref), record.tile, record.phrase, record.source)),
        loose_folder=_own_folder,
        is_loose=TileRollKey.fits,
    )


def _standings() -> IndexSpec[BusinessStanding]:
    return IndexSpec(
        name="standings",
        model=BusinessStanding,
        key_text=str,
        merge=merging.merge_standings,
        loose_format=LooseFormat.USV,
        loose_key=lambda ref, record: str(StandingKey(_campaign(ref), record.company_hash)),
        loose_folder=_own_folder,
        is_loose=StandingKey.fits,
    )


def _changes() -> IndexSpec[BusinessChange]:
    return IndexSpec(
        name="changes",
        model=BusinessChange,
        key_text=str,
        merge=merging.merge_changes,
        loose_format=LooseFormat.USV,
        loose_key=lambda ref, record: str(ChangeKey(_campaign(ref), record.change_id)),
        loose_folder=_own_folder,
        is_loose=ChangeKey.fits,
    )


def _completions(name: str) -> IndexSpec[Completion]:
    queue = name.removeprefix(COMPLETIONS)
    return IndexSpec(
        name=name,
        model=Completion,
        key_text=encode_part,
        merge=merging.merge_completions,
        loose_format=LooseFormat.JSON,
        loose_key=lambda ref, record: str(CompletedKey(_campaign(ref), queue, record.task_id)),
        loose_folder=lambda ref: queue_folder(_campaign(ref), queue, "completed"),
        is_loose=lambda key: key.endswith(".json") and CompletedKey.fits(key),
        keeps_loose=True,
        key_of_loose=lambda key: key.rsplit("/", 1)[-1].removesuffix(".json"),
    )


_KINDS: dict[str, Callable[[], IndexSpec[Any]]] = {
    "prospects": _prospects,
    "emails": _emails,
    "domains": _domains,
    "target-tiles": _target_tiles,
    "harvested-tiles": _harvested_tiles,
    "scraped-tiles": _scraped_tiles,
    "rolls": _rolls,
    "standings": _standings,
    "changes": _changes,
}
NAMES = tuple(_KINDS)
"""The indexes that are called by a name; those of completions are called after their queues."""


def open_index(store: Store, ref: IndexRef, cache: Cache, **settings: Any) -> Index[Any]:
    """Open one of these indexes. Nothing is read yet. `settings`: writer, nonce."""
    return Index(store, ref, spec_of(ref), cache, **settings)
