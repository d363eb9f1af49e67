"""The same against real S3 servers: etags that are MD5, conditional writes, requests as the wire counts them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from tests.kit.fault_proxy import fault_proxy
from tests.kit.servers import S3Server

from cocli.store import Store, open_store
from cocli.store.counting import CountingStore

ACME = "companies/acme/_index.md"


@pytest.fixture(params=("seaweedfs", "ministack"))
def server(request: pytest.FixtureRequest) -> S3Server:
    found: S3Server = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def s3(server: S3Server) -> Iterator[CountingStore]:
    store = open_store(server.url("cocli-data-test", f"sync-{secrets.token_hex(6)}"))
    yield CountingStore(store)
    store.close()


def contents(store: Store) -> dict[str, str]:
    return {info.key: store.get(info.key).data.decode() for info in store.list()}


def test_two_laptops_and_a_real_bucket(make_laptop: Any, s3: CountingStore) -> None:
    one, two = make_laptop(s3, "one"), make_laptop(s3, "two")
    for number in range(20):
        one.write(f"people/p{number}.md", f"person {number}")
    one.write(ACME, "Acme")
    assert one.sync().counts["uploaded"] == 21
    assert two.sync().counts["downloaded"] == 21
    one.write(ACME, "Acme of one")
    two.write(ACME, "Acme of two")
    two.remove("people/p0.md")
    one.sync()
    report = two.sync()
    assert len(report.kept_both) == 1
    assert report.counts["deleted_there"] == 1
    one.sync()
    assert one.files() == two.files() == contents(s3)
    assert len(one.files()) == 21
    for laptop in (one, two):
        laptop.sync()
        s3.reset()
        assert laptop.sync().did_nothing
        assert {name: count for name, count in s3.counts.items() if count} == {"list": 1}


def test_a_lost_state_is_found_again_without_a_download(make_laptop: Any, s3: CountingStore) -> None:
    laptop = make_laptop(s3)
    for number in range(20):
        laptop.write(f"people/p{number}.md", f"person {number}")
    laptop.sync()
    for path in (laptop.root / "state").iterdir():
        path.unlink()
    s3.reset()
    assert laptop.sync().counts["adopted"] == 20
    assert s3.counts["get"] == s3.counts["put"] == 0


def test_nothing_changed_is_one_request_on_the_wire(make_laptop: Any, seaweedfs: S3Server) -> None:
    prefix = f"sync-{secrets.token_hex(6)}"
    with fault_proxy(seaweedfs.endpoint, lambda _request: None) as proxy:
        store = open_store(f"s3://cocli-data-test/{prefix}?endpoint={proxy.endpoint}&region=us-east-1")
        laptop = make_laptop(store)
        for number in range(30):
            laptop.write(f"people/p{number}.md", f"person {number}")
        laptop.sync()
        before = proxy.counts.total()
        laptop.sync()
        assert proxy.counts.total() - before == 1
        store.close()
