"""Saves, deletes, restores and purges documents while being killed at random moments, then repairs and looks.

Run as a program (by test_kills.py), because it forks: `python kill_savers.py FOLDER KILLS`. Prints how many versions
and events there were.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cocli.documents import Blob, Document, DocumentRepository, Event, Relay, open_catalog
from cocli.documents.care import fsck as checking
from cocli.documents.subscriptions import EVERYBODY
from cocli.errors import CocliError, DocumentDeleted, DocumentInvalid, DocumentNotFound
from cocli.store import open_store

DOCS = [f"https://example.com/{number}" for number in range(4)]


def open_repository(folder: str) -> DocumentRepository:
    store = open_store(f"{folder}/store", fsync="never")
    catalog = open_catalog(f"{folder}/catalog.sqlite3", durable=False)
    return DocumentRepository(
        store, catalog, clock=lambda: datetime.now(UTC), inline_limit=1000, subscriptions=EVERYBODY
    )


def page(doc: str, rng: random.Random) -> Document:
    body = b"%d" % rng.randrange(20) * rng.choice((1, 2000))
    return Document.intake(account="acct", connector="web", doc=doc).with_blob("body", Blob.of(body, "text/html"))


class Journal:
    """A publisher that appends the ids of its events to a file, one line each."""

    def __init__(self, path: str) -> None:
        self._path = path

    def publish(self, events: Sequence[Event]) -> dict[str, CocliError]:
        with open(self._path, "a", encoding="utf-8") as file:
            for one in events:
                where = f"{one.uuid} {one.reference.cluster} {one.version} {one.destination}"
                file.write(f"{one.event_id} {where}\n")
        return {}


def work_for_ever(folder: str, seed: int, started: int) -> None:
    repository, rng = open_repository(folder), random.Random(seed)
    os.write(started, b"!")
    relay = Relay(repository.catalog, Journal(f"{folder}/journal"), clock=lambda: datetime.now(UTC))
    while True:
        doc, chance = rng.choice(DOCS), rng.random()
        with suppress(DocumentDeleted, DocumentNotFound, DocumentInvalid):
            if chance < 0.5:
                repository.save(page(doc, rng), publish=["parser"])
            elif chance < 0.7:
                repository.save(page(doc, rng).at("parser", "main"), publish=["next"])
            elif chance < 0.8:
                repository.save_many([(page(f"{doc}-{number}", rng), ["parser"]) for number in range(3)])
            elif chance < 0.86:
                repository.delete("acct", doc)
            elif chance < 0.94:
                repository.restore("acct", doc)
            elif chance < 0.945:
                repository.purge("acct", doc)
            else:
                relay.run()


def kill_one(folder: str, rng: random.Random) -> None:
    seed = rng.getrandbits(32)
    listen, started = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work_for_ever(folder, seed, started)
        except BaseException as error:
            print(f"the worker ended by itself: {error!r}", file=sys.stderr, flush=True)
            raise
        finally:
            os._exit(3)  # reached only by an unexpected error
    os.close(started)
    os.read(listen, 1)
    time.sleep(rng.uniform(0.0, 0.1))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(listen)
    assert os.WIFSIGNALED(status), "the worker ended by itself"


def main(folder: str, kills: int) -> None:
    rng, versions = random.Random(20261115), 0
    Path(folder, "journal").touch()
    for number in range(1, kills + 1):
        kill_one(folder, rng)
        if number % 8 == 0 or number == kills:
            versions = look(folder)
    print(versions, len(Path(folder, "journal").read_text("utf-8").splitlines()))


def look(folder: str) -> int:
    """Repair, publish, and see that nothing is wrong and everything was told under one id."""
    repository = open_repository(folder)
    report = checking.check(repository, repair=True, grace=timedelta(0))
    assert not report.open, report.open
    later = timedelta(minutes=2)  # what a relay had taken that was killed is free then
    Relay(repository.catalog, Journal(f"{folder}/journal"), clock=lambda: datetime.now(UTC) + later).run()
    report = checking.check(repository, deep=True, grace=timedelta(0))
    assert report.clean, report.findings
    told: dict[str, str] = {}
    for line in Path(folder, "journal").read_text("utf-8").splitlines():
        event, what = line.split(" ", 1)
        assert told.setdefault(what, event) == event, f"{what} was told under two ids"
    entries = {one.event.event_id for one in repository.catalog.scan_events(0, 10**6)}
    assert entries <= set(told.values()), "an event that nobody was told"
    repository.catalog.close()
    repository.objects.store.close()
    return report.objects


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
