"""How the service behaves as others expect of an interface: conditions, masks, pages, scopes, details, changes."""

from __future__ import annotations

import json
import time
from typing import Any

import grpc
import httpx2
import jsonschema
import pytest
import schemathesis
from schemathesis.core.result import Ok

from cocli.app.documents.revocations import revoke
from cocli.app.documents.tokens import TokenScope, token_id_said
from cocli.documents import Blob, Document, codec
from cocli.documents.limits import INLINE_LIMIT
from cocli.documents.objects import DocumentObjects
from cocli.documents.proto.generated import document_pb2
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.documents.repository import DEFAULT_PREFIX
from cocli.documents.save_order import row_etag
from cocli.errors import PreconditionFailed, ScopeMissing, TokenRefused, UsageError
from cocli.keys.identities import datasource_id
from cocli.service.documents.client import DocumentClient
from cocli.service.documents.http_routes import ROUTES, openapi_page
from cocli.service.documents.rpc_status import DETAILS_HEADER, read_details
from cocli.store import open_store


def a_page(doc: str, body: bytes = b"x", account: str = "alice") -> Document:
    return Document.intake(account=account, connector="web", doc=doc).with_blob("body", Blob.of(body))


def http_of(service: Any, token: str) -> httpx2.Client:
    return httpx2.Client(base_url=f"http://{service.http}", headers={"Authorization": f"Bearer {token}"}, timeout=60)


# --- conditions


def test_a_save_holds_only_for_the_version_that_was_read(alice: DocumentClient) -> None:
    first = alice.save(a_page("cas", b"one"), if_absent=True)
    with pytest.raises(PreconditionFailed):
        alice.save(a_page("cas", b"two"), if_absent=True)
    second = alice.save(a_page("cas", b"two"), if_match=row_etag(first.row))
    assert second.outcome == "updated"
    with pytest.raises(PreconditionFailed) as refused:
        alice.save(a_page("cas", b"three"), if_match=row_etag(first.row))
    assert (refused.value.details["there"], refused.value.retryable) == (row_etag(second.row), False)
    with pytest.raises(PreconditionFailed):
        alice.save(a_page("never", b"x"), if_match="*")
    with pytest.raises(PreconditionFailed):
        alice.delete("cas", if_match=row_etag(first.row))
    assert len(alice.delete("cas", if_match=row_etag(second.row))) == 1


def test_http_says_412(service: Any) -> None:
    with http_of(service, service.token("alice")) as http:
        first = http.post("/v1/documents", params={"doc": "cas-http"}, content=b"1", headers={"If-None-Match": "*"})
        assert first.status_code == 201
        etag = first.headers["etag"]
        again = http.post("/v1/documents", params={"doc": "cas-http"}, content=b"2", headers={"If-None-Match": "*"})
        assert (again.status_code, again.json()["error"]["code"]) == (412, "precondition_failed")
        assert http.post(
            "/v1/documents", params={"doc": "cas-http"}, content=b"2", headers={"If-Match": etag}
        ).is_success
        stale = http.delete("/v1/documents", params={"doc": "cas-http"}, headers={"If-Match": etag})
        assert stale.status_code == 412
        assert http.delete("/v1/documents", params={"doc": "cas-http"}).is_success


# --- what is asked for


def raw_save(client: DocumentClient, message: document_pb2.PipeDoc) -> pb.SaveResponse:
    return client._call("Save", pb.SaveRequest(document=message), pb.SaveResponse)


def test_a_blank_datasource_is_computed_and_two_blobs_of_one_name_are_refused(alice: DocumentClient) -> None:
    message = codec.to_message(a_page("blank"))
    message.ownership.datasource_id = message.state.address = ""
    assert raw_save(alice, message).row.reference.datasource == datasource_id("alice", "web")
    message.blobs.add(name="body", data=b"another")
    with pytest.raises(Exception, match="two of its blobs have one name"):
        raw_save(alice, message)


def test_masks_and_pages(alice: DocumentClient) -> None:
    for cluster in ("a", "b", "c"):
        alice.save(a_page("masked").at("parse", cluster).with_data("parse", {"n": 1}))
    alice.save(a_page("masked"))
    request = pb.ListStatesRequest(doc_id="masked", page_size=3)
    request.read_mask.paths.extend(["version", "reference.cluster"])
    page = alice._call("ListStates", request, pb.ListStatesResponse)
    assert [(row.version, row.reference.cluster, row.uuid) for row in page.rows] == [
        (1, "", ""),
        (1, "a", ""),
        (1, "b", ""),
    ]
    request.page_token = page.next_page_token
    rest = alice._call("ListStates", request, pb.ListStatesResponse)
    assert ([row.reference.cluster for row in rest.rows], rest.next_page_token) == (["c"], "")
    get = pb.GetRequest(doc_id="masked", address="parse", cluster="a")
    get.read_mask.paths.append("data")
    found = alice._call("Get", get, pb.GetResponse)
    assert (len(found.document.data), found.document.doc_id, len(found.document.blobs)) == (1, "", 0)
    get.read_mask.paths.append("nonsense")
    with pytest.raises(UsageError):
        alice._call("Get", get, pb.GetResponse)


