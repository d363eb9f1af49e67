"""Threads that do not wait long for each other, in a process where some compute and others answer."""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SWITCH_SECONDS = 0.001
"""After which a thread that computes lets another one go on. Python's own five milliseconds are lost after each answer
of a disk or a network, and who saves a page or reads a site waits for dozens of them."""


@contextmanager
def prompt_threads() -> Iterator[None]:
    """Let no thread wait long for another: neither for one that computes, nor while rubbish is looked for among the
    modules, which stay for as long as the process runs."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)
