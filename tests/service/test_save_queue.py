"""Saves that come together are written together, in turns by account, and each is answered for itself."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime

import pytest

from cocli.documents import Blob, Document, DocumentRepository, open_catalog
from cocli.documents.receipt import Receipt
from cocli.documents.save_order import SaveOrder
from cocli.errors import CocliError, DocumentDeleted, DocumentInvalid, StoreError, Unavailable
from cocli.service.documents.save_queue import BESIDE_OTHERS, GROUP, OF_ACCOUNT, SaveQueue
from cocli.service.request_places import RequestPlaces
from cocli.store.base import Put
from cocli.store.memory import MemoryStore


class SlowStore(MemoryStore):
    """Writes wait until the gate is open; each is noted by how many objects it has."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.entered = threading.Semaphore(0)
        self.writes: list[list[str]] = []
        self.is_away = False

    def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
        every = list(puts)
        if every:
            self.entered.release()
            self.gate.wait(60)
            self.writes.append([put.key.split("/")[1] for put in every])
            if self.is_away:
                raise Unavailable(address="the store", reason="it is away")
        return super().put_many(every)


def order(account: str, doc: str, publish: Sequence[str] = ()) -> SaveOrder:
    page = Document.intake(account=account, connector="web", doc=doc).with_blob("body", Blob.of(b"x"))
    return SaveOrder(page, publish, by="me")


def run(store: SlowStore, act: Callable[[SaveQueue, DocumentRepository], Awaitable[None]]) -> None:
    catalog = open_catalog("sqlite://:memory:")
    repository = DocumentRepository(store, catalog, clock=lambda: datetime.now(UTC))

    async def main() -> None:
        with SaveQueue(repository, RequestPlaces(1000, share=1.0)) as queue:
            await act(queue, repository)

    asyncio.run(main())
    catalog.close()


async def two_groups_under_way(queue: SaveQueue, store: SlowStore) -> list[asyncio.Task[Receipt]]:
    """Both threads are at work, and wait."""
    tasks = []
    for name in ("first", "second"):
        tasks.append(asyncio.create_task(queue.save(order("greedy", name), 100)))
        await asyncio.to_thread(store.entered.acquire)
    return tasks


def test_what_comes_meanwhile_is_one_group_and_accounts_take_turns() -> None:
    store = SlowStore()

    async def act(queue: SaveQueue, repository: DocumentRepository) -> None:
        tasks = await two_groups_under_way(queue, store)
        tasks += [asyncio.create_task(queue.save(order("greedy", f"{n}"), 100)) for n in range(2 * GROUP)]
        tasks.append(asyncio.create_task(queue.save(order("modest", "one"), 100)))
        assert await asyncio.to_thread(store.entered.acquire, timeout=60), "the single save waited behind another's"
        store.gate.set()
        receipts = await asyncio.gather(*tasks)
        assert {receipt.outcome for receipt in receipts} == {"created"}
        assert len(repository.documents("greedy", limit=1000).items) == 2 * GROUP + 2
        read = repository.objects.current(repository.objects.place(order("modest", "one").document))
        assert read is not None
        assert read[0].header.saved_by == "me"

    run(store, act)
    assert ["modest"] in store.writes
    assert max(write.count("greedy") for write in store.writes) == BESIDE_OTHERS


def test_who_has_nothing_written_waits_for_no_group_of_another() -> None:
    store = SlowStore()

    async def act(queue: SaveQueue, repository: DocumentRepository) -> None:
        tasks = await two_groups_under_way(queue, store)
        tasks.append(asyncio.create_task(queue.save(order("greedy", "third"), 100)))
        tasks.append(asyncio.create_task(queue.save(order("modest", "one"), 100)))
        assert await asyncio.to_thread(store.entered.acquire, timeout=60)
        store.gate.set()
        receipts = await asyncio.gather(*tasks)
        assert {receipt.outcome for receipt in receipts} == {"created"}

    run(store, act)
    assert sorted(store.writes) == [["greedy"], ["greedy"], ["greedy"], ["modest"]]


def test_who_is_alone_has_groups_of_a_size_of_its_own() -> None:
    store = SlowStore()

    async def act(queue: SaveQueue, repository: DocumentRepository) -> None:
        tasks = await two_groups_under_way(queue, store)
        tasks += [asyncio.create_task(queue.save(order("greedy", f"{n}"), 100)) for n in range(2 * GROUP)]
        await asyncio.sleep(0)
        store.gate.set()
        await asyncio.gather(*tasks)

    run(store, act)
    assert max(len(write) for write in store.writes) == OF_ACCOUNT
    assert len(store.writes) == 2 + 2 * GROUP // OF_ACCOUNT


def test_one_that_is_refused_does_not_stop_the_others() -> None:
    store = SlowStore()

    async def act(queue: SaveQueue, repository: DocumentRepository) -> None:
        store.gate.set()
        repository.save(order("a", "gone").document)
        repository.delete("a", "gone")
        store.gate.clear()
        tasks = await two_groups_under_way(queue, store)
        wanted = [order("a", "gone"), order("a", "bad", [""]), order("a", "good"), order("a", "good")]
        tasks += [asyncio.create_task(queue.save(each, 100)) for each in wanted]
        await asyncio.sleep(0)
        store.gate.set()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        kinds = [answer.outcome if isinstance(answer, Receipt) else type(answer) for answer in answers[2:]]
        assert kinds == [DocumentDeleted, DocumentInvalid, "created", "unchanged"]

    run(store, act)


def test_a_store_that_is_away_is_told_to_each_and_who_left_stops_nobody() -> None:
    store = SlowStore()

    async def act(queue: SaveQueue, repository: DocumentRepository) -> None:
        tasks = await two_groups_under_way(queue, store)
        leaving = asyncio.create_task(queue.save(order("a", "left"), 100))
        staying = asyncio.create_task(queue.save(order("a", "stayed"), 100))
        await asyncio.sleep(0)
        leaving.cancel()
        store.is_away = True
        store.gate.set()
        answers = await asyncio.gather(*tasks, staying, return_exceptions=True)
        assert all(isinstance(answer, CocliError) and answer.retryable for answer in answers)
        store.is_away = False
        assert (await queue.save(order("a", "left"), 100)).outcome == "created"
        with pytest.raises(asyncio.CancelledError):
            await leaving

    run(store, act)
