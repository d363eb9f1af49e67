"""Makes, prunes and restores backups in folders while being killed at random moments; checks after every kill.

Run as a program (by test_backup_crashes.py), because it forks: `python kill_backups.py FOLDER ROUNDS`. Prints how many
processes were killed before they ended, and how many snapshots there are in the end.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from cocli.app.backup.backup import prune_backup, restore_snapshot, verify_backup
from cocli.store.local import LocalStore
from cocli.store.memory import MemoryStore
from cocli.sync.backup.creation import BackupCreation, CreationOptions
from cocli.sync.backup.pruning import Retention
from cocli.sync.backup.repository import BackupRepository

KEYS = [f"companies/c{number}/_index.md" for number in range(40)]


def opened(folder: str, name: str) -> LocalStore:
    return LocalStore(f"{folder}/{name}", fsync="never")


def create(folder: str) -> None:
    options = CreationOptions("host", "test", pack_bytes=300, draft_every=600)
    repository = BackupRepository(opened(folder, "backup"))
    BackupCreation(
        repository, opened(folder, "source"), options, monotonic=time.monotonic, progress=lambda _: None
    ).run()


def prune(folder: str) -> None:
    prune_backup(opened(folder, "backup"), Retention(last=3), grace=timedelta(0))


def restore(folder: str, target: str) -> None:
    restore_snapshot(opened(folder, "backup"), opened(folder, target))


def killed(action: Callable[[], None], seconds: float) -> bool:
    """Do it in a process that has so many seconds; whether it was killed before its end."""
    child = os.fork()
    if child == 0:
        try:
            action()
        except BaseException as error:  # noqa: BLE001  the parent sees it by the exit code, people by the text
            print(repr(error), file=sys.stderr)
            os._exit(3)
        os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "it failed by itself"
    return os.WIFSIGNALED(status)


def change(source: LocalStore, rng: random.Random) -> None:
    for key in rng.sample(KEYS, 12):
        if rng.random() < 0.2:
            source.delete(key)
        else:
            source.put(key, rng.randbytes(rng.randrange(120)))


def contents(store: LocalStore | MemoryStore) -> dict[str, bytes]:
    return {info.key: store.get(info.key).data for info in store.list()}


def check(folder: str) -> None:
    damage = verify_backup(opened(folder, "backup")).damage
    assert damage == [], damage


def check_restore(folder: str, target: str) -> None:
    """What a killed restore left is right, and the same command finishes it."""
    wanted = MemoryStore()
    restore_snapshot(opened(folder, "backup"), wanted)
    assert contents(opened(folder, target)).items() <= contents(wanted).items()
    restore_snapshot(opened(folder, "backup"), opened(folder, target))
    assert contents(opened(folder, target)) == contents(wanted)


def main(folder: str, rounds: int) -> None:
    rng = random.Random(20261117)
    source = opened(folder, "source")
    change(source, rng)
    began = time.monotonic()
    create(folder)
    longest = max(time.monotonic() - began, 0.005)
    count = 0
    for turn in range(rounds):
        change(source, rng)
        seconds = rng.uniform(0.0, longest)
        kind = turn % 4
        if kind < 2:
            count += killed(lambda: create(folder), seconds)
        elif kind == 2:
            count += killed(lambda: prune(folder), seconds / 2)
        else:
            target = f"target-{turn}"
            count += killed(partial(restore, folder, target), seconds)
            check_restore(folder, target)
        check(folder)
    create(folder)
    check(folder)
    last = MemoryStore()
    restore_snapshot(opened(folder, "backup"), last)
    assert contents(last) == contents(source)
    prune(folder)
    found = verify_backup(opened(folder, "backup"))
    assert (found.damage, found.unused) == ([], 0), found
    print(count, found.snapshots)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
