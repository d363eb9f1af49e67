"""Editions that subscribe to a datasource get what is there and what comes in: no gap, and nothing twice."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cocli.documents import Document, DocumentRepository, Event, Relay, open_catalog
from cocli.documents.catalog.sql import SqlCatalog
from cocli.documents.graph.subscriptions import NodeSubscriptions
from cocli.documents.seeder import Seeder
from cocli.errors import CocliError
from cocli.store.memory import MemoryStore

MakePage = Callable[..., Document]
PROGRAM = Path(__file__).with_name("kill_routes.py")
DATASOURCE = Document.intake(account="acct", connector="web", doc="x").datasource


class Told:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def publish(self, events: Sequence[Event]) -> dict[str, CocliError]:
        self.events += events
        return {}

    def take(self) -> list[tuple[str, int, str]]:
        found = [(event.reference.doc, event.version, event.destination) for event in self.events]
        self.events.clear()
        return found


def sent(repository: DocumentRepository, told: Told, clock: Any) -> list[tuple[str, int, str]]:
    while Seeder(repository.catalog, room=100).turn():
        pass
    Relay(repository.catalog, told, clock=clock).run()
    return told.take()


def test_what_is_there_and_what_comes_in_is_sent_once_each(any_catalog: SqlCatalog, page: MakePage, clock: Any) -> None:
    store, told = MemoryStore(clock=clock), Told()
    repository = DocumentRepository(store, any_catalog, clock=clock, subscriptions=NodeSubscriptions())
    for number in range(5):
        repository.save(page(f"old{number}"))
    repository.save(page("old1", b"again"))
    repository.delete("acct", "old4")
    assert sent(repository, told, clock) == [], "nobody subscribed"
    routes = any_catalog.routes
    routes.subscribe("acct", DATASOURCE, "prod", clock())
    repository.save(page("old0", b"changed before it caught up"))
    repository.save(page("new"))
    repository.save(page("theirs", account="other"))
    repository.save(page("state").at("parse", "prod"))
    assert sorted(sent(repository, told, clock)) == [
        *(("new", 1, "pipestream.prod.intake"), ("old0", 2, "pipestream.prod.intake")),
        *(("old1", 2, "pipestream.prod.intake"), ("old2", 1, "pipestream.prod.intake")),
        ("old3", 1, "pipestream.prod.intake"),
    ]
    repository.save(page("new"))
    routes.subscribe("acct", DATASOURCE, "prod", clock())
    assert sent(repository, told, clock) == [], "the same once more is nothing new"
    routes.subscribe("acct", DATASOURCE, "staging", clock())
    assert {(doc, to) for doc, _, to in sent(repository, told, clock)} == {
        (doc, "pipestream.staging.intake") for doc in ("new", "old0", "old1", "old2", "old3")
    }
    assert routes.recrawl("acct", DATASOURCE, "prod")
    repository.save(page("new", b"2"))
    again = sent(repository, told, clock)
    assert len(again) == 6, "five for prod, and the new version for staging"
    assert routes.unsubscribe("acct", DATASOURCE, "prod")
    repository.save(page("new", b"3"))
    assert [to for _, _, to in sent(repository, told, clock)] == ["pipestream.staging.intake"]


def test_what_other_machines_saved_is_sent_once_it_is_known_here(page: MakePage, clock: Any) -> None:
    store, told = MemoryStore(clock=clock), Told()
    here, there = (
        DocumentRepository(store, open_catalog("sqlite://:memory:"), clock=clock, subscriptions=NodeSubscriptions())
        for _ in range(2)
    )
    here.catalog.routes.subscribe("acct", DATASOURCE, "prod", clock())
    there.save(page("theirs"))
    there.teller.tell()
    assert sent(here, told, clock) == []
    here.learner.learn()
    assert sent(here, told, clock) == [("theirs", 1, "pipestream.prod.intake")]
    assert sent(there, told, clock) == [], "who has no subscription sends nothing"
    here.learner.learn()
    assert sent(here, told, clock) == []


def test_no_gap_and_nothing_out_of_turn_while_others_write_and_are_killed(tmp_path: Path, catalog_url: str) -> None:
    command = [sys.executable, str(PROGRAM), str(tmp_path), catalog_url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    before, told, _ = (int(word) for word in done.stdout.split())
    assert before > 5, done.stdout
    assert told > before, done.stdout
