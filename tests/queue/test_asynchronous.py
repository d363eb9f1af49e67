"""Work in asyncio: renewed while it goes on, cancelled when its lease is lost."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator

import boto3
import pytest
from tests.kit.servers import REGION, S3Server

from cocli.errors import LeaseLost
from cocli.keys.paths import LeaseKey
from cocli.models.completion import Failed, Ok, Verdict
from cocli.models.task import TaskError
from cocli.queue import asynchronous
from cocli.queue.base import AckOutcome, Claim, NewTask, TaskPlace
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.sqs.connection import SqsConnection
from cocli.queue.sqs.queue import SqsQueue, queue_name
from cocli.store.memory import MemoryStore

NAME = "enrichment"


@pytest.fixture
def memory() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def queue(memory: MemoryStore) -> Iterator[LeasedQueue]:
    queue = LeasedQueue(memory, "c", NAME, worker="me", lease_seconds=0.6, margin=0.1)
    queue.put(NewTask("a"))
    yield queue
    queue.close()


async def claimed(queue: asynchronous.NoticingQueue) -> Claim:
    found = await asynchronous.claim(queue)
    assert found is not None
    return found


def take_away(memory: MemoryStore) -> None:
    """As somebody does who takes the task over: the lease is another one."""
    key = str(LeaseKey("c", NAME, "a"))
    memory.put(key, memory.get(key).data + b" ")


def test_work_is_done_and_acked(queue: LeasedQueue) -> None:
    async def work(claim: Claim) -> Verdict:
        await asyncio.sleep(0)
        return Ok(result={"id": claim.task.task_id})

    async def main() -> AckOutcome:
        return await asynchronous.run(queue, await claimed(queue), work)

    assert asyncio.run(main()) is AckOutcome.COMPLETED
    assert list(queue.inspect("a").states)[-1] is TaskPlace.COMPLETED
    assert asyncio.run(asynchronous.claim(queue)) is None


def test_the_verdict_decides(queue: LeasedQueue) -> None:
    async def work(claim: Claim) -> Verdict:
        return Failed(error=TaskError(code="gone", message="404", retryable=False))

    async def main() -> AckOutcome:
        return await asynchronous.run(queue, await claimed(queue), work)

    assert asyncio.run(main()) is AckOutcome.SIDELINED


def test_a_long_task_is_renewed(queue: LeasedQueue, memory: MemoryStore) -> None:
    other = LeasedQueue(memory, "c", NAME, worker="other", lease_seconds=0.6, margin=0.1)

    async def work(claim: Claim) -> Verdict:
        for _ in range(15):
            await asyncio.sleep(0.1)
            assert await asynchronous.claim(other) is None
        return Ok()

    async def main() -> AckOutcome:
        return await asynchronous.run(queue, await claimed(queue), work)

    assert asyncio.run(main()) is AckOutcome.COMPLETED


def test_work_is_cancelled_when_its_lease_is_lost(queue: LeasedQueue, memory: MemoryStore) -> None:
    steps: list[str] = []

    async def work(claim: Claim) -> Verdict:
        take_away(memory)
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            steps.append("cancelled")
            raise
        return Ok()

    async def main() -> None:
        claim = await claimed(queue)
        with pytest.raises(LeaseLost, match="me does not hold task a any more"):
            await asynchronous.run(queue, claim, work)
        steps.append("went on")
        await asyncio.sleep(0.01)  # the cancellation was the lease's, and ended with it
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0

    started = time.monotonic()
    asyncio.run(main())
    assert steps == ["cancelled", "went on"]
    assert time.monotonic() - started < 5
    assert TaskPlace.COMPLETED not in queue.inspect("a").states


def test_work_that_swallows_the_cancellation_is_not_acked(queue: LeasedQueue, memory: MemoryStore) -> None:
    async def work(claim: Claim) -> Verdict:
        take_away(memory)
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(30)
        return Ok()

    async def main() -> None:
        with pytest.raises(LeaseLost):
            await asynchronous.run(queue, await claimed(queue), work)

    asyncio.run(main())
    assert TaskPlace.COMPLETED not in queue.inspect("a").states


def test_a_cancellation_by_others_goes_through(queue: LeasedQueue) -> None:
    async def main() -> None:
        claim = await claimed(queue)
        begun = asyncio.Event()

        async def work(claim: Claim) -> Verdict:
            begun.set()
            await asyncio.sleep(30)
            return Ok()

        task = asyncio.create_task(asynchronous.run(queue, claim, work))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asynchronous.release(queue, claim)

    asyncio.run(main())
    again = queue.claim()
    assert again is not None
    assert (again.attempt, again.token) == (1, 2)


def test_what_the_work_raises_comes_out_and_the_claim_stays(queue: LeasedQueue) -> None:
    async def work(claim: Claim) -> Verdict:
        raise ValueError("a mistake")

    async def main() -> AckOutcome:
        claim = await claimed(queue)
        with pytest.raises(ValueError, match="a mistake"):
            await asynchronous.run(queue, claim, work)
        return await asynchronous.ack(queue, claim, Ok())

    assert asyncio.run(main()) is AckOutcome.COMPLETED


def test_many_at_once(memory: MemoryStore) -> None:
    queue = LeasedQueue(memory, "c", NAME, worker="me", lease_seconds=5, margin=0.1)
    queue.put_many(NewTask(f"t{number}") for number in range(40))

    async def work(claim: Claim) -> Verdict:
        await asyncio.sleep(0.01)
        return Ok()

    async def worker() -> int:
        done = 0
        while (claim := await asynchronous.claim(queue)) is not None:
            assert await asynchronous.run(queue, claim, work) is AckOutcome.COMPLETED
            done += 1
        return done

    async def main() -> list[int]:
        return list(await asyncio.gather(*(worker() for _ in range(8))))

    assert sum(asyncio.run(main())) == 40
    queue.close()


def test_on_sqs_as_well(ministack: S3Server) -> None:
    name = queue_name("async", NAME)
    client = boto3.client("sqs", endpoint_url=ministack.endpoint, region_name=REGION)
    url = client.create_queue(QueueName=name)["QueueUrl"]
    connection = SqsConnection(name, region=REGION, endpoint=ministack.endpoint)
    queue = SqsQueue(MemoryStore(), "async", NAME, connection=connection, lease_seconds=1, poll_seconds=0)
    queue.put_many([NewTask("done"), NewTask("lost")])

    async def work(claim: Claim) -> Verdict:
        if claim.task.task_id == "lost":
            client.delete_queue(QueueUrl=url)
            await asyncio.sleep(30)
        return Ok()

    async def main() -> None:
        assert await asynchronous.run(queue, await claimed(queue), work) is AckOutcome.COMPLETED
        with pytest.raises(LeaseLost):
            await asynchronous.run(queue, await claimed(queue), work)

    asyncio.run(main())
    queue.close()
    client.close()
