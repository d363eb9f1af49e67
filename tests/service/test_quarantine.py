"""What failed for good is listed by the service, page by page, and goes on when somebody lets it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cocli.app.documents.tokens import TokenScope
from cocli.documents import Blob, Document
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import CocliError, DocumentNotFound, IdentityError, ScopeMissing, UsageError
from cocli.service.documents.client import DocumentClient

DOCS = ("one", "three", "two")


@pytest.fixture(scope="module")
def mark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """While this file is there, the node fails."""
    mark = tmp_path_factory.mktemp("mark") / "broken"
    mark.touch()
    return mark


@pytest.fixture(scope="module")
def failing(start: Any, tmp_path_factory: pytest.TempPathFactory, mark: Path) -> Iterator[Any]:
    home = tmp_path_factory.mktemp("failing") / "home"
    graph = "tests.cli.nodes_factory:picky"
    with start(home, "--graph", graph, COCLI_TEST_BROKEN=str(mark)) as running:
        yield running


@pytest.fixture(scope="module")
def owner(failing: Any) -> Iterator[DocumentClient]:
    """Whose documents have all failed."""
    with failing.client("owner") as client:
        for doc in DOCS:
            page = Document.intake(account="owner", connector="web", doc=doc)
            client.save(page.with_blob("body", Blob.of(b"<p>hello</p>", "text/html")))
        last = list(client.replay(pb.ReplayRequest()))[-1]
        assert (last.state, last.failed) == ("done", 3), last
        yield client


def http_of(service: Any, token: str) -> httpx2.Client:
    return httpx2.Client(base_url=f"http://{service.http}", headers={"Authorization": f"Bearer {token}"}, timeout=60)


def waiting(client: DocumentClient, **more: Any) -> list[str]:
    return [item.doc_id for item in client.quarantine(pb.ListQuarantineRequest(**more)).items]


def test_pages_of_one_account(failing: Any, owner: DocumentClient) -> None:
    first = owner.quarantine(pb.ListQuarantineRequest(page_size=2))
    assert [(item.doc_id, item.node, item.released, item.whole) for item in first.items] == [
        ("one", "pick", False, True),
        ("three", "pick", False, True),
    ]
    assert "this node is broken" in first.items[0].message
    rest = owner.quarantine(pb.ListQuarantineRequest(page_size=2, page_token=first.next_page_token))
    assert ([item.doc_id for item in rest.items], rest.next_page_token) == (["two"], "")
    assert waiting(owner, node="other") == waiting(owner, cluster="other") == waiting(owner, datasource="other") == []
    with http_of(failing, failing.token("owner")) as http:
        told = http.get("/v1/quarantine", params={"page_size": 2, "node": "pick"}).json()
        assert [item["doc_id"] for item in told["items"]] == ["one", "three"]
        told = http.get("/v1/quarantine", params={"page_token": told["next_page_token"]}).json()
        assert [item["doc_id"] for item in told["items"]] == ["two"]
    with failing.client("stranger") as stranger:
        assert waiting(stranger) == []
        with pytest.raises(DocumentNotFound):
            stranger.release(pb.ReleaseQuarantineRequest(doc_ids=["one"]))


def test_who_reads_may_list_and_who_writes_may_release(failing: Any, owner: DocumentClient) -> None:
    reader = failing.token("owner", scopes=[TokenScope.READ])
    with DocumentClient(failing.grpc, reader) as reads, http_of(failing, reader) as http:
        assert waiting(reads)
        with pytest.raises(ScopeMissing):
            reads.release(pb.ReleaseQuarantineRequest(doc_ids=["one"]))
        assert http.post("/v1/quarantine/release", json={"doc_ids": ["one"]}).status_code == 403
    writer = failing.token("owner", scopes=[TokenScope.WRITE])
    with DocumentClient(failing.grpc, writer) as writes, pytest.raises(ScopeMissing):
        writes.quarantine()


@pytest.mark.parametrize(
    ("docs", "error"),
    [
        ([], UsageError),
        (["one"] * 101, UsageError),
        (["a|b"], IdentityError),
        (["one", "nowhere"], DocumentNotFound),
    ],
)
def test_a_release_that_makes_no_sense(owner: DocumentClient, docs: list[str], error: type[CocliError]) -> None:
    with pytest.raises(error):
        owner.release(pb.ReleaseQuarantineRequest(doc_ids=docs))
    assert waiting(owner) == list(DOCS), "nothing of it was let go"


def test_pages_that_make_no_sense(failing: Any, owner: DocumentClient) -> None:
    for more in ({"page_size": 1001}, {"page_token": "x"}):
        with pytest.raises(UsageError):
            owner.quarantine(pb.ListQuarantineRequest(**more))
    with pytest.raises(IdentityError):
        owner.quarantine(pb.ListQuarantineRequest(cluster="a|b"))
    with http_of(failing, failing.token("owner")) as http:
        for parameters in ({"page_size": "1001"}, {"released": "perhaps"}, {"edition": "x"}):
            assert http.get("/v1/quarantine", params=parameters).status_code == 400


def test_what_fails_again_stays_and_what_does_not_goes_on(failing: Any, owner: DocumentClient, mark: Path) -> None:
    (again,) = owner.release(pb.ReleaseQuarantineRequest(doc_ids=["one"])).results
    assert (again.item.doc_id, "this node is broken" in again.problem) == ("one", True)
    assert waiting(owner) == list(DOCS)
    mark.unlink()
    (done,) = owner.release(pb.ReleaseQuarantineRequest(doc_ids=["one"], node="pick")).results
    assert (done.item.doc_id, done.problem) == ("one", "")
    assert waiting(owner) == ["three", "two"]
    assert waiting(owner, released=True) == list(DOCS)
    listed = owner.quarantine(pb.ListQuarantineRequest(released=True)).items
    assert {item.doc_id: item.released_by for item in listed if item.released} == {"one": "owner"}
    with http_of(failing, failing.token("owner")) as http:
        answer = http.post("/v1/quarantine/release", json={"doc_ids": ["two"]})
        assert [result["problem"] for result in answer.json()["results"]] == [""]
        assert [item["doc_id"] for item in http.get("/v1/quarantine").json()["items"]] == ["three"]
        assert http.post("/v1/quarantine/release", json={"doc_ids": ["two"]}).status_code == 404, "let go already"
    for doc in ("one", "two"):
        assert owner.current(doc, "pick", "main").data["pick"] == {"bytes": 12}
    assert owner.usage().replays_now == 0
