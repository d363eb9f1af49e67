"""Saving on a condition, replacing in batches, and blobs in parts: in the repository itself, on both catalogues."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from cocli.documents import Blob, Document, DocumentRepository, open_catalog
from cocli.documents.care import fsck
from cocli.documents.catalog.sql import SqlCatalog
from cocli.documents.limits import PART_BYTES
from cocli.documents.receipt import Receipt
from cocli.documents.save_order import Precondition, SaveOrder, row_etag
from cocli.errors import CocliError, DocumentDamaged, PreconditionFailed
from cocli.store.memory import MemoryStore


def page(doc: str, body: bytes = b"x") -> Document:
    return Document.intake(account="acct", connector="web", doc=doc).with_blob("body", Blob.of(body))


def saved(repository: DocumentRepository, document: Document, condition: Precondition) -> Receipt | CocliError:
    (answer,) = repository.carry_out([SaveOrder(document, by="me", condition=condition)])
    return answer


def test_of_any_number_who_replace_one_version_one_succeeds(any_catalog: SqlCatalog, clock: object) -> None:
    repository = DocumentRepository(MemoryStore(), any_catalog, clock=clock)  # type: ignore[arg-type]
    first = repository.save(page("d"))
    etag = row_etag(first.row)
    with ThreadPoolExecutor(8) as threads:
        answers = list(
            threads.map(lambda n: saved(repository, page("d", b"%d" % n), Precondition(match=etag)), range(8))
        )
    assert [type(answer) for answer in answers].count(Receipt) == 1
    assert [type(answer) for answer in answers].count(PreconditionFailed) == 7
    assert isinstance(saved(repository, page("new"), Precondition(absent=True)), Receipt)
    assert isinstance(saved(repository, page("new", b"2"), Precondition(absent=True)), PreconditionFailed)
    assert isinstance(saved(repository, page("none"), Precondition(match="*")), PreconditionFailed)


def test_a_condition_is_one_of_the_object_not_of_the_row(catalog: SqlCatalog, clock: object) -> None:
    """Another machine has replaced it, and this one's catalogue does not know."""
    store = MemoryStore()
    here = DocumentRepository(store, catalog, clock=clock)  # type: ignore[arg-type]
    first = here.save(page("d", b"1"))
    other = DocumentRepository(store, open_catalog("sqlite://:memory:"), clock=clock)  # type: ignore[arg-type]
    other.save(page("d", b"2"))
    assert isinstance(saved(here, page("d", b"3"), Precondition(match=row_etag(first.row))), PreconditionFailed)
    assert isinstance(saved(here, page("d", b"1"), Precondition(match=row_etag(first.row))), PreconditionFailed)


def test_a_batch_of_replacements_keeps_every_version(catalog: SqlCatalog, clock: object) -> None:
    repository = DocumentRepository(MemoryStore(), catalog, clock=clock)  # type: ignore[arg-type]
    docs = [f"d{number}" for number in range(20)]
    repository.save_many([(page(doc, b"1"), ()) for doc in docs])
    answers = repository.save_many([(page(doc, b"2"), ()) for doc in docs])
    assert {getattr(answer, "outcome", answer) for answer in answers} == {"updated"}
    for doc in docs:
        state = page(doc, b"1")
        assert repository.get("acct", state.reference, blobs=True) == state
    assert fsck.check(repository, deep=True, grace=timedelta(0)).clean


def test_a_large_blob_lies_in_parts_that_are_checked(catalog: SqlCatalog, clock: object) -> None:
    store = MemoryStore()
    repository = DocumentRepository(store, catalog, clock=clock)  # type: ignore[arg-type]
    body = random.Random(2).randbytes(2 * PART_BYTES + 99)
    receipt = repository.save(page("large", body))
    sizes = sorted(info.size for info in store.list("uploads/") if info.key.endswith(".bin"))
    assert sizes == [99, PART_BYTES, PART_BYTES]
    read = repository.get("acct", receipt.reference, blobs=True)
    assert read.blobs["body"].content == body
    kept = repository.get("acct", receipt.reference)
    place = repository.objects.place(kept)
    some = b"".join(repository.objects.blob_pieces(place, "body", kept.blobs["body"], PART_BYTES - 5, 10))
    assert some == body[PART_BYTES - 5 : PART_BYTES + 5]
    assert repository.save(page("large", body[: PART_BYTES + 1])).outcome == "updated"
    assert len([info for info in store.list("uploads/") if info.key.endswith(".bin")]) == 4  # one part is shared
    report = fsck.check(repository, deep=True, grace=timedelta(0))
    assert report.clean, report.findings
    damaged = place.blob(kept.blobs["body"].parts[1])
    store.put(damaged, b"?" * PART_BYTES)
    with pytest.raises(DocumentDamaged):
        list(repository.objects.blob_pieces(place, "body", kept.blobs["body"], PART_BYTES, 1))
    assert not fsck.check(repository, deep=True, grace=timedelta(0)).clean
    store.delete(damaged)
    assert not fsck.check(repository, grace=timedelta(0)).clean
    repository.purge("acct", "large", by="me")
    assert [info for info in store.list("uploads/") if info.key.endswith(".bin")] == []


def test_changes_have_numbers_in_the_order_of_their_commits(any_catalog: SqlCatalog, clock: object) -> None:
    repository = DocumentRepository(MemoryStore(), any_catalog, clock=clock)  # type: ignore[arg-type]
    begin = any_catalog.latest_change()
    seen: list[int] = []
    with ThreadPoolExecutor(4) as threads:
        writing = [threads.submit(repository.save, page(f"d{number}")) for number in range(40)]
        last = begin
        while not all(done.done() for done in writing) or any_catalog.changes_after("acct", last, 1):
            for number, _ in any_catalog.changes_after("acct", last, 7):
                seen.append(number)
                last = number
    assert len(seen) == 40, "a watcher that read while others wrote has missed some, or seen some twice"
    assert seen == sorted(set(seen))
    repository.delete("acct", "d7")
    ((_, row),) = any_catalog.changes_after("acct", last, 10)
    assert (row.doc, row.deleted_at is not None) == ("d7", True)
    assert any_catalog.changes_after("other", 0, 10) == []
