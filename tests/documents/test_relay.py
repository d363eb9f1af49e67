"""The relay: everything is published at least once, in order per document, and what cannot be is not in the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from cocli.documents import Document, DocumentRepository, Event, Relay
from cocli.documents.relay import in_order
from cocli.errors import QueueError, Unavailable

MakePage = Callable[..., Document]


class Log:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.refuse: Callable[[Event], bool] = lambda _: False
        self.closed = False
        self.told = 0

    def publish(self, events: Sequence[Event]) -> None:
        if self.closed:
            raise Unavailable(address="there", reason="closed")
        for event in events:
            if self.refuse(event):
                raise QueueError(queue=event.destination, reason="no such destination")
            self.told += 1
            if event not in self.events:  # as every consumer does: what it was told already is no news
                self.events.append(event)


def test_everything_is_published_once_and_in_order(repository: DocumentRepository, page: MakePage, clock: Any) -> None:
    log = Log()
    relay = Relay(repository.catalog, log, clock=clock)
    for number in range(5):
        for doc in "abc":
            repository.save(page(doc, b"%d" % number), publish=["parser"])
    assert relay.run(limit=4).published == 30
    assert len({event.event_id for event in log.events}) == log.told == 30
    for doc in "abc":
        assert [one.version for one in log.events if one.reference.doc == doc and one.destination] == [1, 2, 3, 4, 5]
    assert relay.run().published == 0
    for event in log.events:
        assert repository.get("acct", event.reference).digest == event.reference.digest


def test_what_was_not_marked_is_told_again_under_the_same_id(
    repository: DocumentRepository, page: MakePage, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log()
    repository.save(page())
    with monkeypatch.context() as patch:
        patch.setattr(repository.catalog, "mark_published", lambda *_: None)
        Relay(repository.catalog, log, clock=clock).run_once()
    Relay(repository.catalog, log, clock=clock).run_once()
    assert log.told == 2
    assert len(log.events) == 1


def test_a_closed_road_loses_nothing(repository: DocumentRepository, page: MakePage, clock: Any) -> None:
    log = Log()
    relay = Relay(repository.catalog, log, clock=clock)
    repository.save(page())
    log.closed = True
    with pytest.raises(Unavailable):
        relay.run()
    log.closed = False
    assert relay.run().published == 1


def test_what_cannot_be_published_holds_up_its_own_document_only(
    repository: DocumentRepository, page: MakePage, clock: Any
) -> None:
    log = Log()
    relay = Relay(repository.catalog, log, clock=clock)
    log.refuse = lambda event: event.destination == "nowhere"
    repository.save(page("bad", b"1"), publish=["nowhere"])
    for number in range(10):
        repository.save(page(f"good{number}"))
    repository.save(page("bad", b"2"))
    done = relay.run(limit=3)
    assert [event.destination for event, _ in done.failed] == ["nowhere"]
    published = [(one.reference.doc, one.version, one.destination) for one in log.events]
    assert [doc for doc, _, _ in published if doc.startswith("good")] == [f"good{number}" for number in range(10)]
    assert [one for one in published if one[0] == "bad"] == [("bad", 1, "")], "version 2 waits behind what failed"
    log.refuse = lambda _: False
    relay.run(limit=3)
    published = [(one.reference.doc, one.version, one.destination) for one in log.events]
    assert [one for one in published if one[0] == "bad"] == [("bad", 1, ""), ("bad", 1, "nowhere"), ("bad", 2, "")]


def test_versions_that_were_committed_crosswise_are_published_in_their_order(
    repository: DocumentRepository, page: MakePage
) -> None:
    for body in (b"1", b"2", b"3"):
        repository.save(page("a", body))
        repository.save(page("b", body))
    events = repository.catalog.waiting(100)
    crossed = [events[index] for index in (4, 1, 0, 3, 2, 5)]
    assert [(one.reference.doc, one.version) for one in in_order(crossed)] == [
        *(("a", 1), ("b", 1), ("a", 2), ("b", 2), ("a", 3), ("b", 3))
    ]
