"""Writers, a relay and a subscription at the same time, in processes that are killed: `kill_routes.py FOLDER CATALOG`.

Prints how many documents there were when the edition subscribed, and how many versions it was told of.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from cocli.documents import Blob, Document, DocumentRepository, Event, Relay, open_catalog
from cocli.documents.care import fsck as checking
from cocli.documents.graph.subscriptions import NodeSubscriptions
from cocli.documents.seeder import Seeder
from cocli.errors import CocliError
from cocli.store import open_store

DOCS = 60
LEASE = timedelta(seconds=1)


def now() -> datetime:
    return datetime.now(UTC)


def opened(folder: str, catalog: str) -> DocumentRepository:
    store = open_store(f"{folder}/store", fsync="never")
    return DocumentRepository(
        store, open_catalog(catalog, durable=False), clock=now, subscriptions=NodeSubscriptions(), most_waiting=10_000
    )


class Journal:
    """What the edition was told, line by line: an oracle outside of the catalogue."""

    def __init__(self, folder: str) -> None:
        self._path = f"{folder}/journal"

    def publish(self, events: Sequence[Event]) -> dict[str, CocliError]:
        with open(self._path, "a", encoding="utf-8") as file:
            for event in events:
                file.write(f"{event.event_id} {event.reference.doc} {event.version} {event.reference.digest}\n")
        return {}


def write(folder: str, catalog: str, seed: int) -> None:
    repository, rng = opened(folder, catalog), random.Random(seed)
    while True:
        doc = Document.intake(account="acct", connector="web", datasource="ds", doc=f"d{rng.randrange(DOCS)}")
        saved = repository.save(doc.with_blob("body", Blob.of(rng.randbytes(8), "text/html")))
        with open(f"{folder}/saved", "a", encoding="utf-8") as file:
            file.write(f"{saved.row.doc} {saved.row.version}\n")


def relay(folder: str, catalog: str, seed: int) -> None:
    repository, rng = opened(folder, catalog), random.Random(seed)
    carrier = Relay(repository.catalog, Journal(folder), clock=now, lease=LEASE)
    while True:
        Seeder(repository.catalog, room=rng.choice((1, 3, 50))).turn(pages=1)
        carrier.run_once(limit=rng.choice((1, 7, 50)))


def started(target: Callable[[str, str, int], None], folder: str, catalog: str, seed: int) -> int:
    child = os.fork()
    if child == 0:
        try:
            target(folder, catalog, seed)
        except BaseException as error:  # noqa: BLE001  said to whoever waits, and the process ends
            print(f"ended by itself: {error!r}", file=sys.stderr, flush=True)
        finally:
            os._exit(3)
    return child


def kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "it ended by itself"


def rows_of(repository: DocumentRepository) -> dict[str, int]:
    page = repository.documents("acct", datasource="ds", kind="intake", limit=1000)
    return {row.doc: row.version for row in page.items}


def storm(folder: str, catalog: str) -> dict[str, int]:
    """The versions that there were right after the edition subscribed."""
    rng = random.Random(20261117)
    writers = [started(write, folder, catalog, rng.getrandbits(32)) for _ in range(2)]
    carrier = started(relay, folder, catalog, rng.getrandbits(32))
    time.sleep(1.0)
    repository = opened(folder, catalog)
    repository.catalog.routes.subscribe("acct", "ds", "staging", now())
    there = rows_of(repository)
    for number in range(8):
        time.sleep(rng.uniform(0.05, 0.2))
        kill(carrier)
        carrier = started(relay, folder, catalog, rng.getrandbits(32))
        if number % 2:
            kill(writers.pop(0))
            writers.append(started(write, folder, catalog, rng.getrandbits(32)))
    for child in (*writers, carrier):
        kill(child)
    return there


def main(folder: str, catalog: str) -> None:
    opened(folder, catalog)
    there = storm(folder, catalog)
    repository = opened(folder, catalog)
    checking.check(repository, repair=True, grace=timedelta(0))
    until = time.monotonic() + 60
    carrier = Relay(repository.catalog, Journal(folder), clock=now, lease=LEASE)
    while time.monotonic() < until:
        seeded = Seeder(repository.catalog, room=1000).turn()
        sent = carrier.run().published
        if not seeded and not sent and not repository.catalog.waiting(1):
            break
        time.sleep(0.05)
    told: dict[str, list[tuple[int, str]]] = {}
    ids: dict[tuple[str, int], str] = {}
    for line in open(f"{folder}/journal", encoding="utf-8"):  # noqa: SIM115 - the process ends with it
        event_id, doc, number, _ = line.split()
        assert ids.setdefault((doc, int(number)), event_id) == event_id, f"{doc} {number} was told under two ids"
        told.setdefault(doc, []).append((int(number), event_id))
    for doc, version in rows_of(repository).items():
        versions = [number for number, _ in told.get(doc, [])]
        news = list(dict.fromkeys(versions))  # what was told again by a relay that died comes under the same id
        assert news == sorted(news), f"{doc} was told out of turn: {versions}"
        assert news, f"nothing was told of {doc}"
        assert news[-1] == version, f"{doc} was told up to {news[-1]} of {version}"
    for line in open(f"{folder}/saved", encoding="utf-8"):  # noqa: SIM115 - the process ends with it
        doc, number = line.split()
        if int(number) > there.get(doc, 0):
            assert (doc, int(number)) in ids, f"{doc} {number} was saved after the subscription, and never told"
    doubled = sum(len(entries) - len(set(entries)) for entries in told.values())
    print(len(there), len(ids), doubled)


if __name__ == "__main__":
    main(*sys.argv[1:])
