"""The relay: everything is published at least once, in order per document, and what cannot be is not in the way."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from cocli.documents import Document, DocumentRepository, Event, Relay, open_catalog
from cocli.documents.catalog.sql import SqlCatalog
from cocli.documents.graph.subscriptions import NodeSubscriptions
from cocli.documents.receipt import Receipt
from cocli.documents.relay import in_order
from cocli.documents.subscriptions import EVERYBODY
from cocli.errors import CocliError, DocumentInvalid, OutboxFull, QueueError, Unavailable
from cocli.exit_codes import ExitCode
from cocli.store.memory import MemoryStore

MakePage = Callable[..., Document]


class Log:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.refuse: Callable[[Event], bool] = lambda _: False
        self.closed = False
        self.told = 0

    def publish(self, events: Sequence[Event]) -> dict[str, CocliError]:
        if self.closed:
            raise Unavailable(address="there", reason="closed")
        failed: dict[str, CocliError] = {}
        for event in events:
            if self.refuse(event):
                failed[event.event_id] = QueueError(queue=event.destination, reason="no such destination")
                continue
            self.told += 1
            if event not in self.events:  # as every consumer does: what it was told already is no news
                self.events.append(event)
        return failed


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
        patch.setattr(repository.catalog.outbox, "settle", lambda *_: None)
        Relay(repository.catalog, log, clock=clock).run_once()
    assert Relay(repository.catalog, log, clock=clock).run_once().published == 0, "it may still be on its way"
    clock.pass_by(61)
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


def told_of(log: Log, doc: str) -> list[tuple[int, str]]:
    return [(event.version, event.destination) for event in log.events if event.reference.doc == doc]


def test_what_cannot_be_published_holds_up_its_own_document_and_destination_only(
    repository: DocumentRepository, page: MakePage, clock: Any
) -> None:
    log = Log()
    relay = Relay(repository.catalog, log, clock=clock)
    log.refuse = lambda event: event.destination == "nowhere"
    repository.save(page("bad", b"1"), publish=["nowhere"])
    for number in range(10):
        repository.save(page(f"good{number}"))
    repository.save(page("bad", b"2"), publish=["nowhere"])
    done = relay.run(limit=3)
    assert {(event.destination, event.version) for event, _ in done.failed} == {("nowhere", 1)}
    assert [event.reference.doc for event in log.events if event.reference.doc != "bad"] == [
        f"good{number}" for number in range(10)
    ]
    assert told_of(log, "bad") == [(1, ""), (2, "")], "version 2 waits behind what failed, for that destination alone"
    log.refuse = lambda _: False
    assert relay.run().published == 0, "its next try is later"
    clock.pass_by(600)
    assert relay.run(limit=3).published == 2
    assert told_of(log, "bad") == [(1, ""), (2, ""), (1, "nowhere"), (2, "nowhere")]


def test_after_the_last_attempt_an_event_is_set_aside_until_a_person_decides(
    repository: DocumentRepository, page: MakePage, clock: Any
) -> None:
    log, outbox = Log(), repository.catalog.outbox
    relay = Relay(repository.catalog, log, clock=clock)
    log.refuse = lambda event: event.destination == "nowhere" and event.version == 1
    repository.save(page("bad", b"1"), publish=["nowhere"])
    tries = 0
    for _ in range(20):
        tries += len(relay.run().failed)
        clock.pass_by(600)
    assert tries == 5, "then it is left alone"
    repository.save(page("bad", b"2"), publish=["nowhere"])
    relay.run()
    assert told_of(log, "bad") == [(1, ""), (2, ""), (2, "nowhere")], "what comes later does not wait for a person"
    (left,) = outbox.by_destination()
    assert (left.account, left.destination, left.waiting, left.set_aside) == ("acct", "nowhere", 0, 1)
    assert left.last_error == "Queue nowhere: no such destination"
    log.refuse = lambda _: False
    assert outbox.retry("acct", "nowhere") == 1
    assert outbox.retry("other", "nowhere") == 0
    assert relay.run().published == 1
    assert outbox.by_destination() == []


def test_accounts_take_turns_however_much_one_of_them_saves(
    repository: DocumentRepository, page: MakePage, clock: Any
) -> None:
    """A busy account with much before the others: each has its share of every batch, in the order of its documents."""
    log = Log()
    relay = Relay(repository.catalog, log, clock=clock)
    for number in range(40):
        repository.save(replace(page(f"b{number:02}"), account="busy"))
    for account in ("calm", "slow", "zeal"):
        for number in range(3):
            repository.save(replace(page(f"c{number}"), account=account))
    relay.run_once(limit=8)
    told = Counter(event.reference.account for event in log.events)
    assert told == {"busy": 2, "calm": 2, "slow": 2, "zeal": 2}
    relay.run_once(limit=8)
    told = Counter(event.reference.account for event in log.events)
    assert told == {"busy": 7, "calm": 3, "slow": 3, "zeal": 3}, "what others do not need is the busy one's"
    relay.run(limit=8)
    assert [event.reference.doc for event in log.events if event.reference.account == "busy"] == [
        f"b{number:02}" for number in range(40)
    ]


def test_with_more_accounts_than_places_each_has_its_turn(
    repository: DocumentRepository, page: MakePage, clock: Any
) -> None:
    log = Log()
    relay = Relay(repository.catalog, log, clock=clock)
    for account in "abcdef":
        for number in range(2):
            repository.save(replace(page(f"d{number}"), account=account))
    for _ in range(3):
        relay.run_once(limit=2)
    assert sorted(event.reference.account for event in log.events) == list("abcdef")


def test_what_a_broker_lost_is_sent_once_more_under_the_same_ids(
    repository: DocumentRepository, page: MakePage, clock: Any
) -> None:
    log, outbox = Log(), repository.catalog.outbox
    relay = Relay(repository.catalog, log, clock=clock)
    repository.save(page("old", b"1"), publish=["parse"])
    relay.run()
    clock.pass_by(1800)
    since = clock()
    for body in (b"1", b"2"):
        repository.save(page("new", body), publish=["parse"])
    relay.run()
    before = [event.event_id for event in log.events if event.destination == "parse"]
    assert outbox.resend("acct", "parse", since) == 2
    assert outbox.resend("other", "parse", since) == 0
    told = log.told
    assert relay.run().published == 2
    assert log.told == told + 2
    assert [event.event_id for event in log.events if event.destination == "parse"] == before, "the same ids"


def test_two_relays_share_an_outbox_and_send_nothing_twice(
    any_catalog: SqlCatalog, catalog_url: str, page: MakePage
) -> None:
    """In threads of their own, with connections of their own, while a third one saves."""
    store = MemoryStore()
    repository = DocumentRepository(store, any_catalog, clock=store.now, subscriptions=EVERYBODY)
    log, lock, over = Log(), threading.Lock(), threading.Event()

    class Shared:
        def publish(self, events: Sequence[Event]) -> dict[str, CocliError]:
            with lock:
                return log.publish(events)

    def relay() -> None:
        catalog = open_catalog(catalog_url, durable=False)
        while not over.is_set() or catalog.waiting(1):
            Relay(catalog, Shared(), clock=store.now).run_once(limit=7)
        catalog.close()

    threads = [threading.Thread(target=relay) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(12):
        for doc in ("a", "b", "c"):
            repository.save(page(doc, b"%d" % number))
    over.set()
    for thread in threads:
        thread.join(60)
    assert log.told == len(log.events) == 36
    for doc in ("a", "b", "c"):
        assert [version for version, _ in told_of(log, doc)] == list(range(1, 13))


def test_an_outbox_that_is_full_refuses_what_would_need_it_and_nothing_else(
    catalog: SqlCatalog, store: Any, page: MakePage, clock: Any
) -> None:
    repository = DocumentRepository(store, catalog, clock=clock, subscriptions=NodeSubscriptions(), most_waiting=3)
    for number in range(3):
        repository.save(page(f"d{number}"), publish=["pipestream.prod.parse"])
    objects = len(list(store.list("")))
    with pytest.raises(OutboxFull) as caught:
        repository.save(page("d3"), publish=["pipestream.prod.parse"])
    assert caught.value.retryable
    assert (caught.value.message, caught.value.exit_code) == (
        "3 events of the account acct wait to be sent, and 3 may.",
        ExitCode.UNAVAILABLE,
    )
    assert len(list(store.list(""))) == objects, "nothing of it was written"
    answers = repository.save_many([(page("d4"), ["pipestream.prod.parse"]), (page("d5"), [])])
    assert isinstance(answers[0], OutboxFull)
    assert isinstance(answers[1], Receipt), "what needs no event has no need of room"
    repository.save(page("theirs", account="other"), publish=["pipestream.prod.parse"])
    assert Relay(catalog, GraphLog(), clock=clock).run().published == 4
    repository.save(page("d3"), publish=["pipestream.prod.parse"])
    assert len(catalog.waiting(10)) == 1


class GraphLog:
    def publish(self, events: Sequence[Event]) -> dict[str, CocliError]:
        return {}


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["pipestream.prod.Parse"], "a name has up to 48 lower-case letters"),
        (["pipestream.prod.quarantine"], "the name is reserved"),
        ([" "], "a destination has a name"),
        (["a\nb"], "cannot be printed"),
        (["x" * 250], "more than 249 bytes"),
        ([f"d{number}" for number in range(33)], "33 destinations; the most is 32"),
        (["pipestream.pröd.parse"], "a topic of Kafka has up to 249 letters"),
    ],
)
def test_names_of_destinations_are_checked_before_anything_is_written(
    catalog: SqlCatalog, store: Any, page: MakePage, clock: Any, names: list[str], reason: str
) -> None:
    subscriptions = NodeSubscriptions(topics=True)
    repository = DocumentRepository(store, catalog, clock=clock, subscriptions=subscriptions)
    with pytest.raises(DocumentInvalid, match=reason):
        repository.save(page(), publish=names)
    assert list(store.list("")) == []
    repository.save(page())
    with pytest.raises(DocumentInvalid, match=reason):
        repository.save(page(), publish=names)
    repository.save(page(), publish=["pipestream.prod.parse", "pipestream.prod.intake", "anybody"])
    assert [event.destination for event in catalog.waiting(10)] == ["pipestream.prod.parse", "pipestream.prod.intake"]


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
