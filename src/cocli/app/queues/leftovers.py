"""The folders of ended tasks are removed without a worker: whoever ends a run knows that nobody does it after him."""

from __future__ import annotations

import secrets
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from cocli import logs
from cocli.queue.leased.leftovers import Leftovers
from cocli.queue.leased.sideline import Sideline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cocli.app.queues.queues import QueueOnStore

_LOG = logs.get_logger(__name__)
_MOST = 2000
"""At a time: a worker that is killed leaves a hundred at most, and a store may be slow."""


def remove_leftovers(place: QueueOnStore, folders: Iterable[str], stop: Callable[[], bool] = lambda: False) -> int:
    """Remove those whose tasks have ended indeed; how many. What is not removed now the next worker removes."""
    sideline = Sideline(place.store, place.places, lambda: secrets.token_hex(12), settled_after=timedelta(0))
    leftovers, removed = Leftovers(place.store, place.places, sideline), 0
    for folder in islice(folders, _MOST):
        if stop():
            break
        removed += leftovers.remove(folder)
    if removed:
        extra = {"campaign": place.campaign, "queue": place.name}
        _LOG.info("%d tasks removed that had ended", removed, extra=extra)
    return removed
