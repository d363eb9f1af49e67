"""A worker of the queue's load in a process of its own: `python -m tests.load.queue_worker URL NAME FOLDER`.

It ends when a file `end` is in the folder and nothing is left to claim, and writes a line for every ack that was
accepted into a file of its own: an oracle outside of the queue.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cocli.errors import CocliError
from cocli.models.completion import Ok
from cocli.queue.base import AckOutcome
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import open_store

CAMPAIGN, QUEUE = "load", "enrichment"
LEASE_SECONDS = 20.0
AT_A_TIME = 32
_IDLE_SECONDS = 0.2


@contextmanager
def opened_queue(url: str, worker: str) -> Iterator[LeasedQueue]:
    logging.getLogger("stamina").setLevel(logging.ERROR)  # every retry would be a line
    store = open_store(url)
    queue = LeasedQueue(store, CAMPAIGN, QUEUE, worker=worker, lease_seconds=LEASE_SECONDS, attempts=100)
    try:
        yield queue
    finally:
        queue.close()
        store.close()


def work(url: str, name: str, folder: Path) -> int:
    """How many calls failed for good, after all the store's own retries: what they were about is done again."""
    failures = 0
    with opened_queue(url, name) as queue, (folder / name).open("a", buffering=1) as accepted:
        while True:
            ending = (folder / "end").exists()
            try:
                claims = queue.claim_many(AT_A_TIME)
                outcomes = queue.ack_many([(claim, Ok(result={"by": name})) for claim in claims])
            except CocliError as error:
                if not error.retryable:
                    raise
                failures += 1
                continue
            if not claims and ending:
                return failures
            if not claims:
                time.sleep(_IDLE_SECONDS)
            for claim, outcome in zip(claims, outcomes, strict=True):
                failures += isinstance(outcome, CocliError)
                if outcome is AckOutcome.COMPLETED:
                    accepted.write(f"{claim.task.task_id}\n")


if __name__ == "__main__":
    print(work(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
