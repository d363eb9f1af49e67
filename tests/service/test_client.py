"""What a caller can do: everything that the repository can, with the answers of the repository."""

from __future__ import annotations

import os
import signal
import socket
import uuid
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime
from functools import partial
from typing import Any

import grpc
import jwt
import psutil
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from cocli.documents import CLUSTERS, EVERY, Blob, Document, DocumentSource, Fault
from cocli.errors import (
    DocumentDeleted,
    DocumentInvalid,
    DocumentNotFound,
    IdentityError,
    ServiceUnavailable,
    TokenRefused,
    TooLarge,
)
from cocli.models.document import Step
from cocli.service.documents.client import DocumentClient
from cocli.service.documents.grpc import SERVICE

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def a_page(client: DocumentClient, doc: str | None = None, body: bytes = b"<p>x</p>") -> Document:
    source = DocumentSource("https://example.com/", "text/html", NOON, 200, {"content-type": "text/html"}, "a.html")
    page = Document.intake(account=client.account, connector="web", doc=doc or f"doc-{uuid.uuid4()}", source=source)
    return page.with_blob("body", Blob.of(body, "text/html", filename="a.html"))


def test_a_document_comes_back_as_it_was(alice: DocumentClient) -> None:
    page = a_page(alice)
    receipt = alice.save(page, publish=["somewhere"])
    assert (receipt.outcome, receipt.version, receipt.reference) == ("created", 1, page.reference)
    assert alice.save(page).outcome == "unchanged"
    assert alice.get(receipt.reference, blobs=True) == page
    assert alice.current(page.doc, page.datasource, blobs=True) == page
    changed = page.with_blob("body", Blob.of(b"other"))
    assert (alice.save(changed).outcome, alice.save(changed).version) == ("updated", 2)
    assert alice.get(receipt.reference, blobs=True) == page
    assert alice.current(page.doc, page.datasource).digest == changed.digest


def test_the_state_of_a_node_with_all_that_it_may_have(alice: DocumentClient) -> None:
    page = a_page(alice)
    alice.save(page)
    step = Step(node="parse", code_digest="a" * 64, input_digest=page.digest, at=NOON)
    state = (
        page.at("parse", "main")
        .with_data("parse", {"emails": ["a@example.com"], "id": 2**60 + 1, "ratio": 0.5, "none": None})
        .with_step(step)
        .with_fault(Fault("parse", "odd", "something", True, NOON))
    )
    receipt = alice.save(state)
    assert alice.get(receipt.reference, blobs=True) == state
    rows = alice.states(page.doc)
    assert [(row.cluster, row.address) for row in rows] == [(None, page.datasource), ("main", "parse")]
    assert rows[1].steps == (step,)
    assert rows[1].parent_digest == page.digest
    assert [row.address for row in alice.states(page.doc, cluster=CLUSTERS)] == ["parse"]
    assert [row.address for row in alice.states(page.doc, cluster=None)] == [page.datasource]
    assert alice.states(page.doc, cluster="other") == []


def test_large_blobs_are_read_when_asked_for(alice: DocumentClient) -> None:
    page = a_page(alice, body=b"x" * 200_000)
    reference = alice.save(page).reference
    assert alice.get(reference).blobs["body"].data is None
    assert alice.get(reference, blobs=True).blobs["body"].content == b"x" * 200_000
    # A node that did not read the blob saves its state with it all the same.
    state = alice.get(reference).at("parse", "main").with_data("parse", {"n": 1})
    assert alice.get(alice.save(state).reference, blobs=True).blobs["body"].content == b"x" * 200_000


def test_pages_of_a_listing(service: Any, alice: DocumentClient) -> None:
    docs = sorted(f"listed-{number}" for number in range(7))
    for doc in docs:
        alice.save(Document.intake(account="alice", connector="listing", datasource="listing", doc=doc))
    found, after = [], None
    while True:
        page = alice.documents(datasource="listing", kind="intake", after=after, limit=3)
        found += [row.doc for row in page.items]
        after = page.next
        if after is None:
            break
    assert found == docs
    assert alice.documents(datasource="listing", cluster="main").items == []


def test_a_long_page_is_made_beside_the_service(service: Any, alice: DocumentClient) -> None:
    alice.save(Document.intake(account="alice", connector="listing", datasource="long", doc="one"))
    long = partial(alice.documents, datasource="long", limit=5_000)
    short = alice.documents(datasource="long", limit=1_000).items
    assert long().items == short
    beside = [child.pid for child in psutil.Process(service.process.pid).children()]
    with ThreadPoolExecutor(1) as threads:
        for child in beside:
            os.kill(child, signal.SIGSTOP)
        try:
            asked = threads.submit(long)
            assert alice.documents(datasource="long", limit=1_000).items == short
            assert not wait([asked], timeout=1).done, "the service made the long page itself"
        finally:
            for child in beside:
                os.kill(child, signal.SIGCONT)
        assert asked.result(60).items == short