def test_many_at_once_have_an_outcome_each(alice: DocumentClient) -> None:
    alice.save(a_page("many-1", b"before"))
    answers = alice.save_many([(a_page(f"many-{number}"), ()) for number in range(3)] + [(a_page("many-0"), ())])
    assert [getattr(answer, "outcome", answer) for answer in answers] == ["created", "updated", "created", "unchanged"]
    alice.delete("many-2")
    again = alice.save_many([(a_page("many-2"), ()), (a_page("many-3"), ())])
    assert (again[0].code, getattr(again[1], "outcome", None)) == ("document_deleted", "created")  # type: ignore[union-attr]
    references = [answer.reference for answer in answers]  # type: ignore[union-attr]
    read = alice.get_many(references, blobs=True)
    assert [isinstance(found, Document) for found in read] == [True, True, False, True]
    too_many = pb.SaveDocumentsRequest(requests=[pb.SaveRequest()] * 1001)
    with pytest.raises(UsageError):
        alice._call("SaveDocuments", too_many, pb.SaveDocumentsResponse)


def test_where_several_datasources_have_an_id_the_caller_names_one(service: Any, alice: DocumentClient) -> None:
    for datasource in ("first", "second"):
        page = Document.intake(account="alice", connector="web", doc="shared", datasource=datasource)
        state = page.with_blob("body", Blob.of(datasource.encode())).at("parse", "shared")
        alice.save(state.with_data("parse", {"of": datasource}))
    with pytest.raises(UsageError, match=r"several datasources: first \(web\), second \(web\)") as refused:
        alice.current("shared", "parse", "shared")
    assert "datasource in a request" in (refused.value.hint or "")
    found = [alice.current("shared", "parse", "shared", datasource=name) for name in ("first", "second")]
    assert [document.data["parse"]["of"] for document in found] == ["first", "second"]
    with http_of(service, service.token("alice")) as http:
        wanted = {"doc": "shared", "address": "parse", "cluster": "shared"}
        unclear = http.get("/v1/documents/content", params=wanted)
        assert (unclear.status_code, "datasource in a request" in unclear.json()["error"]["hint"]) == (400, True)
        for datasource in ("first", "second"):
            answer = http.get("/v1/documents/content", params={**wanted, "datasource": datasource})
            assert (answer.status_code, answer.text) == (200, datasource)


# --- tokens


def test_a_token_allows_what_its_scopes_say_and_who_it_is_for_is_kept(service: Any) -> None:
    reader = service.token("scoped", scopes=[TokenScope.READ])
    writer = service.token("scoped", scopes=[TokenScope.READ, TokenScope.WRITE])
    with DocumentClient(service.grpc, reader) as reads, DocumentClient(service.grpc, writer) as writes:
        page = a_page("scoped", account="scoped")
        with pytest.raises(ScopeMissing):
            reads.save(page)
        writes.save(page)
        assert reads.states("scoped")
        with pytest.raises(ScopeMissing):
            writes.purge("scoped")
        with pytest.raises(ScopeMissing):
            writes.usage("alice")
    with http_of(service, reader) as http:
        assert http.post("/v1/documents", params={"doc": "y"}, content=b"z").status_code == 403
    admin = service.token("scoped", scopes=[TokenScope.ADMIN], who="Ada")
    with DocumentClient(service.grpc, admin) as ada:
        ada.delete("scoped")
        ada.restore("scoped")
        objects = DocumentObjects(
            open_store(str(service.home / "data")), prefix=DEFAULT_PREFIX, inline_limit=INLINE_LIMIT
        )
        restored = objects.current(objects.place(page))
        assert restored is not None
        assert (restored[0].header.operation, restored[0].header.saved_by) == ("restored", "Ada")
        assert ada.usage("alice").account_id == "alice"
        assert ada.purge("scoped", reason="asked")[0].purged_by == "Ada"


