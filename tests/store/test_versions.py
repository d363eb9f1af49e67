"""The versions that a bucket keeps: all of them are found, however many answers it takes, and removed for good."""

from __future__ import annotations

import boto3
import pytest
from tests.kit import servers

from cocli.errors import NotFound
from cocli.store import open_store
from cocli.store.memory import MemoryStore
from cocli.store.s3 import S3Store
from cocli.store.versions import versions_of
from cocli.store.wrapper import WrappedStore

KEYS = ("a/b", "a/c", "a.b/x", "b/1", "b/2/z", "b/2.y", "c")
"""Names that are in one order by their bytes, and in another one folder by folder."""


@pytest.fixture(params=["seaweedfs", "ministack"])
def store(request: pytest.FixtureRequest) -> S3Store:
    server: servers.S3Server = request.getfixturevalue(request.param)
    servers.create_bucket(server, "keeps-versions")
    client = boto3.client("s3", endpoint_url=server.endpoint)
    client.put_bucket_versioning(Bucket="keeps-versions", VersioningConfiguration={"Status": "Enabled"})
    client.put_object(Bucket="keeps-versions", Key="other/strange name", Body=b"")
    client.close()
    opened = open_store(server.url("keeps-versions", "some/where"))
    assert isinstance(opened, S3Store)
    return opened


def test_all_versions_are_listed_read_and_removed(store: S3Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in KEYS:
        for number in range(3):
            store.put(key, f"{key} {number}".encode())
    store.delete("c")
    versions = versions_of(WrappedStore(store))
    assert versions is not None
    assert versions.are_kept()
    groups = {group[0].key: group for group in versions.listed()}
    assert {key: len(group) for key, group in groups.items()} == {**dict.fromkeys(KEYS, 3), "c": 4}
    monkeypatch.setattr("cocli.store.s3_versions._PAGE", 7)
    assert {group[0].key: sorted(group) for group in versions.listed()} == {
        key: sorted(group) for key, group in groups.items()
    }
    old = [version for group in groups.values() for version in group if not (version.is_current or version.is_marker)]
    assert len(old) == 2 * len(KEYS) + 1
    read = [found.data.decode() for found in versions.get_many(old) if not isinstance(found, Exception)]
    assert sorted(read) == sorted(
        f"{key} {number}" for key in KEYS for number in range(3) if (key, number) not in _LAST
    )
    assert versions.remove(old) == [None] * len(old)
    assert versions.remove(old) == [None] * len(old), "what is gone already is fine"
    left = [version for group in versions.listed() for version in group]
    assert sorted(version.key for version in left) == sorted(KEYS)
    assert store.get("a/b").data == b"a/b 2"
    assert versions.remove([version for version in left if version.is_marker]) == [None]
    with pytest.raises(NotFound):
        store.get("c")
    with pytest.raises(NotFound):
        versions.get(old[0])
    store.close()


_LAST = {(key, 2) for key in KEYS if key != "c"}


def test_a_bucket_that_keeps_none_says_so(seaweedfs: servers.S3Server) -> None:
    store = open_store(seaweedfs.url("cocli-data-test", "no-versions"))
    versions = versions_of(store)
    assert versions is not None
    assert not versions.are_kept()
    store.close()
    assert versions_of(MemoryStore()) is None
