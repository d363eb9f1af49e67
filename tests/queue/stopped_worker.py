"""Claims a task, says so, waits for a line on its input, and tries to end the task: `python stopped_worker.py URL`."""

from __future__ import annotations

import sys

from cocli.errors import LeaseLost
from cocli.models.completion import Ok
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import open_store


def main(url: str) -> None:
    queue = LeasedQueue(
        open_store(url, fsync="never"), "c", "enrichment", worker="stopped", lease_seconds=1, margin=0.1
    )
    claim = queue.claim()
    assert claim is not None
    with queue.held(claim):
        print("claimed", flush=True)
        sys.stdin.readline()
        try:
            print(queue.ack(claim, Ok()))
        except LeaseLost:
            print("refused")


if __name__ == "__main__":
    main(sys.argv[1])
