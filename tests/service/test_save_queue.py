"""Saves that come together are written together, in turns by account, and each is answered for itself."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime

import pytest

from cocli.documents import Blob, Document, DocumentRepository, codec, open_catalog
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import CocliError, DocumentDeleted, DocumentInvalid, StoreError, Unavailable
from cocli.service.documents.saving import save_queue
from cocli.service.documents.saving.save_group import SaveAnswer, SaveCall, save_group
from cocli.service.documents.saving.save_queue import BESIDE_OTHERS, GROUP, OF_ACCOUNT, SaveQueue
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


class ThreadWriter:
    """Groups are written by threads of this process, whatever the company."""

    def __init__(self, repository: DocumentRepository) -> None:
        self._repository = repository

    def write(self, calls: Sequence[SaveCall], company: int) -> asyncio.Future[list[SaveAnswer]]:
        assert company > 0
        return asyncio.get_running_loop().run_in_executor(None, save_group, self._repository, calls)

    async def close(self) -> None:
        pass


def page(account: str, doc: str) -> Document:
    return Document.intake(account=account, connector="web", doc=doc).with_blob("body", Blob.of(b"x"))


def call(account: str, doc: str, publish: Sequence[str] = ()) -> SaveCall:
    request = pb.SaveRequest(document=codec.to_message(page(account, doc)), publish=publish)
    return SaveCall(account, "me", request.SerializeToString())


def outcome(answer: bytes) -> str:
    number = pb.SaveResponse.FromString(answer).outcome
    return pb.SaveResponse.Outcome.Name(number).removeprefix("OUTCOME_").lower()


def run(store: SlowStore, act: Callable[[SaveQueue, DocumentRepository], Awaitable[None]]) -> None:
    catalog = open_catalog("sqlite://:memory:")
    repository = DocumentRepository(store, catalog, clock=lambda: datetime.now(UTC))

    async def main() -> None:
        async with SaveQueue(ThreadWriter(repository), RequestPlaces(1000, share=1.0)) as queue:
            await act(queue, repository)

    asyncio.run(main())
    catalog.close()


async def two_groups_under_way(queue: SaveQueue, store: SlowStore) -> list[asyncio.Task[bytes]]:
    """Both threads are at work, and wait."""
    tasks = []
    for name in ("first", "second"):
        tasks.append(asyncio.create_task(queue.save(call("greedy", name))))
        await asyncio.to_thread(store.entered.acquire)
    return tasks


def test_what_comes_meanwhile_is_one_group_and_accounts_take_turns() -> None:
    store = SlowStore()

    async def act(queue: SaveQueue, repository: DocumentRepository) -> None:
        tasks = await two_groups_under_way(queue, store)
        tasks += [asyncio.create_task(queue.save(call("greedy", f"{n}"))) for n in range(2 * GROUP)]
        tasks.append(asyncio.create_task(queue.save(call("modest", "one"))))
        assert await asyncio.to_thread(store.entered.acquire, timeout=60), "the single save waited behind another's"
        store.gate.set()
        receipts = await asyncio.gather(*tasks)
        assert {outcome(receipt) for receipt in receipts} == {"created"}
        assert len(repository.documents("greedy", limit=1000).items) == 2 * GROUP + 2
        read = repository.objects.current(repository.objects.place(page("modest", "one")))
        assert read is not None
        assert read[0].header.saved_by == "me"

    run(store, act)
    assert ["modest"] in store.writes
    assert max(write.count("greedy") for write in store.writes) == BESIDE_OTHERS


def test_who_has_nothing_written_waits_for_no_group_of_another() -> None:
    store = SlowStore()

    async def act(queue: SaveQueue, repository: DocumentRepository) -> None:
        tasks = await two_groups_under_way(queue, store)
        tasks.append(asyncio.create_task(queue.save(call("greedy", "third"))))
        tasks.append(asyncio.create_task(queue.save(call("modest", "one"))))
        assert await asyncio.to_thread(store.entered.acquire, timeout=60)
        store.gate.set()
        receipts = await asyncio.gather(*tasks)
        assert {outcome(receipt) for receipt in receipts} == {"created"}

    run(store, act)
    assert sorted(map(sorted, store.writes)) == [["greedy"], ["greedy"], ["greedy", "modest"]]


class NotingWriter:
    """Notes whose saves a group has, and writes nothing: whoever began first ends first, when it is told to."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._under_way: deque[tuple[asyncio.Future[list[SaveAnswer]], int]] = deque()

    def write(self, calls: Sequence[SaveCall], company: int) -> asyncio.Future[list[SaveAnswer]]:
        assert company > 0
        self.begun += [wanted.account for wanted in calls]
        answer: asyncio.Future[list[SaveAnswer]] = asyncio.get_running_loop().create_future()
        self._under_way.append((answer, len(calls)))
        return answer

    def end_one(self) -> None:
        if self._under_way:
            answer, count = self._under_way.popleft()
            answer.set_result([b""] * count)

    async def close(self) -> None:
        pass


