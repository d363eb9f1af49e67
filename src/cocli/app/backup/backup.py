"""Make, look at, verify, restore and prune backups: plain functions of two or three stores."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

from cocli.app.backup.place import refuse_inside
from cocli.app.workspace import no_progress
from cocli.config.version import __version__
from cocli.sync.backup.creation import BackupCreation, CreationOptions
from cocli.sync.backup.pruning import Pruner
from cocli.sync.backup.repository import LATEST, BackupRepository
from cocli.sync.backup.restoration import RestoreOptions, Restorer
from cocli.sync.backup.verification import Verifier

if TYPE_CHECKING:
    from datetime import timedelta

    from cocli.app.workspace import Progress
    from cocli.store.base import Store
    from cocli.sync.backup.pruning import PruneReport, Retention
    from cocli.sync.backup.restoration import RestorePlan, RestoreReport
    from cocli.sync.backup.snapshot import BackupSnapshot
    from cocli.sync.backup.verification import Verification


def create_snapshot(
    source: Store, backup: Store, *, read_all: bool = False, progress: Progress = no_progress
) -> BackupSnapshot:
    """Take a snapshot of a store. What is unchanged since the last one is neither read nor sent."""
    refuse_inside(source.address, backup.address)
    options = CreationOptions(socket.gethostname(), f"cocli {__version__}", read_all)
    repository = BackupRepository(backup)
    return BackupCreation(repository, source, options, monotonic=time.monotonic, progress=progress).run()


def verify_backup(backup: Store, *, quick: bool = False, progress: Progress = no_progress) -> Verification:
    """Read everything, and say what is damaged."""
    return Verifier(BackupRepository(backup), quick=quick, progress=progress).run()


def plan_restore(
    backup: Store, target: Store, snapshot: str = LATEST, *, options: RestoreOptions | None = None
) -> RestorePlan:
    """What a restore would do."""
    repository = BackupRepository(backup)
    restorer = Restorer(repository, target, options or RestoreOptions(), progress=no_progress)
    return restorer.plan(repository.find(snapshot))


def restore_snapshot(
    backup: Store,
    target: Store,
    snapshot: str = LATEST,
    *,
    options: RestoreOptions | None = None,
    progress: Progress = no_progress,
) -> RestoreReport:
    """Write a snapshot, or a part of it, to a store."""
    refuse_inside(target.address, backup.address)
    repository = BackupRepository(backup)
    restorer = Restorer(repository, target, options or RestoreOptions(), progress=progress)
    return restorer.run(repository.find(snapshot))


def prune_backup(
    backup: Store,
    retention: Retention,
    *,
    grace: timedelta,
    dry_run: bool = False,
    forget_damaged: bool = False,
    progress: Progress = no_progress,
) -> PruneReport:
    """Forget snapshots, and remove what nobody needs any more."""
    repository = BackupRepository(backup)
    pruner = Pruner(repository, retention, grace=grace, progress=progress, forget_damaged=forget_damaged)
    return pruner.plan() if dry_run else pruner.run()
