"""What is dear to make and read by many tests: made once in a run, by whichever worker asks first."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that `make` has filled, for all workers of this run: nobody may change anything in it."""
    own = factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = shared / f"once-{name}"
    with (shared / f"once-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            unfinished = shared / f"once-{name}.part"
            shutil.rmtree(unfinished, ignore_errors=True)  # of a worker that failed
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder


def copied_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The same as a copy of this worker's own, which it may change."""
    copy = factory.mktemp(name) / "copy"
    shutil.copytree(made_once(factory, name, make), copy, symlinks=True)
    return copy