def test_saves_go_round_by_account_whoever_came_first() -> None:
    """What is counted is the order: beside others, nobody is ahead of anybody who waits by more than two shares."""
    writer = NotingWriter()

    async def main() -> None:
        async with SaveQueue(writer, RequestPlaces(1000, share=1.0)) as queue:
            tasks = []
            for account, count in (("greedy", 3 * GROUP), ("busy", GROUP), ("modest", 2)):
                tasks += [asyncio.create_task(queue.save(call(account, f"{n}"))) for n in range(count)]
            while not all(task.done() for task in tasks):
                await asyncio.sleep(0)
                writer.end_one()

    asyncio.run(main())
    order = writer.begun
    assert order[: 3 * BESIDE_OTHERS].count("modest") == 2
    last = max(number for number, account in enumerate(order) if account == "busy")
    for number in range(last):
        assert order[:number].count("greedy") <= order[:number].count("busy") + 2 * BESIDE_OTHERS


def test_who_is_alone_has_groups_of_a_size_of_its_own() -> None:
    store = SlowStore()

    async def act(queue: SaveQueue, repository: DocumentRepository) -> None:
        tasks = await two_groups_under_way(queue, store)
        tasks += [asyncio.create_task(queue.save(call("greedy", f"{n}"))) for n in range(2 * GROUP)]
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
        repository.save(page("a", "gone"))
        repository.delete("a", "gone")
        store.gate.clear()
        tasks = await two_groups_under_way(queue, store)
        wanted = [call("a", "gone"), call("a", "bad", [""]), call("a", "good"), call("a", "good")]
        tasks += [asyncio.create_task(queue.save(each)) for each in wanted]
        await asyncio.sleep(0)
        store.gate.set()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        kinds = [outcome(answer) if isinstance(answer, bytes) else type(answer) for answer in answers[2:]]
        assert kinds == [DocumentDeleted, DocumentInvalid, "created", "unchanged"]

    run(store, act)


def test_a_store_that_is_away_is_told_to_each_and_who_left_stops_nobody() -> None:
    store = SlowStore()

    async def act(queue: SaveQueue, repository: DocumentRepository) -> None:
        tasks = await two_groups_under_way(queue, store)
        leaving = asyncio.create_task(queue.save(call("a", "left")))
        staying = asyncio.create_task(queue.save(call("a", "stayed")))
        await asyncio.sleep(0)
        leaving.cancel()
        store.is_away = True
        store.gate.set()
        answers = await asyncio.gather(*tasks, staying, return_exceptions=True)
        assert all(isinstance(answer, CocliError) and answer.retryable for answer in answers)
        store.is_away = False
        assert outcome(await queue.save(call("a", "later"))) == "created"
        again = outcome(await queue.save(call("a", "left")))
        assert again in ("created", "unchanged"), "it may be written though nobody waits, if the store is back by then"
        with pytest.raises(asyncio.CancelledError):
            await leaving

    run(store, act)


def test_nobody_waits_for_company_that_cannot_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of five, three are one group's share. While three are being written, two have nobody to wait for."""
    monkeypatch.setattr(save_queue, "_BUSY_SECONDS", 60.0)
    seen: list[int] = []
    writer = NotingWriter()

    async def main() -> None:
        async with SaveQueue(writer, RequestPlaces(1000, share=1.0)) as queue:

            def come(*names: str) -> list[asyncio.Task[bytes]]:
                return [asyncio.create_task(queue.save(call("a", name))) for name in names]

            tasks = come("1", "2", "3", "4", "5")
            await asyncio.sleep(0)
            seen.append(len(writer.begun))  # the first two: nobody else was there
            writer.end_one()
            await tasks[0]
            seen.append(len(writer.begun))  # the others, which are one group's share
            writer.end_one()
            await tasks[1]
            tasks += come("6")
            await asyncio.sleep(0)
            seen.append(len(writer.begun))  # one more is to come back
            tasks += come("7")
            await asyncio.sleep(0)
            seen.append(len(writer.begun))
            for _ in range(2):
                writer.end_one()

    asyncio.run(main())
    assert seen == [2, 5, 5, 7]


class ClosedWriter(NotingWriter):
    """Takes what comes until it is closed."""

    is_closed = False

    def write(self, calls: Sequence[SaveCall], company: int) -> asyncio.Future[list[SaveAnswer]]:
        if self.is_closed:
            raise RuntimeError("closed")
        return super().write(calls, company)


def test_a_writer_that_fails_at_once_leaves_nobody_waiting() -> None:
    """Three wait for the two that are being written: their group begins when one of these is done, and nobody else
    would tell them that it could not."""
    writer = ClosedWriter()

    async def main() -> list[object]:
        async with SaveQueue(writer, RequestPlaces(1000, share=1.0)) as queue:
            tasks = [asyncio.create_task(queue.save(call("a", f"{number}"))) for number in range(5)]
            await asyncio.sleep(0)
            writer.is_closed = True
            for _ in range(2):
                writer.end_one()
            return list(await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 30))

    answers = asyncio.run(main())
    assert [isinstance(answer, RuntimeError) for answer in answers] == [False, False, True, True, True]
