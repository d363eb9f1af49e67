"""What only a server can do to a client: lost answers, conflicts, outages, refusals, a vanished bucket."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.kit.fault_proxy import Answer, Lose, Request, fault_proxy
from tests.kit.servers import REGION, S3Server

from cocli.errors import (
    AlreadyExists,
    BucketMissing,
    ConfigError,
    Conflict,
    Denied,
    ForeignServer,
    NotFound,
    StoreUrlError,
    Unavailable,
)
from cocli.store import Store, open_store
from cocli.store.credentials import find_credentials

BUCKET = "cocli-data-test"
Plan = Callable[[Request], Lose | Answer | None]


def once(fault: Lose | Answer, method: str) -> Plan:
    """The fault for the first request of that method, nothing afterwards."""
    armed = [True]

    def plan(request: Request) -> Lose | Answer | None:
        if request.method == method and armed[0]:
            armed[0] = False
            return fault
        return None

    return plan


def through(endpoint: str) -> Store:
    return open_store(f"s3://{BUCKET}/{secrets.token_hex(6)}?endpoint={endpoint}&region={REGION}")


FAULTS = [
    Lose.REQUEST,
    Lose.ANSWER,
    Answer(503, "SlowDown"),
    Answer(500, "InternalError"),
    Answer(409, "ConditionalRequestConflict"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_create_that_had_gone_through_is_not_taken_for_a_lost_race(seaweedfs: S3Server, fault: Lose | Answer) -> None:
    with fault_proxy(seaweedfs.endpoint, once(fault, "PUT")) as proxy:
        store = through(proxy.endpoint)
        etag = store.put("key", b"mine", if_absent=True)
        assert (store.get("key").data, store.get("key").etag) == (b"mine", etag)
        with pytest.raises(AlreadyExists):
            store.put("key", b"mine", if_absent=True)
        store.close()


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_swap_that_had_gone_through_is_not_taken_for_a_conflict(seaweedfs: S3Server, fault: Lose | Answer) -> None:
    with fault_proxy(seaweedfs.endpoint) as clean:
        before = through(clean.endpoint)
        address = before.address.split(" ")[0].removeprefix("s3://")
        etag = before.put("key", b"1")
        with fault_proxy(seaweedfs.endpoint, once(fault, "PUT")) as proxy:
            store = open_store(f"s3://{address}?endpoint={proxy.endpoint}&region={REGION}")
            store.put("key", b"2", if_match=etag)
            assert store.get("key").data == b"2"
            with pytest.raises(Conflict):
                store.put("key", b"3", if_match=etag)
            store.close()
        before.close()


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_conditional_delete_survives_a_fault(seaweedfs: S3Server, fault: Lose | Answer) -> None:
    with fault_proxy(seaweedfs.endpoint, once(fault, "DELETE")) as proxy:
        store = through(proxy.endpoint)
        store.delete("key", if_match=store.put("key", b"1"))
        with pytest.raises(NotFound):
            store.get("key")
        store.close()


@pytest.mark.parametrize("fault", FAULTS[:4], ids=str)
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_reads_and_plain_writes_are_repeated(seaweedfs: S3Server, fault: Lose | Answer, method: str) -> None:
    with fault_proxy(seaweedfs.endpoint, once(fault, method)) as proxy:
        store = through(proxy.endpoint)
        store.put("key", b"1")
        assert store.get("key").data == b"1"
        assert [info.key for info in store.list()] == ["key"]
        store.close()


def test_a_conditional_write_costs_one_request_and_a_lost_race_two(seaweedfs: S3Server) -> None:
    with fault_proxy(seaweedfs.endpoint) as proxy:
        store = through(proxy.endpoint)
        store.put("key", b"1", if_absent=True)
        assert proxy.counts == {"PUT": 1}
        with pytest.raises(AlreadyExists):
            store.put("key", b"2", if_absent=True)
        assert proxy.counts == {"PUT": 2, "GET": 1}
        store.close()


def test_listing_costs_one_request_per_thousand(seaweedfs: S3Server) -> None:
    with fault_proxy(seaweedfs.endpoint) as proxy:
        store = through(proxy.endpoint)
        from cocli.store import Put

        store.put_many([Put(f"many/{n:04d}", b"") for n in range(1500)])
        proxy.counts.clear()
        assert len(list(store.list("many/"))) == 1500
        assert proxy.counts == {"GET": 2}
        proxy.counts.clear()
        store.delete_many([f"many/{n:04d}" for n in range(1500)])
        assert proxy.counts == {"POST": 2}
        store.close()


def test_a_server_that_is_not_there_is_unavailable() -> None:
    store = open_store("s3://bucket/prefix?endpoint=http://127.0.0.1:1")
    for call in (
        lambda: store.get("k"),
        lambda: store.put("k", b"1", if_absent=True),
        lambda: store.delete("k", if_match="x"),
        store.now,
    ):
        with pytest.raises(Unavailable) as unavailable:
            call()
        assert "127.0.0.1:1" in unavailable.value.message
        assert unavailable.value.retryable
    store.close()


@contextmanager
def web_page(*, everywhere: bool) -> Iterator[str]:
    """A server that is none of S3: it shows a page at every address, or only where a bucket would be listed."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"<html><body>Please log in</body></html>"
            self.send_response(200 if everywhere or "list-type" in self.path else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("everywhere", [True, False])
def test_a_web_page_was_once_taken_for_an_empty_bucket(everywhere: bool) -> None:
    """A sync that follows deletions then deleted every local file."""
    with web_page(everywhere=everywhere) as endpoint:
        store = through(endpoint)
        with pytest.raises(ForeignServer, match="is not an S3 server"):
            list(store.list())
        with pytest.raises(ForeignServer):
            list(store.list("companies/"))
        store.close()


def test_an_empty_listing_is_doubted_once_a_while(seaweedfs: S3Server) -> None:
    with fault_proxy(seaweedfs.endpoint) as proxy:
        store = through(proxy.endpoint)
        for _ in range(5):
            assert list(store.list()) == []
        assert proxy.counts == {"GET": 6}
        store.close()


def test_a_vanished_bucket_is_said_and_is_not_an_empty_store(seaweedfs: S3Server) -> None:
    store = open_store(seaweedfs.url("no-such-bucket"))
    for call in (
        lambda: store.get("k"),
        lambda: store.head("k"),
        lambda: store.put("k", b"1"),
        lambda: store.put("k", b"1", if_absent=True),
        lambda: store.put("k", b"1", if_match="x"),
        lambda: store.delete("k", if_match="x"),
        lambda: list(store.list()),
    ):
        with pytest.raises(BucketMissing, match="no-such-bucket"):
            call()
    store.close()


def test_wrong_credentials_are_denied_and_name_their_source(
    seaweedfs: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "a-very-secret-key"
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    store = open_store(seaweedfs.url(BUCKET))
    for call in (
        lambda: store.get("k"),
        lambda: store.put("k", b"1", if_absent=True),
        lambda: store.delete("k", if_match="x"),
        lambda: list(store.list()),
    ):
        with pytest.raises(Denied, match="AWS_ACCESS_KEY_ID") as denied:
            call()
        assert secret not in str(denied.value.as_dict())
    assert secret not in repr(find_credentials())
    store.close()


def test_credentials_from_the_shared_files(
    tmp_path: Path, seaweedfs: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "credentials").write_text(
        "[default]\naws_access_key_id = wrong\naws_secret_access_key = wrong\n"
        "[work]\naws_access_key_id = test-access-key\naws_secret_access_key = test-secret-key\n"
    )
    (tmp_path / "config").write_text("[profile work]\nregion = eu-north-1\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
        monkeypatch.delenv(name)
    assert find_credentials().source == "profile default of the shared credentials file"
    found = find_credentials("work")
    assert (found.source, found.region) == ("profile work of the shared credentials file", "eu-north-1")
    store = open_store(seaweedfs.url(BUCKET, "profiles") + "&profile=work")
    store.put("k", b"1")
    store.close()
    with pytest.raises(ConfigError, match="no usable AWS profile nobody"):
        find_credentials("nobody")
    monkeypatch.setenv("AWS_PROFILE", "work")
    assert "work" in find_credentials().source


def test_a_broken_credentials_file_is_not_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "credentials").write_text("aws_secret_access_key = hunter2\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    with pytest.raises(ConfigError) as broken:
        find_credentials("default")
    assert "hunter2" not in str(broken.value)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://host/x", "not a kind of store"),
        ("s3://", "no bucket"),
        ("s3://bucket?endpiont=http://x", "unknown option endpiont"),
        ("s3://bucket?endpoint=nas:8333", "https:// or http://"),
        ("s3://bucket/a//b", "prefix"),
        ("s3://bucket/../x", "prefix"),
        ("s3://user:password@bucket", "credentials"),
        ("s3://bucket?endpoint=http://user:password@host:1", "credentials"),
        ("", "no folder"),
    ],
)
def test_addresses_that_cannot_be_understood(url: str, reason: str) -> None:
    with pytest.raises(StoreUrlError, match=reason) as refused:
        open_store(url)
    assert "password" not in refused.value.message
    assert refused.value.hint
