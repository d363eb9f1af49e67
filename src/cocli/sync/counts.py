"""What is kept about how many tasks a queue has belongs to the store that it lies in: it is neither sent nor backed up.

Whoever brings completions or tasks from elsewhere is no process of the queue and keeps no tally: the count is taken
away, and whoever looks next lists the queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.keys.paths import QueueCountKey, QueueTallyKey

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from cocli.store.base import Store

_QUEUE_PARTS = 4
"""campaigns/{campaign}/queues/{queue}"""


def is_count(key: str) -> bool:
    return "/count/" in key and (QueueCountKey.fits(key) or QueueTallyKey.fits(key))


def forget_counts(store: Store, keys: Iterable[str], seen: Container[str] | None = None) -> None:
    """Before and after such keys are written or removed: somebody may count in between. `seen` is what was listed."""
    folders = {
        "/".join(parts[:_QUEUE_PARTS])
        for key in keys
        if len(parts := key.split("/")) > _QUEUE_PARTS and parts[0] == "campaigns" and parts[2] == "queues"
    }
    counts = [f"{folder}/count/count.json" for folder in sorted(folders)]
    known = [key for key in counts if seen is None or key in seen]
    if not known:
        return
    for answer in store.delete_many(known):
        if answer is not None:
            raise answer
