"""Forgetting somebody: the plan, the doing, the proof, and the order to every copy to do the same.

First their hashes go onto the do-not-contact list, so that nothing that works meanwhile brings anything back; then the
proof is begun, which is also what tells other copies; then store after store and this machine are swept; then the
proof says what was done. Killed anywhere, the same command goes on: every step can be done twice.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.app.campaigns.name import campaign_names
from cocli.app.campaigns.publication import is_ours, read_publication
from cocli.app.documents.documents import catalogue_addresses, opened_documents
from cocli.app.left_alone.changes import SweepReport
from cocli.app.left_alone.identity import Identity, find_identity
from cocli.app.left_alone.machine_sweep import RESUME_FOLDER, MachineSweep
from cocli.app.left_alone.proofs import remember_obeyed, write_proof
from cocli.app.left_alone.queue_sweep import QueueSweep
from cocli.app.left_alone.reach import beyond_reach, kept_versions
from cocli.app.left_alone.store_sweep import SweepOptions, sweep_store
from cocli.app.left_alone.suppress import SubjectOptions, entry_of, list_stores, subjects_of, who, write_entries
from cocli.app.workspace import Progress, no_progress
from cocli.config.places import state_home
from cocli.config.private import make_private
from cocli.documents.catalog.base import EVERY
from cocli.errors import UsageError
from cocli.models.left_alone.forgotten import Forgotten, ForgottenRemainder, ForgottenValue
from cocli.pipeline.suppression.stored import write_entry
from cocli.sync.state import synced_bucket

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.app.workspace import Workspace
    from cocli.documents.header import DocumentState
    from cocli.pipeline.suppression.subject import Subject
    from cocli.store.base import Store

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ForgetOptions:
    subject: SubjectOptions
    notes: bool = False
    """Redact and remove what people wrote, too."""
    keep_notes: bool = False
    """Leave it, and say so in the proof."""
    reason: str | None = None
    published: tuple[str, ...] = ()
    """Further places that hold published files."""
    keep_versions: bool = False
    """Leave earlier versions of objects to the lifecycle rule of the bucket, and say so in the proof."""


@dataclass
class ForgetReport:
    identity: Identity
    sweep: SweepReport
    proof: str | None = None
    """The key of the proof."""
    resumed: bool = False
    republished: tuple[str, ...] = ()


def plan(workspace: Workspace, text: str, options: ForgetOptions, progress: Progress = no_progress) -> ForgetReport:
    """What would be removed and redacted. Nothing is written."""
    identity, resumed = _identity(workspace, text, options)
    report = SweepReport()
    _sweep(workspace, identity, options, report, dry_run=True, progress=progress)
    report.beyond += beyond_reach(workspace)
    return ForgetReport(identity, report, resumed=resumed)


def forget(workspace: Workspace, text: str, options: ForgetOptions, progress: Progress = no_progress) -> ForgetReport:
    """Do it. What people wrote is touched only where they said so; without a word on it, nothing is begun."""
    identity, resumed = _identity(workspace, text, options)
    if not (options.notes or options.keep_notes):
        look = SweepReport()
        _sweep(workspace, identity, options, look, dry_run=True, progress=no_progress, machine=False)
        if look.written:
            names = ", ".join(look.written[:_SHOWN])
            raise UsageError(
                reason=f"What you wrote names them: {names}",
                hint="Say what is to become of it: --notes redacts and removes it, --keep-notes leaves it.",
            )
    path = _resume_path(workspace, identity.named)
    _save(path, identity)
    now = workspace.store.now()
    entries = [entry_of(subject, now, reason=options.reason, forgotten=True) for subject in identity.subjects]
    write_entries(workspace, entries)
    for store in all_copies(workspace):
        for entry in entries:
            write_entry(store, entry)
    begun = _begin(workspace, identity, options)
    report = SweepReport()
    _sweep(workspace, identity, options, report, dry_run=False, progress=progress)
    report.beyond += beyond_reach(workspace)
    republished = _republish(workspace, report)
    proof = _finish(workspace, begun, report)
    if report.is_whole:
        os.unlink(path)  # whoever runs it again has nothing to go on from
    return ForgetReport(identity, report, proof, resumed, republished)


def _sweep(
    workspace: Workspace,
    identity: Identity,
    options: ForgetOptions,
    report: SweepReport,
    *,
    dry_run: bool,
    progress: Progress,
    machine: bool = True,
) -> None:
    matcher = identity.matcher(workspace.store.now())
    paths = tuple(f"{folder}/{literal}{end}" for literal in identity.literals for folder, end in _FOLDERS)
    versions = machine and not options.keep_versions  # who only looks for what people wrote needs none of them
    how = SweepOptions(options.notes, dry_run, versions, paths=paths)
    for store in [*all_copies(workspace), *_published_stores(workspace, options)]:
        sweep = sweep_store(store, matcher, report, how, progress)
        if not dry_run:
            _correct_catalogues(workspace, store, sweep.redacted_states)
    if not machine:
        return
    if options.keep_versions:
        report.remaining += kept_versions(workspace)
    QueueSweep(workspace, matcher, report, dry_run=dry_run).run()
    here = MachineSweep(workspace.settings.environ, matcher, report, paths, dry_run=dry_run)
    here.run()
    here.catalogues(catalogue_addresses(workspace))


_FOLDERS = (("companies", "/"), ("people", ".md"))


def all_copies(workspace: Workspace) -> list[Store]:
    """The stores of the data home and its campaigns, and the buckets that this machine syncs them with."""
    stores = {store.address: store for store in list_stores(workspace)}
    state = state_home(workspace.settings.environ)
    for name in sorted(campaign_names(workspace.store)):
        bucket = synced_bucket(state, workspace.campaign(name).store.address, name)
        if bucket is not None:
            opened = workspace.open_address(bucket)
            stores.setdefault(opened.address, opened)
    return list(stores.values())


def _published_stores(workspace: Workspace, options: ForgetOptions) -> list[Store]:
    """Places with published files that are no store of a campaign: remembered ones, and those that are named."""
    own = {store.address for store in list_stores(workspace)}
    wanted = list(options.published)
    for name in sorted(campaign_names(workspace.store)):
        last = read_publication(workspace.campaign(name).store, name)
        if last is not None and last.to is not None and is_ours(last):
            wanted.append(last.to)
    found = [workspace.open_address(address) for address in dict.fromkeys(wanted)]
    return [store for store in found if store.address not in own]


def _correct_catalogues(workspace: Workspace, store: Store, states: Sequence[DocumentState]) -> None:
    """What the catalogues of this machine say of documents that were redacted in a store."""
    if not states:
        return
    for name in sorted(campaign_names(workspace.store)):
        if workspace.campaign(name).store.address != store.address:
            continue
        with opened_documents(workspace, name, learn=False) as documents:
            catalog = documents.repository.catalog
            rows = [state.row() for state in states]
            known = [row for row in rows if catalog.states(row.account, row.doc, EVERY, deleted=True)]
            if known:
                catalog.replace(known, ())


def _republish(workspace: Workspace, report: SweepReport) -> tuple[str, ...]:
    """Whoever published what was removed publishes again, without them."""
    if not report.counts["export", "removed"]:
        return ()
    from datetime import timedelta

    from cocli.app.campaigns.publish import refresh_published

    done: list[str] = []
    for name in sorted(campaign_names(workspace.store)):
        made = refresh_published(workspace, name, rest=timedelta(0))
        done += [name] if made is not None else []
    return tuple(done)


# --- going on after an interruption


def _identity(workspace: Workspace, text: str, options: ForgetOptions) -> tuple[Identity, bool]:
    """Whom it is about. A run that was interrupted knows it from before: what told it may be gone by now."""
    try:
        named = tuple(subjects_of(workspace, text, options.subject))
    except UsageError:
        named = ()
    for path in _resumable(workspace):
        with open(path, encoding="utf-8") as file:
            said = json.load(file)
        if said["text"] == text.strip() or (named and Identity.from_dict(said["identity"]).named == named):
            return Identity.from_dict(said["identity"]), True
    found = find_identity(workspace, text, options.subject)
    found.text = text.strip()
    return found, False


def _resumable(workspace: Workspace) -> list[str]:
    folder = os.path.join(state_home(workspace.settings.environ), RESUME_FOLDER)
    if not os.path.isdir(folder):
        return []
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".json")]


def _resume_path(workspace: Workspace, named: Sequence[Subject]) -> str:
    folder = os.path.join(state_home(workspace.settings.environ), RESUME_FOLDER)
    make_private(folder)
    return os.path.join(folder, f"{proof_id(named)}.json")


def _save(path: str, identity: Identity) -> None:
    if os.path.exists(path):
        return
    descriptor = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"text": identity.text, "identity": identity.as_dict()}, file)
    os.replace(f"{path}.new", path)


# --- the proof


def proof_id(named: Sequence[Subject]) -> str:
    """One proof for one subject, whoever forgets it and however often."""
    told = sorted(f"{subject.kind} {subject.digest()}" for subject in named)
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


def _begin(workspace: Workspace, identity: Identity, options: ForgetOptions) -> Forgotten:
    values = tuple(
        ForgottenValue(kind=subject.kind, sha256=subject.digest(), calling_code=subject.calling_code)
        for subject in identity.subjects
    )
    proof = Forgotten(
        id=proof_id(identity.named),
        values=values,
        reason=options.reason,
        notes=options.notes,
        by=who(),
        begun_at=workspace.store.now(),
    )
    for store in all_copies(workspace):
        write_proof(store, proof)
    return proof


def _finish(workspace: Workspace, begun: Forgotten, report: SweepReport) -> str:
    """What was done, added to what earlier runs did: an interrupted one has told nobody. What is left is told, too."""
    left = [ForgottenRemainder(kind=rest.kind, count=rest.number, reason=rest.reason) for rest in report.remaining]
    done = begun.with_changes(
        finished_at=workspace.store.now() if report.is_whole else None,
        objects=tuple(report.objects),
        remaining=tuple(left),
        files=sum(report.files.values()),
    )
    key = ""
    for store in all_copies(workspace):
        key = write_proof(store, done)
        if report.is_whole:
            remember_obeyed(workspace.settings.environ, store)
    return key


def report_counts(report: SweepReport) -> list[tuple[str, str, int]]:
    """Kind, what became of it, how many: for people and programs."""
    rows: list[tuple[str, str, int]] = [(*what, count) for what, count in sorted(report.counts.items()) if count]
    return rows + [(*what, count) for what, count in sorted(report.files.items()) if count]


def as_document(done: ForgetReport, *, dry_run: bool) -> dict[str, Any]:
    """The JSON document of the command."""
    sweep = done.sweep
    return {
        "dry_run": dry_run,
        "resumed": done.resumed,
        "subjects": [{"kind": subject.kind, "sha256": subject.digest()} for subject in done.identity.subjects],
        "texts": len(done.identity.literals),
        "kept_because_shared": len(done.identity.shared),
        "counts": [{"what": what, "done": how, "count": count} for what, how, count in report_counts(sweep)],
        "written_by_people": sorted(set(sweep.written)),
        "beyond_reach": sweep.beyond,
        "remaining": [rest._asdict() for rest in sweep.remaining],
        "republished": list(done.republished),
        "proof": done.proof,
    }
