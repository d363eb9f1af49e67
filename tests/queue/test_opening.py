"""Which queue is opened for which configuration, and what is said where none can be."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import boto3
import pytest
from tests.kit.servers import REGION, S3Server

from cocli.errors import MissingExtra, QueueUnusable, UnsafeStore
from cocli.models.campaign import CampaignConfig
from cocli.models.completion import Ok
from cocli.queue.base import AckOutcome, NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.providers import PROVIDERS, get_queue
from cocli.queue.sqs.queue import SqsQueue
from cocli.store import open_store
from cocli.store.counting import CountingStore
from cocli.store.kinds import store_kind
from cocli.store.local import LocalStore
from cocli.store.memory import MemoryStore
from cocli.store.wrapper import WrappedStore


def config(**sections: dict[str, Any]) -> CampaignConfig:
    return CampaignConfig.model_validate({"campaign": {"name": "opening"}} | sections)


def margin(queue: LeasedQueue | SqsQueue) -> float:
    assert isinstance(queue, LeasedQueue)
    return queue._margin.total_seconds()


@pytest.mark.parametrize("provider", [None, "store", "filesystem"])
def test_a_folder(tmp_path: Path, provider: str | None) -> None:
    settings = {"queue": {"provider": provider}} if provider else {}
    with closing(open_store(str(tmp_path))) as store:
        queue = get_queue(config(**settings), store, "gm-list", worker="me")
        assert margin(queue) == 0.1
        assert (queue.campaign, queue.name, queue.worker) == ("opening", "gm-list", "me")


@pytest.mark.parametrize("provider", ["store", "s3"])
def test_a_bucket(ministack: S3Server, provider: str) -> None:
    with closing(open_store(ministack.url("cocli-data-test", "opening"))) as store:
        queue = get_queue(config(queue={"provider": provider}), store, "gm-list", check=True)
        assert margin(queue) == 2.0


def test_memory_and_a_wrapped_store() -> None:
    queue = get_queue(config(), MemoryStore(), "gm-list", check=True)
    assert margin(queue) == 0.1
    queue.put(NewTask("a"))
    claim = queue.claim()
    assert claim is not None
    assert queue.ack(claim, Ok()) is AckOutcome.COMPLETED
    assert margin(get_queue(config(), CountingStore(MemoryStore()), "gm-list")) == 0.1


def test_lease_and_attempts_come_from_the_configuration() -> None:
    queue = get_queue(config(queue={"lease_seconds": 77, "attempts": 2}), MemoryStore(), "gm-list")
    assert isinstance(queue, LeasedQueue)
    assert (queue._seconds, queue._attempts) == (77, 2)


def test_a_provider_that_does_not_fit_the_store(tmp_path: Path, ministack: S3Server) -> None:
    with (
        closing(open_store(str(tmp_path))) as folder,
        pytest.raises(QueueUnusable, match=r"storage\.url is not") as one,
    ):
        get_queue(config(queue={"provider": "s3"}), folder, "gm-list")
    assert str(tmp_path) in one.value.message
    assert "s3://bucket" in str(one.value.hint)
    url = ministack.url("cocli-data-test", "opening")
    with closing(open_store(url)) as bucket, pytest.raises(QueueUnusable, match=r'storage\.url is not "local"'):
        get_queue(config(queue={"provider": "filesystem"}), bucket, "gm-list")
    with pytest.raises(QueueUnusable, match="filesystem cannot be used"):
        get_queue(config(queue={"provider": "filesystem"}), MemoryStore(), "gm-list")


def test_an_unsafe_store_is_refused_when_asked(rclone: S3Server) -> None:
    with closing(open_store(rclone.url("cocli-data-test", "opening"))) as store:
        get_queue(config(), store, "gm-list")
        with pytest.raises(UnsafeStore):
            get_queue(config(), store, "gm-list", check=True)


def sqs(server: S3Server, **aws: Any) -> CampaignConfig:
    settings = {"endpoint": server.endpoint, "region": REGION} | aws
    return config(queue={"provider": "sqs", "lease_seconds": 60, "attempts": 4}, aws=settings)


def test_sqs(ministack: S3Server) -> None:
    with closing(boto3.client("sqs", endpoint_url=ministack.endpoint, region_name=REGION)) as client:
        client.create_queue(QueueName="cocli-gm-list-opening")
    queue = get_queue(sqs(ministack), MemoryStore(), "gm-list", worker="me")
    with closing(queue):
        assert isinstance(queue, SqsQueue)
        assert (queue._seconds, queue._attempts, queue.worker) == (60, 4, "me")


def test_sqs_without_its_queue(ministack: S3Server) -> None:
    with pytest.raises(QueueUnusable, match="there is no queue cocli-nobody-opening"):
        get_queue(sqs(ministack), MemoryStore(), "nobody")


def test_sqs_without_a_region(ministack: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION")
    with pytest.raises(QueueUnusable, match=r"aws\.region"):
        get_queue(sqs(ministack, region=None), MemoryStore(), "gm-list")


def test_sqs_without_boto3(ministack: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(MissingExtra) as caught:
        get_queue(sqs(ministack), MemoryStore(), "gm-list")
    assert str(caught.value.hint) == "Install it with: pip install 'cocli[aws]'"


def test_a_lease_that_sqs_cannot_keep(ministack: S3Server) -> None:
    long = config(queue={"provider": "sqs", "lease_seconds": 80_000}, aws={"endpoint": ministack.endpoint})
    with pytest.raises(QueueUnusable, match=r"queue\.lease_seconds is 80000"):
        get_queue(long, MemoryStore(), "gm-list")


def test_a_kind_of_store_that_says_nothing_of_itself_is_tried_before_workers_rely_on_it(tmp_path: Path) -> None:
    class Stranger(WrappedStore):
        """A server of a new kind, which lets everybody win."""

        @property
        def address(self) -> str:
            return "gs://bucket"

        def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
            return self.inner.put(key, data)

    store = Stranger(LocalStore(str(tmp_path / "store"), fsync="never"))
    assert store_kind(store.address).needs_probe
    get_queue(config(), store, "gm-list")
    with pytest.raises(UnsafeStore):
        get_queue(config(), store, "gm-list", check=True)


def test_a_provider_that_is_not_there_is_an_error() -> None:
    with pytest.raises(QueueUnusable) as refused:
        get_queue(config(queue={"provider": "pigeons"}), MemoryStore(), "gm-list")
    assert all(name in str(refused.value.hint) for name in PROVIDERS)
