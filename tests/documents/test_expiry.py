"""Expiry: content goes because it is old, a proof stays, and the same document may come again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cocli.documents import Document, DocumentRepository, open_catalog
from cocli.documents.care import fsck
from cocli.documents.care.expiry import ExpiryNote
from cocli.errors import DocumentDeleted, DocumentInvalid
from cocli.store.counting import CountingStore

NOTE = ExpiryNote("me", 'captures = "12mo"')
BIG = b"x" * 500
DOC = "https://example.com/"


def filled(repository: DocumentRepository, page: Any) -> Document:
    repository.save(page(body=BIG))
    repository.save(page(body=BIG + b"!"))
    state: Document = page(body=BIG + b"!").at("parser", "main").with_data("parser", {"secret": "words"})
    repository.save(state)
    repository.save(page("other"))
    return state


def test_the_content_goes_and_the_proof_stays(repository: DocumentRepository, store: CountingStore, page: Any) -> None:
    filled(repository, page)
    (row,) = repository.states("acct", DOC, cluster=None)
    done = repository.expiry.expire_document(row, NOTE)
    assert not done.missed
    assert sorted(found.kind for found in done.removed) == ["blob", "blob", "state", "state", "version"]
    left = [info.key for info in store.inner.list("uploads/") if "/other/" not in info.key]
    assert len(left) == 2, "a stub for the intake and one for its state"
    for key in left:
        data = store.inner.get(key).data
        assert BIG not in data
        assert b"words" not in data
    assert repository.states("acct", DOC) == []
    hidden = repository.states("acct", DOC, deleted=True)
    assert all(found.expired_at is not None for found in hidden)
    stub = repository.objects.read_many(left)[-1]
    assert stub.purge is not None
    assert (stub.purge.purged_by, stub.purge.reason) == ("me", 'captures = "12mo"')
    assert row.digest in {found.digest for state in repository.objects.read_many(left) if state.purge
                          for found in state.purge.removed}  # fmt: skip
    with pytest.raises(DocumentDeleted):
        repository.get("acct", row.reference)
    with pytest.raises(DocumentInvalid, match="rule of retention"):
        repository.restore("acct", DOC)
    assert fsck.check(repository, deep=True, grace=timedelta(0)).clean
    rows = repository.catalog.scan(None, 10)
    fsck.rebuild(repository)
    assert repository.catalog.scan(None, 10) == rows


def test_it_may_come_again(repository: DocumentRepository, page: Any) -> None:
    state = filled(repository, page)
    (row,) = repository.states("acct", DOC, cluster=None)
    repository.expiry.expire_document(row, NOTE)
    again = repository.save(page(body=BIG + b"!"))
    assert (again.outcome, again.row.version, again.row.expired_at) == ("updated", row.version + 2, None)
    assert repository.save(state).outcome == "updated"
    assert repository.get("acct", again.reference, blobs=True).blobs["body"].content == BIG + b"!"
    assert {found.address for found in repository.states("acct", DOC)} == {row.address, "parser"}
    assert fsck.check(repository, deep=True, grace=timedelta(0)).clean


def test_what_expired_can_still_be_purged_for_good(repository: DocumentRepository, page: Any) -> None:
    filled(repository, page)
    (row,) = repository.states("acct", DOC, cluster=None)
    repository.expiry.expire_document(row, NOTE)
    repository.purge("acct", DOC, by="me", reason="asked")
    with pytest.raises(DocumentDeleted):
        repository.save(page(body=BIG))
    assert fsck.check(repository).clean


def test_one_that_was_fetched_again_meanwhile_stays(repository: DocumentRepository, page: Any) -> None:
    filled(repository, page)
    (row,) = repository.states("acct", DOC, cluster=None)
    newer = repository.save(page(body=b"new"))
    assert repository.expiry.expire_document(row, NOTE).missed
    assert repository.get("acct", newer.reference) == page(body=b"new")


def test_another_machine_learns_of_it(repository: DocumentRepository, store: CountingStore, page: Any) -> None:
    filled(repository, page)
    other = DocumentRepository(store, open_catalog("sqlite://:memory:"), clock=store.now)
    repository.teller.tell()
    other.learner.learn()
    (row,) = other.states("acct", DOC, cluster=None)
    repository.expiry.expire_document(row, NOTE)
    repository.teller.tell()
    other.learner.learn()
    assert other.states("acct", DOC) == []
    assert other.save(page(body=b"again")).outcome == "updated"
    other.catalog.close()


def test_a_state_of_an_edition_goes_alone(repository: DocumentRepository, page: Any) -> None:
    filled(repository, page)
    repository.save(page(body=BIG).at("parser", "old").with_data("parser", {"n": 1}))
    repository.save(page(body=BIG).at("parser", "old").with_data("parser", {"n": 2}))
    (row,) = repository.states("acct", DOC, cluster="old")
    done = repository.expiry.expire_state(row, NOTE)
    assert [found.kind for found in done.removed] == ["version", "state"]
    assert {found.cluster for found in repository.states("acct", DOC)} == {None, "main"}
    assert fsck.check(repository, deep=True, grace=timedelta(0)).clean


def test_earlier_versions_by_number_and_by_age(repository: DocumentRepository, page: Any, clock: Any) -> None:
    saved = [repository.save(page(body=BIG + bytes([number]))) for number in range(5)]
    folder = repository.objects.place(page()).folder
    told: list[Any] = []
    limit = saved[3].row.saved_at
    assert repository.expiry.drop_versions(folder, keep=4, before=None, announce=told.append) == []
    removed = repository.expiry.drop_versions(folder, keep=2, before=limit, announce=told.append)
    assert sorted(found.kind for found in removed) == ["blob", "blob", "version", "version"]
    assert [list(found) for found in told] == [removed], "it is told before it goes"
    for receipt in saved[2:]:
        repository.get("acct", receipt.reference, blobs=True)
    assert len(repository.expiry.drop_versions(folder, keep=0, before=limit, announce=told.append)) == 2
    repository.get("acct", saved[3].reference, blobs=True)
    assert fsck.check(repository, deep=True, grace=timedelta(0)).clean
