"""The repository: what is saved comes back, once, whole, and to its owner alone.

The acceptance checks of the system that this follows have tests of their own names here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.kit.servers import S3Server

from cocli.documents import (
    CLUSTERS,
    Blob,
    Document,
    DocumentRepository,
    DocumentSource,
    Memo,
    Operation,
    open_catalog,
)
from cocli.documents.care import fsck as checking
from cocli.documents.catalog.sql import SqlCatalog
from cocli.documents.subscriptions import EVERYBODY
from cocli.errors import (
    CocliError,
    DocumentDamaged,
    DocumentDeleted,
    DocumentInvalid,
    DocumentNotFound,
    IdentityError,
    InvalidKey,
    UsageError,
)
from cocli.store import Store, open_store
from cocli.store.base import Put
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore

MakePage = Callable[..., Document]
BIG = b"<p>" + b"x" * 1000 + b"</p>"  # beyond the inline limit of these tests


def keys(store: CountingStore) -> list[str]:
    return [info.key for info in store.inner.list()]


def told(repository: DocumentRepository) -> list[tuple[str, str, int]]:
    return [(str(one.operation), one.destination, one.version) for one in repository.catalog.waiting(1000)]


# --- saving


def test_the_same_bytes_twice_are_one_object_one_row_one_event(
    repository: DocumentRepository, store: CountingStore, page: MakePage
) -> None:
    first = repository.save(page())
    assert first.outcome == "created"
    assert store.counts["put"] == 1, "the first save writes exactly one object"
    assert store.counts["get"] == store.counts["head"] == store.counts["list"] == 0
    store.reset()
    fetched_again = page(fetched_at=datetime(2026, 12, 1, tzinfo=UTC), date="Tue, 01 Dec 2026 00:00:00 GMT")
    again = repository.save(fetched_again)
    assert not store.counts, "the same content again does not even ask the store"
    assert again == replace(first, outcome="unchanged")
    assert len(keys(store)) == 1
    assert len(repository.states("acct", first.reference.doc)) == 1
    assert told(repository) == [("created", "", 1)]


def test_the_same_content_for_the_same_destinations_publishes_nothing(
    repository: DocumentRepository, page: MakePage
) -> None:
    repository.save(page(), publish=["parser"])
    repository.save(page(), publish=["parser"])
    assert told(repository) == [("created", "", 1), ("created", "parser", 1)]
    repository.save(page(), publish=["parser", "other"])
    assert told(repository)[2:] == [("created", "other", 1)], "a destination that is new is told"


def test_changed_bytes_are_version_2_and_the_old_one_stays_readable(
    repository: DocumentRepository, store: CountingStore, page: MakePage
) -> None:
    first = repository.save(page(body=b"one"))
    store.reset()
    second = repository.save(page(body=b"two"))
    assert (second.outcome, second.version) == ("updated", 2)
    assert store.counts["put"] == 2, "the old version, then the new one"
    assert repository.get("acct", first.reference).blobs["body"].content == b"one"
    assert repository.get("acct", second.reference).blobs["body"].content == b"two"
    assert repository.current("acct", first.reference.doc, first.reference.address, None).digest == second.row.digest
    assert told(repository) == [("created", "", 1), ("updated", "", 2)]
    assert len(repository.states("acct", first.reference.doc)) == 1


def test_content_that_comes_back_is_a_version_of_its_own(repository: DocumentRepository, page: MakePage) -> None:
    """A, B, A: the third is news, and has an event of its own; each version can be read."""
    receipts = [repository.save(page(body=body)) for body in (b"A", b"B", b"A", b"B", b"A")]
    assert [one.version for one in receipts] == [1, 2, 3, 4, 5]
    assert [repository.get("acct", one.reference).blobs["body"].content for one in receipts] == [
        *(b"A", b"B", b"A", b"B", b"A")
    ]
    events = repository.catalog.waiting(100)
    assert len({one.event_id for one in events}) == 5
    assert checking.check(repository).clean


def test_prod_and_staging_of_one_node_are_two_rows_and_two_objects(
    repository: DocumentRepository, store: CountingStore, page: MakePage
) -> None:
    parsed = page().at("parser", "prod").with_data("parser", {"a": 1})
    prod = repository.save(parsed)
    staging = repository.save(replace(parsed, cluster="staging"))
    assert prod.row.uuid == staging.row.uuid
    assert (prod.outcome, staging.outcome) == ("created", "created")
    assert len(keys(store)) == 2
    assert len(repository.states("acct", parsed.doc, cluster=CLUSTERS)) == 2
    assert len({one.event_id for one in repository.catalog.waiting(10)}) == 2
    assert prod.row.digest == staging.row.digest, "so that clusters can be compared by it"


def test_fan_in_both_states_survive(repository: DocumentRepository, page: MakePage) -> None:
    """A → C and B → C: each is saved under the node that made it, never under the one it goes to."""
    for node in ("A", "B"):
        repository.save(page().at(node, "main").with_data(node, {"by": node}), publish=["C"])
    assert [row.address for row in repository.states("acct", page().doc, cluster="main")] == ["A", "B"]
    assert [one.reference.address for one in repository.catalog.waiting(10) if one.destination] == ["A", "B"]


def test_intake_is_never_touched_by_a_node_of_the_same_name(repository: DocumentRepository, page: MakePage) -> None:
    """Datasources and nodes share one address space: the uuids are equal, the rows and objects are not."""
    intake = repository.save(page())
    name = intake.row.datasource
    state = repository.save(page().at(name, "main").with_data(name, {"a": 1}))
    assert state.row.uuid == intake.row.uuid
    assert repository.get("acct", intake.reference) == page()
    assert len(repository.states("acct", page().doc)) == 2


def test_a_document_id_of_two_datasources_is_two_intakes(repository: DocumentRepository, page: MakePage) -> None:
    repository.save(page(datasource="one"))
    repository.save(page(datasource="two"))
    assert len(repository.states("acct", page().doc, cluster=None)) == 2
    one = repository.save(page(datasource="one").at("parser", "main"))
    two = repository.save(page(datasource="two").at("parser", "main").with_data("x", {}))
    assert one.row.uuid == two.row.uuid
    assert (repository.get("acct", one.reference).data, repository.get("acct", two.reference).data) == ({}, {"x": {}})


def test_a_row_that_is_missing_is_adopted_from_the_object(
    repository: DocumentRepository, store: CountingStore, page: MakePage, clock: Any
) -> None:
    """Another machine saved it, or we did and were killed: the same receipt, the same event, no write."""
    first = repository.save(page(body=BIG), publish=["parser"])
    events = repository.catalog.waiting(10)
    other = DocumentRepository(
        store, open_catalog("sqlite://:memory:"), clock=clock, inline_limit=100, subscriptions=EVERYBODY
    )
    before = keys(store)
    adopted = other.save(page(body=BIG), publish=["parser"])
    assert adopted == replace(first, outcome="unchanged")
    assert keys(store) == before
    assert other.catalog.waiting(10) == events
    assert checking.check(other).clean
    other.catalog.close()


def test_a_machine_that_lags_behind_goes_on_from_the_object(
    repository: DocumentRepository, store: CountingStore, page: MakePage, clock: Any
) -> None:
    repository.save(page(body=b"one"))
    other = DocumentRepository(
        store, open_catalog("sqlite://:memory:"), clock=clock, inline_limit=100, subscriptions=EVERYBODY
    )
    other.save(page(body=b"two"))
    third = repository.save(page(body=b"three"))
    assert third.version == 3
    assert told(repository) == [("created", "", 1), ("updated", "", 2), ("updated", "", 3)]
    assert checking.check(repository).clean
    other.catalog.close()


def test_many_at_once(repository: DocumentRepository, store: CountingStore, page: MakePage) -> None:
    old = repository.save(page("old", b"1"))
    repository.save(page("gone"))
    repository.delete("acct", "gone")
    states = [page(f"d{number}", BIG).at("parser", "main") for number in range(3)]
    wishes = [page(f"d{number}", BIG + bytes([number])) for number in range(10)]
    bad = page("bad").with_data("n", {"a": float("nan")})
    every = [*wishes, *states, page("old", b"1"), page("old", b"2"), page("d0", b"other"), bad, page("gone")]
    answers = repository.save_many([(one, ["next"]) for one in every])
    outcomes = [one.code if isinstance(one, CocliError) else one.outcome for one in answers]
    assert outcomes == ["created"] * 13 + ["unchanged", "updated", "updated", "document_invalid", "document_deleted"]
    assert repository.get("acct", answers[3].reference, blobs=True) == wishes[3]  # type: ignore[union-attr]
    assert repository.get("acct", old.reference).blobs["body"].content == b"1"
    assert checking.check(repository).clean


def test_many_new_documents_are_one_transaction_and_one_write_each(
    repository: DocumentRepository, store: CountingStore, page: MakePage
) -> None:
    repository.save_many([(page(f"d{number}"), ()) for number in range(50)])
    assert store.counts["put"] == 50
    assert store.counts["get"] == 0


# --- blobs


def test_large_blobs_are_objects_of_their_own_and_read_when_asked(
    repository: DocumentRepository, store: CountingStore, page: MakePage
) -> None:
    document = page(body=BIG).with_blob("small", Blob.of(b"tiny"))
    receipt = repository.save(document)
    assert sorted(key.rsplit(".", 1)[1] for key in keys(store)) == ["bin", "pb"]
    assert receipt.row.size > len(BIG)
    store.reset()
    lazy = repository.get("acct", receipt.reference)
    assert store.counts["get"] == 1
    assert lazy.blobs["small"].content == b"tiny"
    with pytest.raises(UsageError, match="was not read"):
        _ = lazy.blobs["body"].content
    assert lazy.digest == document.digest
    assert repository.load(lazy) == document
    assert repository.get("acct", receipt.reference, blobs=True) == document


def test_a_blob_that_is_there_is_not_written_again(
    repository: DocumentRepository, store: CountingStore, page: MakePage
) -> None:
    receipt = repository.save(page(body=BIG))
    for blobs in (False, True):
        loaded = repository.get("acct", receipt.reference, blobs=blobs)
        store.reset()
        repository.save(loaded.at(f"parser-{blobs}", "main").with_data("parser", {"a": 1}))
        assert store.counts["put"] == 1, "the state alone"
    assert checking.check(repository, deep=True).clean


def test_a_blob_goes_along_into_another_document(repository: DocumentRepository, page: MakePage) -> None:
    loaded = repository.get("acct", repository.save(page(body=BIG)).reference, blobs=True)
    child = repository.save(replace(loaded, doc="child"))
    assert repository.get("acct", child.reference, blobs=True).blobs["body"].content == BIG
    unread = repository.get("acct", child.reference)
    with pytest.raises(DocumentInvalid, match="not read"):
        repository.save(replace(unread, doc="another"))


def test_a_missing_or_wrong_blob_is_noticed(
    repository: DocumentRepository, store: CountingStore, page: MakePage
) -> None:
    receipt = repository.save(page(body=BIG))
    key = next(key for key in keys(store) if key.endswith(".bin"))
    store.inner.put(key, b"other bytes")
    with pytest.raises(DocumentDamaged, match="not those that were saved"):
        repository.get("acct", receipt.reference, blobs=True)
    store.inner.delete(key)
    with pytest.raises(DocumentDamaged, match="missing"):
        repository.get("acct", receipt.reference, blobs=True)
    assert repository.get("acct", receipt.reference).source.uri == "https://example.com/"


def test_accounts_never_share_a_blob(repository: DocumentRepository, store: CountingStore, page: MakePage) -> None:
    for account in ("A", "B"):
        repository.save(page(body=BIG, account=account))
    assert len([key for key in keys(store) if key.endswith(".bin")]) == 2


# --- reading


def test_damaged_objects_are_errors_and_nothing_else_is_affected(
    repository: DocumentRepository, store: CountingStore, page: MakePage
) -> None:
    good, bad = repository.save(page("good")), repository.save(page("bad"))
    key = next(key for key in keys(store) if "/bad/" in key)
    for data in (b"", b"\xff\xff", b"plain text", store.inner.get(key).data[:-3]):
        store.inner.put(key, data)
        with pytest.raises(DocumentDamaged):
            repository.get("acct", bad.reference)
    assert repository.get("acct", good.reference) == page("good")


def test_an_object_of_somebody_else_at_the_place_is_refused(
    repository: DocumentRepository, store: CountingStore, page: MakePage
) -> None:
    """Whoever can write into the store cannot make another account's page appear as one's own."""
    mine, theirs = repository.save(page(account="A")), repository.save(page(account="B", body=b"theirs"))
    their_key = next(key for key in keys(store) if "/B/" in key)
    my_key = next(key for key in keys(store) if "/A/" in key)
    store.inner.put(my_key, store.inner.get(their_key).data)
    with pytest.raises(DocumentDamaged, match="another document's"):
        repository.get("A", mine.reference)
    assert repository.get("B", theirs.reference).blobs["body"].content == b"theirs"


def test_documents_are_listed_page_by_page(repository: DocumentRepository, page: MakePage) -> None:
    for number in range(7):
        repository.save(page(f"d{number}"))
        repository.save(page(f"d{number}").at("parser", "main"))
    repository.delete("acct", "d3")
    seen, after = list[str](), None
    while True:
        answer = repository.documents("acct", kind="intake", after=after, limit=2)
        seen += [row.doc for row in answer.items]
        after = answer.next
        if after is None:
            break
    assert seen == ["d0", "d1", "d2", "d4", "d5", "d6"]
    assert len(repository.documents("acct", cluster="main", limit=100).items) == 6
    assert len(repository.documents("acct", limit=100, deleted=True).items) == 14
    assert repository.documents("acct", limit=12).next is None
    for bad in ({"limit": 0}, {"limit": 10**9}, {"kind": "intake", "cluster": "main"}):
        with pytest.raises(UsageError):
            repository.documents("acct", **bad)


# --- deleting


def test_delete_then_a_late_event_does_not_resurrect(repository: DocumentRepository, page: MakePage) -> None:
    intake = repository.save(page())
    state = repository.save(page().at("parser", "main").with_data("parser", {"a": 1}))
    repository.delete("acct", page().doc, by="me")
    for late in (
        page(),
        page(body=b"other"),
        page().at("parser", "main").with_data("parser", {"a": 1}),
        page().at("parser", "main").with_data("parser", {"a": 2}),
        page().at("never-saved-before", "main"),
        page().at("parser", "another-cluster"),
    ):
        with pytest.raises(DocumentDeleted) as caught:
            repository.save(late)
        assert "restore" in str(caught.value.hint)
        assert all(isinstance(one, DocumentDeleted) for one in repository.save_many([(late, ())]))
    for receipt in (intake, state):
        with pytest.raises(DocumentDeleted):
            repository.get("acct", receipt.reference)
    with pytest.raises(DocumentDeleted):
        repository.current("acct", page().doc, "parser", "main")
    assert repository.states("acct", page().doc) == []
    assert len(repository.states("acct", page().doc, deleted=True)) == 2
    assert checking.check(repository).clean


def test_a_document_without_an_intake_cannot_come_back_either(repository: DocumentRepository, page: MakePage) -> None:
    repository.save(page().at("parser", "main"))
    repository.delete("acct", page().doc)
    with pytest.raises(DocumentDeleted):
        repository.save(page().at("enricher", "main"))
    with pytest.raises(DocumentDeleted):
        repository.save(page())
    assert [one.outcome for one in repository.restore("acct", page().doc)] == ["restored"]
    assert repository.save(page().at("enricher", "main")).outcome == "created"
    assert checking.check(repository).clean


def test_another_machine_learns_of_a_deletion_from_the_object(
    repository: DocumentRepository, store: CountingStore, page: MakePage, clock: Any
) -> None:
    repository.save(page())
    other = DocumentRepository(store, open_catalog("sqlite://:memory:"), clock=clock, subscriptions=EVERYBODY)
    other.save(page())
    repository.delete("acct", page().doc)
    with pytest.raises(DocumentDeleted):
        other.save(page(body=b"new"))
    assert checking.check(other).clean
    other.catalog.close()


def test_deleting_twice_is_deleting_once(repository: DocumentRepository, page: MakePage) -> None:
    repository.save(page())
    first = repository.delete("acct", page().doc)
    assert repository.delete("acct", page().doc) == first
    assert told(repository) == [("created", "", 1), ("deleted", "", 2)]


def test_what_was_deleted_comes_back_as_it_was(repository: DocumentRepository, page: MakePage) -> None:
    intake = repository.save(page(body=BIG))
    state = repository.save(page(body=BIG).at("parser", "main").with_data("parser", {"a": 1}))
    repository.delete("acct", page().doc)
    restored = repository.restore("acct", page().doc, by="me")
    assert [one.outcome for one in restored] == ["restored", "restored"]
    kept = repository.objects.current(repository.objects.place(page()))
    assert kept is not None
    assert (kept[0].header.operation, kept[0].header.saved_by) == ("restored", "me")
    assert repository.get("acct", intake.reference, blobs=True) == page(body=BIG)
    assert repository.get("acct", state.reference).data == {"parser": {"a": 1}}
    assert repository.save(page(body=BIG)).outcome == "unchanged"
    assert repository.save(page(body=b"next")).version == 4
    assert checking.check(repository).clean
    with pytest.raises(DocumentNotFound):
        repository.restore("acct", page().doc)


def test_one_cluster_of_a_document_can_be_deleted(repository: DocumentRepository, page: MakePage) -> None:
    for cluster in ("prod", "staging"):
        repository.save(page().at("parser", cluster))
    repository.save(page())
    repository.delete("acct", page().doc, cluster="staging")
    assert [row.cluster for row in repository.states("acct", page().doc)] == [None, "prod"]
    with pytest.raises(DocumentDeleted):
        repository.save(page().at("parser", "staging").with_data("n", {}))
    assert repository.save(page().at("parser", "prod").with_data("n", {})).outcome == "updated"
    repository.restore("acct", page().doc, cluster="staging")
    assert len(repository.states("acct", page().doc)) == 3
    assert checking.check(repository).clean


def test_purging_removes_everything_and_proves_it(
    repository: DocumentRepository, store: CountingStore, page: MakePage
) -> None:
    versions = [repository.save(page(body=body)) for body in (BIG, b"two", BIG + b"!")]
    repository.save(page(body=BIG).at("parser", "main"), publish=["next"])
    repository.remember(
        Memo("acct", page().doc, "parser", "main", "1" * 64, "2" * 64, None, versions[0].row.saved_at, "o")
    )
    other = repository.save(page("other"))
    (proof,) = repository.purge("acct", page().doc, by="me", reason="asked by the owner")
    assert (proof.purged_by, proof.reason) == ("me", "asked by the owner")
    assert proof.purged_at is not None
    assert {one.digest for one in proof.removed if one.kind == "version"} >= {one.row.digest for one in versions}
    assert len([one for one in proof.removed if one.kind == "blob"]) == 2
    left = [key for key in keys(store) if "/other/" not in key]
    assert len(left) == 1, "the stub"
    stub = store.inner.get(left[0]).data
    assert b"<p>" not in stub
    assert b"example.com/\x12" not in stub
    for receipt in versions:
        with pytest.raises(DocumentDeleted):
            repository.get("acct", receipt.reference)
    for late in (page(body=BIG), page().at("parser", "main"), page().at("new", "new")):
        with pytest.raises(DocumentDeleted):
            repository.save(late)
    with pytest.raises(DocumentInvalid, match="purged"):
        repository.restore("acct", page().doc)
    assert repository.purge("acct", page().doc) == [proof], "purging twice is purging once"
    assert (
        repository.recall("acct", page().doc, "parser", "main", input_digest="1" * 64, code_digest="2" * 64, origin="o")
        is None
    )
    assert [one.operation for one in repository.catalog.waiting(100) if one.reference.doc == page().doc] == [
        Operation.DELETED,
        Operation.PURGED,
    ], "what was not told yet is not told any more"
    assert repository.get("acct", other.reference) == page("other")
    assert checking.check(repository).clean


def test_purging_what_was_deleted_before(repository: DocumentRepository, store: CountingStore, page: MakePage) -> None:
    repository.save(page(body=BIG))
    repository.delete("acct", page().doc)
    assert repository.purge("acct", page().doc)
    assert len(keys(store)) == 1
    assert checking.check(repository).clean


# --- isolation

CRAFTED = [
    "a|b",
    "..",
    ".",
    "../other",
    "x" * 300,
    "😀",
    "trailing ",
    " leading",
    "a/b",
    "a\\b",
    "%2E%2E",
    "intake",
    "~",
]


@pytest.mark.parametrize("doc", CRAFTED)
def test_account_b_cannot_touch_anything_of_account_a(
    repository: DocumentRepository, store: CountingStore, page: MakePage, doc: str
) -> None:
    if "|" in doc:
        with pytest.raises(IdentityError):
            page(doc)
        for action in (repository.states, repository.delete, repository.restore, repository.purge):
            with pytest.raises(IdentityError):
                action("B", doc)
        return
    mine = repository.save(page(doc, account="A"))
    state = repository.save(page(doc, account="A").at("parser", "main"))
    before = {key: store.inner.get(key).data for key in keys(store)}
    for receipt in (mine, state):
        with pytest.raises(DocumentNotFound):
            repository.get("B", receipt.reference)
        forged = receipt.reference.with_changes(account="B")
        with pytest.raises(DocumentNotFound):
            repository.get("B", forged)
    for cluster, address in ((None, mine.row.address), ("main", "parser")):
        with pytest.raises(DocumentNotFound):
            repository.current("B", doc, address, cluster)
    assert repository.states("B", doc, deleted=True) == []
    assert repository.documents("B", deleted=True).items == []
    assert repository.documents("B", datasource=mine.row.datasource).items == []
    for action in (repository.delete, repository.restore, repository.purge):
        with pytest.raises(DocumentNotFound):
            action("B", doc)
    assert {key: store.inner.get(key).data for key in keys(store)} == before
    assert repository.get("A", mine.reference) == page(doc, account="A")
    assert repository.current("A", doc, "parser", "main").doc == doc
    assert checking.check(repository).clean


@pytest.mark.parametrize("account", ["", " ", "A|B", "A\0", "x" * 201])
def test_a_crafted_account_is_refused(repository: DocumentRepository, page: MakePage, account: str) -> None:
    with pytest.raises(IdentityError):
        page(account=account)
    for action in (repository.states, repository.delete, repository.restore, repository.purge):
        with pytest.raises(IdentityError):
            action(account, "d")
    with pytest.raises(IdentityError):
        repository.documents(account)


@pytest.mark.parametrize(("one", "other"), [("A", "A/web"), ("A", "A "), ("..", "."), ("é", "e\u0301"), ("a", "A")])
def test_accounts_that_look_alike_are_apart(
    repository: DocumentRepository, page: MakePage, one: str, other: str
) -> None:
    mine = repository.save(page(account=one, body=b"mine"))
    theirs = repository.save(page(account=other, body=b"theirs"))
    assert repository.get(one, mine.reference).blobs["body"].content == b"mine"
    assert repository.get(other, theirs.reference).blobs["body"].content == b"theirs"
    repository.purge(one, page().doc)
    assert repository.get(other, theirs.reference).blobs["body"].content == b"theirs"


@pytest.mark.parametrize(
    "doc",
    [
        "https://example.com/" + "p/" * 140,
        "..",
        ".",
        "😀 emoji",
        "trailing space ",
        "a/b\\c",
        "\u202e",
        "x" * 1800,
        "\nx",
    ],
)
def test_odd_document_ids_are_encoded_safely(
    repository: DocumentRepository, store: CountingStore, page: MakePage, doc: str
) -> None:
    receipt = repository.save(page(doc, body=BIG))
    repository.save(page(doc))
    assert repository.get("acct", receipt.reference, blobs=True) == page(doc, body=BIG)
    assert all(key.startswith("uploads/acct/web/") and "/../" not in key for key in keys(store))
    report = checking.rebuild(repository)
    assert not [one for one in report.findings if one.repaired is None]
    assert repository.current("acct", doc, receipt.row.address, None) == page(doc)
    repository.purge("acct", doc)
    assert len(keys(store)) == 1


def test_a_key_that_would_grow_too_long_with_its_first_update_is_refused_at_once(
    store: CountingStore, catalog: SqlCatalog, clock: Any, page: MakePage
) -> None:
    repository = DocumentRepository(
        store, catalog, clock=clock, prefix="/".join(["p" * 190] * 2), subscriptions=EVERYBODY
    )
    long = {"account": "a" * 195, "connector": "c" * 195, "datasource": "d" * 110}
    with pytest.raises(InvalidKey, match="1024 bytes"):
        repository.save(page("x" * 1000, **long))
    assert keys(store) == []


# --- bad input


@pytest.mark.parametrize(
    "spoil",
    [
        lambda one: one.with_source(DocumentSource(uri="a\0b")),
        lambda one: one.with_source(DocumentSource(uri="\ud800")),
        lambda one: one.with_source(DocumentSource(mime_type="x" * (1 << 21))),
        lambda one: one.with_source(DocumentSource(http_status=-1)),
        lambda one: one.with_source(DocumentSource(http_status=99)),
        lambda one: one.with_source(DocumentSource(http_status=2**40)),
        lambda one: one.with_blob("\ud800", Blob.of(b"")),
        lambda one: one.with_blob("b", Blob.of(b"", mime_type="\ud800")),
        lambda one: one.with_data("\ud800", {}),
        lambda one: one.with_data("n", {"a": {1, 2}}),
        lambda one: replace(one, parent_digest="nonsense"),
        lambda one: one.with_blob("b", replace(Blob.of(b""), size=1 << 40)),
    ],
)
def test_what_cannot_be_saved_is_refused_before_anything_is_written(
    repository: DocumentRepository, store: CountingStore, page: MakePage, spoil: Callable[[Document], Document]
) -> None:
    with pytest.raises(CocliError) as caught:
        repository.save(spoil(page()))
    assert caught.value.code in ("document_invalid", "record")
    assert keys(store) == []
    assert repository.catalog.scan(None, 10) == []


@pytest.mark.parametrize("publish", [[""], ["a\0b"], ["\ud800"]])
def test_odd_destinations_are_refused(
    repository: DocumentRepository, store: CountingStore, page: MakePage, publish: list[str]
) -> None:
    with pytest.raises(DocumentInvalid):
        repository.save(page(), publish=publish)
    assert keys(store) == []


def test_a_cluster_may_not_be_called_intake(page: MakePage) -> None:
    with pytest.raises(DocumentInvalid, match="intake"):
        page().at("parser", "intake")
    with pytest.raises(IdentityError):
        page().at("parser", " ")


# --- other stores and catalogues


@pytest.fixture(params=("local", "seaweedfs"))
def real_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "seaweedfs":
        server: S3Server = request.getfixturevalue("seaweedfs")
        opened = open_store(server.url("cocli-data-test", f"docs-{tmp_path.name.replace('_', '-')}"))
    else:
        opened = open_store(str(tmp_path / "store"))
    yield opened
    opened.close()


def test_the_whole_life_of_a_document_on_real_stores_and_databases(
    real_store: Store, any_catalog: SqlCatalog, page: MakePage, clock: Any
) -> None:
    repository = DocumentRepository(real_store, any_catalog, clock=clock, inline_limit=100, subscriptions=EVERYBODY)
    first = repository.save(page(body=BIG), publish=["parser"])
    state = repository.save(page(body=BIG).at("parser", "main").with_data("parser", {"a": 1}))
    second = repository.save(page(body=b"two"))
    assert repository.get("acct", first.reference, blobs=True) == page(body=BIG)
    assert repository.get("acct", second.reference).blobs["body"].content == b"two"
    assert checking.check(repository, deep=True).clean
    rows, events = any_catalog.scan(None, 100), {one.event_id for one in any_catalog.waiting(100)}
    checking.rebuild(repository)
    assert any_catalog.scan(None, 100) == rows, "the store alone says as much as the catalogue did"
    assert {one.event_id for one in any_catalog.waiting(100)} == events
    repository.delete("acct", page().doc)
    repository.restore("acct", page().doc)
    assert repository.get("acct", state.reference).data == {"parser": {"a": 1}}
    repository.purge("acct", page().doc)
    assert len(list(real_store.list())) == 1
    assert checking.check(repository).clean


def test_memos_are_kept_per_input_and_code(repository: DocumentRepository) -> None:
    memo = Memo("acct", "d", "parser", "main", "1" * 64, "2" * 64, "3" * 64, datetime(2026, 1, 1, tzinfo=UTC), "o")
    repository.remember(memo)
    key = ("acct", "d", "parser", "main")
    assert repository.recall(*key, input_digest="1" * 64, code_digest="2" * 64, origin="o") == memo
    assert repository.recall(*key, input_digest="1" * 64, code_digest="3" * 64, origin="o") is None


def test_the_store_is_never_asked_to_list_by_save_or_get(
    repository: DocumentRepository, store: CountingStore, page: MakePage
) -> None:
    receipt = repository.save(page(body=BIG))
    repository.save(page(body=b"x"))
    repository.get("acct", receipt.reference, blobs=True)
    assert store.counts["list"] == 0


def test_a_bulk_store_that_fails_on_a_blob_leaves_the_others(page: MakePage, clock: Any, catalog: SqlCatalog) -> None:
    class Full(MemoryStore):
        def put_many(self, puts: Any) -> Any:
            from cocli.errors import StoreFull

            return [
                StoreFull(address="here", reason="full", key=put.key) if put.data == BIG else self.put_one(put)
                for put in puts
            ]

        def put_one(self, put: Put) -> str:
            return self.put(put.key, put.data, if_absent=put.if_absent, if_match=put.if_match)

    repository = DocumentRepository(Full(), catalog, clock=clock, inline_limit=100, subscriptions=EVERYBODY)
    answers = repository.save_many([(page("a", BIG), ()), (page("b", b"small"), ())])
    assert [getattr(one, "outcome", None) for one in answers] == ["created", "created"]
    assert checking.check(repository, grace=timedelta(0)).clean