def test_a_revoked_token_is_refused_by_every_service(service: Any) -> None:
    token = service.token("revoked")
    with DocumentClient(service.grpc, token) as client:
        client.documents()
        assert revoke(open_store(str(service.home / "data")), token_id_said(token), by="me") is True
        with pytest.raises(TokenRefused):
            ask_for_ever(client)


def ask_for_ever(client: DocumentClient) -> None:
    """Until it is refused: what a service has looked up is believed for two seconds."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        client.documents()
        time.sleep(0.1)


# --- errors


def test_errors_have_the_details_of_google_rpc(service: Any, alice: DocumentClient) -> None:
    with grpc.insecure_channel(service.grpc) as channel:
        method = channel.unary_unary("/cocli.documents.v1.DocumentRepository/Get", None, None)
        with pytest.raises(grpc.RpcError) as refused:
            method(pb.GetRequest(doc_id="a|b", address="x").SerializeToString(), metadata=alice._metadata, timeout=30)
    error: Any = refused.value
    details: Any = read_details(dict(error.trailing_metadata())[DETAILS_HEADER])
    assert (details["ErrorInfo"].reason, details["ErrorInfo"].domain) == ("IDENTITY", "documents.cocli")
    assert details["BadRequest"].field_violations[0].field == "document_id"


# --- changes


def test_whoever_watches_sees_every_change_and_goes_on_where_it_left(service: Any, alice: DocumentClient) -> None:
    stream = alice.watch(timeout=60)
    begin = next(stream)
    with service.client("stranger") as stranger:
        stranger.save(a_page("not-yours", account="stranger"))
    alice.save(a_page("watched-1"))
    alice.save(a_page("watched-2"))
    seen = [next(stream) for _ in range(2)]
    assert [event.row.reference.doc_id for event in seen] == ["watched-1", "watched-2"]
    stream.close()  # type: ignore[attr-defined]
    alice.save(a_page("watched-3"))
    alice.delete("watched-1")
    resumed = alice.watch(seen[0].resume_token, timeout=60)
    next(resumed)
    found = [next(resumed).row for _ in range(3)]
    assert [row.reference.doc_id for row in found] == ["watched-2", "watched-3", "watched-1"]
    assert found[2].HasField("deleted_at")
    with pytest.raises(UsageError):
        list(alice.watch("nonsense", timeout=30))
    with pytest.raises(UsageError):
        list(alice.watch(begin.resume_token[:-6] + "AAAAAA", timeout=30))


def test_http_hands_changes_out_by_pages(service: Any) -> None:
    with http_of(service, service.token("watcher")) as http:
        for doc in ("one", "two"):
            http.post("/v1/documents", params={"doc": doc}, content=b"x")
        page = http.get("/v1/changes", params={"resume_token": "begin"}).json()
        assert [row["reference"]["doc_id"] for row in page["rows"]] == ["one", "two"]
        http.post("/v1/documents", params={"doc": "three"}, content=b"x")
        more = http.get("/v1/changes", params={"resume_token": page["resume_token"]}).json()
        assert [row["reference"]["doc_id"] for row in more["rows"]] == ["three"]


# --- the page that describes it


def test_the_openapi_page_is_served_valid_and_true(service: Any) -> None:
    with http_of(service, service.token("described")) as http:
        page = http.get("/openapi.json").json()
        assert page == json.loads(json.dumps(openapi_page()))
        answers = {
            ("/v1/documents", "get"): http.get("/v1/documents"),
            ("/v1/replays", "get"): http.get("/v1/replays"),
            ("/v1/quarantine", "get"): http.get("/v1/quarantine"),
            ("/v1/quarantine/release", "post"): http.post("/v1/quarantine/release", json={"doc_ids": ["x"]}),
            ("/v1/usage", "get"): http.get("/v1/usage"),
            ("/v1/documents", "post"): http.post("/v1/documents", params={"doc": "x"}, content=b"y"),
            ("/v1/uploads", "post"): http.post("/v1/uploads", params={"doc": "x"}),
            ("/v1/documents/states", "get"): http.get("/v1/documents/states", params={"doc": "x"}),
            ("/v1/documents/content", "get"): http.get("/v1/documents/content", params={"doc": "nothing"}),
        }
    described = list(schemathesis.openapi.from_dict(page).get_all_operations())
    assert {result.ok().label for result in described if isinstance(result, Ok)} == {
        f"{route.method} {route.path}" for route in ROUTES
    }
    for (path, method), answer in answers.items():
        response = page["paths"][path][method]["responses"][str(answer.status_code)]
        schema = response["content"]["application/json"]["schema"]
        jsonschema.validate(answer.json(), {**schema, "components": page["components"]})