def test_delete_restore_and_purge(alice: DocumentClient) -> None:
    page = a_page(alice, body=b"x" * 100_000)
    reference = alice.save(page).reference
    alice.save(page.at("parse", "main").with_data("parse", {"n": 1}))
    assert len(alice.delete(page.doc)) == 2
    with pytest.raises(DocumentDeleted) as refused:
        alice.save(page)
    assert refused.value.hint == f"Bring it back with: cocli documents restore {page.doc}"
    with pytest.raises(DocumentDeleted):
        alice.get(reference)
    assert alice.states(page.doc) == []
    assert len(alice.states(page.doc, deleted=True)) == 2
    assert len(alice.restore(page.doc)) == 2
    assert alice.get(reference, blobs=True) == page
    alice.delete(page.doc, cluster="main")
    assert [row.cluster for row in alice.states(page.doc)] == [None]
    (proof,) = alice.purge(page.doc, reason="asked")
    assert (proof.purged_by, proof.reason) == ("alice", "asked")
    assert proof.purged_at is not None
    assert "blob" in {one.kind for one in proof.removed}
    with pytest.raises(DocumentDeleted):
        alice.get(reference)


@pytest.mark.parametrize("doc", ["..", "a/../b", "x" * 300, "☕ 🔧", "trailing ", "https://example.com/?a=b&c=d#e"])
def test_odd_ids_are_ids(alice: DocumentClient, doc: str) -> None:
    page = a_page(alice, doc)
    assert alice.get(alice.save(page).reference, blobs=True) == page
    assert [row.doc for row in alice.states(doc)] == [doc]


@pytest.mark.parametrize("doc", ["a|b", " ", "", "a\0b", "x" * 5000])
def test_impossible_ids_are_refused(alice: DocumentClient, doc: str) -> None:
    for ask in (alice.states, alice.delete, alice.restore, alice.purge):
        with pytest.raises(IdentityError, match="is not a document id"):
            ask(doc)
    with pytest.raises(IdentityError):
        alice.current(doc, "x", "main")


def test_what_is_unknown_is_not_found(alice: DocumentClient) -> None:
    page = a_page(alice)
    with pytest.raises(DocumentNotFound) as missing:
        alice.get(page.reference)
    assert missing.value.details["doc"] == page.doc
    with pytest.raises(DocumentNotFound):
        alice.current(page.doc, page.datasource)
    with pytest.raises(DocumentNotFound):
        alice.delete(page.doc)
    alice.save(page)
    with pytest.raises(DocumentNotFound):
        alice.get(page.reference.with_changes(digest="0" * 64))
    assert alice.states("nowhere", cluster=EVERY) == []


def test_messages_have_a_limit_in_both_directions(alice: DocumentClient) -> None:
    with pytest.raises(TooLarge):
        alice.save(a_page(alice, body=b"x" * 2_000_000))
    page = a_page(alice)
    for number in range(3):
        piece = Blob.of(bytes([number]) * 400_000)
        page = alice.get(alice.save(page).reference).with_blob(f"blob-{number}", piece)
    reference = alice.save(page).reference
    assert len(alice.get(reference).blobs) == 4
    with pytest.raises(TooLarge, match="the answer has"):
        alice.get(reference, blobs=True)


def test_a_service_that_is_away_or_silent(service: Any) -> None:
    token = service.token("alice")
    with DocumentClient("127.0.0.1:1", token, timeout=5) as away, pytest.raises(ServiceUnavailable):
        away.states("x")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with DocumentClient(address, token, timeout=0.5) as client, pytest.raises(ServiceUnavailable, match="eadline"):
            client.states("x")


def test_health_and_reflection_need_no_token(service: Any) -> None:
    with grpc.insecure_channel(service.grpc) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        for name in ("", SERVICE):
            answer = health.Check(health_pb2.HealthCheckRequest(service=name), timeout=10)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        database = ProtoReflectionDescriptorDatabase(channel)
        assert SERVICE in database.get_services()
        described = database.FindFileContainingSymbol(SERVICE)
        assert "Save" in {method.name for method in described.service[0].method}


def test_a_token_is_needed(service: Any) -> None:
    good = service.token("alice")
    head, claims, signature = good.split(".")
    other = service.token("mallory").split(".")
    longer = jwt.decode(good, options={"verify_signature": False}) | {"exp": 9_999_999_999}
    bad = [
        f"{head}.{claims}.{'A' * 43}",
        f"{head}.{other[1]}.{signature}",
        f"{head}.{jwt.encode(longer, 'x' * 32).split('.')[1]}.{signature}",
        f"{head}.{claims}.{other[2]}",
        jwt.encode(longer, "another secret, as long as it must be"),
        jwt.encode(longer, "", "none"),
        f"{good}x",
        f"{head}.{claims}",
        "cocli1.YWxpY2U.9999999999." + "A" * 43,  # as an earlier version made them
        service.token("alice", days=-1.0),
    ]
    for token in bad:
        with pytest.raises(TokenRefused), DocumentClient(service.grpc, token) as client:
            client.documents()
    with grpc.insecure_channel(service.grpc) as channel:
        ask = channel.unary_unary(f"/{SERVICE}/ListDocuments", None, None)
        for metadata in ((), (("authorization", good),), (("authorization", f"Bearer {good}"),) * 2):
            with pytest.raises(grpc.RpcError) as refused:
                ask(b"", metadata=metadata, timeout=10)
            assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert ask(b"", metadata=(("authorization", f"Bearer {good}"),), timeout=10) is not None


def test_a_document_that_is_none_is_refused(alice: DocumentClient) -> None:
    page = a_page(alice)
    with pytest.raises(DocumentInvalid, match="another account"):
        alice.save(Document.intake(account="mallory", connector="web", doc="x"))
    unknown_blob = page.with_blob("body", Blob("0" * 64, 10))
    with pytest.raises(DocumentInvalid):
        alice.save(unknown_blob)
    assert alice.states(page.doc) == []
