"""The same against real S3 servers: etags that are MD5, conditional writes, requests as the wire counts them."""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from tests.kit.fault_proxy import fault_proxy
from tests.kit.servers import S3Server

from cocli.keys.paths import NoteKey
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


def test_names_that_people_give_go_to_the_bucket_and_to_another_machine(make_laptop: Any, s3: CountingStore) -> None:
    """A note with umlauts, written as either system writes it; what both change is kept twice."""
    one, two = make_laptop(s3, "one"), make_laptop(s3, "two")
    key = "companies/acme/notes/Gespr%C3%A4ch%20mit%20M%C3%BCller.md"
    long = f"companies/acme/notes/a{'Ü' * 30} und mehr.md"
    name = unicodedata.normalize("NFD", "companies/acme/notes/Gespräch mit Müller.md")
    one.write(name, "called")
    one.write(long, "long")
    assert one.sync().counts["uploaded"] == 2
    assert contents(s3)[key] == "called"
    assert two.sync().counts["downloaded"] == 2
    assert two.read(key) == "called"
    two.write(key, "called, and again")
    two.sync()
    assert one.sync().counts["downloaded"] == 1
    assert one.read(name) == "called, and again"
    assert not one.has(key), "it stays what it is called"
    (long_key,) = {info.key for info in s3.list()} - {key}
    for laptop, path in ((one, name), (one, long), (two, key), (two, long_key)):
        laptop.write(path, f"of {laptop.name}")
    one.sync()
    kept = two.sync().kept_both
    assert sorted(both.key for both in kept) == sorted((key, long_key))
    assert all(NoteKey.parse(both.copy).slug == "acme" for both in kept), "copies are notes too"
    assert one.sync().counts["downloaded"] == 2
    assert {both.copy: "of two" for both in kept}.items() <= contents(s3).items()
    assert (one.read(name), one.read(long)) == ("of one", "of one")
    two.remove(key)
    two.sync(many_deletions=True)
    one.sync(many_deletions=True)
    assert not one.has(name)
    for laptop in (one, two):
        laptop.sync()
        assert laptop.sync().did_nothing


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
