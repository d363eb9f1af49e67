"""A store that ignores conditions is refused, and one that honours them is not."""

from __future__ import annotations

import pytest
from tests.kit.servers import S3Server

from cocli.errors import UnsafeStore
from cocli.store import Store, open_store
from cocli.store.probe import probe, require_safe
from cocli.store.wrapper import WrappedStore


def test_good_stores_pass_and_nothing_is_left_behind(store: Store) -> None:
    report = probe(store)
    assert report.ok, [check for check in report.checks if not check.ok]
    assert report.safe
    assert list(store.list()) == []
    require_safe(store)


def test_rclone_ignores_conditions_and_is_refused(rclone: S3Server) -> None:
    store = open_store(rclone.url("cocli-data-test"))
    report = probe(store)
    assert not report.safe
    broken = {check.name for check in report.checks if not check.ok}
    assert broken >= {"create only once", "compare and swap"}
    assert all(check.fix for check in report.checks if not check.ok)
    with pytest.raises(UnsafeStore) as refused:
        require_safe(store)
    assert "create only once" in refused.value.message
    store.close()


class _PassesASequentialCheck(WrappedStore):
    """As Swift's S3 layer: it looks first and writes then, so that a lone client never notices."""

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        if if_absent and any(info.key == key for info in self.inner.list(key.rsplit("/", 1)[0] + "/")):
            return self.inner.put(key, data, if_absent=True)
        if if_match is not None and self.inner.get(key).etag != if_match:
            return self.inner.put(key, data, if_match=if_match)
        return self.inner.put(key, data)


def test_a_store_that_passes_a_sequential_check_is_refused(seaweedfs: S3Server) -> None:
    store = _PassesASequentialCheck(open_store(seaweedfs.url("cocli-data-test", "sequential")))
    assert not probe(store, rounds=10).safe
    assert probe(store, racers=1).safe
    store.close()


def test_a_store_that_cannot_be_written_is_reported_once() -> None:
    report = probe(open_store("s3://bucket?endpoint=http://127.0.0.1:1"))
    assert [check.name for check in report.checks] == ["write and read"]
    assert "127.0.0.1:1" in report.checks[0].detail
