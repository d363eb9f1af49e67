"""Who asked to be left alone reaches no program by the document service, unless its token may see everything."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import grpc
import httpx2
import pytest
from tests.kit.services import environment
from tests.service.conftest import Service, started

from cocli.app.documents.tokens import TokenScope
from cocli.app.left_alone.suppress import SubjectOptions, add, subjects_of
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.documents import Blob, Document
from cocli.documents.document import DocumentSource
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import CocliError, Withheld
from cocli.models.document import DocumentReference
from cocli.service.discretion import OWN_WORDS
from cocli.service.documents.client import DocumentClient
from cocli.service.documents.http_routes import ROUTES

ADDRESS, NUMBER, DOMAIN = "quiet.jo@plumb.example", "+12175550177", "hushed.example"
HIDDEN = [needle.encode() for needle in (ADDRESS, "quiet.jo", "2175550177", "555-0177", DOMAIN)]
CLEAN = "https://bolt.example/"
METHODS = pb.DESCRIPTOR.services_by_name["DocumentRepository"].methods_by_name


def _cloaked(address: str) -> bytes:
    return f"<a data-cfemail='42{''.join(f'{ord(sign) ^ 0x42:02x}' for sign in address)}'>protected</a>".encode()


PAGES: dict[str, bytes] = {
    CLEAN: b"<p>info@bolt.example</p>",
    "https://plumb.example/plain": f"<p>{ADDRESS.upper()}</p>".encode(),
    "https://plumb.example/plus": b"<a href='mailto:quiet.jo+news%40plumb.example'>Jo</a>",
    "https://plumb.example/phone": b"<p>(217) 555-0177</p>",
    "https://plumb.example/packed": gzip.compress(f"<p>{ADDRESS}</p>".encode()),
    "https://plumb.example/cloaked": _cloaked(ADDRESS),
    "https://plumb.example/large": b"<p>large</p>" * 10_000 + ADDRESS.encode(),
    f"https://shop.{DOMAIN}/": b"<p>nothing</p>",
    f"https://zz.{DOMAIN}/last": b"<p>nothing</p>",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    home = tmp_path_factory.mktemp("left-alone") / "home"
    (home / "data").mkdir(parents=True)
    with open_workspace(environment(home), Flags()) as workspace:
        for value in (ADDRESS, NUMBER, DOMAIN):
            add(workspace, subjects_of(workspace, value, SubjectOptions()))
    with started(home) as running:
        with running.client("alice") as client:
            for doc, body in PAGES.items():
                client.save(_page(doc, body))
            named = _page("https://plumb.example/file", b"x", filename=f"{ADDRESS}.pdf")
            client.save(named)
            for edition in ("main", "staging"):
                facts = {"emails": [ADDRESS, edition], "by_address": {ADDRESS: 1}}
                client.save(_page(CLEAN, PAGES[CLEAN]).at("parse", edition).with_data("parse", facts))
        yield running


def _page(doc: str, body: bytes, filename: str | None = None) -> Document:
    source = DocumentSource(uri=doc, mime_type="text/html", filename=filename)
    page = Document.intake(account="alice", connector="web", doc=doc, source=source)
    return page.with_blob("body", Blob.of(body, "text/html"))


def _client(service: Service, *scopes: TokenScope) -> DocumentClient:
    return DocumentClient(service.grpc, service.token("alice", scopes=scopes))


def _reference(doc: str) -> DocumentReference:
    page = _page(doc, PAGES[doc])
    return DocumentReference(account="alice", doc=doc, connector="web", datasource=page.datasource,
                             address=page.address, digest=page.digest)  # fmt: skip


def test_a_document_that_names_them_is_refused(service: Service) -> None:
    with _client(service, TokenScope.READ) as reader, _client(service, TokenScope.READ, TokenScope.RAW) as raw:
        assert reader.get(_reference(CLEAN), blobs=True).blobs["body"].content == PAGES[CLEAN]
        for doc in [doc for doc in PAGES if doc != CLEAN]:
            reference = _reference(doc)
            assert raw.get(reference, blobs=True).blobs["body"].content == PAGES[doc]
            assert b"".join(raw.download(reference)) == PAGES[doc]
            with pytest.raises(Withheld):
                reader.get(reference, blobs=True)
            for length in (0, 3):
                with pytest.raises(Withheld):
                    list(reader.download(reference, length=length))
        answers = reader.get_many([_reference(doc) for doc in PAGES], blobs=True)
        assert [isinstance(answer, CocliError) for answer in answers] == [doc != CLEAN for doc in PAGES]
        with pytest.raises(Withheld):
            reader.current(CLEAN, "parse", "main")
        assert raw.current(CLEAN, "parse", "main").data["parse"]["emails"][0] == ADDRESS


def test_rows_that_name_them_are_left_out_page_by_page(service: Service) -> None:
    with _client(service, TokenScope.READ) as reader, _client(service, TokenScope.ADMIN) as raw:
        whole = raw.documents(limit=100).items
        assert any(DOMAIN in row.doc for row in whole)
        expected = [row for row in whole if DOMAIN not in row.doc and ADDRESS not in str(row.filename)]
        found, after = list[str](), None
        while True:
            page = reader.documents(limit=1, after=after)
            found += [row.doc for row in page.items]
            after = page.next
            if after is None:
                break
            assert DOMAIN not in after.doc
        assert found == [row.doc for row in expected]


def _decoded(data: bytes) -> bytes:
    """With what tokens say to who takes them apart."""
    text = data.decode("utf-8", "replace")
    tokens = [word for word in text.replace('"', " ").split() if len(word) > 20]
    said = b""
    for token in tokens:
        try:
            said += base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        except ValueError:
            continue  # no token
    return data + said


def test_no_method_tells_of_them(service: Service) -> None:
    """Every method that reads, by its bytes, whoever added it and whenever."""
    doc, place = f"https://shop.{DOMAIN}/", _page(CLEAN, b"").address
    asked: dict[str, list[Any]] = {
        "Get": [pb.GetRequest(doc_id=doc, address=place, blobs=True) for doc in PAGES],
        "GetByReference": [pb.GetByReferenceRequest(reference=_message(doc), blobs=True) for doc in PAGES],
        "GetDocuments": [pb.GetDocumentsRequest(references=map(_message, PAGES), blobs=True)],
        "ListStates": [pb.ListStatesRequest(doc_id=doc)],
        "ListDocuments": [pb.ListDocumentsRequest(page_size=size) for size in (1, 8, 5_000)],
        "Compare": [pb.CompareRequest(left_cluster="main", right_cluster="staging", examples=10)],
        "ListReplays": [pb.ListReplaysRequest()],
        "ListQuarantine": [pb.ListQuarantineRequest()],
        "Delete": [pb.DeleteRequest(doc_id=f"https://zz.{DOMAIN}/last")],
        "Restore": [pb.RestoreRequest(doc_id=f"https://zz.{DOMAIN}/last")],
        "StartReplay": [pb.ReplayRequest(cluster="main", doc_id=doc)] if _has_doc() else [],
    }
    told, plenty = dict[str, bytes](), 0
    with grpc.insecure_channel(service.grpc) as channel:
        token = service.token("alice", scopes=[TokenScope.READ, TokenScope.WRITE, TokenScope.PURGE])
        metadata = (("authorization", f"Bearer {token}"),)
        for name, requests in asked.items():
            call = channel.unary_unary(f"/cocli.documents.v1.DocumentRepository/{name}", _as_it_is, _as_it_is)
            for request in requests:
                try:
                    told[f"{name} {plenty}"] = call(request.SerializeToString(), metadata=metadata, timeout=30)
                except grpc.RpcError as error:
                    told[f"{name} {plenty}"] = str(error).encode()
                plenty += 1
        watch = channel.unary_stream("/cocli.documents.v1.DocumentRepository/Watch", _as_it_is, _as_it_is)
        events: Any = watch(pb.WatchRequest(resume_token="begin").SerializeToString(), metadata=metadata, timeout=20)
        seen = [next(events) for _ in range(6)]
        events.cancel()
        told["Watch"] = b"".join(seen)
    assert set(METHODS) - set(asked) - OWN_WORDS == _AS_OTHERS, "a new method: ask it here"
    assert b"info@bolt.example" in b"".join(told.values())
    found = {name: [needle for needle in HIDDEN if needle in _decoded(data).lower()] for name, data in told.items()}
    assert {name: needles for name, needles in found.items() if needles} == {}


def _as_it_is(data: bytes) -> bytes:
    return data


_AS_OTHERS = {
    "GetReplay",
    "PauseReplay",
    "ResumeReplay",
    "CancelReplay",
    "Replay",
    "ReleaseQuarantine",
    "Purge",
    "Watch",
}
"""Their answers are a job, or rows of what the caller named; `Watch` is asked by itself."""


def _has_doc() -> bool:
    return "doc_id" in pb.ReplayRequest.DESCRIPTOR.fields_by_name


def _message(doc: str) -> pb.DocumentReference:
    reference = _reference(doc)
    return pb.DocumentReference(doc_id=doc, address=reference.address, connector="web",
                                datasource=reference.datasource, digest=reference.digest)  # fmt: skip


def test_no_route_tells_of_them(service: Service) -> None:
    """Every route that is asked by GET or HEAD, with each document."""
    token = service.token("alice", scopes=[TokenScope.READ])
    raw = service.token("alice", scopes=[TokenScope.READ, TokenScope.RAW])
    place = quote(_page(CLEAN, b"").datasource, safe="")
    told = dict[str, bytes]()
    with httpx2.Client(base_url=f"http://{service.http}") as client:
        for route in ROUTES:
            if route.method not in ("GET", "HEAD") or "{" in route.path:
                continue
            names = {parameter.name for parameter in route.parameters}
            for doc in PAGES if "doc" in names else [""]:
                given = f"?doc={quote(doc, safe='')}" if doc else ""
                if "datasource" in names and doc:
                    given += f"&datasource={place}"
                if route.path.endswith("/changes"):
                    given = "?resume_token=begin"
                answer = client.request(
                    route.method, route.path + given, headers={"Authorization": f"Bearer {token}"}, timeout=60
                )
                told[f"{route.method} {route.path} {doc}"] = str(answer.headers).encode() + answer.content
        path = f"/v1/documents/content?doc={quote(f'https://shop.{DOMAIN}/', safe='')}&datasource={place}"
        refused = client.get(path, headers={"Authorization": f"Bearer {token}"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "withheld")
        assert client.get(path, headers={"Authorization": f"Bearer {raw}"}).content == b"<p>nothing</p>"
    assert len(told) > 20
    assert any(b"bolt.example" in data for data in told.values())
    found = {name: [needle for needle in HIDDEN if needle in _decoded(data).lower()] for name, data in told.items()}
    assert {name: needles for name, needles in found.items() if needles} == {}
