"""Account B can read, list, change and delete nothing of account A: by id, by reference, by crafted ids."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cocli.documents import Blob, Cursor, Document
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import CocliError, DocumentError, DocumentInvalid, DocumentNotFound
from cocli.models.document import DocumentReference
from cocli.service.documents.client import DocumentClient

SECRET = b"what alice knows " * 10_000


@pytest.fixture(scope="module")
def reference(alice: DocumentClient) -> Iterator[DocumentReference]:
    page = Document.intake(account="alice", connector="web", doc="alice's page").with_blob("body", Blob.of(SECRET))
    saved = alice.save(page).reference
    state = alice.save(page.at("parse", "main").with_data("parse", {"secret": "what alice knows"}))
    yield saved
    # Whatever was tried: hers is as it was.
    assert alice.get(saved, blobs=True) == page
    assert alice.get(state.reference).data == {"parse": {"secret": "what alice knows"}}
    assert [row.version for row in alice.states(page.doc)] == [1, 1]


def test_nothing_is_read_by_id(mallory: DocumentClient, reference: DocumentReference) -> None:
    for address, cluster in ((reference.address, None), ("parse", "main")):
        with pytest.raises(DocumentNotFound):
            mallory.current(reference.doc, address, cluster, blobs=True)
    assert mallory.states(reference.doc, deleted=True) == []


def test_nothing_is_read_by_reference(mallory: DocumentClient, reference: DocumentReference) -> None:
    with pytest.raises(DocumentNotFound):
        mallory.get(reference, blobs=True)
    with pytest.raises(DocumentNotFound):
        mallory.get(reference.with_changes(account="mallory"), blobs=True)


CRAFTED = (
    *("../alice", "..", "alice/web", "../../alice/web/x", "%2e%2e", "%2e%2e%2falice", "mallory/../alice"),
    *("alice\\web", "./alice", "alice\n", "ALICE", "ａlice", "alice\u200b"),
)


@pytest.mark.parametrize("crafted", CRAFTED)
@pytest.mark.parametrize("field", ["connector", "datasource", "doc", "address", "cluster"])
def test_nothing_is_read_by_crafted_ids(
    mallory: DocumentClient, reference: DocumentReference, crafted: str, field: str
) -> None:
    base = {
        "doc_id": reference.doc,
        "address": reference.address,
        "connector": reference.connector,
        "datasource": reference.datasource,
        "cluster": "",
        "digest": reference.digest,
    }
    base["doc_id" if field == "doc" else field] = crafted
    if field == "datasource":
        base["address"] = crafted
    message = pb.GetByReferenceRequest(reference=pb.DocumentReference(**base), blobs=True)
    with pytest.raises(CocliError) as refused:
        mallory._call("GetByReference", message, pb.GetResponse)
    assert "what alice knows" not in str(refused.value.as_dict())


def test_nothing_is_listed(mallory: DocumentClient, reference: DocumentReference) -> None:
    cursor = Cursor("", None, "")
    for after in (None, cursor, Cursor(reference.doc[:-1], None, reference.address)):
        page = mallory.documents(datasource=reference.datasource, after=after, limit=10_000, deleted=True)
        assert page.items == []
    assert all(row.account == "mallory" for row in mallory.documents(limit=10_000).items)


def test_nothing_is_changed(mallory: DocumentClient, reference: DocumentReference) -> None:
    with pytest.raises(DocumentNotFound):
        mallory.delete(reference.doc)
    with pytest.raises(DocumentNotFound):
        mallory.restore(reference.doc)
    with pytest.raises(DocumentNotFound):
        mallory.purge(reference.doc)
    with pytest.raises(DocumentInvalid):
        mallory.save(Document.intake(account="alice", connector="web", doc=reference.doc))


def test_a_blob_of_another_account_is_not_taken_over(mallory: DocumentClient, reference: DocumentReference) -> None:
    theirs = Blob(Blob.of(SECRET).sha256, len(SECRET))
    mine = Document.intake(account="mallory", connector="web", datasource=reference.datasource, doc=reference.doc)
    with pytest.raises(DocumentInvalid, match="not sent along"):
        mallory.save(mine.with_blob("body", theirs))


def test_the_same_id_in_two_accounts_is_two_documents(alice: DocumentClient, mallory: DocumentClient) -> None:
    for client, text in ((alice, b"hers"), (mallory, b"his")):
        page = Document.intake(account=client.account, connector="web", doc="shared name")
        client.save(page.with_blob("body", Blob.of(text)))
    mallory.purge("shared name")
    (row,) = alice.states("shared name")
    assert alice.get(row.reference, blobs=True).blobs["body"].content == b"hers"
    with pytest.raises(DocumentError):
        mallory.get(row.reference.with_changes(account="mallory"))
