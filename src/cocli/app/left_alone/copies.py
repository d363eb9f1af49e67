"""Copies of a store obey its proofs: what was forgotten in one is forgotten in all, by the hashes alone.

A machine that syncs learns of a proof before anything else is compared, and sweeps its own copy and the bucket; so
nothing that is still there goes back. What it did is remembered by this machine, for each store.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cocli.app.documents.documents import catalogue_addresses
from cocli.app.left_alone.changes import Remainder, SweepReport
from cocli.app.left_alone.identity import found_identity
from cocli.app.left_alone.machine_sweep import MachineSweep
from cocli.app.left_alone.matcher import SubjectMatcher
from cocli.app.left_alone.proofs import obeyed_proofs, read_proofs, remember_obeyed, version_of, write_proof
from cocli.app.left_alone.store_sweep import SweepOptions, sweep_store
from cocli.app.left_alone.suppress import list_stores
from cocli.models.left_alone.suppression import Suppression
from cocli.pipeline.suppression.listing import SuppressionList
from cocli.pipeline.suppression.stored import read_entries, write_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cocli.app.workspace import Workspace
    from cocli.config.places import Environment
    from cocli.models.left_alone.forgotten import Forgotten
    from cocli.store.base import Store

_BUSINESS = frozenset(("domain", "company", "place"))


@dataclass(slots=True)
class ObeyedProofs:
    """What was done."""

    proofs: int = 0
    objects: int = 0
    dropped: list[str] = field(default_factory=list)
    """Keys of copies that were removed because a proof names them: the redacted ones come with the sync."""
    remaining: list[Remainder] = field(default_factory=list)

    def add(self, some: ObeyedProofs) -> None:
        self.remaining += some.remaining
        self.proofs += some.proofs
        self.objects += some.objects
        self.dropped += some.dropped


def forget_again(workspace: Workspace) -> ObeyedProofs:
    """Sweep every store and this machine for everybody who was forgotten: after a restore, say.

    The records that came back tell the names and streets that a proof does not have.
    """
    stores = list_stores(workspace)
    proofs = {proof.id: proof for store in stores for proof in read_proofs(store)}
    done, catalogues = ObeyedProofs(), catalogue_addresses(workspace)
    for proof in proofs.values():
        matcher = _with_records(workspace, matcher_of(proof, copies=False))
        done.add(_obey(workspace.settings.environ, stores, matcher, SweepOptions(proof.notes), catalogues))
    return done


def _with_records(workspace: Workspace, matcher: SubjectMatcher) -> SubjectMatcher:
    found = found_identity(workspace, matcher.listed).matcher(workspace.store.now())
    listed = SuppressionList((*matcher.listed.entries, *found.listed.entries))
    return replace(found, listed=listed, is_business=matcher.is_business)


def carry_lists(one: Store, other: Store, *, writes_other: bool) -> None:
    """Bring the do-not-contact list and the proofs of two stores together. Of two entries the later one holds."""
    for source, target in ((other, one), (one, other)):
        if target is other and not writes_other:
            continue
        there = {(entry.kind, entry.sha256): entry for entry in read_entries(target)}
        for entry in read_entries(source):
            known = there.get((entry.kind, entry.sha256))
            if known is None or known.updated_at < entry.updated_at:
                write_entry(target, entry)
        proofs = {proof.id: proof for proof in read_proofs(target)}
        for proof in read_proofs(source):
            if proofs.get(proof.id) != proof:
                write_proof(target, proof)


def obey_proofs(
    environ: Environment, stores: Iterable[Store], *, copies: bool, catalogues: Sequence[str] = ()
) -> ObeyedProofs:
    """Sweep stores for those whom they say were forgotten, each once.

    `copies`: what a proof names is dropped here, because a redacted one comes from elsewhere. `catalogues`: where
    those of the stores are, if they are not among the state of this machine.
    """
    done = ObeyedProofs()
    for store in stores:
        obeyed = obeyed_proofs(environ, store)
        new = [proof for proof in read_proofs(store) if version_of(proof) not in obeyed]
        if not new:
            continue
        for proof in new:
            how = SweepOptions(proof.notes, idle_versions=False)  # whoever forgot them has looked at those
            done.add(_obey(environ, [store], matcher_of(proof, copies=copies), how, catalogues))
        remember_obeyed(environ, store)
    return done


def _obey(
    environ: Environment,
    stores: Iterable[Store],
    matcher: SubjectMatcher,
    how: SweepOptions,
    catalogues: Sequence[str],
) -> ObeyedProofs:
    done, report = ObeyedProofs(proofs=1), SweepReport()
    for store in stores:
        done.dropped += sweep_store(store, matcher, report, how).dropped
    here = MachineSweep(environ, matcher, report, (), dry_run=False)
    here.run()
    here.catalogues(catalogues)
    done.remaining += report.remaining
    done.objects = sum(report.counts.values())
    return done


def matcher_of(proof: Forgotten, *, copies: bool) -> SubjectMatcher:
    """By the hashes alone: addresses, numbers, domains and ids are found by their form and told by their hash."""
    entries = [
        Suppression(
            kind=value.kind,
            sha256=value.sha256,
            calling_code=value.calling_code,
            added_by=proof.by,
            added_at=proof.begun_at,
            updated_at=proof.begun_at,
        )
        for value in proof.values
    ]
    is_business = any(value.kind in _BUSINESS for value in proof.values)
    digests = frozenset(found.sha256 for found in proof.objects) if copies else frozenset()
    return SubjectMatcher(SuppressionList(entries), is_business=is_business, digests=digests)
