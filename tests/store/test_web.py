"""What a bucket does for browsers: types, signed links that work without credentials, plain ones that do not."""

from __future__ import annotations

import uuid
from datetime import timedelta

import httpx2
import pytest
from tests.kit import servers

from cocli.errors import InvalidKey
from cocli.store import open_store
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore
from cocli.store.web import web_store


def test_links_of_a_bucket(seaweedfs: servers.S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in servers.credentials_environment().items():
        monkeypatch.setenv(name, value)
    store = open_store(seaweedfs.url("cocli-data-test", f"web-{uuid.uuid4().hex[:8]}"))
    web = web_store(CountingStore(store))
    assert web is not None
    key = "lists/plumbers%20of%20K%C3%B6ln.html"
    web.put_typed(key, b"<p>page</p>", "text/html; charset=utf-8")
    assert store.get(key).data == b"<p>page</p>"
    signed = httpx2.get(web.signed_link(key, timedelta(minutes=5)))
    assert (signed.status_code, signed.text) == (200, "<p>page</p>")
    assert signed.headers["content-type"] == "text/html; charset=utf-8"
    assert signed.headers["cache-control"] == "no-cache"
    kept = web.put_typed("kept.js", b"1", "text/javascript", {"Cache-Control": "max-age=60, immutable"})
    assert kept == store.head("kept.js").etag
    assert (
        httpx2.get(web.signed_link("kept.js", timedelta(minutes=5))).headers["cache-control"] == "max-age=60, immutable"
    )
    assert "?" not in web.public_link(key)
    assert web.public_status(key) == httpx2.head(web.public_link(key)).status_code == 403
    with pytest.raises(InvalidKey):
        web.put_typed("../up", b"", "text/html")
    store.close()


def test_a_store_that_browsers_cannot_ask_has_none() -> None:
    assert web_store(CountingStore(MemoryStore())) is None
