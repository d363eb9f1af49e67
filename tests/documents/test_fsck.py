"""fsck: each thing that can be wrong between store, catalogue and outbox is found, repaired, and found no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cocli.documents import Document, DocumentRepository, Event, Operation, open_catalog
from cocli.documents.care import fsck as checking
from cocli.documents.care.findings import UNREPAIRABLE, FsckProblem, FsckReport
from cocli.documents.outbox import event_id
from cocli.documents.places import DocumentPlace
from cocli.documents.subscriptions import EVERYBODY
from cocli.errors import DocumentDamaged, DocumentDeleted, DocumentNotFound
from cocli.models.document import PipeDoc
from cocli.store.counting import CountingStore

MakePage = Callable[..., Document]
BIG = b"x" * 1000


class Bench:
    """A repository with a few documents, and hands to break it with."""

    def __init__(self, repository: DocumentRepository, page: MakePage) -> None:
        self.repository = repository
        self.store = repository.objects.store
        self.catalog = repository.catalog
        self.page = page
        self.first = repository.save(page("a", BIG), publish=["parser"])
        self.second = repository.save(page("a", b"two"))
        self.state = repository.save(page("a", BIG).at("parser", "main").with_data("parser", {"n": 1}))
        self.other = repository.save(page("other", BIG))

    def key(self, row: PipeDoc) -> str:
        return DocumentPlace.of("uploads", row).current

    def check(self, **options: Any) -> FsckReport:
        return checking.check(self.repository, grace=timedelta(0), **options)

    def problems(self, **options: Any) -> list[FsckProblem]:
        return [one.problem for one in self.check(**options).findings]


@pytest.fixture
def bench(repository: DocumentRepository, page: MakePage) -> Bench:
    made = Bench(repository, page)
    report = made.check(deep=True)
    assert report.clean, report.findings
    assert (report.documents, report.objects, report.blobs, report.rows, report.events) == (2, 4, 2, 3, 5)
    return made


def orphan_object(bench: Bench) -> None:
    bench.catalog.replace([], [], remove=[bench.state.row])


def untold_row(bench: Bench) -> None:
    """Somebody removed what was told."""
    assert bench.repository.teller.tell() == 3
    for info in list(bench.store.list("catalog/")):
        bench.store.delete(info.key)


def digest_mismatch(bench: Bench) -> None:
    bench.catalog.replace([bench.second.row.with_changes(digest="0" * 64)], [])


def stale_row(bench: Bench) -> None:
    bench.catalog.replace([bench.second.row.with_changes(version=9, http_status=500)], [])


def dangling_row(bench: Bench) -> None:
    bench.store.delete(bench.key(bench.other.row))


def wrong_path(bench: Bench) -> None:
    moved = bench.store.get(bench.key(bench.state.row))
    bench.store.delete(moved.key)
    bench.store.put(moved.key.replace("/main/", "/elsewhere/"), moved.data)


def corrupt_object(bench: Bench) -> None:
    bench.store.put(bench.key(bench.state.row), b"no document at all")


def corrupt_blob(bench: Bench) -> None:
    bench.store.put(next(info.key for info in bench.store.list() if "/other/blobs/" in info.key), b"other bytes")


def missing_blob(bench: Bench) -> None:
    bench.store.delete(next(info.key for info in bench.store.list() if "/other/blobs/" in info.key))


def orphan_blob(bench: Bench) -> None:
    bench.store.put(DocumentPlace.of("uploads", bench.other.row).blob("0" * 64), b"nobody's")


def event_without_document(bench: Bench) -> None:
    reference = bench.first.reference.with_changes(digest="0" * 63 + "1")
    uuid = bench.first.row.uuid
    ghost = event_id(bench.first.row.state_key, 7, reference.digest, "updated", "")
    bench.catalog.commit([], [Event(ghost, uuid, Operation.UPDATED, "", reference, 7, bench.first.row.saved_at)])


def document_without_event(bench: Bench) -> None:
    bench.catalog.remove_events([one.event_id for one in bench.catalog.waiting(100) if one.destination == "parser"])


def resurrected(bench: Bench) -> None:
    """A machine that did not know of the deletion saved a state that was never there before."""
    bench.repository.delete("acct", "other")
    catalog = open_catalog("sqlite://:memory:")
    unaware = DocumentRepository(
        bench.store, catalog, clock=lambda: bench.other.row.saved_at, inline_limit=100, subscriptions=EVERYBODY
    )
    unaware.save(bench.page("other", b"late").at("parser", "main"))
    catalog.close()


def resurrected_after_purge(bench: Bench) -> None:
    bench.repository.purge("acct", "other")
    catalog = open_catalog("sqlite://:memory:")
    unaware = DocumentRepository(
        bench.store, catalog, clock=lambda: bench.other.row.saved_at, inline_limit=100, subscriptions=EVERYBODY
    )
    unaware.save(bench.page("other", BIG).at("parser", "main"))
    catalog.close()


def stranger(bench: Bench) -> None:
    bench.store.put("uploads/acct/notes.txt", b"somebody's")


BREAKS: list[tuple[Callable[[Bench], None], FsckProblem, set[FsckProblem]]] = [
    (orphan_object, FsckProblem.ORPHAN_OBJECT, set()),
    (untold_row, FsckProblem.UNTOLD_ROW, set()),
    (digest_mismatch, FsckProblem.DIGEST_MISMATCH, set()),
    (stale_row, FsckProblem.STALE_ROW, set()),
    (dangling_row, FsckProblem.DANGLING_ROW, {FsckProblem.EVENT_WITHOUT_DOCUMENT, FsckProblem.ORPHAN_BLOB}),
    (wrong_path, FsckProblem.WRONG_PATH, {FsckProblem.DANGLING_ROW, FsckProblem.EVENT_WITHOUT_DOCUMENT}),
    (corrupt_object, FsckProblem.CORRUPT_OBJECT, {FsckProblem.DANGLING_ROW, FsckProblem.EVENT_WITHOUT_DOCUMENT}),
    (corrupt_blob, FsckProblem.CORRUPT_BLOB, {FsckProblem.MISSING_BLOB}),
    (missing_blob, FsckProblem.MISSING_BLOB, set()),
    (orphan_blob, FsckProblem.ORPHAN_BLOB, set()),
    (event_without_document, FsckProblem.EVENT_WITHOUT_DOCUMENT, set()),
    (document_without_event, FsckProblem.DOCUMENT_WITHOUT_EVENT, set()),
    (resurrected, FsckProblem.RESURRECTED, {FsckProblem.ORPHAN_OBJECT}),
    (resurrected_after_purge, FsckProblem.RESURRECTED, {FsckProblem.ORPHAN_OBJECT}),
    (stranger, FsckProblem.STRANGER, set()),
]


@pytest.mark.parametrize(("spoil", "problem", "along"), BREAKS, ids=lambda one: getattr(one, "__name__", ""))
def test_what_is_wrong_is_found_repaired_and_gone(
    bench: Bench, spoil: Callable[[Bench], None], problem: FsckProblem, along: set[FsckProblem]
) -> None:
    spoil(bench)
    found = set(bench.problems(deep=True))
    assert problem in found
    assert found <= {problem} | along
    before = [(info.key, bench.store.get(info.key).data) for info in bench.store.list()]
    bench.check(deep=True)
    assert [(info.key, bench.store.get(info.key).data) for info in bench.store.list()] == before, "only looking"
    report = bench.check(deep=True, repair=True)
    assert {one.problem for one in report.open} <= UNREPAIRABLE
    left = bench.check(deep=True)
    assert {one.problem for one in left.findings} <= UNREPAIRABLE, left.findings
    assert bench.repository.get("acct", bench.first.reference, blobs=True).blobs["body"].content == BIG
    assert bench.repository.get("acct", bench.second.reference).blobs["body"].content == b"two"


def test_every_problem_is_tried() -> None:
    tried = {problem for _, problem, _ in BREAKS} | {FsckProblem.UNFINISHED_PURGE}  # tests/documents/test_crashes.py
    assert tried == set(FsckProblem)


def test_nothing_else_is_affected_by_a_corrupt_object(bench: Bench) -> None:
    corrupt_object(bench)
    with pytest.raises(DocumentDamaged):
        bench.repository.get("acct", bench.state.reference)
    (finding,) = bench.check(repair=True).findings[:1]
    assert "set aside as uploads/acct/web/" in str(finding.repaired)
    aside = [info.key for info in bench.store.list() if info.key.endswith(".damaged")]
    assert len(aside) == 1
    assert "/main/" in aside[0]
    assert bench.store.get(aside[0]).data == b"no document at all"
    with pytest.raises(DocumentNotFound):
        bench.repository.get("acct", bench.state.reference)
    assert bench.repository.save(bench.page("a", BIG).at("parser", "main")).outcome == "created"
    assert bench.repository.get("acct", bench.other.reference, blobs=True) == bench.page("other", BIG)


def test_an_earlier_version_takes_the_place_of_a_lost_one(bench: Bench) -> None:
    bench.store.delete(bench.key(bench.second.row))
    report = bench.check(repair=True)
    assert {one.repaired for one in report.findings} >= {"version 1 took its place"}
    assert bench.repository.current("acct", "a", bench.first.row.address, None).digest == bench.first.row.digest
    assert bench.repository.save(bench.page("a", b"two")).version == 2
    assert bench.check().clean


def test_a_misplaced_object_comes_home(bench: Bench) -> None:
    wrong_path(bench)
    bench.check(repair=True)
    assert bench.repository.get("acct", bench.state.reference).data == {"parser": {"n": 1}}


def test_a_misplaced_object_never_replaces_what_is_there(bench: Bench) -> None:
    there = bench.store.get(bench.key(bench.state.row))
    bench.repository.save(bench.page("a", BIG).at("parser", "main").with_data("parser", {"n": 2}))
    bench.store.put(there.key.replace("/main/", "/elsewhere/"), there.data)
    bench.check(repair=True)
    assert bench.repository.current("acct", "a", "parser", "main").data == {"parser": {"n": 2}}
    assert bench.check().clean


def test_blobs_are_removed_only_when_they_are_old(bench: Bench) -> None:
    orphan_blob(bench)
    assert checking.check(bench.repository, repair=True).clean
    assert bench.problems(repair=True) == [FsckProblem.ORPHAN_BLOB]


def test_blobs_stay_where_something_unreadable_may_refer_to_them(bench: Bench) -> None:
    bench.store.put(bench.key(bench.other.row), b"rubbish")
    bench.check(repair=True)
    bench.check(repair=True)
    assert [info.key for info in bench.store.list() if "/other/blobs/" in info.key]


def test_pruned_events_are_not_missed(bench: Bench) -> None:
    moment = bench.other.row.saved_at + timedelta(days=1)
    bench.catalog.mark_published([one.event_id for one in bench.catalog.waiting(100)], moment)
    assert bench.catalog.prune_events(moment + timedelta(seconds=1)) == 5
    assert bench.check().clean


def test_one_account_alone(bench: Bench, page: MakePage) -> None:
    bench.repository.save(page("theirs", account="B"))
    orphan_object(bench)
    assert bench.problems(account="B") == []
    assert checking.check(bench.repository, account="B").rows == 1
    assert bench.problems(account="acct") == [FsckProblem.ORPHAN_OBJECT]


def test_the_catalogue_is_rebuilt_from_the_store_alone(bench: Bench, page: MakePage) -> None:
    bench.repository.save(page("gone", BIG))
    bench.repository.delete("acct", "gone", by="me")
    bench.repository.save(page("purged", BIG))
    bench.repository.purge("acct", "purged", by="me")
    rows, events = bench.catalog.scan(None, 100), bench.catalog.waiting(100)
    fresh = replace_catalog(bench)
    report = checking.rebuild(fresh)
    assert not report.open
    assert fresh.catalog.scan(None, 100) == rows
    again = {one.event_id: one for one in fresh.catalog.waiting(100)}
    assert set(again) <= {one.event_id for one in events}
    assert all(one == again.get(one.event_id, one) for one in events), "the same events under the same ids"
    assert checking.check(fresh).clean
    with pytest.raises(DocumentDeleted):
        fresh.save(page("gone", BIG))
    with pytest.raises(DocumentDeleted):
        fresh.save(page("purged", BIG))
    assert fresh.save(page("a", b"two")).outcome == "unchanged"
    assert fresh.get("acct", bench.first.reference, blobs=True) == page("a", BIG)
    fresh.catalog.close()


def test_a_second_machine_does_not_announce_everything_again(bench: Bench) -> None:
    fresh = replace_catalog(bench)
    checking.rebuild(fresh, announce=False)
    assert fresh.catalog.waiting(10) == []
    assert checking.check(fresh).clean
    fresh.catalog.close()


def replace_catalog(bench: Bench) -> DocumentRepository:
    catalog = open_catalog("sqlite://:memory:")
    return DocumentRepository(
        bench.store, catalog, clock=lambda: bench.other.row.saved_at, inline_limit=100, subscriptions=EVERYBODY
    )


def test_a_save_under_way_is_no_finding(bench: Bench, store: CountingStore, page: MakePage) -> None:
    """Between the listing and the look at the rows, somebody saves, and somebody replaces: nothing is wrong."""
    listed = store.inner.list

    def late_listing(prefix: str = "", *, start_after: str | None = None) -> Any:
        infos = list(listed(prefix, start_after=start_after))
        store.inner.list = listed  # type: ignore[method-assign]
        bench.repository.save(page("new", BIG))
        bench.repository.save(page("other", b"changed"))
        bench.repository.delete("acct", "a")
        return iter(infos)

    store.inner.list = late_listing  # type: ignore[method-assign]
    assert bench.problems() == []
    assert bench.check().clean


def test_rows_follow_an_object_that_is_older_than_they_are(bench: Bench) -> None:
    """A bucket that was brought back from a backup."""
    old = bench.store.get(bench.key(bench.state.row))
    bench.repository.save(bench.page("a", BIG).at("parser", "main").with_data("parser", {"n": 2}))
    bench.store.put(old.key, old.data)
    assert FsckProblem.DIGEST_MISMATCH in bench.problems(repair=True)
    assert bench.check(repair=True).open == []
    assert bench.repository.states("acct", "a", cluster="main")[0].digest == bench.state.row.digest
    assert replace(bench.state, outcome="unchanged") == bench.repository.save(
        bench.page("a", BIG).at("parser", "main").with_data("parser", {"n": 1})
    )
